"""Origins: the named ones that presets may write for a base URL, and what goes on at each one that is called.

A call enters an origin and leaves it. Beyond the limit of calls at once it waits in a queue, first come, first served.
"""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentui.errors import Busy, NotFound, UpstreamTimeout
from agentui.upstream.breaker import Breaker
from agentui.upstream.http.request import Origin, UpstreamTarget
from agentui.upstream.retry import RetryBudget

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEPT = 1024
"""Origins remembered at most; idle ones beyond that are forgotten."""

MAX_IN_FLIGHT = 100
MAX_QUEUED = 1000
QUEUE_TIMEOUT = 30.0


class OriginCounts:
    """What was counted at one origin. ``by_class`` holds attempts by the hundreds of their status, at 0 those that had none;
    ``refused`` are calls that were not made, because too many were under way or the circuit was open."""

    __slots__ = ("by_class", "refused", "retries")

    def __init__(self) -> None:
        self.by_class = [0] * 10
        self.retries = 0
        self.refused = 0

    def add(self, status: int | None, *, is_retried: bool) -> None:
        """Count an attempt that came to an end."""
        self.by_class[0 if status is None else min(status // 100, 9)] += 1
        self.retries += is_retried

    def merge(self, other: "OriginCounts") -> None:
        """Add what another one counted."""
        self.by_class = [own + its for own, its in zip(self.by_class, other.by_class, strict=True)]
        self.retries += other.retries
        self.refused += other.refused


@dataclass(slots=True)
class OriginState:
    """What goes on at one origin: how many calls are under way there, who waits for their end, its circuit, and
    what may be tried again. ``host`` is how
    errors name it."""

    host: str
    in_flight: int = 0
    queue: dict[asyncio.Future[None], None] = field(default_factory=dict)
    """Those who wait, the first one first; done when it is their turn. (A mapping, because anyone may leave it.)"""
    breaker: Breaker = field(default_factory=Breaker)
    budget: RetryBudget = field(default_factory=RetryBudget)
    counts: OriginCounts = field(default_factory=OriginCounts)

    def leave(self) -> None:
        """One call is over, and the next one's turn has come."""
        while self.queue:
            turn = next(iter(self.queue))
            del self.queue[turn]
            if not turn.done():  # otherwise its caller has left in this very moment
                turn.set_result(None)
                return
        self.in_flight -= 1


class Origins:
    """Every origin that was called, with at most ``limit`` calls at once to each; ``max_queued`` more wait for their turn, for
    ``queue_timeout`` seconds."""

    def __init__(self, limit: int = MAX_IN_FLIGHT, max_queued: int = MAX_QUEUED, queue_timeout: float = QUEUE_TIMEOUT) -> None:
        self._limit = limit
        self._max_queued = max_queued
        self._queue_timeout = queue_timeout
        self._by_origin: dict[Origin, OriginState] = {}
        self.forgotten = OriginCounts()
        """What was counted at the origins that are no longer remembered."""

    async def enter(self, target: UpstreamTarget, deadline: float | None = None) -> OriginState:
        """The target's origin, with one call more under way, to be left again.

        Raises Busy when too many wait already or the turn does not come in time, UpstreamTimeout when ``deadline`` (a moment of
        ``time.monotonic()``) comes first.
        """
        state = self._by_origin.get(target.origin) or self._new(target)
        if state.in_flight < self._limit:
            state.in_flight += 1
        elif len(state.queue) < self._max_queued:
            await self._wait(state, deadline)
        else:
            state.counts.refused += 1
            waiting = f" and {self._max_queued} wait for their turn" if self._max_queued else ""
            raise Busy(
                f"{self._limit} calls to {state.host} are already under way{waiting}; try again in a second.",
                retry_after=1.0,
                host=state.host,
            )
        return state

    async def _wait(self, state: OriginState, deadline: float | None) -> None:
        """Wait for the turn; whoever leaves or is too late gives it to the next."""
        turn = asyncio.get_running_loop().create_future()
        state.queue[turn] = None
        left = None if deadline is None else deadline - time.monotonic()
        is_last_chance = left is not None and left < self._queue_timeout
        try:
            async with asyncio.timeout(left if is_last_chance else self._queue_timeout):
                await turn
        except BaseException as error:
            if turn in state.queue:
                del state.queue[turn]
            elif not turn.cancelled():
                state.leave()
            if not isinstance(error, TimeoutError):
                raise
            if is_last_chance:
                text = f"The time for this call ran out before {state.host} could be asked."
                raise UpstreamTimeout(text, host=state.host, phase="connect") from None
            state.counts.refused += 1
            raise Busy(
                f"{self._limit} calls to {state.host} are under way, and this one's turn did not come within "
                f"{self._queue_timeout:g} seconds; try again in a second.",
                retry_after=1.0,
                host=state.host,
            ) from None

    @property
    def by_origin(self) -> Mapping[Origin, OriginState]:
        """The origins that are remembered."""
        return self._by_origin

    def _new(self, target: UpstreamTarget) -> OriginState:
        """An origin that was not called before, remembered."""
        if len(self._by_origin) >= _KEPT:
            kept: dict[Origin, OriginState] = {}
            for origin, known in self._by_origin.items():
                if known.in_flight or known.breaker.is_open():
                    kept[origin] = known
                else:
                    self.forgotten.merge(known.counts)
            self._by_origin = kept
        state = self._by_origin[target.origin] = OriginState(target.host)
        return state


def resolve_base_url(base_url: str, named: Mapping[str, str]) -> str:
    """``base_url`` with a leading named origin put in: ``demo/v1`` is the ``demo`` origin's URL and ``/v1``.

    Whatever begins with a scheme is returned as it is. Raises NotFound for a name that is not in ``named``.
    """
    if _SCHEME.match(base_url):
        return base_url
    name, slash, rest = base_url.partition("/")
    origin = named.get(name)
    if origin is None:
        known = ", ".join(sorted(named)) or "none here"
        shown = f"The base URL {name!r}" if _NAME.fullmatch(name) else "The base URL"
        raise NotFound(
            f"{shown} is neither an http:// or https:// address nor a named origin (known: {known}).", param="base_url"
        )
    return origin.rstrip("/") + slash + rest
