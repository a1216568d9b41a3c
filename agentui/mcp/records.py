"""An MCP server as it is configured, and a tool of one as it was approved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentui.jsonio import Json
from agentui.tools.tool import CallerSlot, ReplaySafety, SideEffect
from agentui.tools.vars.rules import SkillRule

Transport: TypeAlias = Literal["stdio", "http"]
Source: TypeAlias = Literal["api", "file"]
"""Who configured a server: somebody through the API, or the operator's file."""

State: TypeAlias = Literal["disabled", "disconnected", "connecting", "connected", "error"]

HIDDEN = "***"
"""What stands for a value that is not shown; sent back, it leaves the value as it is."""


@dataclass(frozen=True, slots=True)
class Program:
    """A server that is started here and spoken to over its standard input and output. Values of ``env`` may be secrets."""

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that is reached over HTTP. Values of ``headers`` may be secrets."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ToolOverride:
    """What the operator says of a tool over what its server says; None stays as it is."""

    tool_name: str
    side_effect_level: SideEffect | None = None
    allowed_slots: Sequence[CallerSlot] | None = None
    parameter_schema: Mapping[str, Json] | None = None
    replay_safety: ReplaySafety | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as its server tells of it.

    ``annotations`` are those of MCP's hints that it says anything of (``readOnlyHint``, ``destructiveHint``,
    ``idempotentHint``, ``openWorldHint``). They count only where somebody approved the tool with them; None in a tool that was
    approved before they were read.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    annotations: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server is used. Times are milliseconds; a refresh interval of 0 never looks again by itself.

    What a tool of somebody else's program leaves behind is not known, so its side effects count as irreversible where neither
    the operator nor its server says otherwise. ``for_all_accounts`` says of a server of the operator's file that every account
    may call its tools, by a connection of its own.
    """

    tool_prefix: str | None = None
    connect_timeout_ms: int = 30_000
    call_timeout_ms: int = 60_000
    tool_refresh_interval_ms: int = 0
    default_side_effect_level: SideEffect = "irreversible"
    metadata_overrides: Sequence[ToolOverride] = ()
    skill_rules: Sequence[SkillRule] = ()
    for_all_accounts: bool = False


@dataclass(frozen=True, slots=True)
class McpServer:
    """A configured server of ``account``. ``approved`` are the tools that it had when somebody last connected to it on
    purpose, None before that; only these are offered, as they were then."""

    id: str
    account: str
    name: str
    source: Source
    transport: Transport
    stdio: Program | None
    http: Endpoint | None
    settings: Settings
    enabled: bool
    approved: tuple[ToolDefinition, ...] | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server is doing in this process. Moments are milliseconds since 1970; ``next_attempt_at`` is when it may be tried
    again after it failed."""

    server_id: str
    name: str
    status: State
    tool_count: int
    connected_at: int | None
    last_error: str | None
    next_attempt_at: int | None
    server_name: str | None
    server_version: str | None
    protocol_version: str | None
