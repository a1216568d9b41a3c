"""What is kept of the prompt of a turn."""

from typing import Literal

from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.prompt.explain import PromptScope, explain_document
from agentui.prompt.policy import Resolution
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.report import kept_report, prompt_snapshot
from agentui.turns.request import TurnPlace


def explained(place: TurnPlace, prepared: PreparedTurn, resolution: Resolution, bundle: Bundle) -> dict[str, Json]:
    """The document that explains a turn's prompt afterwards; keys are not taken out of it here."""
    mode: Literal["existing_branch", "source_floor_branch"] = (
        "existing_branch" if place.source_floor_id is None else "source_floor_branch"
    )
    scope = PromptScope(place.session_id, place.branch_id, True, place.source_floor_id, place.branch_id, mode)
    document = explain_document(prepared, resolution, scope, bundle.named(), prompt_snapshot(prepared, bundle.ids()))
    return document | kept_report(prepared)
