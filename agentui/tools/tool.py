"""A tool that this server runs itself when a model calls it, and what a call of one gives back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from agentui.chat.request import Tool
from agentui.jsonio import Json
from agentui.principal import Principal
from agentui.tools.vars.rules import SkillRule

SideEffect: TypeAlias = Literal["none", "sandbox", "irreversible"]
"""What a call leaves behind: nothing; something that goes away with a failed turn; something that nobody takes back."""
ReplaySafety: TypeAlias = Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
"""Whether a call may be made once more when its turn is generated again."""
CallerSlot: TypeAlias = Literal["narrator", "director", "verifier", "memory"]
"""Who in a turn calls: the one who answers, or one of its advisers."""
ProviderType: TypeAlias = Literal["builtin", "preset", "mcp", "unknown"]
"""Where a tool comes from: this program, a definition of a user's, an MCP server."""

ALL_SLOTS: frozenset[CallerSlot] = frozenset(("narrator", "director", "verifier", "memory"))
DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call happens: in whose name, the chat's ids ("" without a chat), the run, and who calls. ``hops`` are the
    servers of agentui that the caller's request has passed, this one counted."""

    principal: Principal
    run_id: str
    session_id: str = ""
    branch_id: str = ""
    floor_id: str = ""
    page_id: str = ""
    caller_slot: CallerSlot = "narrator"
    node_id: str = ""
    hops: int = 1

    @property
    def account(self) -> str:
        """The account whose data alone the call reaches."""
        return self.principal.account

    def at(self, other: "CallPlace") -> "CallPlace":
        """The same place of the chat in the run, the node and the request of another."""
        return replace(self, run_id=other.run_id, node_id=other.node_id, hops=other.hops)


@dataclass(frozen=True, slots=True)
class ToolCallContext:
    """What a handler is told of the call that it serves. ``execution_id`` is the call's own; ``deadline`` is a moment of
    ``time.perf_counter``. ``inner`` is what a run that serves the call may call itself (a ``ToolGrant``), None where nobody
    said so."""

    execution_id: str
    place: CallPlace
    deadline: float
    inner: object = None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gave back: ``value`` for records, ``text`` for the model. An error is one that the model is told of."""

    text: str
    value: Json = None
    is_error: bool = False


Handler: TypeAlias = Callable[[Mapping[str, Json], ToolCallContext], Awaitable[ToolAnswer]]
"""Serves one call with its checked arguments. Raises AgentUIError for what the model is to be told."""


@dataclass(frozen=True, slots=True)
class HostedTool:
    """A tool that runs here. ``group`` and ``provider_id`` are what a node or a session may choose it by; ``timeout`` is in
    seconds."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    """JSON Schema of its arguments: an object's."""
    handler: Handler
    group: str
    provider_type: ProviderType = "builtin"
    provider_id: str = "builtin"
    side_effect: SideEffect = "none"
    replay_safety: ReplaySafety | None = None
    """What somebody says of it; None: ``replays`` goes by the side effect."""
    slots: frozenset[CallerSlot] = ALL_SLOTS
    timeout: float = DEFAULT_TIMEOUT
    is_cached: bool = True
    """Whether its arguments and results are kept as working variables (the variables' own tools are not)."""
    annotations: Mapping[str, bool] = field(default_factory=dict)
    """What its MCP server says of it, by the protocol's names (``readOnlyHint``): shown to who decides, and not to models."""
    rules: tuple[SkillRule, ...] = ()
    """Skill rules that its group declares: models that are offered the tool can read them."""

    @property
    def replays(self) -> ReplaySafety:
        """Whether a call may be made once more: one that cannot be undone only where somebody says so."""
        return self.replay_safety or ("confirm_on_replay" if self.side_effect == "irreversible" else "safe")

    def offered(self) -> Tool:
        """The tool as models are told of it."""
        return Tool(name=self.name, description=self.description or None, schema=self.parameters)
