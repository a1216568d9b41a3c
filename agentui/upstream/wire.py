"""The parts of aiohttp that we bend: what happens between a connection and the answer's headers.

aiohttp closes connections politely, waits through any number of interim answers, repeats idempotent requests by itself and
never says whether a connection was used before. The three small subclasses here change exactly that, and tell the
``Watch`` of the attempt under way.
"""

import asyncio
import time
from contextvars import ContextVar
from functools import partial
from ssl import SSLContext

from aiohttp import ClientOSError, ClientResponse, ServerDisconnectedError, TCPConnector
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from aiohttp.streams import StreamReader

MAX_INTERIM = 20
"""Interim answers (1xx) before the real one; more than that is a flood."""
KEEP_ALIVE = 15.0
"""Seconds that an unused connection is kept."""
DNS_TTL = 30
"""Seconds that a look-up is remembered; failures are not."""

watching: ContextVar["Watch"] = ContextVar("watching")
"""The attempt that this task is making; aiohttp hands no argument of ours to a response."""


class Disconnected(Exception):
    """The connection ended before the answer's headers. ``stale``: it was an old one, and not a byte came back."""

    def __init__(self, *, stale: bool) -> None:
        super().__init__("stale" if stale else "no answer")
        self.stale = stale


class Watch:
    """What one attempt's connection is doing, and its clock until the headers. Moments are ``time.monotonic()``."""

    __slots__ = ("_handle", "_limit", "_transport", "connected", "expired", "first_byte")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._handle: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self.connected: float | None = None
        self.first_byte: float | None = None
        self.expired = False

    def begin(self, transport: asyncio.Transport | None) -> None:
        """A connection is there and the request is on its way: start the clock."""
        self.connected = time.monotonic()
        self._transport = transport
        self._handle = asyncio.get_running_loop().call_later(max(0.0, self._limit), self._expire)

    def end(self) -> None:
        """Stop the clock."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._transport = None

    def _expire(self) -> None:
        """Too long: drop the connection, which wakes whoever waits for it."""
        self.expired = True
        if self._transport is not None:
            self._transport.abort()


class Wire(ResponseHandler):
    """aiohttp's side of one connection, which also counts interim answers and knows its own age."""

    uses = 0
    heard = False
    _interim = 0

    def data_received(self, data: bytes) -> None:
        """Note that the upstream said something; the rest is aiohttp's."""
        self.heard = True
        super().data_received(data)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take an answer's headers; a flood of interim ones breaks the connection."""
        code = data[0].code
        if 100 <= code < 200 and code != 101:
            self._interim += 1
            if self._interim > MAX_INTERIM:
                self.set_exception(HttpProcessingError(message="too many interim answers"))
                if self.transport is not None:
                    self.transport.abort()
                return
        else:
            self._interim = 0
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Break the body that is being read, too: aiohttp leaves it waiting when a chunk cannot be parsed."""
        if exc_cause is None:
            super().set_exception(exc)
        else:
            super().set_exception(exc, exc_cause)
        if self._payload is not None and self._payload.exception() is None and not self._payload.is_eof():
            self._payload.set_exception(exc)


class Answer(ClientResponse):
    """A response that leaves at once when its start fails, and says how."""

    async def start(self, connection: Connection) -> "Answer":
        """Wait for the headers under the attempt's clock. Raises Disconnected when the connection ends instead."""
        watch, wire = watching.get(), connection.protocol
        assert isinstance(wire, Wire)
        if wire.uses and wire.should_close:
            # Something came that nobody asked for: the next answer on this connection may belong to another request.
            wire.abort()
            raise Disconnected(stale=True)
        reused, wire.heard = wire.uses > 0, False
        wire.uses += 1
        watch.begin(connection.transport)
        try:
            await super().start(connection)
        except (ClientOSError, ServerDisconnectedError) as error:
            wire.abort()
            raise Disconnected(stale=reused and not wire.heard) from error
        except BaseException:
            wire.abort()  # aiohttp would first flush the request, for as long as the upstream likes
            raise
        finally:
            watch.end()
        watch.first_byte = time.monotonic()
        return self

    def abort(self) -> None:
        """Leave, dropping the connection unless the answer has come to its end."""
        if self.connection is not None:  # otherwise it is back in the pool, or gone
            self.abort_transport()
            self.close()

    def abort_transport(self) -> None:
        """Drop the connection unless the answer has come to its end; whoever reads is woken by an error."""
        if self.connection is not None and self.connection.transport is not None:
            self.connection.transport.abort()


class WireConnector(TCPConnector):
    """aiohttp's pool, with our ``Wire`` for connections. It limits nothing: ``Origins`` does."""

    def __init__(self, resolver: AbstractResolver, ssl_context: SSLContext | None = None) -> None:
        super().__init__(
            resolver=resolver,
            ssl=ssl_context or True,
            limit=0,
            keepalive_timeout=KEEP_ALIVE,
            ttl_dns_cache=DNS_TTL,
        )
        # aiohttp has no public way to choose the class of a connection, and its own type is invariant.
        self._factory = partial(Wire, loop=self._loop)  # type: ignore[assignment]
