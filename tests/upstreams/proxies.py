"""Outbound proxies on loopback: CONNECT and absolute-form over HTTP or TLS, and SOCKS5. Each makes real connections.

Names are resolved by the proxy itself, from ``hosts``: so a test can have an upstream on loopback that is not called so.
"""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


@dataclass
class ProxyServer:
    """A proxy. ``goals`` are the ``host:port`` that it was asked for, ``heads`` what HTTP ones were asked; ``login`` is the
    user and password that it wants; ``answer`` is said instead of a connection; one that ``holds`` never answers."""

    scheme: str
    port: int = 0
    hosts: dict[str, int] = field(default_factory=dict)
    login: tuple[str, str] | None = None
    answer: bytes | None = None
    holds: bool = False
    goals: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def address(self) -> str:
        """Its address without a login."""
        return f"{self.scheme}://127.0.0.1:{self.port}" if self.scheme != "https" else f"https://localhost:{self.port}"

    def address_of(self, user: str, password: str) -> str:
        """Its address with a login."""
        scheme, rest = self.address.split("://")
        return f"{scheme}://{user}:{password}@{rest}"

    async def met(self, reader: Reader, writer: Writer) -> None:
        """One connection, from its beginning to its end."""
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            await (self._socks if self.scheme.startswith("socks") else self._http)(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass  # the caller has left, or the test is over
        finally:
            self.tasks.discard(task)
            writer.close()

    async def _http(self, reader: Reader, writer: Writer) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        if self.holds:
            await reader.read()
        if self.login is not None and b64encode(":".join(self.login).encode()) not in head:
            writer.write(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno"
            )
            await writer.drain()
            return
        if self.answer is not None:
            writer.write(self.answer)
            await writer.drain()
            await reader.read()
            return
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        if method == "CONNECT":
            upstream = await self._connect(target)
            if upstream is None:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>")
                await writer.drain()
                return
            writer.write(b"HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n")
            await _join((reader, writer), upstream)
            return
        authority, _, path = target.removeprefix("http://").partition("/")
        upstream = await self._connect(authority if ":" in authority else f"{authority}:80")
        assert upstream is not None
        lines = [line for line in head.split(b"\r\n")[1:] if not line.lower().startswith(b"proxy-")]
        upstream[1].write(f"{method} /{path} HTTP/1.1\r\n".encode() + b"\r\n".join(lines))
        await _join((reader, writer), upstream)

    async def _socks(self, reader: Reader, writer: Writer) -> None:
        version, count = await reader.readexactly(2)
        assert version == 5
        methods = await reader.readexactly(count)
        if self.holds:
            await reader.read()
        if self.login is not None:
            if 2 not in methods:
                writer.write(b"\x05\xff")
                await writer.drain()
                return
            writer.write(b"\x05\x02")
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            is_known = (user.decode(), password.decode()) == self.login
            writer.write(b"\x01\x00" if is_known else b"\x01\x01")
            if not is_known:
                await writer.drain()
                return
        else:
            writer.write(b"\x05\x00")
        _, command, _, kind = await reader.readexactly(4)
        assert command == 1
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            address = await reader.readexactly(4 if kind == 1 else 16)
            host = ".".join(map(str, address)) if kind == 1 else address.hex(":", 2)
        port = int.from_bytes(await reader.readexactly(2), "big")
        if self.answer is not None:
            writer.write(self.answer)
            await writer.drain()
            return
        upstream = await self._connect(f"{host}:{port}")
        writer.write(b"\x05" + (b"\x05" if upstream is None else b"\x00") + b"\x00\x01\x00\x00\x00\x00\x00\x00")
        await writer.drain()
        if upstream is not None:
            await _join((reader, writer), upstream)

    async def _connect(self, goal: str) -> tuple[Reader, Writer] | None:
        """A connection to where ``goal`` leads; None where it leads nowhere."""
        self.goals.append(goal)
        host, _, port = goal.rpartition(":")
        try:
            return await asyncio.open_connection("127.0.0.1", self.hosts[host] if host in self.hosts else int(port))
        except OSError:
            return None


async def _join(one: tuple[Reader, Writer], other: tuple[Reader, Writer]) -> None:
    """Carry bytes both ways until both have said all; whoever breaks off ends both."""

    async def carry(reader: Reader, writer: Writer) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(carry(one[0], other[1]))
            group.create_task(carry(other[0], one[1]))
    except* (ConnectionError, ssl.SSLError):
        pass
    finally:
        other[1].close()


@asynccontextmanager
async def proxy_server(scheme: str, context: ssl.SSLContext | None = None) -> AsyncIterator[ProxyServer]:
    """A running proxy; ``context`` is for an ``https`` one."""
    proxy = ProxyServer(scheme)
    listener = await asyncio.start_server(proxy.met, "127.0.0.1", 0, ssl=context)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        tasks = list(proxy.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
        await listener.wait_closed()
