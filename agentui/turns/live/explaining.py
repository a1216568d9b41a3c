"""What is kept of the prompt of a turn, and what its caller is told of it."""

from collections.abc import Mapping, Sequence
from typing import Literal

from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.prompt.explain import MOST_TRACES, PromptScope, explain_document
from agentui.prompt.policy import Resolution
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.report import kept_report, prompt_snapshot, runtime_trace
from agentui.prompt.section_runs import runs_of
from agentui.turns.live.request import LiveRequest
from agentui.turns.request import TurnPlace


def explained(place: TurnPlace, prepared: PreparedTurn, resolution: Resolution, bundle: Bundle) -> dict[str, Json]:
    """The document that explains a turn's prompt afterwards; keys are not taken out of it here."""
    mode: Literal["existing_branch", "source_floor_branch"] = (
        "existing_branch" if place.source_floor_id is None else "source_floor_branch"
    )
    scope = PromptScope(place.session_id, place.branch_id, True, place.source_floor_id, place.branch_id, mode)
    snapshot = prompt_snapshot(prepared, bundle.ids(), MOST_TRACES)
    runs = runs_of(prepared.sections)
    document = explain_document(prepared, runs, resolution, scope, bundle.named(), snapshot)
    return document | kept_report(prepared, runs)


def asked_with(pipeline_id: str, model: str | None, params: Mapping[str, Json], tools: Sequence[str]) -> dict[str, Json]:
    """How a turn asks its model, as it is kept with its prompt: two turns are compared by it. ``tools`` are the names of those
    that the session allows, without what nodes name themselves."""
    return {"pipeline_id": pipeline_id, "model": model, "params": dict(params), "tools": list(tools)}


def observed(asked: LiveRequest, prepared: PreparedTurn, bundle: Bundle) -> dict[str, Json]:
    """What the caller asked to see of the prompt; keys are not taken out of it here."""
    told = dict[str, Json]()
    if asked.shows_snapshot:
        told["prompt_snapshot"] = prompt_snapshot(prepared, bundle.ids())
    if asked.shows_trace:
        trace = runtime_trace(prepared, is_kept=True, with_matches=asked.shows_matches)
        trace.pop("visibility", None)  # a live turn has no say in it
        told["runtime_trace"] = trace
    return told
