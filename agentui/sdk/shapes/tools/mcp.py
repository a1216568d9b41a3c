"""What the server speaks of: tools, mcp."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class EndpointForm(TypedDict):
    """A server that is reached over HTTP."""

    url: str
    headers: NotRequired[dict[str, str]]


class McpApproval(TypedDict):
    """Which tools models may be offered from now on, by their names at the server; null: all that it has."""

    tools: NotRequired[list[str] | None]


class McpEndpoint(TypedDict):
    """A server that is reached over HTTP. Values of ``headers`` may be secrets."""

    url: str
    headers: NotRequired[dict[str, str]]


class McpServerPatch(TypedDict):
    """What to change of a server. A value *** of env and headers stays as it is."""

    tool_prefix: NotRequired[str | None]
    connect_timeout_ms: NotRequired[int]
    call_timeout_ms: NotRequired[int]
    tool_refresh_interval_ms: NotRequired[int]
    default_side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"]]
    metadata_overrides: NotRequired[list[OverrideForm]]
    skill_rules: NotRequired[list[RuleForm]]
    name: NotRequired[str | None]
    transport: NotRequired[Literal["stdio", "http"] | None]
    stdio: NotRequired[ProgramForm | None]
    http: NotRequired[EndpointForm | None]


class McpServerShown(TypedDict):
    """A server without the values of its environment and headers."""

    id: str
    name: str
    source: Literal["api", "file"]
    transport: Literal["stdio", "http"]
    stdio: Program | None
    http: McpEndpoint | None
    tool_prefix: str | None
    connect_timeout_ms: int
    call_timeout_ms: int
    tool_refresh_interval_ms: int
    default_side_effect_level: Literal["none", "sandbox", "irreversible"]
    metadata_overrides: list[ToolOverride]
    skill_rules: list[SkillRule]
    enabled: bool
    created_at: int
    updated_at: int


class McpToggle(TypedDict):
    """Whether a server is to be on."""

    enabled: bool


class McpTrial(TypedDict):
    """What a trial connection found."""

    status: ServerStatus
    tools: list[ToolDefinition]


class NewMcpServer(TypedDict):
    """A server to configure: ``stdio`` or ``http`` as ``transport`` says."""

    tool_prefix: NotRequired[str | None]
    connect_timeout_ms: NotRequired[int]
    call_timeout_ms: NotRequired[int]
    tool_refresh_interval_ms: NotRequired[int]
    default_side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"]]
    metadata_overrides: NotRequired[list[OverrideForm]]
    skill_rules: NotRequired[list[RuleForm]]
    name: str
    transport: Literal["stdio", "http"]
    stdio: NotRequired[ProgramForm | None]
    http: NotRequired[EndpointForm | None]
    enabled: NotRequired[bool]


class OverrideForm(TypedDict):
    """What the operator says of one tool."""

    tool_name: str
    side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"] | None]
    allowed_slots: NotRequired[list[Literal["narrator", "director", "verifier", "memory"]] | None]
    parameter_schema: NotRequired[ParameterSchema | None]
    replay_safety: NotRequired[Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"] | None]


class ParameterSchema(TypedDict):
    """A tool's parameters as JSON Schema."""

    type: Literal["object"]
    properties: NotRequired[dict[str, Json]]
    required: NotRequired[list[str]]


class Program(TypedDict):
    """A server that is started here and spoken to over its standard input and output. Values of ``env`` may be
    secrets.
    """

    command: str
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]
    cwd: NotRequired[str | None]


class ProgramForm(TypedDict):
    """A server that is started here."""

    command: str
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]
    cwd: NotRequired[str | None]


class RuleForm(TypedDict):
    """A skill rule that a server's tools come with."""

    name: str
    desc: str
    prompt: str
    when: NotRequired[str]
    always_load: NotRequired[bool]


class SeenTool(TypedDict):
    """A tool of a server. ``name`` is what models call, ``tool_name`` what its server does. One that is not
    ``available`` has a ``reason``. ``approval`` is how it stands to what somebody approved, ``annotations`` what
    its server says of it now.
    """

    name: str
    tool_name: str
    description: str
    parameters: dict[str, Json]
    side_effect_level: str
    allowed_slots: list[str]
    replay_safety: str
    available: bool
    reason: str | None
    approval: Literal["approved", "new", "changed", "gone"]
    annotations: dict[str, bool]


class ServerStatus(TypedDict):
    """How a server is doing in this process. Moments are milliseconds since 1970; ``next_attempt_at`` is when it may
    be tried again after it failed.
    """

    server_id: str
    name: str
    status: Literal["disabled", "disconnected", "connecting", "connected", "error"]
    tool_count: int
    connected_at: int | None
    last_error: str | None
    next_attempt_at: int | None
    server_name: str | None
    server_version: str | None
    protocol_version: str | None


class SkillRule(TypedDict):
    """One rule: ``desc`` says in a sentence what it is, ``prompt`` is the whole of it in Markdown. One with
    ``always_load`` stands in every system prompt.
    """

    name: str
    desc: str
    prompt: str
    when: NotRequired[str]
    always_load: NotRequired[bool]


class ToolDefinition(TypedDict):
    """A tool as its server tells of it. ``annotations`` are those of MCP's hints that it says anything of
    (``readOnlyHint``, ``destructiveHint``, ``idempotentHint``, ``openWorldHint``). They count only where somebody
    approved the tool with them; None in a tool that was approved before they were read.
    """

    name: str
    description: str
    parameters: dict[str, Json]
    annotations: NotRequired[dict[str, bool] | None]


class ToolOverride(TypedDict):
    """What the operator says of a tool over what its server says; None stays as it is."""

    tool_name: str
    side_effect_level: NotRequired[Literal["none", "sandbox", "irreversible"] | None]
    allowed_slots: NotRequired[list[Literal["narrator", "director", "verifier", "memory"]] | None]
    parameter_schema: NotRequired[dict[str, Json] | None]
    replay_safety: NotRequired[Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"] | None]
