"""What the server speaks of: chats, sessions."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.chats.common import (
    DebugOptions,
    DeliveryForm,
    EffectiveProfile,
    GenerationParams,
    McpBindings,
    Prompt_runtimeBudgetForm,
    SelectionForm,
    StateWriteForm,
    StructureForm,
    ToolPolicies,
    TurnConfig,
    VisibilityForm,
)
from agentui.sdk.shapes.common import BatchResult


class ActiveRun(TypedDict):
    """The turn that a session generates right now."""

    branch_id: str
    busy: bool
    updated_at: int
    latest_floor_id: str
    active_run_id: str
    active_run_type: str
    public_phase: str


class CancelForm(TypedDict):
    """Which of the session's turns to stop; all without a branch."""

    branch_id: NotRequired[str | None]


class CharacterSync(TypedDict):
    """Whether a session whose policy is ``pin`` shall be brought up to date as well."""

    force: NotRequired[bool]


class DryRun(TypedDict):
    """The prompt that would be sent, and how it came about (agentui/prompt/report.py)."""

    messages: list[Json]
    token_estimate: int
    available_for_reply: int
    memory: Json
    memory_summary: str | None
    prompt_snapshot: Json
    assembly: Json
    runtime_trace: Json


class DryRunForm(TypedDict):
    """What the user would say; nothing without a ``message``."""

    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    budget: NotRequired[Prompt_runtimeBudgetForm | None]
    source_selection: NotRequired[SelectionForm | None]
    visibility: NotRequired[VisibilityForm | None]
    message: NotRequired[str | None]
    branch_id: NotRequired[str | None]
    source_floor_id: NotRequired[str | None]
    prompt_intent: NotRequired[Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]]
    debug_options: NotRequired[DebugOptions]


class EffectiveConfig(TypedDict):
    """What counts in a session."""

    sessionId: str
    projectId: str
    workspaceId: str
    llmProfile: EffectiveProfile
    slots: list[EffectiveSlot]
    toolPolicies: ToolPolicies
    mcp: McpBindings
    sessionOverrides: SessionOverrides


class EffectiveSlot(TypedDict):
    """What serves a slot and why, what was passed over for it, whether it acts, and the parameters that go with it."""

    slot: Literal["*", "narrator", "director", "verifier", "memory"]
    source: Literal["env", "global_profile", "session_profile"]
    profileId: str | None
    provider: str | None
    model: str | None
    reason: str
    skipped: list[PassedOver]
    enabled: bool
    presetId: str | None
    params: dict[str, Json]


class NewSession(TypedDict):
    """A session to be made; everything is optional."""

    name: NotRequired[str | None]
    title: NotRequired[str | None]
    character_id: NotRequired[str | None]
    character_version_id: NotRequired[str | None]
    character_sync_policy: NotRequired[Literal["pin", "manual", "force"] | None]
    character_snapshot: NotRequired[dict[str, Json] | None]
    user_id: NotRequired[str | None]
    user_snapshot: NotRequired[dict[str, Json] | None]
    project_id: NotRequired[str | None]
    preset_id: NotRequired[str | None]
    regex_profile_id: NotRequired[str | None]
    worldbook_profile_id: NotRequired[str | None]
    deep_binding: NotRequired[bool | None]
    preset_version_id: NotRequired[str | None]
    regex_profile_version_id: NotRequired[str | None]
    worldbook_version_id: NotRequired[str | None]
    model_provider: NotRequired[str | None]
    model_name: NotRequired[str | None]
    model_params: NotRequired[dict[str, Json] | None]
    prompt_mode: NotRequired[Literal["compat_strict", "compat_plus", "native"] | None]
    assemble: NotRequired[bool | None]
    pipeline_id: NotRequired[str | None]
    director_pipeline_id: NotRequired[str | None]
    verifier_pipeline_id: NotRequired[str | None]
    memory: NotRequired[Literal["on", "off", "incognito"] | None]
    metadata: NotRequired[dict[str, Json] | None]
    status: NotRequired[Literal["active", "archived"]]


class PassedOver(TypedDict):
    """A profile that is bound and cannot serve: the code or the status by which, and the warning that runs give of it."""

    profileId: str
    reason: str
    message: str


class RegenerateForm(TypedDict):
    """The newest floor of a branch, once more."""

    config: NotRequired[TurnConfig]
    generation_params: NotRequired[GenerationParams]
    debug_options: NotRequired[DebugOptions]
    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    session_state_writes: NotRequired[list[StateWriteForm]]
    confirmed_execution_ids: NotRequired[list[str]]
    confirmed_session_state_mutation_ids: NotRequired[list[str]]
    branch_id: NotRequired[str | None]


class RespondForm(TypedDict):
    """What the user says, and where. Without a ``message`` the character speaks again."""

    config: NotRequired[TurnConfig]
    generation_params: NotRequired[GenerationParams]
    debug_options: NotRequired[DebugOptions]
    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    session_state_writes: NotRequired[list[StateWriteForm]]
    message: NotRequired[str | None]
    branch_id: NotRequired[str | None]
    source_floor_id: NotRequired[str | None]
    prompt_intent: NotRequired[Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]]


class RuntimeCatalog(TypedDict):
    """The tools of a session's turns at one moment (``generated_at``, milliseconds since 1970). No two tools have one
    name here, so there are no ``conflicts``.
    """

    session_id: str
    generated_at: int
    tools: list[RuntimeTool]
    conflicts: list[Json]


class RuntimeTool(TypedDict):
    """A tool of a session's turns as the kit of the memory's API knows it. Every tool answers within its turn, so the
    last three never vary.
    """

    name: str
    provider_type: Literal["builtin", "preset", "mcp", "unknown"]
    provider_id: str
    source: Literal["builtin", "resource", "custom", "mcp"]
    side_effect_level: Literal["none", "sandbox", "irreversible"]
    replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    allowed_slots: list[Literal["narrator", "director", "verifier", "memory"]]
    availability: Literal["available", "unavailable"]
    availability_reason: str | None
    catalog_source: Literal["live"] | None
    async_capability: NotRequired[Literal["inline_only"]]
    default_delivery_mode: NotRequired[Literal["inline"]]
    result_visibility: NotRequired[Literal["immediate"]]


class SessionOverrides(TypedDict):
    """What the session says itself: the profile that is bound in it, by its id."""

    llmProfile: str | None


class SessionPatch(TypedDict):
    """What to change of a session; at least one field."""

    name: NotRequired[str | None]
    title: NotRequired[str | None]
    character_id: NotRequired[str | None]
    character_version_id: NotRequired[str | None]
    character_sync_policy: NotRequired[Literal["pin", "manual", "force"] | None]
    character_snapshot: NotRequired[dict[str, Json] | None]
    user_id: NotRequired[str | None]
    user_snapshot: NotRequired[dict[str, Json] | None]
    project_id: NotRequired[str | None]
    preset_id: NotRequired[str | None]
    regex_profile_id: NotRequired[str | None]
    worldbook_profile_id: NotRequired[str | None]
    deep_binding: NotRequired[bool | None]
    preset_version_id: NotRequired[str | None]
    regex_profile_version_id: NotRequired[str | None]
    worldbook_version_id: NotRequired[str | None]
    model_provider: NotRequired[str | None]
    model_name: NotRequired[str | None]
    model_params: NotRequired[dict[str, Json] | None]
    prompt_mode: NotRequired[Literal["compat_strict", "compat_plus", "native"] | None]
    assemble: NotRequired[bool | None]
    pipeline_id: NotRequired[str | None]
    director_pipeline_id: NotRequired[str | None]
    verifier_pipeline_id: NotRequired[str | None]
    memory: NotRequired[Literal["on", "off", "incognito"] | None]
    metadata: NotRequired[dict[str, Json] | None]
    status: NotRequired[Literal["active", "archived"]]


class SessionRun(TypedDict):
    """Whether a session generates right now."""

    session_id: str
    active_run: ActiveRun | None


class SessionScope(TypedDict):
    """Where a session belongs."""

    session_id: str
    account_id: str
    workspace_id: str
    project_id: str


class StatusBatch(TypedDict):
    """Sessions and the status that they get."""

    ids: list[str]
    status: Literal["active", "archived"]


class StatusMeta(TypedDict):
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: Literal["active", "archived"]


class StatusResults(TypedDict):
    """What became of every session of a batch."""

    results: list[BatchResult]
    meta: StatusMeta


class Stopped(TypedDict):
    """The turns of a session that were told to stop."""

    session_id: str
    stopped: list[StoppedRun]


class StoppedRun(TypedDict):
    """A turn that was told to stop."""

    branch_id: str
    floor_id: str
    run_id: str


class Timeline(TypedDict):
    """The committed floors of a branch."""

    session_id: str
    branch_id: str
    floors: list[TimelineFloor]


class TimelineActivePage(TypedDict):
    """An active page of the timeline."""

    id: str
    page_no: int
    page_kind: Literal["input", "output", "mixed"]
    version: int
    messages: list[TimelineMessage]


class TimelineFloor(TypedDict):
    """A floor of the timeline. ``active_page`` is there when exactly one page is active; ``messages`` are those of the
    active pages, in order.
    """

    id: str
    branch_id: str
    floor_no: int
    state: Literal["draft", "generating", "committed", "failed"]
    token_in: int
    token_out: int
    created_at: int
    pages: list[TimelinePage]
    active_pages: list[TimelineActivePage]
    active_page: TimelineActivePage | None
    messages: list[TimelineMessage]
    page_count: int


class TimelineMessage(TypedDict):
    """A message of the timeline; ``parts`` as ``Message`` has them."""

    id: str
    seq: int
    role: Literal["user", "assistant", "system", "narrator"]
    content: str
    content_format: Literal["text", "markdown", "json"]
    is_hidden: bool
    parts: NotRequired[list[Json] | None]


class TimelinePage(TypedDict):
    """A page of the timeline, active or not."""

    id: str
    page_no: int
    page_kind: Literal["input", "output", "mixed"]
    is_active: bool
    is_partial: bool
    version: int
    messages: list[TimelineMessage]
