"""What a streamed answer is made of, whoever streams it.

Order within a stream: ``Start``, then content deltas, then one ``Finish`` per choice; ``UsageDelta`` anywhere (the last
one counts, field by field); ``End`` when the dialect's own end marker was seen.

All are values that nobody changes. ``TextDelta`` and ``Usage`` are not frozen, because one is made for every chunk or every
answer and a frozen dataclass takes three times as long to make.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentui.chat.citations import Citation
from agentui.chat.messages import Media
from agentui.errors import UpstreamError
from agentui.jsonio import Json

FinishReason = Literal[
    "stop", "stop_sequence", "length", "tool_calls", "content_filter", "refusal", "pause", "malformed_call", "other"
]
"""``stop_sequence`` only where the dialect tells it from ``stop``; ``content_filter`` is the vendor's filter,
``refusal`` the model's own no."""


@dataclass(slots=True, unsafe_hash=True)
class Usage:
    """Tokens. ``input`` includes cached ones, ``output`` includes reasoning; None means not told."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def total(self) -> int:
        """Input and output together."""
        return (self.input or 0) + (self.output or 0)

    def plus(self, other: "Usage") -> "Usage":
        """The tokens of two calls together; what only one of them tells counts alone."""

        def both(one: int | None, two: int | None) -> int | None:
            return two if one is None else one + (two or 0)

        return Usage(
            both(self.input, other.input),
            both(self.output, other.output),
            both(self.cache_read, other.cache_read),
            both(self.cache_write, other.cache_write),
            both(self.reasoning, other.reasoning),
        )

    def updated(self, later: "Usage") -> "Usage":
        """This usage with whatever a later report tells; the later value of a field counts."""

        def pick(new: int | None, old: int | None) -> int | None:
            return old if new is None else new

        return Usage(
            pick(later.input, self.input),
            pick(later.output, self.output),
            pick(later.cache_read, self.cache_read),
            pick(later.cache_write, self.cache_write),
            pick(later.reasoning, self.reasoning),
        )


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token's log probability and its rivals as ``(token, logprob)``."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """The answer begins: the upstream's id, model and time (seconds since 1970), where told."""

    id: str | None = None
    model: str | None = None
    created: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class TextDelta:
    """More words of the answer."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thought. ``signature``/``redacted`` are whole tokens of dialect ``signed_by``; a new thinking ``block`` starts
    when the number changes."""

    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    signed_by: str | None = None
    block: int = 0
    choice: int = 0


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """More words of a refusal."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of tool call ``index`` (counted from 0 per choice). The first one for an index carries ``id`` and ``name``."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    signature: str | None = None
    signed_by: str | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class MediaDelta:
    """A whole picture or sound that the model made."""

    media: Media
    choice: int = 0


@dataclass(frozen=True, slots=True)
class LogprobsDelta:
    """Log probabilities of the tokens just said."""

    tokens: tuple[TokenLogprob, ...]
    choice: int = 0


@dataclass(frozen=True, slots=True)
class OpaqueDelta:
    """A content part that only dialect ``vendor`` understands (a server tool's call, a citation); ``cited`` is as in
    ``Opaque``."""

    vendor: str
    label: str
    raw: Json
    choice: int = 0
    cited: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """A report of tokens so far."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finish:
    """A choice is complete."""

    reason: FinishReason
    stop_sequence: str | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """The upstream reported an error inside the stream."""

    error: UpstreamError


@dataclass(frozen=True, slots=True)
class End:
    """The dialect's own end marker was seen: the answer is whole."""


Delta: TypeAlias = (
    Start
    | TextDelta
    | ThinkingDelta
    | RefusalDelta
    | ToolCallDelta
    | MediaDelta
    | LogprobsDelta
    | OpaqueDelta
    | UsageDelta
    | Finish
    | Failure
    | End
)
