"""The MCP servers that accounts use in this process: connecting, trying again, and calling their tools."""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from agentui.chats.codes import failure
from agentui.errors import AgentUIError, Forbidden
from agentui.ids import Clock, SystemClock
from agentui.jsonio import Json
from agentui.mcp.errors import EXTRA, McpFailed, McpUnavailable
from agentui.mcp.file import read_file
from agentui.mcp.offered import MARGIN, Likeness, SeenTool, hosted_tools, seen_tools, usable_tools
from agentui.mcp.records import Endpoint, McpServer, ServerStatus, State, ToolDefinition
from agentui.mcp.stored import all_servers, approve_tools, find_server, find_usable, keep_file_servers, usable_servers
from agentui.redaction import Redactor, is_key_header
from agentui.secrets.store import SecretStore, check_origin
from agentui.store.base import Store
from agentui.threads import in_thread
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts

if TYPE_CHECKING:
    from agentui.mcp.connection import Connection, OpenStreams

MAX_PAUSE = 60.0
"""Most seconds between two attempts to reach a server; the first pause is one, each next twice as long."""
_SECRET = re.compile(r"\[\[SECRET:([A-Za-z0-9_.-]{1,200})\]\]")

log = logging.getLogger("agentui.mcp")

_Place: TypeAlias = tuple[str, str]
"""An account, and a server that it uses."""


@dataclass(slots=True)
class _Link:
    """What this process has with one server. ``not_before`` is a moment of ``time.monotonic``; ``live`` are its tools as they
    were last listed, by name."""

    server: McpServer
    connection: "Connection | None" = None
    connected_at: int | None = None
    failures: int = 0
    not_before: float = 0.0
    error: str | None = None
    is_connecting: bool = False
    live: Mapping[str, Likeness] | None = None
    refresher: "asyncio.Task[None] | None" = None


class McpServers:
    """Connects to servers when somebody wants them, and keeps the connections of this process.

    Each account has connections of its own, also to a server that several may use: what a program remembers of one is no
    business of another. ``folder`` is where ``mcp.json`` may be, and ``owner`` the account that what stands there belongs to.
    Without ``may_start_programs`` only that file names programs; the API refuses them.
    """

    def __init__(
        self,
        store: Store,
        upstream: Upstream,
        secrets: SecretStore,
        redactor: Redactor,
        *,
        folder: Path,
        owner: str,
        may_start_programs: bool,
        clock: Clock | None = None,
    ) -> None:
        self.may_start_programs = may_start_programs
        self._store = store
        self._upstream = upstream
        self._secrets = secrets
        self._redactor = redactor
        self._folder = folder
        self._owner = owner
        self._clock = clock or SystemClock()
        self._links: dict[_Place, _Link] = {}
        self._locks: dict[_Place, asyncio.Lock] = {}
        self._firsts: dict[_Place, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Read the operator's file; what it says is taken over when the store opens. Of a wrong one nothing is."""
        try:
            configured = read_file(self._folder)
        except ValueError as error:
            log.error("%s. The servers that it named before stay as they are.", error)
            return
        self._store.at_open(keep_file_servers, self._owner, configured, self._clock.now_ms())

    async def close(self) -> None:
        """Close every connection and end every program."""
        firsts = list(self._firsts.values())
        for first in firsts:
            first.cancel()
        await asyncio.gather(*firsts, return_exceptions=True)
        for place in list(self._links):
            await self.forget(*place)
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def tools(self, account: str, taken: Collection[str]) -> list[HostedTool]:
        """The approved tools of every server that is on, of an account's own and of the operator's that are for all. Names in
        ``taken`` are others' and never replaced.

        A server that was never connected to is connected to meanwhile: the tools that it then has are there the next time.
        """
        servers = await self._store.read(usable_servers, account)
        present = {(account, server.id) for server in servers if server.enabled}
        for place in [place for place in self._links if place[0] == account and place not in present]:
            await self.forget(*place)
        names, found = set(taken), list[HostedTool]()
        for server in servers:
            if not server.enabled:
                continue
            if server.approved is None:
                self._begin_first(account, server)
            for tool in hosted_tools(server, server.approved or (), self._call):
                if tool.name not in names:
                    names.add(tool.name)
                    found.append(tool)
        return found

    async def seen_tools(self, account: str, id: str, taken: Collection[str]) -> list[SeenTool]:
        """Every tool that a server has, and which are offered. Raises 404, 409 ``mcp_server_disabled``, McpUnavailable and
        McpFailed."""
        async with self._linked(account, await self._own(account, id)) as (link, connection):
            live = await self._listed(link, connection)
        return await in_thread(lambda: list(seen_tools(link.server, live, taken, self._call)))

    async def connect(self, account: str, id: str, names: Collection[str] | None = None) -> ServerStatus:
        """Connect anew, and offer the tools of these names as they are now, and no others; without names all that the server
        has. With names a server may be off, and stays so: its tools are approved before anybody is offered them. Raises as
        ``seen_tools`` does, and 400 ``validation_error`` for a name that it has not."""
        server = await (self._store.read(find_server, account, id) if names is not None else self._own(account, id))
        await self.forget(account, id)
        try:
            async with self._linked(account, server) as (link, connection):
                tools = await self._usable(link, connection)
                if names is not None:
                    missing = sorted(set(names).difference(tool.name for tool in tools))
                    if missing:
                        text = f"The MCP server {server.name} has no tool {missing[0]!r} that models can be offered."
                        raise failure("validation_error", text, field="tools")
                    tools = [tool for tool in tools if tool.name in names]
                link.server = await self._store.write(approve_tools, account, id, tools, only_first=False)
        finally:
            if not server.enabled:
                await self.forget(account, id)  # nobody calls its tools: its program would run for nothing
        return self.status_of(account, link.server)

    async def disconnect(self, account: str, id: str) -> ServerStatus:
        """Close this process's connection; the next call of a tool opens another. Raises 404."""
        server = await self._store.read(find_server, account, id)
        await self.forget(account, id)
        return self.status_of(account, server)

    async def test(self, account: str, id: str) -> tuple[ServerStatus, list[ToolDefinition]]:
        """Connect as a trial beside what is there, and list the tools; nothing is kept. Raises 404, McpUnavailable and
        McpFailed."""
        server = await self._store.read(find_server, account, id)
        connection = await self._connection(server)
        try:
            await connection.open(server.settings.connect_timeout_ms / 1000)
            link = _Link(server, connection, self._clock.now_ms())
            tools = await self._listed(link, connection)
            return self._status(server, link), list(tools)
        finally:
            await connection.close()

    async def status(self, account: str, id: str) -> ServerStatus:
        """How a server is doing. Raises 404."""
        return self.status_of(account, await self._store.read(find_server, account, id))

    async def statuses(self, account: str) -> list[ServerStatus]:
        """How every server of an account is doing, by name."""
        return [self.status_of(account, server) for server in await self._store.read(all_servers, account)]

    def status_of(self, account: str, server: McpServer) -> ServerStatus:
        """How the account's connection to this one is doing."""
        return self._status(server, self._links.get((account, server.id)))

    def _status(self, server: McpServer, link: _Link | None) -> ServerStatus:
        connection = None if link is None else link.connection
        is_open = connection is not None and connection.is_open
        error = None if link is None or is_open else link.error or (None if connection is None else connection.lost)
        state: State = "disconnected"
        if not server.enabled:
            state = "disabled"
        elif is_open:
            state = "connected"
        elif link is not None and link.is_connecting:
            state = "connecting"
        elif error is not None:
            state = "error"
        info = connection.info if connection is not None and is_open else None
        wait = 0.0 if link is None else link.not_before - time.monotonic()
        return ServerStatus(
            server_id=server.id,
            name=server.name,
            status=state,
            tool_count=len(server.approved or ()) if link is None or link.live is None else len(link.live),
            connected_at=link.connected_at if link is not None and is_open else None,
            last_error=error,
            next_attempt_at=self._clock.now_ms() + round(wait * 1000) if wait > 0 and state == "error" else None,
            server_name=None if info is None else info.name,
            server_version=None if info is None else info.version,
            protocol_version=None if info is None else info.protocol_version,
        )

    async def _own(self, account: str, id: str) -> McpServer:
        return _switched_on(await self._store.read(find_server, account, id))

    async def _call(
        self, server: McpServer, tool: ToolDefinition, arguments: Mapping[str, Json], context: ToolCallContext
    ) -> ToolAnswer:
        """Call a tool that is still what was approved, of a server as it is configured by now: since the turn began it may have
        been switched off or removed. Raises McpUnavailable, McpFailed, 404 and 409 ``mcp_server_disabled``."""
        account = context.place.account
        server = _switched_on(await self._store.read(find_usable, account, server.id))
        async with self._linked(account, server) as (link, connection):
            if link.live is None:
                await self._listed(link, connection)
            assert link.live is not None
            now = link.live.get(tool.name)
            if now is None or not now.is_approved_by(Likeness.of(tool)):
                raise McpFailed(
                    f"The tool {tool.name} of the MCP server {server.name} is no longer what was approved. "
                    "Somebody has to look at it and connect the server again.",
                    tool=tool.name,
                )
        left = context.deadline - time.perf_counter() - MARGIN
        if left <= 0:
            raise McpUnavailable(f"The MCP server {server.name} was not ready in time.", server=server.name)
        return await connection.call(tool.name, arguments, min(server.settings.call_timeout_ms / 1000, left))

    @asynccontextmanager
    async def _linked(self, account: str, server: McpServer) -> AsyncIterator[tuple[_Link, "Connection"]]:
        """An account's open connection to a server as it is configured now, while nobody else changes it. Raises
        McpUnavailable: soon after a failure at once, until it may be tried again."""
        place = account, server.id
        async with self._locks.setdefault(place, asyncio.Lock()):
            link = self._links.get(place)
            if link is not None and (link.server.stdio, link.server.http) != (server.stdio, server.http):
                await self._drop(link)
                link = None
            if link is None:
                link = self._links[place] = _Link(server)
            link.server = server
            if link.connection is None or not link.connection.is_open:
                await self._open(link)
            assert link.connection is not None
            yield link, link.connection

    async def _open(self, link: _Link) -> None:
        """Connect. Raises McpUnavailable."""
        server = link.server
        if link.connection is not None:
            link.error = link.connection.lost
            await self._drop(link)
            self._failed(link, link.error or "The connection was lost.")
        wait = link.not_before - time.monotonic()
        if wait > 0:
            raise McpUnavailable(
                f"The MCP server {server.name} is left alone for {wait:.1f} seconds. {link.error}", server=server.name
            )
        link.is_connecting = True
        try:
            connection = await self._connection(server)
            await connection.open(server.settings.connect_timeout_ms / 1000)
        except AgentUIError as error:
            self._failed(link, error.message)
            raise
        finally:
            link.is_connecting = False
        link.connection, link.connected_at, link.error, link.live = connection, self._clock.now_ms(), None, None
        log.info("connected to the MCP server %s", server.name)
        if server.settings.tool_refresh_interval_ms:
            link.refresher = asyncio.create_task(self._refresh(link, connection))

    def _failed(self, link: _Link, message: str) -> None:
        link.error = self._redactor.redact(message)
        link.not_before = time.monotonic() + min(2.0 ** min(link.failures, 10), MAX_PAUSE)
        link.failures += 1
        log.warning("the MCP server %s cannot be used: %s", link.server.name, link.error)

    async def _listed(self, link: _Link, connection: "Connection") -> tuple[ToolDefinition, ...]:
        """The tools that the server has now. Raises McpUnavailable and McpFailed."""
        tools = await connection.tools(link.server.settings.connect_timeout_ms / 1000)
        link.live, link.failures = {tool.name: Likeness.of(tool) for tool in tools}, 0
        return tools

    async def _usable(self, link: _Link, connection: "Connection") -> Sequence[ToolDefinition]:
        """Those of its tools that can be offered. Raises as ``_listed`` does."""
        tools = await self._listed(link, connection)
        return await in_thread(lambda: usable_tools(tools))

    async def _refresh(self, link: _Link, connection: "Connection") -> None:
        """Look again from time to time what tools there are: one that changed is not called any more."""
        while connection.is_open:
            await asyncio.sleep(link.server.settings.tool_refresh_interval_ms / 1000)
            try:
                await self._listed(link, connection)
            except AgentUIError as error:
                log.warning("the MCP server %s does not list its tools: %s", link.server.name, error.message)

    def _begin_first(self, account: str, server: McpServer) -> None:
        place = account, server.id
        if place not in self._firsts:
            task = self._firsts[place] = asyncio.create_task(self._first(account, server))
            task.add_done_callback(lambda _: self._firsts.pop(place, None))

    async def _first(self, account: str, server: McpServer) -> None:
        """Connect to a server for the first time, and approve what it has."""
        try:
            async with self._linked(account, server) as (link, connection):
                tools = await self._usable(link, connection)
                link.server = await self._store.write(approve_tools, server.account, server.id, tools, only_first=True)
        except AgentUIError as error:
            log.debug("the first connection to the MCP server %s failed: %s", server.name, error.message)

    async def forget(self, account: str, id: str) -> None:
        """Close this process's connection of an account to a server, if there is one."""
        async with self._locks.setdefault((account, id), asyncio.Lock()):
            link = self._links.pop((account, id), None)
            if link is not None:
                await self._drop(link)

    def forget_account(self, account: str) -> None:
        """Close all connections of this process that are an account's, beside whatever else is done; ``close`` waits for it."""
        for place in [place for place in self._links if place[0] == account]:
            closing = asyncio.create_task(self.forget(*place))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _drop(self, link: _Link) -> None:
        """Close the connection of a link, if it has one."""
        if link.refresher is not None:
            link.refresher.cancel()
            link.refresher = None
        connection, link.connection, link.live = link.connection, None, None
        if connection is not None:
            await connection.close()

    async def _connection(self, server: McpServer) -> "Connection":
        """A connection to a server that is not open yet. Raises McpUnavailable without the extra, and where a secret is
        missing or not meant for this place."""
        if find_spec("mcp") is None:
            raise McpUnavailable(EXTRA)
        # The library is an extra, and its code takes a third of a second to load: in a thread, so that others are served.
        await in_thread(_load)
        from agentui.mcp.connection import Connection

        return Connection(self._streams(server))

    def _streams(self, server: McpServer) -> "OpenStreams":
        from agentui.mcp.streams import http_streams, program_streams  # as above

        if server.stdio is not None:
            program = server.stdio
            env = {name: self._with_secrets(server, value, None) for name, value in program.env.items()}
            self._redactor.register(*(value for name, value in env.items() if is_key_header(name.replace("_", "-"))))
            return partial(program_streams, program, env)
        assert server.http is not None
        endpoint: Endpoint = server.http
        headers = {name: self._with_secrets(server, value, endpoint.url) for name, value in endpoint.headers.items()}
        self._redactor.register(*headers.values())
        timeouts = Timeouts(
            connect=server.settings.connect_timeout_ms / 1000,
            first_byte=server.settings.call_timeout_ms / 1000,
            idle=float("inf"),
        )

        def open_streams(_: Callable[[str], None]) -> AbstractAsyncContextManager[Any]:
            return http_streams(self._upstream, endpoint.url, headers, timeouts)

        return open_streams

    def _with_secrets(self, server: McpServer, text: str, url: str | None) -> str:
        """A configured value with the stored keys that it names as ``[[SECRET:name]]``. Raises NotFound, and Forbidden for a
        key that may not go to ``url``, and for all keys where an account that the server's own are not for has configured
        it."""

        def value(found: re.Match[str]) -> str:
            if server.account != self._owner:
                raise Forbidden("The keys of this server are not for the MCP servers of other accounts.", name=found[1])
            secret = self._secrets.get(found[1])
            if url is not None:
                check_origin(secret, url)
            self._redactor.register(secret.value)
            return secret.value

        return _SECRET.sub(value, text)


def _switched_on(server: McpServer) -> McpServer:
    """The server. Raises 409 ``mcp_server_disabled`` for one that is off."""
    if not server.enabled:
        raise failure("mcp_server_disabled", f"The MCP server {server.name} is switched off.")
    return server


def _load() -> None:
    """Load the library, for whoever imports it then."""
    import agentui.mcp.connection
    import agentui.mcp.streams  # noqa: F401
