"""The shapes of tools over HTTP: what sessions allow, what there is, and the calls that were made."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from agentui.chats.tools.executions import ExecutionFilter, ToolExecution
from agentui.jsonio import Json
from agentui.schemas.forms import NO_NUL, Form, Id, ListQuery, Patch
from agentui.tools.builtin.variables import WriteIntent
from agentui.tools.execution import CommitOutcome, ExecutionStatus, LifecycleState
from agentui.tools.permissions import MAX_CALLS, MAX_STEPS
from agentui.tools.tool import CallerSlot, HostedTool, ProviderType, ReplaySafety, SideEffect

MAX_NAME = 200
MAX_LISTED = 1000
"""The longest list of tools that a session allows or denies a slot."""

RuntimeSource = Literal["builtin", "resource", "custom", "mcp"]
ToolName = Annotated[str, Field(min_length=1, max_length=MAX_NAME), NO_NUL]
ToolNames = Annotated[list[ToolName], Field(max_length=MAX_LISTED)]


class PermissionsForm(Form):
    """What models may do with tools in a session; what is left out follows the defaults. The lists hold names of tools,
    ``group:NAME``, ``mcp:SERVER`` or ``*``, by who calls."""

    enabled: bool | None = None
    max_calls_per_turn: int | None = Field(None, ge=1, le=MAX_CALLS)
    max_steps_per_generation: int | None = Field(None, ge=1, le=MAX_STEPS)
    allow_irreversible: bool | None = None
    default_write_intent: WriteIntent | None = None
    irreversible_allow_list: ToolNames | None = None
    slot_allow_list: dict[CallerSlot, ToolNames] | None = None
    slot_deny_list: dict[CallerSlot, ToolNames] | None = None


class PermissionsPatch(PermissionsForm, Patch):
    """What shall be otherwise; null takes away what was said."""


@dataclass(frozen=True, slots=True)
class PermissionsView:
    """What was said of tools in a session; nothing of what was never said."""

    enabled: bool
    max_calls_per_turn: int
    max_steps_per_generation: int
    allow_irreversible: bool
    default_write_intent: WriteIntent
    irreversible_allow_list: list[str]
    slot_allow_list: Mapping[str, list[str]]
    slot_deny_list: Mapping[str, list[str]]


class ToolTrial(Form):
    """Arguments to try a tool with."""

    arguments: dict[str, Json] = Field(default_factory=dict)
    allow_irreversible: bool = Field(False, description="Whether a tool that cannot be undone may be called, this once.")


class TrialForm(ToolTrial):
    """Which tool to try, and the chat whose variables and character it sees."""

    name: ToolName = Field(description="What models call it.")
    session_id: Id | None = Field(None, description="The chat; without one there are no variables and no character.")
    branch_id: Id | None = Field(None, description="A branch of that chat, main without.")


@dataclass(frozen=True, slots=True)
class ToolTried:
    """How a trial ended. ``text`` is what a model would have been told, ``result`` the value that a record would hold."""

    status: ExecutionStatus
    error_code: str | None
    text: str
    result: Json
    is_truncated: bool
    duration_ms: float | None


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool as callers see it. ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    group: str
    provider_type: ProviderType
    provider_id: str
    side_effect_level: SideEffect
    replay_safety: ReplaySafety
    allowed_slots: list[CallerSlot]
    timeout_ms: int
    annotations: Mapping[str, bool]
    """What its MCP server says of it, by the protocol's names; of others nothing."""

    @classmethod
    def of(cls, tool: HostedTool) -> Self:
        """A tool to be shown."""
        return cls(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            group=tool.group,
            provider_type=tool.provider_type,
            provider_id=tool.provider_id,
            side_effect_level=tool.side_effect,
            replay_safety=tool.replays,
            allowed_slots=sorted(tool.slots),
            timeout_ms=round(tool.timeout * 1000),
            annotations=tool.annotations,
        )


@dataclass(frozen=True, slots=True)
class CatalogTool(ToolView):
    """A tool of a session's turns. ``refusal`` says why the slot may not call it, null where it may."""

    is_allowed: bool
    refusal: str | None


@dataclass(frozen=True, slots=True)
class RuntimeTool:
    """A tool of a session's turns as the kit of the memory's API knows it. Every tool answers within its turn, so the last
    three never vary."""

    name: str
    provider_type: ProviderType
    provider_id: str
    source: RuntimeSource
    side_effect_level: SideEffect
    replay_safety: ReplaySafety
    allowed_slots: list[CallerSlot]
    availability: Literal["available", "unavailable"]
    availability_reason: str | None
    catalog_source: Literal["live"] | None
    async_capability: Literal["inline_only"] = "inline_only"
    default_delivery_mode: Literal["inline"] = "inline"
    result_visibility: Literal["immediate"] = "immediate"

    @classmethod
    def of(cls, tool: HostedTool, refusal: str | None) -> Self:
        """A tool, and why it may not be called."""
        return cls(
            name=tool.name,
            provider_type=tool.provider_type,
            provider_id=tool.provider_id,
            source=_source(tool),
            side_effect_level=tool.side_effect,
            replay_safety=tool.replays,
            allowed_slots=sorted(tool.slots),
            availability="available" if refusal is None else "unavailable",
            availability_reason=refusal,
            catalog_source="live" if tool.provider_type == "mcp" else None,
        )


@dataclass(frozen=True, slots=True)
class RuntimeCatalog:
    """The tools of a session's turns at one moment (``generated_at``, milliseconds since 1970). No two tools have one name
    here, so there are no ``conflicts``."""

    session_id: str
    generated_at: int
    tools: list[RuntimeTool]
    conflicts: list[Json]


def _source(tool: HostedTool) -> RuntimeSource:
    """Where a tool comes from, told finer than by its provider."""
    if tool.provider_type == "mcp":
        return "mcp"
    if tool.provider_type == "preset":
        return "custom"
    return "resource" if tool.group in ("library", "library_writing") else "builtin"


class CatalogQuery(Form):
    """For whom the tools are listed."""

    caller_slot: CallerSlot = Field("narrator", description="For the narrator, director, verifier or memory.")


class FloorCallQuery(ListQuery):
    """Which calls of the tools of one floor."""

    sort_by: Literal["created_at", "started_at", "finished_at"] = Field("created_at", description="What the list is sorted by.")
    session_id: Id | None = Field(None, description="Of this session.")
    run_id: Id | None = Field(None, description="Of this run.")
    caller_slot: CallerSlot | None = Field(None, description="Made by the narrator, director, verifier or memory.")
    tool_name: Id | None = Field(None, description="Of this tool.")
    status: ExecutionStatus | None = Field(None, description="That went like this.")
    lifecycle_state: LifecycleState | None = Field(None, description="opened or finished.")
    commit_outcome: CommitOutcome | None = Field(None, description="What became of them with their turn.")
    provider_type: ProviderType | None = Field(None, description="Of tools that come from there.")

    def of_floor(self, floor_id: str | None) -> ExecutionFilter:
        """The calls that are meant, on this floor or on any."""
        return ExecutionFilter(
            session_id=self.session_id,
            floor_id=floor_id,
            run_id=self.run_id,
            caller_slot=self.caller_slot,
            tool_name=self.tool_name,
            status=self.status,
            lifecycle_state=self.lifecycle_state,
            commit_outcome=self.commit_outcome,
            provider_type=self.provider_type,
        )


class CallQuery(FloorCallQuery):
    """Which calls of tools."""

    floor_id: Id | None = Field(None, description="Of this floor.")

    @model_validator(mode="after")
    def _names_a_place(self) -> Self:
        if self.session_id is None and self.floor_id is None and self.run_id is None:
            raise ValueError("name a session_id, a floor_id or a run_id")
        return self

    @property
    def wanted(self) -> ExecutionFilter:
        """The calls that are meant."""
        return self.of_floor(self.floor_id)


class RecordQuery(ListQuery):
    """Which calls of tools, in the order in which they were made."""

    sort_by: Literal["seq", "created_at"] = Field("created_at", description="What the list is sorted by.")
    page_id: Id | None = Field(None, description="Of the turn with this input page.")
    floor_id: Id | None = Field(None, description="Of this floor.")
    caller_slot: CallerSlot | None = Field(None, description="Made by the narrator, director, verifier or memory.")
    status: Literal["success", "error", "denied"] | None = Field(None, description="That went like this.")

    @property
    def wanted(self) -> ExecutionFilter:
        """The calls that are meant."""
        return ExecutionFilter(page_id=self.page_id, floor_id=self.floor_id, caller_slot=self.caller_slot, status=self.status)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call of a tool in short: what was asked, and what came of it."""

    id: str
    floor_id: str
    page_id: str
    seq: int
    caller_slot: CallerSlot
    tool_name: str
    args: Json
    result: Json
    status: ExecutionStatus
    error_message: str | None
    duration_ms: float | None
    created_at: int

    @classmethod
    def of(cls, call: ToolExecution) -> Self:
        """A call in short."""
        return cls(**{field.name: getattr(call, field.name) for field in fields(cls)})
