"""Origins: the named ones that presets may write for a base URL, and what goes on at each one that is called."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from yarl import URL

from agentui.errors import Busy, NotFound
from agentui.upstream.breaker import Breaker

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_KEPT = 1024
"""Origins remembered at most; idle ones beyond that are forgotten."""


@dataclass(slots=True)
class Origin:
    """One scheme, host and port: how many calls are under way there, and its circuit. ``host`` is how errors name it."""

    host: str
    in_flight: int = 0
    breaker: Breaker = field(default_factory=Breaker)


class Origins:
    """Every origin that was called, with at most ``limit`` calls at once to each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._by_origin: dict[URL, Origin] = {}

    @contextmanager
    def entered(self, url: URL) -> Iterator[Origin]:
        """Count a call in for as long as the block runs. Raises Busy when the origin has its limit under way."""
        origin = self._of(url)
        if origin.in_flight >= self._limit:
            raise Busy(
                f"{self._limit} calls to {origin.host} are already under way; try again in a second.",
                retry_after=1.0,
                host=origin.host,
            )
        origin.in_flight += 1
        try:
            yield origin
        finally:
            origin.in_flight -= 1

    def _of(self, url: URL) -> Origin:
        """The origin of a URL, remembered."""
        key = url.origin()
        origin = self._by_origin.get(key)
        if origin is None:
            if len(self._by_origin) >= _KEPT:
                busy = {url: known for url, known in self._by_origin.items() if known.in_flight or known.breaker.is_open()}
                self._by_origin = busy
            origin = self._by_origin[key] = Origin(host_of(url))
        return origin


def host_of(url: URL) -> str:
    """The host as errors name it, with its port where that is not the scheme's own; never a path, query or user."""
    return url.host_port_subcomponent or url.raw_host or ""


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
        raise NotFound(
            f"The base URL {name!r:.80} is neither an http:// or https:// address nor a named origin (known: {known}).",
            param="base_url",
        )
    return origin.rstrip("/") + slash + rest
