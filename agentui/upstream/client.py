"""``Upstream``: sends calls out and hands their answers in, trying again where that may help."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from ssl import SSLContext
from types import TracebackType

from aiohttp import ClientSession, DummyCookieJar
from aiohttp.abc import AbstractResolver

from agentui import __version__
from agentui.errors import AgentUIError, UpstreamUnavailable
from agentui.upstream.call import UpstreamCall, UpstreamReply
from agentui.upstream.exchange import Exchange
from agentui.upstream.headers import FRAMING, check_header
from agentui.upstream.origins import Origin, Origins, resolve_base_url
from agentui.upstream.policy import AddressPolicy, PolicyResolver
from agentui.upstream.retry import RetryBudget, pause_before, retries_for
from agentui.upstream.stream import MAX_CHUNK, MAX_REPLY, UpstreamStream
from agentui.upstream.wire import Answer, WireConnector

MAX_IN_FLIGHT = 100


class Upstream:
    """The one door outside. Start it inside the event loop, or use it as an async context manager.

    ``named_origins`` are URLs by the names that presets use for them (``demo``). ``resolver`` replaces the system's look-up
    of names, ``ssl_context`` its trusted certificates, ``jitter`` gives numbers in [0, 1).
    """

    def __init__(
        self,
        *,
        allow_private: bool = True,
        named_origins: Mapping[str, str] | None = None,
        max_reply: int = MAX_REPLY,
        max_in_flight: int = MAX_IN_FLIGHT,
        resolver: AbstractResolver | None = None,
        ssl_context: SSLContext | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._named = dict(named_origins or {})
        self._policy = AddressPolicy(allow_private=allow_private, trusted=self._named.values())
        self._check_url = lru_cache(maxsize=1024)(self._policy.check_url)
        self._origins = Origins(max_in_flight)
        self._budget = RetryBudget()
        self._max_reply = max_reply
        self._resolver = resolver
        self._ssl_context = ssl_context
        self._jitter = jitter
        self._session: ClientSession | None = None

    async def start(self) -> None:
        """Make the connection pool."""
        if self._session is None:
            self._session = ClientSession(
                connector=WireConnector(PolicyResolver(self._policy, self._resolver), self._ssl_context),
                cookie_jar=DummyCookieJar(),
                response_class=Answer,
                headers={"User-Agent": f"agentui/{__version__}"},
                auto_decompress=False,
                trust_env=False,
                read_bufsize=MAX_CHUNK,
            )

    async def close(self) -> None:
        """Close every connection, used or not."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> "Upstream":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def resolve(self, base_url: str) -> str:
        """``base_url`` with a named origin put in (``demo/v1``). Raises NotFound for a name that nobody gave."""
        return resolve_base_url(base_url, self._named)

    async def send(self, call: UpstreamCall) -> UpstreamReply:
        """Make a call and read its answer, whatever its status. Raises as ``open`` and ``UpstreamStream.read`` do."""
        async with self.open(call) as stream:
            return UpstreamReply(status=stream.status, headers=stream.headers, body=await stream.read(self._max_reply))

    @asynccontextmanager
    async def open(self, call: UpstreamCall) -> AsyncIterator[UpstreamStream]:
        """Make a call and hand out its answer, whatever its status, once the headers are there.

        Leaving before the answer's end drops the connection, so that the upstream stops working on it. Raises
        UpstreamUnreachable, UpstreamTimeout, UpstreamInvalid, UpstreamTruncated, UpstreamUnavailable (circuit open), Busy
        (too many at once for this origin) and BadRequest (a header that is none).
        """
        try:
            with self._origins.at(self._check_url(call.url)) as origin:
                exchange = await self._exchange(call, origin)
                try:
                    yield exchange.stream()
                finally:
                    exchange.close()
                    if exchange.is_broken:
                        origin.breaker.failed(time.monotonic())
        except AgentUIError as error:
            if call.node is not None:
                error.details.setdefault("node", call.node)
            raise

    async def _exchange(self, call: UpstreamCall, origin: Origin) -> Exchange:
        """Attempt the call until there is an answer to hand out. Raises the last attempt's error when there is none."""
        headers = _outgoing(call.headers)
        self._budget.asked(time.monotonic())
        number = retries = 0
        was_stale = False
        while True:
            number += 1
            exchange = await self._attempt(call, headers, origin)
            if exchange.stale and not was_stale:
                was_stale = True
                pause: float | None = 0.0
            else:
                pause = self._pause(call, exchange, retries, origin)
                retries += 1
            if call.on_attempt is not None:
                call.on_attempt(exchange.report(number, pause))
            if pause is None:
                if exchange.error is not None:
                    raise exchange.error
                return exchange
            exchange.close()
            if pause:
                await asyncio.sleep(pause)

    async def _attempt(self, call: UpstreamCall, headers: Mapping[str, str], origin: Origin) -> Exchange:
        """One attempt, if the circuit lets it through, and what it says about the origin."""
        if self._session is None:
            raise RuntimeError("Upstream was not started.")
        away = origin.breaker.admit(time.monotonic())
        if away is not None:
            raise UpstreamUnavailable(
                f"{origin.host} failed too often in the last seconds and is left alone for a moment.",
                retry_after=away,
                host=origin.host,
            )
        exchange = Exchange(call, origin.host)
        health = "unknown"
        try:
            await exchange.run(self._session, self._check_url(call.url), headers)
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

    def _pause(self, call: UpstreamCall, exchange: Exchange, retries: int, origin: Origin) -> float | None:
        """Seconds until the next attempt, or None when this one was the last."""
        if not call.retries or retries >= retries_for(exchange.setback):
            return None
        pause = pause_before(retries + 1, exchange.headers, jitter=self._jitter(), wall=time.time())
        now = time.monotonic()
        if pause is None or origin.breaker.is_open():
            return None
        if call.deadline is not None and now + pause >= call.deadline:
            return None
        return pause if self._budget.take(now) else None


def _outgoing(headers: Mapping[str, str]) -> dict[str, str]:
    """The call's headers as they go out: checked, without those of the connection, and asking for no compression."""
    outgoing: dict[str, str] = {}
    for name, value in headers.items():
        check_header(name, value)
        outgoing[name.lower()] = value  # one of each: two spellings of a name would be two headers
    for name in FRAMING & outgoing.keys():
        del outgoing[name]
    outgoing["accept-encoding"] = "identity"
    return outgoing
