"""What a caller of a live turn, or of its prompt alone, asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from agentui.jsonio import Json
from agentui.principal import Principal
from agentui.prompt.prepared import PromptIntent
from agentui.turns.repeats import Claim
from agentui.turns.request import TurnRequest

ToolMode: TypeAlias = Literal["inline", "standalone", "both"]


@dataclass(frozen=True, slots=True)
class Checks:
    """Which checks a turn wants. ``fail_strategy``: what becomes of an answer that the verifier refuses (warn: it stays; block:
    the turn fails; retry: another one is asked for, ``max_retries`` times at most, and the last one stays)."""

    director: bool = False
    verifier: bool = False
    fail_strategy: str = "warn"
    max_retries: int = 1


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """A live turn that is wanted, in the name of ``principal``.

    ``pipeline`` is the one that the request names, ``params`` are the generation parameters that it gives, ``policy`` is what
    it says of its prompt (``resolve_policy``). ``headers`` are the caller's (names in lower case, without this server's own
    token), ``api_key`` the key among them: nodes may read them. ``tools`` says that models get those that the session allows,
    and ``tool_mode`` when: while they answer, in a round of their own before that, or both.
    ``asks_memory`` is whether a model says what the turn taught, where the request says so.
    ``shows_snapshot``, ``shows_trace`` and, within that, ``shows_matches`` ask for what is told of the prompt.
    """

    principal: Principal
    turn: TurnRequest
    intent: PromptIntent = "normal"
    pipeline: str | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    policy: Mapping[str, Json] = field(default_factory=dict)
    checks: Checks = Checks()
    headers: Mapping[str, str] = field(default_factory=dict)
    api_key: str = ""
    tools: bool = False
    tool_mode: ToolMode = "inline"
    asks_memory: bool | None = None
    shows_snapshot: bool = False
    shows_trace: bool = False
    shows_matches: bool = False

    @property
    def is_draft(self) -> bool:
        """Whether words for the user are wanted, and no answer: they are nobody's turn."""
        return self.intent == "impersonate" and self.turn.kind == "respond"

    def prompt(self) -> "PromptRequest":
        """The prompt of a draft."""
        turn, said = self.turn, self.turn.user
        place = turn.branch, turn.source_floor_id, self.intent
        return PromptRequest(
            turn.account, turn.session or "", None if said is None else said.text, *place, self.params, self.policy
        )

    def claimed(self, claim: Claim) -> "LiveRequest":
        """The same, of a request with a key."""
        return replace(self, turn=replace(self.turn, claim=claim))


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A prompt of a chat of ``account`` that somebody wants to see: of what the user would say, where. None says nothing."""

    account: str
    session: str
    message: str | None
    branch: str | None = None
    source_floor_id: str | None = None
    intent: PromptIntent = "normal"
    params: Mapping[str, Json] = field(default_factory=dict)
    policy: Mapping[str, Json] = field(default_factory=dict)
