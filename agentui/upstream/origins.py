"""Origins: the named ones that presets may write for a base URL, and what goes on at each one that is called."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentui.errors import Busy, NotFound
from agentui.upstream.breaker import Breaker
from agentui.upstream.http.request import Origin, UpstreamTarget

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEPT = 1024
"""Origins remembered at most; idle ones beyond that are forgotten."""


class Tally:
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

    def merge(self, other: "Tally") -> None:
        """Add what another one counted."""
        self.by_class = [own + its for own, its in zip(self.by_class, other.by_class, strict=True)]
        self.retries += other.retries
        self.refused += other.refused


@dataclass(slots=True)
class OriginState:
    """One scheme, host and port: how many calls are under way there, and its circuit. ``host`` is how errors name it."""

    host: str
    in_flight: int = 0
    breaker: Breaker = field(default_factory=Breaker)
    tally: Tally = field(default_factory=Tally)

    def leave(self) -> None:
        """One call is over."""
        self.in_flight -= 1


class Origins:
    """Every origin that was called, with at most ``limit`` calls at once to each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._by_origin: dict[Origin, OriginState] = {}
        self.forgotten = Tally()
        """What was counted at the origins that are no longer remembered."""

    def enter(self, target: UpstreamTarget) -> OriginState:
        """The target's origin, with one call more under way, to be left again. Raises Busy when it has its limit of them."""
        origin = self._by_origin.get(target.origin)
        if origin is None:
            origin = self._new(target)
        if origin.in_flight >= self._limit:
            origin.tally.refused += 1
            raise Busy(
                f"{self._limit} calls to {origin.host} are already under way; try again in a second.",
                retry_after=1.0,
                host=origin.host,
            )
        origin.in_flight += 1
        return origin

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
                    self.forgotten.merge(known.tally)
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
