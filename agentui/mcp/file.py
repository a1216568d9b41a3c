"""``mcp.json`` in the data folder: the MCP servers that the operator configured, in the form that desktop clients use.

    {"mcpServers": {"files": {"command": "npx", "args": ["server"]}, "search": {"url": "https://...", "headers": {}}}}

Beside these a server may have ``cwd``, ``disabled`` and the fields of ``Settings``.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agentui.jsonio import InvalidJson, loads
from agentui.mcp.records import Endpoint, Program, Settings, ToolOverride
from agentui.tools.tool import SideEffect
from agentui.tools.vars.errors import InvalidVariable
from agentui.tools.vars.rules import MAX_DECLARED, SkillRule, check_rule

NAME = "mcp.json"
MAX_FILE = 1024 * 1024

Configured = dict[str, tuple[Program | Endpoint, Settings, bool]]
"""By name: how a server is reached, how it is used, and whether it is on."""


class _Server(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    tool_prefix: str | None = Field(None, max_length=50)
    connect_timeout_ms: int = Field(30_000, ge=1000, le=300_000)
    call_timeout_ms: int = Field(60_000, ge=1000, le=600_000)
    tool_refresh_interval_ms: int = Field(0, ge=0, le=3_600_000)
    default_side_effect_level: SideEffect = "irreversible"
    metadata_overrides: list[ToolOverride] = []
    skill_rules: list[SkillRule] = Field([], max_length=MAX_DECLARED)
    for_all_accounts: bool = False

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> "_Server":
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either command or url")
        for rule in self.skill_rules:
            try:
                check_rule(rule)
            except InvalidVariable as error:
                raise ValueError(f"skill_rules: {error.message}") from None
        return self

    def configured(self) -> tuple[Program | Endpoint, Settings, bool]:
        reached: Program | Endpoint
        if self.command is not None:
            reached = Program(self.command, self.args, self.env, self.cwd)
        else:
            assert self.url is not None
            reached = Endpoint(self.url, self.headers)
        settings = Settings(
            self.tool_prefix,
            self.connect_timeout_ms,
            self.call_timeout_ms,
            self.tool_refresh_interval_ms,
            self.default_side_effect_level,
            tuple(self.metadata_overrides),
            tuple(self.skill_rules),
            self.for_all_accounts,
        )
        return reached, settings, not self.disabled


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    mcpServers: dict[Annotated[str, Field(min_length=1, max_length=200)], _Server] = Field({}, max_length=100)


def read_file(folder: Path) -> Configured:
    """The servers of the folder's file; none where there is no file. Raises ValueError saying where it is wrong, without
    repeating values: they may be secrets."""
    path = folder / NAME
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE + 1)
    except FileNotFoundError:
        return {}
    if len(raw) > MAX_FILE:
        raise ValueError(f"{path} is larger than {MAX_FILE} bytes")
    try:
        parsed = _File.model_validate(loads(raw))
    except InvalidJson as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ValueError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return {name: server.configured() for name, server in parsed.mcpServers.items()}
