"""What the server speaks of: tools, tools."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class CallRecord(TypedDict):
    """A call of a tool in short: what was asked, and what came of it."""

    id: str
    floor_id: str
    page_id: str
    seq: int
    caller_slot: Literal["narrator", "director", "verifier", "memory"]
    tool_name: str
    args: Json
    result: Json
    status: Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]
    error_message: str | None
    duration_ms: float | None
    created_at: int


class CatalogTool(TypedDict):
    """A tool of a session's turns. ``refusal`` says why the slot may not call it, null where it may."""

    name: str
    description: str
    parameters: dict[str, Json]
    group: str
    provider_type: Literal["builtin", "preset", "mcp", "unknown"]
    provider_id: str
    side_effect_level: Literal["none", "sandbox", "irreversible"]
    replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    allowed_slots: list[Literal["narrator", "director", "verifier", "memory"]]
    timeout_ms: int
    annotations: dict[str, bool]
    is_allowed: bool
    refusal: str | None


class Definition(TypedDict):
    """A defined tool. ``parameters`` is the JSON Schema of its arguments; no ``allowed_slots`` are all. ``source`` and
    ``source_id`` only say where it came from.
    """

    id: str
    name: str
    description: str
    parameters: dict[str, Json]
    side_effect_level: Literal["none", "sandbox", "irreversible"]
    allowed_slots: list[Literal["narrator", "director", "verifier", "memory"]]
    source: Literal["preset", "character", "custom"]
    source_id: str | None
    enabled: bool
    handler_type: Literal["http", "pipeline"]
    handler: HttpHandler | PipelineHandler
    created_at: int
    updated_at: int


class DefinitionPatch(TypedDict):
    """What to change of a defined tool; ``handler`` is said anew as a whole."""

    name: NotRequired[str]
    description: NotRequired[str]
    parameters: NotRequired[dict[str, Json]]
    side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"]]
    allowed_slots: NotRequired[list[Literal["narrator", "director", "verifier", "memory"]]]
    source: NotRequired[Literal["preset", "character", "custom"]]
    source_id: NotRequired[str | None]
    enabled: NotRequired[bool]
    handler_type: NotRequired[Literal["script", "http", "pipeline"]]
    handler: NotRequired[dict[str, Json]]


class DefinitionToggle(TypedDict):
    """Whether a tool is to be offered."""

    enabled: bool


class HttpHandler(TypedDict):
    """A request that is sent with the arguments of a call put into its templates, which see them as ``args``. ``url``
    has a host of its own, ``body`` is JSON with macros ("" for none). Times are milliseconds.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    headers: NotRequired[dict[str, str]]
    body: NotRequired[str]
    timeout_ms: NotRequired[int]
    max_response_bytes: NotRequired[int]


class NewDefinition(TypedDict):
    """A tool to define; without a ``side_effect_level`` only a GET and a pipeline have none."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, Json]]
    side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"] | None]
    allowed_slots: NotRequired[list[Literal["narrator", "director", "verifier", "memory"]]]
    source: NotRequired[Literal["preset", "character", "custom"]]
    source_id: NotRequired[str | None]
    enabled: NotRequired[bool]
    handler_type: NotRequired[Literal["script", "http", "pipeline"]]
    handler: NotRequired[dict[str, Json]]


class PermissionsForm(TypedDict):
    """What models may do with tools in a session; what is left out follows the defaults. The lists hold names of
    tools, ``group:NAME``, ``mcp:SERVER`` or ``*``, by who calls.
    """

    enabled: NotRequired[bool | None]
    max_calls_per_turn: NotRequired[int | None]
    max_steps_per_generation: NotRequired[int | None]
    allow_irreversible: NotRequired[bool | None]
    default_write_intent: NotRequired[Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"] | None]
    irreversible_allow_list: NotRequired[list[str] | None]
    slot_allow_list: NotRequired[dict[str, list[str]] | None]
    slot_deny_list: NotRequired[dict[str, list[str]] | None]


class PermissionsPatch(TypedDict):
    """What shall be otherwise; null takes away what was said."""

    enabled: NotRequired[bool | None]
    max_calls_per_turn: NotRequired[int | None]
    max_steps_per_generation: NotRequired[int | None]
    allow_irreversible: NotRequired[bool | None]
    default_write_intent: NotRequired[Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"] | None]
    irreversible_allow_list: NotRequired[list[str] | None]
    slot_allow_list: NotRequired[dict[str, list[str]] | None]
    slot_deny_list: NotRequired[dict[str, list[str]] | None]


class PermissionsView(TypedDict):
    """What was said of tools in a session; nothing of what was never said."""

    enabled: bool
    max_calls_per_turn: int
    max_steps_per_generation: int
    allow_irreversible: bool
    default_write_intent: Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"]
    irreversible_allow_list: list[str]
    slot_allow_list: dict[str, list[str]]
    slot_deny_list: dict[str, list[str]]


class PipelineHandler(TypedDict):
    """A run of a pipeline, whose templates see the arguments of a call as ``args``. ``input`` is a template of what
    the run's user says, "" for the arguments as JSON; ``model`` is for nodes that name none.
    """

    pipeline_id: str
    input: NotRequired[str]
    model: NotRequired[str | None]
    timeout_ms: NotRequired[int]


class ToolExecution(TypedDict):
    """A call of a tool as callers of the API see it (spec: tavern-api part 10). Moments are milliseconds since 1970;
    ``page_id`` is the turn's input page, ``seq`` counts the calls of a run from 0.
    """

    id: str
    execution_id: str
    run_id: str
    session_id: str
    branch_id: str
    floor_id: str
    page_id: str
    seq: int
    caller_slot: Literal["narrator", "director", "verifier", "memory"]
    provider_type: Literal["builtin", "preset", "mcp", "unknown"]
    provider_id: str
    tool_name: str
    args: Json
    result: Json
    delivery_mode: Literal["inline", "standalone"]
    status: Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]
    lifecycle_state: Literal["opened", "finished"]
    commit_outcome: Literal["pending", "committed", "discarded", "replay_blocked", "uncertain"]
    side_effect_level: Literal["none", "sandbox", "irreversible"]
    error_code: str | None
    error_message: str | None
    duration_ms: float | None
    created_at: int
    started_at: int
    finished_at: int | None
    attempt_no: int
    replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    replay_reason: str | None
    runtime_job: None
    policy: dict[str, Json]
    provenance: dict[str, Json]
    roundtrip: dict[str, Json]


class ToolTrial(TypedDict):
    """Arguments to try a tool with."""

    arguments: NotRequired[dict[str, Json]]
    allow_irreversible: NotRequired[bool]
    """Whether a tool that cannot be undone may be called, this once."""


class ToolTried(TypedDict):
    """How a trial ended. ``text`` is what a model would have been told, ``result`` the value that a record would hold."""

    status: Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]
    error_code: str | None
    text: str
    result: Json
    is_truncated: bool
    duration_ms: float | None


class ToolView(TypedDict):
    """A tool as callers see it. ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Json]
    group: str
    provider_type: Literal["builtin", "preset", "mcp", "unknown"]
    provider_id: str
    side_effect_level: Literal["none", "sandbox", "irreversible"]
    replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    allowed_slots: list[Literal["narrator", "director", "verifier", "memory"]]
    timeout_ms: int
    annotations: dict[str, bool]


class TrialForm(TypedDict):
    """Which tool to try, and the chat whose variables and character it sees."""

    arguments: NotRequired[dict[str, Json]]
    allow_irreversible: NotRequired[bool]
    """Whether a tool that cannot be undone may be called, this once."""
    name: str
    """What models call it."""
    session_id: NotRequired[str | None]
    """The chat; without one there are no variables and no character."""
    branch_id: NotRequired[str | None]
    """A branch of that chat, main without."""
