"""The connections that are open, and how new ones come about: a name's addresses, a socket, a proxy's tunnel, TLS."""

import asyncio
import ipaddress
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from aiohappyeyeballs import AddrInfoType, start_connection
from aiohttp.abc import AbstractResolver, ResolveResult

from agentui.upstream.http.connection import Connection, Disconnected
from agentui.upstream.http.proxy import Proxy, ProxyFault, TunnelRequest, connect_socks
from agentui.upstream.http.request import Origin

KEEP_ALIVE = 15.0
"""Seconds that an unused connection is kept."""
HEAD_START = 0.25
"""Seconds that one address gets before the next one is tried beside it (RFC 8305, 5)."""
TTL = 30.0
"""Seconds that a look-up is remembered; failures are not."""
_KEPT = 1024
"""Look-ups remembered at most."""

P = TypeVar("P", bound=asyncio.BaseProtocol)


class UnknownName(Exception):
    """A name that has no address."""


class ForbiddenAddress(Exception):
    """A name leads only to addresses that may not be called; the text is the reason. Resolvers raise it."""


class Pool:
    """Connections by origin; the one that was used last is used again first. It limits nothing: ``Origins`` does.

    ``ssl_context`` replaces the system's trusted certificates, ``keep_alive`` are seconds. Make it inside the event loop.
    """

    def __init__(
        self, resolver: AbstractResolver, ssl_context: ssl.SSLContext | None = None, *, keep_alive: float = KEEP_ALIVE
    ) -> None:
        self._names = NameCache(resolver)
        self._ssl_context = ssl_context
        self._keep_alive = keep_alive
        self._open: set[Connection] = set()
        self._idle: dict[Origin, deque[Connection]] = {}
        self._sweep_handle: asyncio.TimerHandle | None = None
        self._is_closed = False

    def acquire(self, origin: Origin) -> Connection | None:
        """A connection that is there already and seems to be alive, or None."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if connection.idle_since + self._keep_alive > time.monotonic():
                    return connection
                connection.abort()
        return None

    async def connect(self, origin: Origin) -> Connection:
        """A new connection.

        Raises UnknownName, ForbiddenAddress, OSError (ssl.SSLError and ssl.CertificateError among them), ProxyFault (with any
        of them as its cause, where the proxy is what it is about) and Disconnected when the pool is closed meanwhile.
        """
        connection = await self._connected(origin)
        self._open.add(connection)
        if self._is_closed:
            connection.abort()
            raise Disconnected(stale=False)
        return connection

    def release(self, connection: Connection) -> None:
        """Keep a connection whose exchange is over; drop any other."""
        if self._is_closed or not connection.is_reusable:
            connection.abort()
            return
        connection.reset()
        self._idle.setdefault(connection.origin, deque()).append(connection)
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
        await asyncio.gather(*(connection.closed() for connection in list(self._open)))
        await self._names.close()

    def _sweep(self) -> None:
        """Drop what nobody used for too long, and come back while anything is kept."""
        self._sweep_handle = None
        too_old = time.monotonic() - self._keep_alive
        for origin, idle in list(self._idle.items()):
            while idle and (idle[0].idle_since <= too_old or not idle[0].is_open):
                idle.popleft().abort()
            if not idle:
                del self._idle[origin]
        if self._idle:
            self._sweep_handle = asyncio.get_running_loop().call_later(self._keep_alive, self._sweep)

    async def _connected(self, origin: Origin) -> Connection:
        """A connection, straight or by way of the origin's proxy."""

        def connection() -> Connection:
            return Connection(origin, self._open.discard)

        proxy = origin.proxy
        tls_name = origin.host.rstrip(".") if origin.is_tls else None
        if proxy is None:
            found = await self._socket(origin.host, origin.port)
            return (await self._speak(found, connection, tls_name))[1]
        if proxy.is_socks:
            found = await self._socks_socket(proxy, origin)
            return (await self._speak(found, connection, tls_name))[1]
        if not origin.is_tls:
            return (await self._speak_to_proxy(proxy, connection))[1]
        return await self._tunnelled(proxy, origin, connection)

    async def _socket(self, host: str, port: int) -> socket.socket:
        """A socket to the first of a name's addresses that takes it."""
        addresses = await self._names.addresses(host, port)
        return await start_connection(addresses, happy_eyeballs_delay=HEAD_START)

    async def _speak(
        self, found: socket.socket, protocol: Callable[[], P], tls_name: str | None
    ) -> tuple[asyncio.Transport, P]:
        """A protocol on a socket; under TLS where ``tls_name`` says whose certificate is expected."""
        try:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            context = None if tls_name is None else await self._context()
            return await asyncio.get_running_loop().create_connection(
                protocol, sock=found, ssl=context, server_hostname=tls_name
            )
        except BaseException:
            found.close()
            raise

    async def _socks_socket(self, proxy: Proxy, origin: Origin) -> socket.socket:
        """A socket to the origin through a SOCKS5 proxy, which is told its name or, where that is not its business, one of its
        addresses (those of IPv4 first: not every proxy has IPv6)."""
        goals = [origin.host]
        if not proxy.resolves_names:
            found = sorted(await self._names.addresses(origin.host, origin.port), key=lambda entry: entry[0] != socket.AF_INET)
            goals = [entry[4][0] for entry in found]
        try:
            addresses = await self._names.addresses(proxy.host, proxy.port)
            return await connect_socks(proxy, addresses, goals, origin.port, origin.host)
        except (UnknownName, ForbiddenAddress, OSError) as error:
            raise ProxyFault(is_passing=isinstance(error, OSError)) from error

    async def _speak_to_proxy(self, proxy: Proxy, protocol: Callable[[], P]) -> tuple[asyncio.Transport, P]:
        """A protocol on a connection to an HTTP proxy itself."""
        try:
            found = await self._socket(proxy.host, proxy.port)
            return await self._speak(found, protocol, proxy.host.rstrip(".") if proxy.scheme == "https" else None)
        except (UnknownName, ForbiddenAddress, OSError) as error:
            is_passing = isinstance(error, OSError) and not isinstance(error, ssl.SSLError | ssl.CertificateError)
            raise ProxyFault(is_passing=is_passing) from error

    async def _tunnelled(self, proxy: Proxy, origin: Origin, connection: Callable[[], Connection]) -> Connection:
        """A connection under TLS in a tunnel that an HTTP proxy makes."""
        transport, request = await self._speak_to_proxy(proxy, TunnelRequest)
        try:
            await request.ask(transport, proxy, origin.host, origin.port)
            made = connection()
            # A transport that is closed meanwhile gives None here.
            inner = await asyncio.get_running_loop().start_tls(
                transport, made, await self._context(), server_hostname=origin.host.rstrip(".")
            )
            if inner is None:
                raise ProxyFault("closed the connection", is_passing=True)
            made.connection_made(inner)
        except BaseException:
            transport.abort()
            raise
        return made

    async def _context(self) -> ssl.SSLContext:
        """How TLS is spoken and who is trusted. (Made when first needed, in a thread: reading the certificates takes long.)"""
        if self._ssl_context is None:
            context = await asyncio.to_thread(ssl.create_default_context)
            context.set_alpn_protocols(["http/1.1"])
            self._ssl_context = context
        return self._ssl_context


class NameCache:
    """The addresses behind names, remembered for a moment; many that ask for the same name at once share one look-up."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[str, int], tuple[float, list[AddrInfoType]]] = {}
        self._under_way: dict[tuple[str, int], asyncio.Task[list[AddrInfoType]]] = {}

    async def addresses(self, host: str, port: int) -> list[AddrInfoType]:
        """Where ``host`` may be reached. Raises UnknownName, and ForbiddenAddress when policy allows none of its addresses.

        A literal address stands for itself: ``check_url`` has judged it.
        """
        literal = _literal(host, port)
        if literal is not None:
            return [literal]
        until, found = self._known.get((host, port), (0.0, []))
        if time.monotonic() < until:
            return found
        task = self._under_way.get((host, port))
        if task is None:
            task = self._under_way[host, port] = asyncio.create_task(self._look_up(host, port))
            task.add_done_callback(_retrieve_failure)
        await asyncio.wait([task])  # which leaves the look-up to the others when this caller is cancelled
        if task.cancelled():
            raise UnknownName(host)
        return task.result()

    async def close(self) -> None:
        """Stop every look-up."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._resolver.close()

    async def _look_up(self, host: str, port: int) -> list[AddrInfoType]:
        """Ask, and remember the answer."""
        try:
            found = [_address(entry) for entry in await self._resolver.resolve(host, port, socket.AF_UNSPEC)]
        except OSError as error:
            raise UnknownName(host) from error
        finally:
            del self._under_way[host, port]
        if not found:
            raise UnknownName(host)
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[host, port] = (time.monotonic() + TTL, found)
        return found


def _literal(host: str, port: int) -> AddrInfoType | None:
    """The address that ``host`` spells, None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port)


def _address(entry: ResolveResult) -> AddrInfoType:
    """What a resolver found, as a socket wants it."""
    return entry["family"], socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (entry["host"], entry["port"])


def _retrieve_failure(task: "asyncio.Task[list[AddrInfoType]]") -> None:
    """Look at a look-up's failure, which everybody who waited for it may have left behind."""
    if not task.cancelled():
        task.exception()
