"""The shapes of what was kept of prompts, and of comparisons of it."""

from dataclasses import dataclass
from typing import Literal

from agentui.chats.floors import FloorResult
from agentui.jsonio import Json
from agentui.prompt.explain import Diagnostic, PromptScope
from agentui.schemas.forms import Form, Id
from agentui.schemas.prompt_runtime import AssetsView


class FloorRef(Form):
    """A committed floor."""

    floor_id: Id


class CompareForm(Form):
    """Two floors of the session."""

    left: FloorRef
    right: FloorRef


@dataclass(frozen=True, slots=True)
class ExplainedFloor:
    """A committed floor."""

    id: str
    session_id: str
    floor_no: int
    branch_id: str
    parent_floor_id: str | None
    state: str
    prompt_snapshot_created_at: int
    committed_at: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is kept of a floor's prompt. Without a snapshot, all but the floor, its scope and its result is null."""

    floor: ExplainedFloor
    scope: PromptScope
    snapshot_available: bool
    assets: AssetsView | None
    prompt_snapshot: dict[str, Json] | None
    resolved_policy: dict[str, Json] | None
    source_map: dict[str, Json]
    governance: dict[str, Json] | None
    trim_reasons: list[Json] | None
    excluded_sources: list[Json] | None
    section_stats: list[Json] | None
    sections: list[Json] | None
    omitted_sections: int | None
    first_included_no: int | None
    macro: dict[str, Json] | None
    memory: dict[str, Json] | None
    assembly: dict[str, Json] | None
    runtime_trace: dict[str, Json] | None
    generation: dict[str, Json] | None
    diagnostics: list[Diagnostic]
    limitations: list[str]
    result: FloorResult


@dataclass(frozen=True, slots=True)
class ComparedFloor:
    """One side of a comparison."""

    floor_id: str
    snapshot_available: bool


@dataclass(frozen=True, slots=True)
class PromptDifference:
    """A path at which two prompts differ: ``added`` has no ``left``, ``removed`` no ``right``."""

    path: str
    change_type: Literal["added", "removed", "changed"]
    left: Json = None
    right: Json = None


@dataclass(frozen=True, slots=True)
class NamedDifference(PromptDifference):
    """Something with a name that one of two prompts has, or both in another way: ``left`` and ``right`` are all that is known
    of it."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """Where the prompts of two floors differ."""

    left: ComparedFloor
    right: ComparedFloor
    scope_changes: list[PromptDifference]
    policy_changes: list[PromptDifference]
    asset_changes: list[PromptDifference]
    diagnostics_changes: list[PromptDifference]
    trim_changes: list[PromptDifference]
    exclusion_changes: list[PromptDifference]
    governance_changes: list[PromptDifference]
    section_changes: list[NamedDifference]
    message_changes: list[NamedDifference]
    macro_changes: list[PromptDifference]
    lore_changes: list[NamedDifference]
    tool_changes: list[NamedDifference]
    parameter_changes: list[PromptDifference]
    limitations: list[str]
