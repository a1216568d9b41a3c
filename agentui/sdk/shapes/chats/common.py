"""What the server speaks of: chats, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class DebugOptions(TypedDict):
    """What a turn tells of its prompt, beside its answer."""

    include_prompt_snapshot: NotRequired[bool]
    include_runtime_trace: NotRequired[bool]
    include_worldbook_matches: NotRequired[bool]


class DeliveryForm(TypedDict):
    """What must hold of the messages that are sent."""

    allow_assistant_prefill: NotRequired[bool | None]
    require_last_user: NotRequired[bool | None]
    no_assistant: NotRequired[bool | None]


class EffectiveProfile(TypedDict):
    """The narrator's profile: bound for all chats of the workspace, or in the session; null where none serves it."""

    source: Literal["workspace", "session"]
    profileId: str | None
    override: NotRequired[None]


class FloorResult(TypedDict):
    """What a committed floor came to. ``usage`` counts tokens."""

    floor_id: str
    output_page_id: str | None
    assistant_message_id: str | None
    generated_text: str
    summaries: list[str]
    usage: dict[str, int]
    verifier: Json
    committed_at: int


class GenerationParams(TypedDict):
    """How the model is asked; what is not said here is the session's, then the model's own."""

    temperature: NotRequired[float | None]
    max_output_tokens: NotRequired[int | None]
    top_p: NotRequired[float | None]
    top_k: NotRequired[int | None]
    min_p: NotRequired[float | None]
    repetition_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    n: NotRequired[int | None]
    logit_bias: NotRequired[dict[str, Json] | None]
    banned_strings: NotRequired[list[str] | None]
    stop_sequences: NotRequired[list[str] | None]
    stream: NotRequired[bool | None]
    reasoning_effort: NotRequired[Literal["low", "medium", "high"] | None]


class HistoryForm(TypedDict):
    """How much of the history may come in."""

    mode: NotRequired[Literal["full", "windowed"] | None]
    max_messages: NotRequired[int | None]


class McpBindings(TypedDict):
    """All MCP servers of the account are offered."""

    source: NotRequired[Literal["workspace"]]
    bindings: NotRequired[list[Json]]


class Prompt_runtimeBudgetForm(TypedDict):
    """The context window, and what of it is kept free for the reply, in tokens."""

    max_input_tokens: NotRequired[int | None]
    reserved_completion_tokens: NotRequired[int | None]


class RangeForm(TypedDict):
    """Floors by their numbers, in either order."""

    start_floor_no: int
    end_floor_no: int


class Respond(TypedDict):
    """A turn that was committed, or a ``draft`` of what the user may say next (``prompt_intent`` ``impersonate``),
    which has no floor. ``branch_id`` and the members behind ``final_state`` stand there where a route says so.
    """

    floor_id: NotRequired[str]
    floor_no: NotRequired[int]
    branch_id: str
    generated_text: str
    summaries: list[str]
    total_usage: dict[str, int]
    final_state: Literal["committed", "draft"]
    verifier: NotRequired[Json]
    previous_floor_id: NotRequired[str | None]
    source_floor_id: NotRequired[str | None]
    source_message_id: NotRequired[str | None]
    prompt_snapshot: NotRequired[Json]
    runtime_trace: NotRequired[Json]


class SelectionForm(TypedDict):
    """Which sources may come in."""

    history: NotRequired[HistoryForm | None]
    memory: NotRequired[SwitchForm | None]
    worldbook: NotRequired[SwitchForm | None]
    examples: NotRequired[SwitchForm | None]


class StateWriteForm(TypedDict):
    """One write of a turn: a value, or ``delete``."""

    namespace: str
    slot: str
    value: NotRequired[Json]
    delete: NotRequired[Literal[True] | None]


class StructureForm(TypedDict):
    """Which shape the messages get; names its mode."""

    mode: Literal["default", "strict_alternating", "no_assistant", "flattened"]
    merge_adjacent_same_role: NotRequired[bool | None]
    assistant_rewrite_strategy: NotRequired[Literal["to_system", "to_user_transcript"] | None]
    preserve_system_messages: NotRequired[bool | None]


class SwitchForm(TypedDict):
    """Whether a source may come in."""

    enabled: NotRequired[bool | None]


class ToolPolicies(TypedDict):
    """Projects have no policies of their own: what a session allows is told by ``/sessions/{id}/tool-permissions``."""

    overrides: NotRequired[list[Json]]


class TurnConfig(TypedDict):
    """Which parts of a turn are on."""

    enableTools: NotRequired[bool | None]
    enableDirector: NotRequired[bool | None]
    enableVerifier: NotRequired[bool | None]
    enableMemoryConsolidation: NotRequired[bool | None]
    toolMode: NotRequired[Literal["inline", "standalone", "both"] | None]
    verifierFailStrategy: NotRequired[Literal["warn", "block", "retry"] | None]
    maxRetries: NotRequired[int | None]


class VisibilityForm(TypedDict):
    """Which floors of the history are seen."""

    mode: NotRequired[Literal["allow_all_except_hidden", "deny_all_except_visible"] | None]
    hidden_floor_ranges: NotRequired[list[RangeForm] | None]
    visible_floor_ranges: NotRequired[list[RangeForm] | None]
    hidden_floor_ids: NotRequired[list[str] | None]
