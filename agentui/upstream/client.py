"""``Upstream``: sends calls out and hands their answers in, trying again where that may help."""

import asyncio
import random
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from ssl import SSLContext
from types import TracebackType

from aiohttp.abc import AbstractResolver

from agentui.errors import AgentUIError, UpstreamUnavailable, UpstreamUnreachable
from agentui.upstream.call import Attempt, UpstreamCall, UpstreamReply
from agentui.upstream.headers import HOPS
from agentui.upstream.http.exchange import Exchange
from agentui.upstream.http.pool import ForbiddenAddress, Pool
from agentui.upstream.http.request import BodyStream, Origin, UpstreamTarget, render_head, with_headers
from agentui.upstream.http.stream import MAX_REPLY, UpstreamStream
from agentui.upstream.origins import (
    MAX_IN_FLIGHT,
    MAX_QUEUED,
    QUEUE_TIMEOUT,
    OriginCounts,
    Origins,
    OriginState,
    resolve_base_url,
)
from agentui.upstream.own import OwnAddresses
from agentui.upstream.policy import AddressPolicy, PolicyResolver
from agentui.upstream.proxies import ProxyRules
from agentui.upstream.retry import pause_before, retries_for

CHECK_SECONDS = 5.0
"""How long a name may take to be looked up when an address is judged before it is kept."""


class Upstream:
    """The client for every call that goes out. Start it inside the event loop, or use it as an async context manager.

    ``named_origins`` are URLs by the names that presets use for them (``demo``), ``trusted`` further ones that the operator has
    named, whose hosts may be private. ``proxies`` say what is called through
    which proxy (none, without them). Without ``allow_self`` it calls neither where it listens nor one of ``own_names``
    there. At most ``max_in_flight`` calls to one origin are under way at once; ``max_queued`` more wait ``queue_timeout``
    seconds for their turn. ``resolver`` replaces the system's look-up of names, ``ssl_context`` its trusted certificates,
    ``jitter`` gives numbers in [0, 1).
    """

    def __init__(
        self,
        *,
        allow_private: bool = True,
        allow_self: bool = True,
        own_names: Iterable[str] = (),
        named_origins: Mapping[str, str] | None = None,
        trusted: Iterable[str] = (),
        proxies: ProxyRules | None = None,
        max_reply: int = MAX_REPLY,
        max_in_flight: int = MAX_IN_FLIGHT,
        max_queued: int = MAX_QUEUED,
        queue_timeout: float = QUEUE_TIMEOUT,
        resolver: AbstractResolver | None = None,
        ssl_context: SSLContext | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._named = dict(named_origins or {})
        self._proxies = proxies or ProxyRules()
        trusted = [*trusted, *self._named.values(), *(f"http://{proxy.name}" for proxy in self._proxies.named())]
        self._policy = AddressPolicy(allow_private=allow_private, trusted=trusted)
        self._allow_self = allow_self
        self._own_names = tuple(own_names)
        self._target = lru_cache(maxsize=1024)(self._check)
        self._origins = Origins(max_in_flight, max_queued, queue_timeout)
        self._max_reply = max_reply
        self._resolver = resolver
        self._ssl_context = ssl_context
        self._jitter = jitter
        self._pool: Pool | None = None

    def listens_on(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Tell where this server itself listens (address and port), which is not called unless ``allow_self``."""
        if not self._allow_self:
            self._policy.own = OwnAddresses(addresses, self._own_names)
            self._target.cache_clear()

    async def start(self) -> None:
        """Make the connection pool."""
        if self._pool is None:
            self._pool = Pool(PolicyResolver(self._policy, self._resolver), self._ssl_context)

    async def close(self) -> None:
        """Close every connection, used or not."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def __aenter__(self) -> "Upstream":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def origins(self) -> Mapping[Origin, OriginState]:
        """What goes on at each origin that was called."""
        return self._origins.by_origin

    @property
    def forgotten(self) -> OriginCounts:
        """What was counted at origins that ``origins`` no longer tells of."""
        return self._origins.forgotten

    def resolve(self, base_url: str) -> str:
        """``base_url`` with a named origin put in (``demo/v1``). Raises NotFound for a name that nobody gave."""
        return resolve_base_url(base_url, self._named)

    async def check_address(self, url: str, *, may_be_private: bool = True) -> None:
        """Raise UpstreamUnreachable for an address that may not be called: one that policy forbids, by its spelling or by all
        that its name leads to now; with ``may_be_private`` false private ones even where this server may call them. A name
        that has no address now is let through: each call is judged again."""
        target = self._target(url, "")
        policy = self._policy if may_be_private else AddressPolicy(allow_private=False)
        policy.check_url(url)
        if target.origin.proxy is not None:
            policy.check_far_name(target.origin.host, target.origin.port)
            return
        resolver = PolicyResolver(policy, self._resolver)
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await resolver.resolve(target.origin.host, target.origin.port, socket.AF_UNSPEC)
        except ForbiddenAddress as error:
            raise UpstreamUnreachable(f"{target.host} leads to {error}; it is never called.", host=target.host) from error
        except (OSError, TimeoutError):
            return
        finally:
            if self._resolver is None:
                await resolver.close()

    async def send(self, call: UpstreamCall) -> UpstreamReply:
        """Make a call and read its answer, whatever its status. Raises as ``open`` and ``UpstreamStream.read`` do."""
        async with self.open(call) as stream:
            return UpstreamReply(status=stream.status, headers=stream.headers, body=await stream.read(self._max_reply))

    @asynccontextmanager
    async def open(self, call: UpstreamCall) -> AsyncIterator[UpstreamStream]:
        """Make a call and hand out its answer, whatever its status, once the headers are there.

        Leaving before the answer's end drops the connection, so that the upstream stops working on it. Entering raises
        UpstreamUnreachable, UpstreamTimeout, UpstreamInvalid, UpstreamTruncated, UpstreamUnavailable (circuit open), Busy
        (too many at once for this origin, and the turn did not come in time) and BadRequest (a header that is none).
        Errors name the call's node and the upstream's host, those too that are raised while the answer is read.
        """
        host: str | None = None
        try:
            target = self._target(call.url, call.proxy)
            host = target.host
            origin = await self._origins.enter(target, call.deadline)
            try:
                exchange = await self._exchange(call, target, origin)
                try:
                    yield exchange.stream()
                finally:
                    exchange.close()
                    if exchange.is_broken:
                        origin.breaker.failed(time.monotonic())
            finally:
                origin.leave()
        except AgentUIError as error:
            if call.node is not None:
                error.details.setdefault("node", call.node)
            if host is not None:
                error.details.setdefault("host", host)
            raise

    def _check(self, text: str, own_proxy: str) -> UpstreamTarget:
        """The target behind a URL. Raises UpstreamUnreachable for one that may not be called, UpstreamProxyFailed for a proxy
        that may not."""
        url = self._policy.check_url(text)
        proxy = self._proxies.choose(url, own_proxy)
        if proxy is not None:
            self._policy.check_proxy(proxy.host, proxy.port)
            if proxy.resolves_names:
                self._policy.check_far_name(url.raw_host or "", url.port)
        return UpstreamTarget.of(url, proxy)

    async def _exchange(self, call: UpstreamCall, target: UpstreamTarget, origin: OriginState) -> Exchange:
        """Attempt the call until there is an answer to hand out. Raises the last attempt's error when there is none."""
        headers = {**call.headers, HOPS: str(call.hops)} if call.hops else call.headers
        head = render_head(call.method, target, headers, _length(call))
        origin.budget.asked(time.monotonic())
        number = retries = 0
        was_stale = False
        while True:
            number += 1
            told = head if call.attempt_headers is None else with_headers(head, call.attempt_headers(number))
            # A body that comes once needs a connection that is surely there.
            is_afresh = was_stale or isinstance(call.body, BodyStream)
            exchange = await self._attempt(call, target, origin, told, afresh=is_afresh)
            if exchange.stale and not was_stale:
                was_stale = True
                pause: float | None = 0.0
            else:
                pause = self._pause(call, exchange, retries, origin)
                retries += 1
            origin.counts.add(exchange.status if exchange.error is None else None, is_retried=pause is not None)
            if call.on_attempt is not None:
                call.on_attempt(_attempt(exchange, number, target, pause))
            if pause is None:
                if exchange.error is not None:
                    raise exchange.error
                return exchange
            exchange.close()
            if pause:
                await asyncio.sleep(pause)

    async def _attempt(
        self, call: UpstreamCall, target: UpstreamTarget, origin: OriginState, head: bytes, *, afresh: bool
    ) -> Exchange:
        """One attempt, if the circuit lets it through, and what it says about the origin."""
        if self._pool is None:
            raise RuntimeError("Upstream was not started.")
        away = origin.breaker.admit(time.monotonic())
        if away is not None:
            origin.counts.refused += 1
            proxy = target.origin.proxy
            way = "" if proxy is None else f" (through the proxy {proxy.name})"
            raise UpstreamUnavailable(
                f"{origin.host}{way} failed too often in the last seconds and is left alone for a moment.",
                retry_after=away,
                host=origin.host,
            )
        exchange = Exchange(
            self._pool, target, method=call.method, body=call.body, timeouts=call.timeouts, deadline=call.deadline
        )
        health = "unknown"
        try:
            await exchange.run(head, afresh=afresh)
            health = exchange.health
        finally:
            match health:
                case "good":
                    origin.breaker.succeeded(time.monotonic())
                case "bad" if not exchange.stale:
                    origin.breaker.failed(time.monotonic())
                case _:
                    origin.breaker.left()
        return exchange

    def _pause(self, call: UpstreamCall, exchange: Exchange, retries: int, origin: OriginState) -> float | None:
        """Seconds until the next attempt, or None when this one was the last."""
        if (
            self._pool is None
            or not call.retries
            or isinstance(call.body, BodyStream)
            or retries >= retries_for(exchange.outcome)
        ):
            return None
        pause = pause_before(retries + 1, exchange.headers, jitter=self._jitter(), wall=time.time())
        now = time.monotonic()
        if pause is None or origin.breaker.is_open():
            return None
        if call.deadline is not None and now + pause >= call.deadline:
            return None
        return pause if origin.budget.take(now) else None


def _length(call: UpstreamCall) -> int | None:
    """The content length that goes out: methods that have a body say so even when it is empty (RFC 9110, 8.6)."""
    if isinstance(call.body, BodyStream):
        return call.body.length
    if call.body is not None:
        return len(call.body)
    return 0 if call.method in ("POST", "PUT", "PATCH") else None


def _attempt(exchange: Exchange, number: int, target: UpstreamTarget, pause: float | None) -> Attempt:
    """An exchange as ``on_attempt`` is told of it."""
    return Attempt(
        number=number,
        host=target.host,
        started=exchange.started,
        connected=exchange.connected,
        first_byte=exchange.first_byte,
        status=exchange.status,
        error=None if exchange.error is None else exchange.error.message,
        wait=pause,
        proxy=None if target.origin.proxy is None else target.origin.proxy.name,
    )
