"""``Meter``: who is told of every call to a model before it goes out, and of what came of it.

    Meter.begin(call) ─▶ Tally ─▶ attempted · answered · heard ─▶ Tally.close ─▶ Tally.settle

Every way out to a model goes by here: chats in four dialects (``model_call``), what is no chat, and what passes through
(``nodes.model.forwarding``, ``nodes.model.raw_forward``). Each request that an upstream got makes one ``Settled``, so an
attempt that was made again makes one of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Literal, Protocol, TypeAlias

from agentui.chat.deltas import Delta, MediaDelta, RefusalDelta, TextDelta, ThinkingDelta, ToolCallDelta, Usage, UsageDelta
from agentui.chat.messages import Media, Opaque, ToolResult
from agentui.chat.reply import Reply
from agentui.chat.request import Operation, ServerTool, VendorName, WireRequest
from agentui.errors import AgentUIError, LimitLeft
from agentui.principal import Principal
from agentui.upstream.call import Attempt
from agentui.vendors.base import OutputLimit, Vendor

FRAME_TOKENS: Final = 16
"""What a vendor adds to a conversation of its own."""
PICTURE_TOKENS: Final = 50_000
"""No vendor counts a picture as more (OpenAI's gpt-4o-mini: 48,169 for the largest)."""
MOST_CONTEXT: Final = 2_000_000
"""No model takes more tokens. So many may be in what is kept at the vendor, or what its tools find."""
_MARKS: Final = (
    b"image",
    b"file",
    b"audio",
    b"video",
    b"document",
    b"inline",
    b"tools",
    b"previous_response",
    b"conversation",
    b"ached",
)
"""Where a body has none of these words, it has all that it asks in itself."""

Purpose: TypeAlias = Literal["answer", "try", "director", "verifier", "tool", "memory"]
"""What a run is for."""
Outcome: TypeAlias = Literal["answered", "refused", "failed", "left"]
"""What came of a call: an answer to its end, an error of the upstream's, no answer or one that broke off, or an answer that
nobody waited for (its caller left, or another target was quicker)."""


@dataclass(frozen=True, slots=True)
class OutgoingCall:
    """A call that is about to go out: in whose name, of which run, and what it asks.

    ``size`` is the length of its body in bytes, ``unseen`` the tokens that it may have beyond those (``unseen_tokens``).
    ``is_free`` is whether no vendor charges for it (reading and deleting what is kept there).
    ``limit`` is how much may be said; None for what is no chat.
    """

    principal: Principal
    run: str
    pipeline: str
    node: str
    session: str | None
    floor: str | None
    purpose: Purpose
    operation: Operation
    vendor: VendorName
    url: str
    model: str
    size: int
    limit: OutputLimit | None = None
    unseen: int = 0
    is_free: bool = False

    @property
    def most_input(self) -> int:
        """The most tokens of input that it may have: none has less than a byte, and what the vendor writes around them, which
        is less than the JSON around them here, has some."""
        return self.size + self.unseen + FRAME_TOKENS


def unseen_tokens(vendor: Vendor, wire: WireRequest, body: bytes) -> int:
    """The most tokens of input that a chat may have beyond one for each byte: for pictures by their addresses, files, what is
    kept at the vendor, and what the vendor's own tools put in."""
    if not any(mark in body for mark in _MARKS):
        return 0
    try:
        chat = vendor.parse_request(wire)
    except AgentUIError:
        return MOST_CONTEXT
    if chat.needs_state is not None or any(isinstance(tool, ServerTool) for tool in chat.tools):
        return MOST_CONTEXT
    parts = [part for message in chat.messages for part in message.parts]
    parts += [inner for part in parts if isinstance(part, ToolResult) for inner in part.content]
    if any(isinstance(part, Opaque) or (isinstance(part, Media) and part.kind != "image") for part in parts):
        return MOST_CONTEXT
    # Claude tells a model with tools how to call them, in up to some 700 tokens.
    return PICTURE_TOKENS * sum(isinstance(part, Media) for part in parts) + (1000 if chat.tools else 0)


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of one request that went out. ``usage`` is what the provider told, ``said`` the bytes of words that were
    heard; ``was_sent`` is False where there was no connection. ``latency`` is in seconds."""

    call: OutgoingCall
    outcome: Outcome
    status: int | None
    was_sent: bool
    usage: Usage | None
    said: int
    latency: float


@dataclass(slots=True, eq=False)
class Tally:
    """Hears what comes of a call, and tells ``settle`` when it is over, once, which says what it cost in nano-dollars (None:
    nobody knows); ``on_price`` hears that, where there is one. ``on_retry`` hears of an attempt that is made again. ``cap`` is
    the most tokens that an answer may have where the request sets no limit and a budget does."""

    call: OutgoingCall
    settle: Callable[[Settled], int | None]
    on_retry: Callable[[Settled], None]
    cap: int | None = None
    limits: Sequence[LimitLeft] = ()
    """What is left for the caller of limits for a minute."""
    on_price: Callable[[int | None], None] | None = None
    usage: Usage | None = None
    is_whole: bool = False
    """Whether the answer came to its end."""
    said: int = 0
    _started: float = field(default_factory=monotonic)
    _status: int | None = None
    _was_sent: bool = False
    _is_closed: bool = False

    def attempted(self, attempt: Attempt) -> None:
        """An attempt has an answer's headers, or none."""
        self._was_sent, self._status = attempt.connected is not None, attempt.status
        if attempt.wait is not None:
            self.on_retry(self._settled("failed" if attempt.status is None else "refused"))
            self._started, self._status, self._was_sent = monotonic(), None, False

    def answered(self, status: int) -> None:
        """The answer's headers are there."""
        self._status, self._was_sent = status, True

    def heard(self, deltas: Sequence[Delta]) -> None:
        """More of a streamed answer."""
        for delta in deltas:
            if isinstance(delta, TextDelta | ThinkingDelta | RefusalDelta):
                self.said += len((delta.text or "").encode("utf-8", "surrogatepass"))
            elif isinstance(delta, ToolCallDelta):
                self.said += len(delta.arguments.encode("utf-8", "surrogatepass"))
            elif isinstance(delta, MediaDelta):
                self.said += len(delta.media.data or "")  # no picture has as many tokens as bytes
            elif isinstance(delta, UsageDelta):
                self.count(delta.usage)

    def replied(self, reply: Reply) -> None:
        """A whole answer."""
        self.told(reply.usage)

    def told(self, usage: Usage | None) -> None:
        """An answer that is no chat came to its end, and told these tokens."""
        if usage is not None:
            self.count(usage)
        self.is_whole = True

    def count(self, usage: Usage) -> None:
        """The provider tells tokens; a later report counts more than an earlier one."""
        self.usage = usage if self.usage is None else self.usage.updated(usage)

    def close(self, error: BaseException | None = None) -> None:
        """The call is over; ``error`` is why it is so before its end."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._status is not None and self._status >= 400:
            outcome: Outcome = "refused"
        elif self.is_whole:
            outcome = "answered"
        elif error is not None and isinstance(error, Exception) and not isinstance(error, ConnectionResetError):
            outcome = "failed"
        else:
            outcome = "left"
        price = self.settle(self._settled(outcome))
        if self.on_price is not None:
            self.on_price(price)

    def _settled(self, outcome: Outcome) -> Settled:
        return Settled(self.call, outcome, self._status, self._was_sent, self.usage, self.said, monotonic() - self._started)


class Meter(Protocol):
    """Counts calls, and refuses those that may cost more than is left."""

    def covers(self, principal: Principal, session: str | None) -> bool:
        """Whether anybody asked to count the calls of this one, for this chat where it is for one. Every call asks this, so it
        costs next to nothing."""

    async def begin(self, call: OutgoingCall) -> Tally:
        """A call is about to go out. Raises what stands against it."""


class NoMeter:
    """Nobody counts."""

    def covers(self, principal: Principal, session: str | None) -> bool:
        """Nobody's calls."""
        return False

    async def begin(self, call: OutgoingCall) -> Tally:
        """Counts nothing."""
        return Tally(call, _free, _ignore)


@contextmanager
def closing_tally(tally: Tally) -> Iterator[None]:
    """Close a tally at the end of the block, with what ended it."""
    try:
        yield
    except BaseException as error:
        tally.close(error)
        raise
    tally.close()


def _free(_: Settled) -> int | None:
    """Nobody knows what it cost."""
    return None


def _ignore(_: Settled) -> None:
    """Nobody counts."""
