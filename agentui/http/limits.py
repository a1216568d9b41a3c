"""Limits by caller: how many requests a minute one may make, and how many access tokens one may try.

A caller is an address. Everybody who may come in has the same token, and keys that are passed on can be made up.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from aiohttp import web

from agentui.errors import Busy, RateLimited

Network: TypeAlias = IPv4Network | IPv6Network

MOST_CALLERS = 10_000
"""Callers remembered at most; whoever has not been seen for longest is forgotten first."""
MINUTE = 60.0
_NO_TIME = 1e-6
"""Seconds; less is what sums of floats are wrong by."""
_PREFIX = 64
"""Bits of an IPv6 address that are one caller's: networks give each customer at least so much (RFC 6177)."""


log = logging.getLogger("agentui.limits")


class Buckets:
    """A token bucket for each caller, filled at ``per_minute`` and as deep as a minute's worth.

    One number is kept per caller: the moment at which its bucket will be full again. (ATM Forum, Traffic Management 4.1,
    the virtual scheduling form of the generic cell rate algorithm.)
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic, most: int = MOST_CALLERS) -> None:
        self._each = MINUTE / per_minute
        self._clock = clock
        self._most = most
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Seconds until the caller's bucket holds a token; 0 when it does."""
        now = self._clock()
        wait = self._full_at.get(caller, now) + self._each - now - MINUTE
        return wait if wait > _NO_TIME else 0.0

    def take(self, caller: str) -> float:
        """Take a token, where there is one. Seconds to wait for one as ``wait`` says; then nothing was taken."""
        wait = self.wait(caller)
        if wait > 0:
            return wait
        full_at = self._full_at
        now = self._clock()
        full_at[caller] = max(full_at.get(caller, now), now) + self._each
        full_at.move_to_end(caller)
        if len(full_at) > self._most:
            full_at.popitem(last=False)
        return 0.0

    def give_back(self, caller: str) -> None:
        """Put back a token that was taken and not used."""
        if caller in self._full_at:
            self._full_at[caller] -= self._each

    def __len__(self) -> int:
        """How many callers are remembered."""
        return len(self._full_at)


class Limits:
    """What one server lets each caller do, and all of them together. 0 for ``per_minute`` or ``attempts`` sets no limit.

    ``in_flight`` proxied requests are under way, of at most ``most_in_flight``. The bodies of all requests and answers under
    way hold ``body_bytes``, of about ``most_body_bytes``.

    ``hits`` counts by name (``rate``, ``token_attempts``, ``in_flight``, ``bodies``) how often a limit refused somebody.
    """

    def __init__(
        self, per_minute: int, attempts: int, trusted: Iterable[str], most_in_flight: int, most_body_bytes: int
    ) -> None:
        self._requests = Buckets(per_minute) if per_minute else None
        self._attempts = Buckets(attempts) if attempts else None
        self._trusted = tuple(ip_network(each) for each in trusted)
        self._has_warned = False
        self._most_body_bytes = most_body_bytes
        self.in_flight = 0
        self.body_bytes = 0
        self.hits = {"rate": 0, "token_attempts": 0, "in_flight": 0, "bodies": 0}
        self._under_way = _UnderWay(self, most_in_flight)

    def check_rate(self, request: web.BaseRequest) -> None:
        """Count a request to a model. Raises RateLimited when this caller has had its share."""
        if self._requests is None:
            return
        caller = self.caller_of(request)
        wait = self._requests.take(caller) if caller is not None else 0.0
        if wait:
            self.hits["rate"] += 1
            raise RateLimited("Too many requests from this address; slow down.", retry_after=wait)

    def under_way(self) -> "_UnderWay":
        """Counts a proxied request among those under way, as a context manager. Entering raises Busy when as many are under way
        as may be."""
        return self._under_way

    def hold(self, request: web.Request, size: int) -> None:
        """Count bytes of a request's body until ``release``. Raises Busy where all bodies under way take too much memory; the
        only one that there is may be as large as it is."""
        own = request.get(HELD, 0)
        if self.body_bytes > own and self.body_bytes + size > self._most_body_bytes:
            self.hits["bodies"] += 1
            raise Busy("The bodies of the requests under way take all the memory they may; try again.", retry_after=1)
        self.hold_answer(request, size)

    def hold_answer(self, request: web.Request, size: int) -> None:
        """Count bytes of an answer until ``release``; it is there already, so only later requests are refused for it."""
        request[HELD] = request.get(HELD, 0) + size
        self.body_bytes += size

    def release(self, request: web.Request) -> None:
        """A request is over, and nothing of its bodies is held any more."""
        self.body_bytes -= request.get(HELD, 0)

    def check_attempts(self, request: web.BaseRequest) -> None:
        """Raises RateLimited while this caller has tried too many wrong tokens: then a right one does not count either, or
        guessing could go on."""
        if self._attempts is None:
            return
        caller = self.caller_of(request)
        wait = self._attempts.wait(caller) if caller is not None else 0.0
        if wait:
            self.hits["token_attempts"] += 1
            raise RateLimited("Too many wrong access tokens from this address; wait a moment.", retry_after=wait)

    def note_wrong_token(self, request: web.BaseRequest) -> None:
        """Count a token that was wrong."""
        caller = self.caller_of(request) if self._attempts is not None else None
        if self._attempts is not None and caller is not None:
            self._attempts.take(caller)

    def take_attempt(self, request: web.BaseRequest) -> None:
        """Count a secret that takes time to look at as a wrong one, until it is known to be none: else many at once would all
        be looked at. Raises as ``check_attempts`` does."""
        self.check_attempts(request)
        self.note_wrong_token(request)

    def give_attempt_back(self, request: web.BaseRequest) -> None:
        """It was no wrong one."""
        caller = self.caller_of(request) if self._attempts is not None else None
        if self._attempts is not None and caller is not None:
            self._attempts.give_back(caller)

    def caller_of(self, request: web.BaseRequest) -> str | None:
        """What stands for the caller of a request; None where ``address_of`` knows none."""
        address = self.address_of(request)
        return None if address is None else _key(address)

    def address_of(self, request: web.BaseRequest) -> IPv4Address | IPv6Address | None:
        """The address that a request came from; None for what came through a Unix socket, which a worker of this server
        let in already.

        ``X-Forwarded-For`` counts as far as trusted proxies wrote it: each appends the address that it saw, so the last
        address that is no trusted proxy's is the caller's, and what stands before it may be invented.
        """
        seen = _address(request.remote or "")
        if seen is None:
            return None
        if not self._trusted and not self._has_warned and "X-Forwarded-For" in request.headers:
            self._has_warned = True
            log.warning(
                "Requests come through a proxy that nobody trusts, so all its callers share their limits: name it in "
                "AGENTUI_TRUSTED_PROXIES."
            )
        if self._trusts(seen):
            told = ",".join(request.headers.getall("X-Forwarded-For", ())).split(",")
            while self._trusts(seen) and told and (before := _address(told.pop())) is not None:
                seen = before
        return seen

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._trusted)


class _UnderWay:
    """What ``with limits.under_way()`` enters. It holds no state of a request, so one serves all."""

    def __init__(self, limits: Limits, most: int) -> None:
        self._limits = limits
        self._most = most

    def __enter__(self) -> None:
        limits = self._limits
        if limits.in_flight >= self._most:
            limits.hits["in_flight"] += 1
            raise Busy("The server is at capacity; try again in a moment.", retry_after=1)
        limits.in_flight += 1

    def __exit__(self, *_: object) -> None:
        self._limits.in_flight -= 1


LIMITS: web.AppKey[Limits] = web.AppKey("limits", Limits)
HELD: web.RequestKey[int] = web.RequestKey("held", int)
"""Bytes of its body and its answer that a request holds."""


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as peers and proxies write it, with or without port and brackets; IPv4 within IPv6 is IPv4."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _key(address: IPv4Address | IPv6Address) -> str:
    """What stands for a caller."""
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, _PREFIX), strict=False))
