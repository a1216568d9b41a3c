"""The shapes of MCP servers over HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from agentui.chats.codes import failure
from agentui.jsonio import Json
from agentui.mcp.records import (
    HIDDEN,
    Endpoint,
    McpServer,
    Program,
    ServerStatus,
    Settings,
    Source,
    ToolDefinition,
    ToolOverride,
    Transport,
)
from agentui.redaction import mask_url
from agentui.schemas.forms import NO_NUL, Form, ListQuery, Patch, QueryBool
from agentui.secrets.origins import origin_of
from agentui.tools.tool import CallerSlot, ReplaySafety, SideEffect
from agentui.tools.vars.errors import InvalidVariable
from agentui.tools.vars.record import MAX_DESC
from agentui.tools.vars.rules import MAX_DECLARED, MAX_RULE, SkillRule, check_rule

MAX_TEXT = 10_000

Name = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Text = Annotated[str, Field(max_length=MAX_TEXT), NO_NUL]
Texts = Annotated[dict[Annotated[str, Field(min_length=1, max_length=200), NO_NUL], Text], Field(max_length=100)]
Slots = Annotated[list[CallerSlot], Field(min_length=1, max_length=4)]


class ProgramForm(Form):
    """A server that is started here."""

    command: Annotated[str, Field(min_length=1, max_length=MAX_TEXT), NO_NUL]
    args: list[Text] = Field(default_factory=list, max_length=200)
    env: Texts = Field(default_factory=dict)
    cwd: Text | None = None


class EndpointForm(Form):
    """A server that is reached over HTTP."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_TEXT), NO_NUL]
    headers: Texts = Field(default_factory=dict)


class ParameterSchema(Form):
    """A tool's parameters as JSON Schema."""

    type: Literal["object"]
    properties: dict[str, Json] = Field(default_factory=dict)
    required: list[str] = Field(default_factory=list)


class OverrideForm(Form):
    """What the operator says of one tool."""

    tool_name: Name
    side_effect_level: SideEffect | None = None
    allowed_slots: Slots | None = None
    parameter_schema: ParameterSchema | None = None
    replay_safety: ReplaySafety | None = None

    @property
    def override(self) -> ToolOverride:
        """The same for the store."""
        schema = None if self.parameter_schema is None else self.parameter_schema.model_dump()
        return ToolOverride(self.tool_name, self.side_effect_level, self.allowed_slots, schema, self.replay_safety)


class RuleForm(Form):
    """A skill rule that a server's tools come with."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    desc: Annotated[str, Field(min_length=1, max_length=MAX_DESC), NO_NUL]
    prompt: Annotated[str, Field(min_length=1, max_length=MAX_RULE), NO_NUL]
    when: Annotated[str, Field(max_length=MAX_DESC), NO_NUL] = ""
    always_load: bool = False

    @model_validator(mode="after")
    def _is_rule(self) -> Self:
        try:
            check_rule(self.rule)
        except InvalidVariable as error:
            raise ValueError(error.message) from None
        return self

    @property
    def rule(self) -> SkillRule:
        """The same for the store."""
        return SkillRule(self.name, self.desc, self.prompt, self.when, self.always_load)


class _Use(Form):
    tool_prefix: Annotated[str, Field(max_length=50, pattern=r"^[A-Za-z0-9_-]*$")] | None = None
    connect_timeout_ms: int = Field(30_000, ge=1000, le=300_000)
    call_timeout_ms: int = Field(60_000, ge=1000, le=600_000)
    tool_refresh_interval_ms: int = Field(0, ge=0, le=3_600_000)
    default_side_effect_level: SideEffect = "irreversible"
    metadata_overrides: list[OverrideForm] = Field(default_factory=list, max_length=500)
    skill_rules: list[RuleForm] = Field(default_factory=list, max_length=MAX_DECLARED)

    def settings(self, before: Settings) -> Settings:
        """How the server is to be used: what the form names over ``before``."""
        named = {name: getattr(self, name) for name in self.model_fields_set & set(_Use.model_fields)}
        if "metadata_overrides" in named:
            named["metadata_overrides"] = tuple(override.override for override in self.metadata_overrides)
        if "skill_rules" in named:
            named["skill_rules"] = tuple(form.rule for form in self.skill_rules)
        return replace(before, **named)


class NewMcpServer(_Use):
    """A server to configure: ``stdio`` or ``http`` as ``transport`` says."""

    name: Name
    transport: Transport
    stdio: ProgramForm | None = None
    http: EndpointForm | None = None
    enabled: bool = True

    @model_validator(mode="after")
    def _says_how(self) -> Self:
        if (self.stdio if self.transport == "stdio" else self.http) is None:
            raise ValueError(f"a server with transport {self.transport} needs {self.transport}")
        return self


class McpServerPatch(_Use, Patch):
    """What to change of a server. A value *** of env and headers stays as it is."""

    name: Name | None = None
    transport: Transport | None = None
    stdio: ProgramForm | None = None
    http: EndpointForm | None = None


class McpApproval(Form):
    """Which tools models may be offered from now on, by their names at the server; null: all that it has."""

    tools: list[Name] | None = Field(None, max_length=500)


class McpToggle(Form):
    """Whether a server is to be on."""

    enabled: bool


class McpQuery(ListQuery):
    """Which servers, in which order."""

    enabled: QueryBool | None = Field(None, description="true or false: only servers that are on, or off.")
    sort_by: Literal["created_at", "name"] = Field("created_at", description="created_at or name.")


def reached_by(
    transport: Transport, stdio: ProgramForm | None, http: EndpointForm | None, before: McpServer | None
) -> Program | Endpoint | None:
    """How a server is reached: as the form says, with the hidden values of ``before``; None where nobody says.

    Raises 400 ``validation_error`` where a hidden header would go to another origin than so far: whoever may change an
    address would learn it there.
    """
    if transport == "stdio":
        program = None if before is None else before.stdio
        if stdio is None:
            return program
        env = _unhidden(stdio.env, {} if program is None else program.env)
        return Program(stdio.command, stdio.args, env, stdio.cwd)
    endpoint = None if before is None else before.http
    if http is None:
        return endpoint
    if endpoint is None:
        return Endpoint(http.url, http.headers)
    url = endpoint.url if http.url == mask_url(endpoint.url) else http.url
    if url != endpoint.url and HIDDEN in http.headers.values() and origin_of(url) != origin_of(endpoint.url):
        raise failure(
            "validation_error",
            "Hidden headers stay with the server that they were written for: write their values anew for another address.",
            field="http.headers",
        )
    return Endpoint(url, _unhidden(http.headers, endpoint.headers))


def _unhidden(values: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: before.get(name, value) if value == HIDDEN else value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class McpServerShown:
    """A server without the values of its environment and headers."""

    id: str
    name: str
    source: Source
    transport: Transport
    stdio: Program | None
    http: Endpoint | None
    tool_prefix: str | None
    connect_timeout_ms: int
    call_timeout_ms: int
    tool_refresh_interval_ms: int
    default_side_effect_level: SideEffect
    metadata_overrides: list[ToolOverride]
    skill_rules: list[SkillRule]
    enabled: bool
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, server: McpServer) -> "McpServerShown":
        """What may be shown of a server."""
        stdio, http, use = server.stdio, server.http, server.settings
        return cls(
            id=server.id,
            name=server.name,
            source=server.source,
            transport=server.transport,
            stdio=None if stdio is None else Program(stdio.command, stdio.args, _hidden(stdio.env), stdio.cwd),
            http=None if http is None else Endpoint(mask_url(http.url), _hidden(http.headers)),
            tool_prefix=use.tool_prefix,
            connect_timeout_ms=use.connect_timeout_ms,
            call_timeout_ms=use.call_timeout_ms,
            tool_refresh_interval_ms=use.tool_refresh_interval_ms,
            default_side_effect_level=use.default_side_effect_level,
            metadata_overrides=list(use.metadata_overrides),
            skill_rules=list(use.skill_rules),
            enabled=server.enabled,
            created_at=server.created_at,
            updated_at=server.updated_at,
        )


def _hidden(values: Mapping[str, str]) -> dict[str, str]:
    """The names, and values that only name a stored key."""
    return {name: value if value.startswith("[[SECRET:") and value.endswith("]]") else HIDDEN for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class McpTrial:
    """What a trial connection found."""

    status: ServerStatus
    tools: list[ToolDefinition]
