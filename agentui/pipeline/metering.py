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
from typing import Literal, Protocol, TypeAlias

from agentui.chat.deltas import Delta, TextDelta, ThinkingDelta, ToolCallDelta, Usage, UsageDelta
from agentui.chat.reply import Reply
from agentui.chat.request import Operation, VendorName
from agentui.principal import Principal
from agentui.upstream.call import Attempt
from agentui.vendors.base import OutputLimit

Purpose: TypeAlias = Literal["answer", "try", "director", "verifier", "tool"]
"""What a run is for."""
Outcome: TypeAlias = Literal["answered", "refused", "failed", "left"]
"""What came of a call: an answer to its end, an error of the upstream's, no answer or one that broke off, or an answer that
nobody waited for (its caller left, or another target was quicker)."""


@dataclass(frozen=True, slots=True)
class OutgoingCall:
    """A call that is about to go out: in whose name, of which run, and what it asks.

    ``size`` is the length of its body in bytes, ``media`` says whether it may name pictures, files or an earlier answer, which
    have more tokens than bytes. ``is_free`` is whether no vendor charges for it (reading and deleting what is kept there).
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
    is_free: bool = False


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
    """Hears what comes of a call, and tells ``settle`` when it is over, once. ``on_retry`` hears of an attempt that is made
    again. ``cap`` is the most tokens that an answer may have where the request sets no limit and a budget does."""

    call: OutgoingCall
    settle: Callable[[Settled], None]
    on_retry: Callable[[Settled], None]
    cap: int | None = None
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
            kind = type(delta)
            if kind is UsageDelta:
                self.count(delta.usage)  # type: ignore[union-attr]  # the type was just looked at, faster than isinstance
            elif kind is TextDelta or kind is ThinkingDelta:
                self.said += len((delta.text or "").encode("utf-8", "surrogatepass"))  # type: ignore[union-attr]
            elif kind is ToolCallDelta:
                self.said += len(delta.arguments.encode("utf-8", "surrogatepass"))  # type: ignore[union-attr]

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
        self.settle(self._settled(outcome))

    def _settled(self, outcome: Outcome) -> Settled:
        return Settled(self.call, outcome, self._status, self._was_sent, self.usage, self.said, monotonic() - self._started)


class Meter(Protocol):
    """Counts calls, and refuses those that may cost more than is left."""

    def covers(self, principal: Principal) -> bool:
        """Whether anybody asked to count the calls of this one. Every call asks this, so it costs next to nothing."""

    async def begin(self, call: OutgoingCall) -> Tally:
        """A call is about to go out. Raises what stands against it."""


class NoMeter:
    """Nobody counts."""

    def covers(self, principal: Principal) -> bool:
        """Nobody's calls."""
        return False

    async def begin(self, call: OutgoingCall) -> Tally:
        """Counts nothing."""
        return Tally(call, _ignore, _ignore)


@contextmanager
def closing_tally(tally: Tally) -> Iterator[None]:
    """Close a tally at the end of the block, with what ended it."""
    try:
        yield
    except BaseException as error:
        tally.close(error)
        raise
    tally.close()


def _ignore(_: Settled) -> None:
    """Nobody counts."""
