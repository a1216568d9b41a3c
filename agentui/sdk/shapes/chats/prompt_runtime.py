"""What the server speaks of: chats, prompt runtime."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.chats.common import (
    DebugOptions,
    DeliveryForm,
    FloorResult,
    GenerationParams,
    Prompt_runtimeBudgetForm,
    SelectionForm,
    StateWriteForm,
    StructureForm,
    TurnConfig,
    VisibilityForm,
)


class AssetSummary(TypedDict):
    """Something that a prompt is made of; a character that was given with its session may have no id."""

    id: str | None
    name: str | None


class AssetsView(TypedDict):
    """What a session's prompts are made of."""

    preset: VersionedAsset | None
    character_card: AssetSummary | None
    worldbook: VersionedAsset | None
    regex_profile: VersionedAsset | None


class ComparedFloor(TypedDict):
    """One side of a comparison."""

    floor_id: str
    snapshot_available: bool


class Diagnostic(TypedDict):
    """Something to know about a prompt or a policy."""

    code: str
    message: str
    severity: Literal["info", "warning", "error"]
    source: str
    field_path: NotRequired[str | None]
    phase: NotRequired[str | None]


class ExplainedFloor(TypedDict):
    """A committed floor."""

    id: str
    session_id: str
    floor_no: int
    branch_id: str
    parent_floor_id: str | None
    state: str
    prompt_snapshot_created_at: int
    committed_at: int


class Explanation(TypedDict):
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


class InspectForm(TypedDict):
    """A message whose prompt is to be made, and not sent; none is the prompt of an answer without words."""

    config: NotRequired[TurnConfig]
    generation_params: NotRequired[GenerationParams]
    debug_options: NotRequired[DebugOptions]
    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    session_state_writes: NotRequired[list[StateWriteForm]]
    budget: NotRequired[Prompt_runtimeBudgetForm | None]
    source_selection: NotRequired[SelectionForm | None]
    visibility: NotRequired[VisibilityForm | None]
    branch_id: NotRequired[str | None]
    source_floor_id: NotRequired[str | None]
    message: NotRequired[str | None]
    prompt_intent: NotRequired[Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]]


class InspectedTurn(TypedDict):
    """A prompt that was made and not sent."""

    messages: list[dict[str, Json]]
    token_estimate: int
    available_for_reply: int
    preprocessed_user_message: str | None
    prompt_snapshot: dict[str, Json]
    runtime_trace: dict[str, Json]
    sections: list[dict[str, Json]]
    memory: dict[str, Json]
    memory_summary: str | None
    generation_params: dict[str, Json]
    requested_turn_config: dict[str, Json] | None
    turn_config: dict[str, Json]
    session_state_writes: StateWrites
    contributors: list[Json]
    prepare_phase_trace: list[PreparePhase]


class Inspection(TypedDict):
    """The prompt that a message would make, and all that led to it."""

    scope: PromptScope
    mode: ModeView
    policy: dict[str, Json]
    source_map: dict[str, Json]
    history_normalization: dict[str, Json]
    diagnostics: list[Diagnostic]
    trim_reasons: list[dict[str, Json]]
    excluded_sources: list[dict[str, Json]]
    section_stats: list[Json]
    limitations: list[str]
    prepared_turn: InspectedTurn
    governance: dict[str, Json]


class ModePatch(TypedDict):
    """A session's own prompt mode; null takes it away."""

    prompt_mode: Literal["compat_strict", "compat_plus", "native"] | None


class ModeView(TypedDict):
    """The prompt mode of a session and where it comes from; ``prompt_mode`` is the effective one."""

    prompt_mode: Literal["compat_strict", "compat_plus", "native"]
    session_prompt_mode: Literal["compat_strict", "compat_plus", "native"] | None
    effective_prompt_mode: Literal["compat_strict", "compat_plus", "native"]
    default_prompt_mode: Literal["compat_strict", "compat_plus", "native"]
    legacy_fallback: bool
    source: Literal["session", "legacy_metadata", "default"]


class NamedDifference(TypedDict):
    """Something with a name that one of two prompts has, or both in another way: ``left`` and ``right`` are all that
    is known of it.
    """

    path: str
    change_type: Literal["added", "removed", "changed"]
    left: NotRequired[Json]
    right: NotRequired[Json]
    name: NotRequired[str]


class PolicyEnvelope(TypedDict):
    """A stored policy: how often it was written, when last (milliseconds since 1970) and by which account."""

    version: int
    updated_at: int
    updated_by: str | None
    value: dict[str, Json]


class PolicyPatch(TypedDict):
    """What to change of a policy: objects are merged into what is there, null takes away. At least one section."""

    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    budget: NotRequired[Prompt_runtimeBudgetForm | None]
    source_selection: NotRequired[SelectionForm | None]
    visibility: NotRequired[VisibilityForm | None]


class PolicyView(TypedDict):
    """What a session or a branch keeps, and what it comes to together with what lies below."""

    persistent_policy: dict[str, Json]
    persistent_policy_envelope: PolicyEnvelope | None
    resolved_policy: dict[str, Json]
    warnings: list[str]


class PreparePhase(TypedDict):
    """A step of the way to the prompt."""

    phase: Literal["conversation_resolve", "source_resolve", "assemble", "materialize", "inspect"]
    detail: dict[str, Json]


class PreviewForm(TypedDict):
    """A text whose macros are to be replaced."""

    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    budget: NotRequired[Prompt_runtimeBudgetForm | None]
    source_selection: NotRequired[SelectionForm | None]
    visibility: NotRequired[VisibilityForm | None]
    branch_id: NotRequired[str | None]
    source_floor_id: NotRequired[str | None]
    text: str


class PreviewedText(TypedDict):
    """A text with its macros replaced. ``runtime_trace`` has ``macro``, ``source_selection``, ``visibility`` and
    ``history_normalization``.
    """

    scope: PromptScope
    policy: dict[str, Json]
    source_map: dict[str, Json]
    text: str
    runtime_trace: dict[str, Json]
    memory: dict[str, Json]
    diagnostics: list[Diagnostic]
    limitations: list[str]


class PromptComparison(TypedDict):
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


class PromptDifference(TypedDict):
    """A path at which two prompts differ: ``added`` has no ``left``, ``removed`` no ``right``."""

    path: str
    change_type: Literal["added", "removed", "changed"]
    left: NotRequired[Json]
    right: NotRequired[Json]


class PromptScope(TypedDict):
    """For which branch a prompt is, and whose history it reads. A branch that does not exist yet reads that of its
    source floor's branch, or main's.
    """

    session_id: str
    target_branch_id: str
    branch_exists: bool
    source_floor_id: str | None
    history_source_branch_id: str
    history_source_mode: Literal["existing_branch", "main_fallback", "source_floor_branch"]


class RuntimeState(TypedDict):
    """By which rules the next prompt of a branch is assembled."""

    scope: PromptScope
    mode: ModeView
    policy: dict[str, Json]
    persistent_policy: dict[str, Json]
    persistent_policy_envelope: PolicyEnvelope | None
    branch_persistent_policy: dict[str, Json] | None
    branch_persistent_policy_envelope: PolicyEnvelope | None
    assets: AssetsView
    source_map: dict[str, Json]
    warnings: list[str]
    diagnostics: list[Diagnostic]
    limitations: NotRequired[list[str]]


class StateWrite(TypedDict):
    """One write to the session's state."""

    namespace: str
    slot: str
    operation: Literal["set", "delete"]


class StateWrites(TypedDict):
    """What the turn would write to the session's state."""

    total: NotRequired[int]
    writes: NotRequired[list[StateWrite]]


class VersionedAsset(TypedDict):
    """Something that a prompt is made of, in the version that counts."""

    id: str
    name: str
    version_id: str
    version_no: int
    content_hash: str
