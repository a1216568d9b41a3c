"""The port: connections come in, requests under way end before the server does, and whoever is cut hears so."""

import asyncio
import logging
from typing import Any

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol

from agentui.api.keys import HISTORY, SERVICES, STOPPING
from agentui.errors import ServerStopping
from agentui.http.guard import GUARD, SERVER_NAME
from agentui.http.workers import WORKERS
from agentui.ids import new_id
from agentui.jsonio import dumps

log = logging.getLogger("agentui")

KEEP_ALIVE = 15.0
"""Seconds that a connection is kept while nobody asks anything."""
LINGER_SECONDS = 10.0
"""How long the rest of a body that nobody reads may still come, and is thrown away: closing at once could take the refusal from
the caller."""
LAST_WORDS_SECONDS = 2.0
"""How long those who are cut may take to hear of it."""

_SILENT = logging.Logger("agentui.access", logging.CRITICAL)
"""aiohttp's access log stays off: it costs a line per request on the hot path and shows ``?key=``."""


class Listener:
    """The application on a port. When it stops, requests under way may go on for ``stop_seconds`` before they are cut.

    A connection is kept for ``keep_alive`` seconds in which no request comes; half a header is none.
    """

    def __init__(self, app: web.Application, *, stop_seconds: float = 3.0, keep_alive: float = KEEP_ALIVE) -> None:
        self._app = app
        self._keep_alive = keep_alive
        self._stop_seconds = stop_seconds
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=min(LAST_WORDS_SECONDS, stop_seconds)
        )
        self._connections = _Connections()
        self._servers: list[asyncio.Server] = []

    async def start(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Load everything and listen; returns the port. Raises OSError when the port is busy.

        A worker listens for the other workers too.
        """
        await self._runner.setup()
        manager = self._runner.server
        assert manager is not None
        manager.request_handler = self._app[GUARD].meet_expectations(manager.request_handler)
        socket = self._app[WORKERS].socket
        loop = asyncio.get_running_loop()

        def connection() -> _Protocol:
            return _Protocol(self._connections, manager, loop, self._keep_alive)

        try:
            if socket is not None:
                self._servers.append(await loop.create_unix_server(connection, socket))
            server = await loop.create_server(connection, host, port, backlog=4096, reuse_port=reuse_port or None)
            self._servers.append(server)
        except OSError:
            await self.stop()
            raise
        addresses = [each.getsockname()[:2] for each in server.sockets]
        self._app[SERVICES].upstream.listens_on(addresses)
        return int(addresses[0][1])

    async def stop(self, hurry: asyncio.Event | None = None) -> None:
        """Take no more connections, let what runs end within ``stop_seconds``, cut the rest, and close everything.

        Idle connections and the editor's live streams end at once. ``hurry`` ends the wait. Who is cut hears so in the
        words of its dialect.
        """
        self._app[STOPPING].set()
        for server in self._servers:
            server.close()
        manager = self._runner.server
        if manager is not None:
            # What has just arrived begins, so that it counts as under way.
            for _ in range(2):
                await asyncio.sleep(0)
            manager.pre_shutdown()
            await self._app.shutdown()
            await self._connections.closed(self._stop_seconds, hurry or asyncio.Event())
            for run in self._app[HISTORY].running:
                run.stop(ServerStopping("The server is stopping. Send the request again in a moment.", retry_after=1))
        await self._runner.cleanup()


class _Protocol(web.RequestHandler):
    """aiohttp's connection, with five differences: a malformed request is never repeated in the answer or in the log
    (aiohttp's own page quotes it, keys included), a body that cannot be read is no fault of ours in the log, the listener
    knows which connections are open, an idle one can be closed, and nothing is decompressed (``read_body`` does that, for
    callers who may come in)."""

    def __init__(
        self, connections: "_Connections", manager: web.Server, loop: asyncio.AbstractEventLoop, keep_alive: float
    ) -> None:
        super().__init__(
            manager,
            loop=loop,
            keepalive_timeout=keep_alive,
            access_log=_SILENT,
            max_line_size=8190,
            lingering_time=LINGER_SECONDS,
            auto_decompress=False,
        )
        self._among = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody connected."""
        super().connection_made(transport)
        self._among.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        self._among.remove(self)

    def close(self) -> None:
        """Take no more requests; one that is under way is answered first. (aiohttp would leave an idle connection open until
        all are cut.)"""
        is_idle = self._waiter is not None and not self._waiter.done()
        super().close()
        if is_idle and self.transport is not None:
            self.transport.close()

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Say nothing of a body that breaks the rules of its framing or compression: its sender was told, and aiohttp, which
        reads what still comes of it, would log a trace as for a fault of the server."""
        if not isinstance(kw.get("exc_info"), web.RequestPayloadError):
            super().log_exception(*args, **kw)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer in a sentence and close."""
        if request.writer.output_size > 0 or isinstance(exc, ConnectionError):
            raise ConnectionError("The answer had begun already, or nobody is there to read it.")
        if status < 500:
            log.warning("A malformed HTTP request was refused (%s).", type(exc).__name__)
            code, message = "malformed_http", "This is not a well-formed HTTP request."
        else:
            log.error("A request failed before agentui could see it (%s).", type(exc).__name__)
            code, message = "internal_error", "agentui failed on this request."
        body = {"error": {"code": code, "message": message, "details": {}}}
        headers = {"server": SERVER_NAME, "x-content-type-options": "nosniff", "x-request-id": new_id("req")}
        response = web.Response(status=status, body=dumps(body), content_type="application/json", headers=headers)
        response.force_close()
        return response


class _Connections:
    """The open connections, and a way to wait until there is none."""

    def __init__(self) -> None:
        self._open: set[BaseProtocol] = set()
        self._none = asyncio.Event()

    def add(self, connection: BaseProtocol) -> None:
        """One more."""
        self._open.add(connection)
        self._none.clear()

    def remove(self, connection: BaseProtocol) -> None:
        """One less."""
        self._open.discard(connection)
        if not self._open:
            self._none.set()

    async def closed(self, seconds: float, hurry: asyncio.Event) -> None:
        """Wait until there is none, but no longer than ``seconds`` and not once somebody is in a hurry."""
        if not self._open or hurry.is_set():
            return
        waits = [asyncio.create_task(self._none.wait()), asyncio.create_task(hurry.wait())]
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
