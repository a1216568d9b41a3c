"""The connections that are open, and how new ones come about."""

import asyncio
import socket
import ssl
import time
from collections import deque

from aiohappyeyeballs import start_connection

from agentui.upstream.connection import Connection, Disconnected
from agentui.upstream.names import Names
from agentui.upstream.policy import PolicyResolver
from agentui.upstream.target import Place

KEEP_ALIVE = 15.0
"""Seconds that an unused connection is kept."""
HEAD_START = 0.25
"""Seconds that one address gets before the next one is tried beside it (RFC 8305, 5)."""


class Pool:
    """Connections by place; the one that was used last is used again first. It limits nothing: ``Origins`` does.

    ``ssl_context`` replaces the system's trusted certificates, ``keep_alive`` are seconds. Make it inside the event loop.
    """

    def __init__(
        self, resolver: PolicyResolver, ssl_context: ssl.SSLContext | None = None, *, keep_alive: float = KEEP_ALIVE
    ) -> None:
        self._names = Names(resolver)
        self._ssl_context = ssl_context
        self._keep_alive = keep_alive
        self._open: set[Connection] = set()
        self._idle: dict[Place, deque[Connection]] = {}
        self._sweep_handle: asyncio.TimerHandle | None = None
        self._is_closed = False

    def take(self, place: Place) -> Connection | None:
        """A connection that is there already and seems to be alive, or None."""
        idle = self._idle.get(place)
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if connection.idle_since + self._keep_alive > time.monotonic():
                    return connection
                connection.abort()
        return None

    async def connect(self, place: Place) -> Connection:
        """A new connection.

        Raises UnknownName, ForbiddenAddress, OSError (ssl.SSLError and ssl.CertificateError among them) and Disconnected
        when the pool is closed meanwhile.
        """
        addresses = await self._names.addresses(place.host, place.port)
        context = await self._context() if place.is_tls else None
        found = await start_connection(addresses, happy_eyeballs_delay=HEAD_START)
        try:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(place, self._open.discard),
                sock=found,
                ssl=context,
                server_hostname=place.host.rstrip(".") if place.is_tls else None,
            )
        except BaseException:
            found.close()
            raise
        self._open.add(connection)
        if self._is_closed:
            connection.abort()
            raise Disconnected(stale=False)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose exchange is over; drop any other."""
        if self._is_closed or not connection.is_reusable:
            connection.abort()
            return
        connection.rest()
        self._idle.setdefault(connection.place, deque()).append(connection)
        if self._sweep_handle is None:
            self._sweep_handle = asyncio.get_running_loop().call_later(self._keep_alive, self._sweep)

    async def close(self) -> None:
        """Drop every connection, used or not."""
        self._is_closed = True
        if self._sweep_handle is not None:
            self._sweep_handle.cancel()
        self._idle.clear()
        for connection in list(self._open):
            connection.abort()
        await asyncio.gather(*(connection.lost() for connection in list(self._open)))
        await self._names.close()

    def _sweep(self) -> None:
        """Drop what nobody used for too long, and come back while anything is kept."""
        self._sweep_handle = None
        too_old = time.monotonic() - self._keep_alive
        for place, idle in list(self._idle.items()):
            while idle and (idle[0].idle_since <= too_old or not idle[0].is_open):
                idle.popleft().abort()
            if not idle:
                del self._idle[place]
        if self._idle:
            self._sweep_handle = asyncio.get_running_loop().call_later(self._keep_alive, self._sweep)

    async def _context(self) -> ssl.SSLContext:
        """How TLS is spoken and who is trusted. (Made when first needed, in a thread: reading the certificates takes long.)"""
        if self._ssl_context is None:
            context = await asyncio.to_thread(ssl.create_default_context)
            context.set_alpn_protocols(["http/1.1"])
            self._ssl_context = context
        return self._ssl_context
