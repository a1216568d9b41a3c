"""A caller's connection, read without aiohttp for as long as only plain requests of the proxied routes come.

    bytes ──> a plain request? ──yes──> answered here; then the next one is looked at
                               ──no───> the connection is aiohttp's from here on, beginning with these very bytes

aiohttp understands all of HTTP, and that costs more than a pipeline's three nodes. What is read here is the strict subset that
every server reads alike (see ``plain``). Whatever else comes, the malformed included, is judged in one place: aiohttp.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.tcp_helpers import tcp_keepalive

from agentui.api.proxy.front import is_plain
from agentui.api.proxy.plain import MAX_HELD, Body, PlainRequest, read_head

KEEP_ALIVE = 15.0
"""Seconds that a connection is kept while nobody asks anything. As long may the rest of a refused body still take to come:
closing at once could take the refusal from the caller."""

log = logging.getLogger("agentui.http")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Registry(Protocol):
    """Who wants to know which connections are open."""

    def add(self, connection: BaseProtocol) -> None:
        """One more."""

    def remove(self, connection: BaseProtocol) -> None:
        """One less."""


class CallerConnection(BaseProtocol):
    """One caller's connection. ``answer`` handles a plain request; ``adopt`` makes aiohttp's connection for anything else.

    ``manager`` closes connections when the server stops, as it does with aiohttp's own; this one closes itself after
    ``keep_alive`` seconds without a request.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        answer: Handler,
        adopt: Callable[[], web.RequestHandler],
        manager: web.Server,
        among: Registry,
        keep_alive: float = KEEP_ALIVE,
    ) -> None:
        super().__init__(loop)
        self._answer = answer
        self._adopt = adopt
        self._manager = manager
        self._among = among
        self._keep_alive = keep_alive
        self._body: Body | None = None
        self._ahead = b""
        self._is_paused = False
        self._is_closing = False
        self._idle_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._task_handler: asyncio.Task[None] | None = None  # by this name the manager asks for it
        self.ssl_context = self.peername = self.sockname = None

    # -- for the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody connected."""
        super().connection_made(transport)
        assert self.transport is not None
        tcp_keepalive(self.transport)
        self.ssl_context, self.peername, self.sockname = map(transport.get_extra_info, ("sslcontext", "peername", "sockname"))
        self._manager.connection_made(cast(Any, self), self.transport)
        self._among.add(self)
        self._idle_since = self._loop.time()
        self._timer = self._loop.call_later(self._keep_alive, self._look)

    def connection_lost(self, exc: BaseException | None) -> None:
        """The connection is gone, and with it the reason to go on with its request."""
        super().connection_lost(exc)
        self._leave(exc)
        if self._task_handler is not None:
            self._task_handler.cancel()

    def data_received(self, data: bytes) -> None:
        """Read what came: a request, more of a body, or a request that comes before the last one was answered."""
        if self._body is None:
            self._begin(data)
            return
        data = self._body.feed(data) if not self._ahead else data
        if data:
            self._ahead += data
            if len(self._ahead) > MAX_HELD:
                self.pause()
        if self._task_handler is None and self._body.is_eof():
            self._rest()

    # -- for the body, and for who stops the server

    def pause(self) -> None:
        """Let the caller wait."""
        if not self._is_paused and self.transport is not None:
            self._is_paused = True
            self.transport.pause_reading()

    def resume(self) -> None:
        """Let the caller go on."""
        if self._is_paused and self.transport is not None and len(self._ahead) <= MAX_HELD:
            self._is_paused = False
            self.transport.resume_reading()

    def close(self) -> None:
        """Take no more requests; one that is under way is answered first."""
        self._is_closing = True
        if self._task_handler is None and self.transport is not None:
            self.transport.close()

    async def shutdown(self, timeout: float | None = 15.0) -> None:
        """Close within ``timeout`` seconds what is under way, or cut it."""
        self._is_closing = True
        task = self._task_handler
        if task is not None:
            await asyncio.wait({task}, timeout=timeout)
            task.cancel()
        if self.transport is not None:
            self.transport.close()

    # -- between them

    def _begin(self, data: bytes) -> None:
        """Answer the plain request that begins here, or leave the connection to aiohttp."""
        head = read_head(data)
        if head is None or not is_plain(head.path):
            self._hand_over(data)
            return
        self._body = body = Body(head.length, self, self._loop)
        self._ahead = body.feed(data[head.end :])
        request = PlainRequest(head, body, self, self._loop)
        self._task_handler = self._loop.create_task(self._serve(request))

    async def _serve(self, request: PlainRequest) -> None:
        """Answer one request and see how the connection goes on."""
        keeps = False
        try:
            response = await self._answer(request)
            await response.prepare(request)
            await response.write_eof()
            keeps = bool(response.keep_alive)
        except ConnectionError:
            pass  # the caller is gone
        except Exception:
            # What a handler raises was answered; this is a fault in writing the answer.
            log.exception("An answer could not be written.")
        finally:
            self._task_handler = None
            if self.transport is not None and (not keeps or self._is_closing):
                self.transport.close()
        if keeps:
            self._rest()

    def _rest(self) -> None:
        """A request was answered: begin the next one where it is there already, or wait for it."""
        self._idle_since = self._loop.time()
        if self.transport is None or self.transport.is_closing() or self._body is None:
            return
        if not self._body.is_eof():
            self._body.discard()
            return
        self._body = None
        ahead, self._ahead = self._ahead, b""
        self.resume()
        if ahead:
            self._begin(ahead)

    def _hand_over(self, data: bytes) -> None:
        """Leave the connection to aiohttp. Nothing is under way, so nothing of it is here."""
        transport = self.transport
        assert transport is not None
        self.transport = None
        successor = self._adopt()
        transport.set_protocol(successor)
        successor.connection_made(transport)
        self._leave(None)
        successor.data_received(data)

    def _leave(self, exc: BaseException | None) -> None:
        """This object has no connection any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._manager.connection_lost(cast(Any, self), exc)
        self._among.remove(self)

    def _look(self) -> None:
        """Close a connection on which nothing has happened for too long. One timer per connection, not per request."""
        now = self._loop.time()
        due = self._keep_alive + (self._idle_since if self._task_handler is None else now)
        if due > now:
            self._timer = self._loop.call_at(due, self._look)
        elif self.transport is not None:
            self.transport.close()
