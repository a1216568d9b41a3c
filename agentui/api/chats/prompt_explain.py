"""What the prompts of committed floors were: as it was kept at the commit, told and compared. Nothing is worked out again."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, path_id, read, read_form, route
from agentui.chats.explained import KeptPrompt, read_prompt, read_two_prompts
from agentui.chats.rows import find_session
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.prompt.capabilities import LIMITATIONS
from agentui.prompt.comparing import differences
from agentui.prompt.explain import Diagnostic, PromptScope
from agentui.schemas.forms import Data
from agentui.schemas.prompt_explain import ComparedFloor, CompareForm, ExplainedFloor, Explanation, PromptComparison

PERSISTED_ONLY = "This tells what was kept at the commit; nothing is worked out again."
NO_SNAPSHOT = "Nothing was kept of this floor's prompt: its client made it, or an earlier version of agentui."

_LATER = ("first_included_no", "assembly", "runtime_trace")
"""Members that earlier versions of agentui did not keep."""


async def explain(request: web.Request) -> web.Response:
    """Tell what was kept of a committed floor's prompt."""
    return data_answer(_explained(await read(request, read_prompt, path_id(request))))


async def compare(request: web.Request) -> web.Response:
    """Compare what was kept of the prompts of two committed floors."""
    id, form = path_id(request), await read_form(request, CompareForm)
    await read(request, find_session, id)
    left, right = await read(request, read_two_prompts, id, form.left.floor_id, form.right.floor_id)
    old, new = left.document, right.document
    missing = [kept.floor.id for kept in (left, right) if kept.document is None]

    def changes(path: str, *names: str) -> list[Json]:
        """Where these members of both documents differ; nowhere where one of them is not known."""
        if old is None or new is None:
            return []
        return [
            change for name in names for change in differences(old.get(name), new.get(name), f"{path}.{name}" if path else name)
        ]

    return data_answer(
        {
            "left": ComparedFloor(left.floor.id, old is not None),
            "right": ComparedFloor(right.floor.id, new is not None),
            "scope_changes": changes("", "scope"),
            "policy_changes": changes("policy", "resolved_policy", "source_map"),
            "asset_changes": changes("", "assets"),
            "diagnostics_changes": changes("", "diagnostics"),
            "trim_changes": changes("", "trim_reasons"),
            "exclusion_changes": changes("", "excluded_sources"),
            "governance_changes": changes("", "governance"),
            "limitations": [f"Nothing was kept of the prompt of floor {id}: it is not compared." for id in missing],
        }
    )


def _explained(kept: KeptPrompt) -> Json:
    """A floor's prompt as far as it is known."""
    floor, result, document = kept.floor, kept.result, kept.document
    shown = ExplainedFloor(
        floor.id,
        floor.session_id,
        floor.floor_no,
        floor.branch_id,
        floor.parent_floor_id,
        floor.state,
        result.committed_at,
        result.committed_at,
    )
    if document is not None:
        limitations = [PERSISTED_ONLY, *LIMITATIONS]
        told = {"floor": shown, "snapshot_available": True, **dict.fromkeys(_LATER), **document}
        return {**told, "limitations": limitations, "result": result}
    scope = PromptScope(floor.session_id, floor.branch_id, True, None, floor.branch_id, "existing_branch")
    unknown = (
        "assets", "prompt_snapshot", "resolved_policy", "governance", "trim_reasons", "excluded_sources", "section_stats",
        "sections", "omitted_sections", "macro", "memory", *_LATER,
    )  # fmt: skip
    return {
        "floor": shown,
        "scope": scope,
        "snapshot_available": False,
        **dict.fromkeys(unknown),
        "source_map": {"history": {"source_branch_id": floor.branch_id, "source_mode": "existing_branch"}},
        "diagnostics": [
            Diagnostic("historical_snapshot_unavailable", NO_SNAPSHOT, "info", "policy", "snapshot_available", "explain")
        ],
        "limitations": [PERSISTED_ONLY, NO_SNAPSHOT],
        "result": result,
    }


ROUTES: tuple[Route, ...] = (
    route(
        "POST", "/sessions/{id}/prompt-runtime/compare", compare, Data[PromptComparison], 409, body=CompareForm, writes=False
    ),
    route("GET", "/floors/{id}/prompt-runtime/explain", explain, Data[Explanation], 409),
)
