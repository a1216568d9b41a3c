"""An upstream that says exactly the bytes it is told to, on a real socket; every test runs on each event loop there is."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import pytest

from agentui.upstream.client import Upstream

Script = Callable[["Visit"], Awaitable[None]]
PATIENCE = 60.0
"""Seconds to wait for what is soon on a machine that does nothing else."""


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """asyncio's own loop and, where it is installed, uvloop's."""
    try:
        import uvloop
    except ImportError:
        return {"asyncio": asyncio.new_event_loop}
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@dataclass
class Visit:
    """One request as it arrived, and the way to answer it. ``number`` counts all requests from 1."""

    number: int
    head: bytes
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self, status: int = 200, body: bytes = b"ok", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.say("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def gone(self) -> None:
        """Wait until the caller has closed the connection."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass

    def reset(self) -> None:
        self.writer.transport.abort()


@dataclass
class Bytes:
    """A server run by a script; ``url`` is its address."""

    url: str = ""
    visits: list[Visit] = field(default_factory=list)
    connections: int = 0
    aborted: asyncio.Event = field(default_factory=asyncio.Event)
    script: Script | None = None
    tasks: set["asyncio.Task[None] | None"] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
                )
                visit = Visit(len(self.visits) + 1, head, await reader.readexactly(length), reader, writer)
                self.visits.append(visit)
                assert self.script is not None
                await self.script(visit)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.aborted.set()
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            self.aborted.set()
            self.tasks.discard(asyncio.current_task())
            writer.close()


async def serving(context: ssl.SSLContext | None = None) -> AsyncIterator[Bytes]:
    """Run one server for as long as the generator is open."""
    server = Bytes()
    listener = await asyncio.start_server(server.connected, "127.0.0.1", 0, ssl=context)
    port = listener.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}" if context is None else f"https://localhost:{port}"
    yield server
    listener.close()
    for task in list(server.tasks):
        if task is not None:
            task.cancel()
    await asyncio.gather(*(task for task in server.tasks if task is not None))
    await listener.wait_closed()


@pytest.fixture
async def server() -> AsyncIterator[Bytes]:
    async for server in serving():
        yield server


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream(jitter=lambda: 0.0) as upstream:
        yield upstream
