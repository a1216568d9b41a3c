"""What the prompts of committed floors were: as it was kept at the commit, told and compared. Nothing is worked out again."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, path_id, read, read_form, route
from agentui.chats.explained import KeptPrompt, read_prompt, read_two_prompts
from agentui.chats.rows import find_session
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.prompt.capabilities import LIMITATIONS
from agentui.prompt.comparing import compare_prompts, lacks_generation
from agentui.prompt.explain import LONGEST_TEXT, NO_MEMORY, Diagnostic, PromptScope
from agentui.schemas.forms import Data
from agentui.schemas.prompt_explain import ComparedFloor, CompareForm, ExplainedFloor, Explanation, PromptComparison
from agentui.threads import apart

PERSISTED_ONLY = "This tells what was kept at the commit; nothing is worked out again."
NO_SNAPSHOT = "Nothing was kept of this floor's prompt: its client made it, or an earlier version of agentui."

_NO_PROPOSALS = dict.fromkeys(("proposal_batch_id", "proposal_status", "promotion_status"))
"""What is told of the memory's proposals (spec: tavern-api-2 part 3.9): this server makes none."""
_LATER = ("first_included_no", "assembly", "runtime_trace", "generation")
"""Members that earlier versions of agentui did not keep."""


async def explain(request: web.Request) -> web.Response:
    """Tell what was kept of a committed floor's prompt."""
    return data_answer(_explained(await read(request, read_prompt, path_id(request))))


async def compare(request: web.Request) -> web.Response:
    """Compare what was kept of the prompts of two committed floors."""
    id, form = path_id(request), await read_form(request, CompareForm)
    await read(request, find_session, id)
    left, right, texts = await read(request, read_two_prompts, id, form.left.floor_id, form.right.floor_id)
    old, new = left.document, right.document
    limitations = [
        f"Nothing was kept of the prompt of floor {kept.floor.id}: it is not compared."
        for kept in (left, right)
        if kept.document is None
    ]
    if old is not None and new is not None:
        limitations += [
            f"How the model was asked for floor {kept.floor.id} was not kept: tools and parameters are not compared."
            for kept in (left, right)
            if kept.document is not None and lacks_generation(kept.document)
        ]
    sides = {
        "left": ComparedFloor(left.floor.id, old is not None),
        "right": ComparedFloor(right.floor.id, new is not None),
    }
    size = sum(0 if document is None else len(document.get("sections") or ()) for document in (old, new))
    changes = await apart(size * LONGEST_TEXT, lambda: compare_prompts(old, new, texts))
    return data_answer({**sides, **changes, "limitations": limitations})


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
        document = {name: value for name, value in document.items() if name != "history_texts"}
        told = {"floor": shown, "snapshot_available": True, **dict.fromkeys(_LATER), **document}
        memory = {**NO_MEMORY, **(document.get("memory") or {}), "page_id": result.output_page_id, **_NO_PROPOSALS}
        return {**told, "memory": memory, "limitations": limitations, "result": result}
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
