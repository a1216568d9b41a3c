"""Wiring and nothing but wiring: ``create_app`` makes every part once and hands them to each other."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol

from agentui.api.chats import ROUTES as CHAT_ROUTES
from agentui.api.editor import add_editor_routes
from agentui.api.keys import CATALOG, HISTORY, PIPELINES, PRESETS, SERVICES, STORE, STORE_HEALTH, TURNS
from agentui.api.ops.health import health, ready
from agentui.api.ops.metrics import metrics
from agentui.api.ops.openapi import openapi
from agentui.api.ops.telemetry import TELEMETRY, Telemetry
from agentui.api.ops.workers import add_worker_routes
from agentui.api.proxy.detached import Unattended
from agentui.api.proxy.models import add_model_routes
from agentui.api.proxy.routes import add_proxy_routes
from agentui.errors import ServerStopping
from agentui.files import SharedLock
from agentui.http.guard import add_own_headers, guard, meet_expectations
from agentui.http.keys import REDACTOR, SETTINGS
from agentui.http.pages import add_page_routes
from agentui.http.route import add_routes
from agentui.http.state import STATE, State
from agentui.http.workers import THOUGHTS, WORKERS, WorkerGroup, Workers
from agentui.ids import new_id
from agentui.jsonio import dumps
from agentui.pipeline.continuity import Continuity
from agentui.pipeline.executor import PipelineExecutor
from agentui.pipeline.history import RunHistory
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import load_catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.run import Services
from agentui.presets import PresetLibrary
from agentui.redaction import Redactor
from agentui.secrets.store import SecretStore
from agentui.settings import Settings
from agentui.store.health import StoreHealth
from agentui.store.opening import make_store
from agentui.turns.service import TurnService
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.vendors.registry import make_vendors

log = logging.getLogger("agentui")

NOTHING: Mapping[str, str] = MappingProxyType({})


def create_app(
    settings: Settings,
    *,
    named_origins: Mapping[str, str] = NOTHING,
    secret_env: Mapping[str, str] = NOTHING,
    default_active: str = "default",
    group: WorkerGroup | None = None,
) -> web.Application:
    """The whole server as an application; it loads files and opens connections when it starts.

    ``named_origins`` are addresses that a base_url may call by a word (``demo``), ``secret_env`` the environment's
    ``AGENTUI_SECRET_*``, ``default_active`` the pipeline that answers until somebody activates another. ``group`` are the
    workers of one server, where this is one of several: somebody else has locked the data folder for all of them.
    """
    app = web.Application(middlewares=[guard], client_max_size=settings.max_body)
    state = _make_state(settings, named_origins, secret_env, default_active, group)
    app[STATE] = state
    app[SETTINGS], app[REDACTOR] = settings, state.redactor
    app[CATALOG], app[SERVICES], app[HISTORY] = state.catalog, state.services, state.history
    app[PIPELINES], app[PRESETS] = state.pipelines, state.presets
    app[STORE], app[STORE_HEALTH], app[TURNS] = state.store, state.store_health, state.turns
    app[WORKERS], app[TELEMETRY] = state.workers, state.telemetry
    app.on_response_prepare.append(add_own_headers)
    app.cleanup_ctx.append(_live)
    add_proxy_routes(app)
    add_model_routes(app)
    add_editor_routes(app)
    add_routes(app, CHAT_ROUTES)
    add_page_routes(app)
    if group is not None:
        add_worker_routes(app)
    app.router.add_get("/health", health)
    app.router.add_get("/ready", ready)
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/openapi.json", openapi)
    return app


def _make_state(
    settings: Settings,
    named_origins: Mapping[str, str],
    secret_env: Mapping[str, str],
    default_active: str,
    group: WorkerGroup | None,
) -> State:
    redactor = Redactor()
    if settings.token is not None:
        redactor.register(settings.token.get_secret_value())
    catalog, complaints = load_catalog(BUILTIN)
    for complaint in complaints:
        log.warning("%s", complaint)
    token = settings.token.get_secret_value() if settings.token is not None else None
    workers = Workers(group, token=token, write_timeout=settings.write_timeout)
    services = Services(
        vendors=make_vendors(),
        upstream=Upstream(
            named_origins=named_origins,
            allow_private=settings.may_call_private,
            max_reply=settings.max_reply,
            max_in_flight=settings.max_per_origin,
            max_queued=settings.max_queued_per_origin,
            queue_timeout=settings.queue_timeout,
        ),
        secrets=SecretStore(settings.data, secret_env, settings.secret_key.get_secret_value() if settings.secret_key else None),
        continuity=Continuity(partial(workers.post_all, THOUGHTS) if workers.numbers else None),
        timeouts=Timeouts(settings.connect_timeout, settings.first_byte_timeout, settings.idle_timeout),
        max_event=settings.max_event,
        max_reply=settings.max_reply,
        max_stream=settings.max_stream,
    )
    owner = new_id("server")
    url = settings.database_url.get_secret_value() if settings.database_url is not None else None
    store = make_store(url, settings.data, is_shared=group is not None)
    # Several workers change the same files.
    lock = SharedLock(settings.data / "documents.lock") if group is not None else None
    return State(
        settings=settings,
        catalog=catalog,
        pipelines=PipelineLibrary(settings.pipelines, settings.data, catalog, default_active=default_active, lock=lock),
        presets=PresetLibrary(settings.presets, settings.data, lock=lock),
        services=services,
        executor=PipelineExecutor(),
        history=RunHistory(settings.run_history, settings.run_history_bytes),
        redactor=redactor,
        store=store,
        store_health=StoreHealth(store),
        owner=owner,
        workers=workers,
        telemetry=Telemetry(settings, owner),
        unattended=Unattended(),
        turns=TurnService(
            store,
            owner,
            queue_seconds=settings.generation_queue,
            is_alone=url is None,
            lease_seconds=settings.generation_lease,
            answer_seconds=settings.idempotency_age,
            answer_bytes=settings.idempotency_bytes,
        ),
    )


async def _live(app: web.Application) -> AsyncIterator[None]:
    """Take the data folder, load the files, watch them, and open the client; close all of it at the end."""
    state = app[STATE]
    state.store.claim()
    state.pipelines.refresh()
    state.presets.refresh()
    state.turns.start()
    async with state.services.upstream, state.workers:
        watchers = [asyncio.create_task(library.watch()) for library in (state.pipelines, state.presets)]
        try:
            yield
        finally:
            for watcher in watchers:
                watcher.cancel()
                with suppress(asyncio.CancelledError):
                    await watcher
            await state.unattended.close()
            await state.telemetry.close()
            await state.store_health.stop()
            await state.turns.close()
            await state.store.close()


KEEP_ALIVE = 15.0
"""Seconds that a connection is kept while nobody asks anything. As long may the rest of a refused body still take to come:
closing at once could take the refusal from the caller."""
LAST_WORDS_SECONDS = 2.0
"""How long those who are cut may take to hear of it."""

_SILENT = logging.Logger("agentui.access", logging.CRITICAL)
"""aiohttp's access log stays off: it costs a line per request on the hot path and shows ``?key=``."""


class _Protocol(web.RequestHandler):
    """aiohttp's connection, with four differences: a malformed request is never repeated in the answer or in the log
    (aiohttp's own page quotes it, keys included), a body that cannot be read is no fault of ours in the log, the listener
    knows which connections are open, and an idle one can be closed."""

    def __init__(
        self, connections: "_Connections", manager: web.Server, loop: asyncio.AbstractEventLoop, keep_alive: float
    ) -> None:
        super().__init__(manager, loop=loop, keepalive_timeout=keep_alive, access_log=_SILENT, max_line_size=8190)
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
        headers = {"x-content-type-options": "nosniff", "x-request-id": new_id("req")}
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
        state = self._app[STATE]
        manager.request_handler = meet_expectations(state, manager.request_handler)
        loop = asyncio.get_running_loop()

        def connection() -> _Protocol:
            return _Protocol(self._connections, manager, loop, self._keep_alive)

        try:
            if state.workers.socket is not None:
                self._servers.append(await loop.create_unix_server(connection, state.workers.socket))
            server = await loop.create_server(connection, host, port, backlog=4096, reuse_port=reuse_port or None)
            self._servers.append(server)
        except OSError:
            await self.stop()
            raise
        return int(server.sockets[0].getsockname()[1])

    async def stop(self, hurry: asyncio.Event | None = None) -> None:
        """Take no more connections, let what runs end within ``stop_seconds``, cut the rest, and close everything.

        Idle connections and the editor's live streams end at once. ``hurry`` ends the wait. Who is cut hears so in the
        words of its dialect.
        """
        self._app[STATE].is_stopping = True
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
            for run in self._app[STATE].history.running:
                run.stop(ServerStopping("The server is stopping. Send the request again in a moment.", retry_after=1))
        await self._runner.cleanup()
