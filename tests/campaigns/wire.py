"""Bytes on a socket: how an answer is dressed for the wire, and an upstream that plays what a case tells it to."""

import asyncio
import gzip
import random
import re
import socket
import struct
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

Ending = Literal["keep", "close", "reset", "hang"]
Framing = Literal["length", "chunked", "close", "http10"]
_CASE = re.compile(rb"case-(\d+)")
_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Play:
    """What happens to one request: bytes in slices, ``pause`` seconds between them, and then the end of the connection.

    ``keep`` leaves it open for the next request, ``hang`` says nothing more, ``reset`` ends it with RST.
    """

    slices: tuple[bytes, ...] = ()
    ending: Ending = "keep"
    pause: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it takes at least."""
        return self.pause * len(self.slices)


@dataclass
class Dress:
    """How an answer travels. All of it is legal; what is damaged is damaged afterwards."""

    framing: Framing
    encoding: Literal["", "gzip", "deflate"]
    chunk: int
    head: list[bytes]
    extension: bytes
    trailers: bytes
    names: list[str] = field(default_factory=list)

    @classmethod
    def choose(cls, dice: random.Random) -> "Dress":
        """Any dress, mostly a plain one."""
        framings: tuple[Framing, ...] = ("length", "chunked", "chunked", "close", "http10")
        framing = dice.choice(framings)
        dress = cls(framing, dice.choice(("",) * 6 + ("gzip", "deflate")), dice.choice((1, 3, 17, 300, 100_000)), [], b"", b"")
        dress.names = [framing, *([dress.encoding] if dress.encoding else [])]
        if dice.random() < 0.2:
            dress.head.append(b"X-Odd: \xc3\xa9 \xff;\"'")
            dress.head.append(b"X-Empty:")
        if framing == "chunked":
            dress.names.append(f"{dress.chunk}-byte chunks")
            if dice.random() < 0.2:
                dress.extension = b';name="v;x"'
                dress.names.append("chunk extensions")
            if dice.random() < 0.2:
                dress.trailers = b"X-Trailer: late\r\n"
                dress.names.append("trailers")
        return dress

    @property
    def closes(self) -> bool:
        """Whether the end of the connection is the end of the answer."""
        return self.framing in ("close", "http10")

    def encode(self, body: bytes) -> bytes:
        """The body, compressed where the dress says so."""
        if self.encoding == "gzip":
            return gzip.compress(body, 1)
        return zlib.compress(body, 1) if self.encoding == "deflate" else body

    def headers(self, status: int, content_type: str, length: int, *, lower: bool = False) -> bytes:
        """Status line and headers; ``length`` is what a Content-Length promises."""
        version = b"1.0" if self.framing == "http10" else b"1.1"
        lines = [b"HTTP/%s %d Whatever" % (version, status)]
        lines += [b"content-type: %s" % content_type.encode()] if content_type else []
        lines += [b"Content-Encoding: " + self.encoding.encode()] if self.encoding else []
        lines += self.head
        match self.framing:
            case "length":
                lines.append(b"Content-Length: %d" % length)
            case "chunked":
                lines.append(b"Transfer-Encoding: chunked")
            case "close":
                lines.append(b"Connection: close")
        head = b"\r\n".join(lines) + b"\r\n\r\n"
        return head.lower().replace(b"http/1", b"HTTP/1") if lower else head

    def body(self, data: bytes) -> list[bytes]:
        """The body's bytes, in pieces that may travel apart; the last piece of a chunked one is what ends it."""
        if self.framing != "chunked":
            return [data]
        pieces = [data[at : at + self.chunk] for at in range(0, len(data), self.chunk)]
        chunks = [b"%x%s\r\n%s\r\n" % (len(piece), self.extension, piece) for piece in pieces]
        return [*chunks, b"0\r\n" + self.trailers + b"\r\n"]


def sliced(dice: random.Random, data: bytes) -> tuple[bytes, ...]:
    """The bytes in one or several writes, cut anywhere."""
    if len(data) < 2 or dice.random() < 0.5:
        return (data,) if data else ()
    cuts = sorted({dice.randrange(1, len(data)) for _ in range(dice.randint(1, 6))})
    return tuple(data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True))


def tortured(dice: random.Random, events: Sequence[bytes]) -> bytes:
    """The same events with whatever the standard allows: comments, any line ending, fields nobody reads, data over lines."""
    out = bytearray(dice.choice((b"", b"", b"\xef\xbb\xbf")))
    for event in events:
        out += dice.choice((b"", b"", b"", b": a comment\n\n", b":\r\n", b"retry: 5\nid: 1\n", b"x-unknown: field\n"))
        lines = event.strip(b"\r\n").splitlines()
        last = lines[-1]
        if last.startswith(b"data: {") and dice.random() < 0.2:
            lines[-1:] = [b"data: {", b"data:" + last[7:]]
        elif dice.random() < 0.2:
            lines[-1] = last.replace(b"data: ", b"data:", 1)
        end = dice.choice((b"\n", b"\n", b"\r\n", b"\r"))
        out += end.join(lines) + end + end
    return bytes(out)


@dataclass
class Stage:
    """An upstream on loopback that plays the case whose number a request names (``case-17``), visit by visit.

    ``visits`` counts the requests of each case and side; the side is the part of the path before ``/v1``. ``on_open`` and
    ``on_gone`` hear when a play has begun and when its client is gone.
    """

    port: int = 0
    plays: dict[tuple[str, int], Sequence[Play]] = field(default_factory=dict)
    visits: Counter[tuple[str, int]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    open_connections: int = 0
    on_open: Callable[[int, bytes], None] | None = None
    on_gone: Callable[[int], None] | None = None
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def url(self, side: str) -> str:
        """The base URL of one side."""
        return f"http://127.0.0.1:{self.port}/{side}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open_connections += 1
        try:
            while await self._request(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client is gone, or the stage closes
        finally:
            self.open_connections -= 1
            self._tasks.discard(task)
            writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and play its case; False when the connection is over."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        named = _CASE.search(head) or _CASE.search(body)
        if named is None:
            self.problems.append(f"A request that names no case: {head[:200]!r}")
            return False
        side = head.split(b" ", 2)[1].split(b"/")[1].decode()
        number = int(named[1])
        key = (side, number)
        visit = self.visits[key]
        self.visits[key] += 1
        if self.on_open is not None:
            self.on_open(number, head)
        plays = self.plays[key]
        try:
            return await self._play(plays[min(visit, len(plays) - 1)], reader, writer)
        finally:
            if self.on_gone is not None:
                self.on_gone(number)

    async def _play(self, play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        for number, piece in enumerate(play.slices):
            if number:
                await asyncio.sleep(play.pause)
            writer.write(piece)
            await writer.drain()
        match play.ending:
            case "keep":
                return True
            case "hang":
                while await reader.read(2**16):
                    pass
            case "close":
                writer.close()
                await writer.wait_closed()  # what was written is to arrive
            case "reset":
                await asyncio.sleep(0.001)  # a reset takes along what has not arrived
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
                writer.transport.abort()
        return False

    async def close(self) -> None:
        """End every connection."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def staging() -> AsyncIterator[Stage]:
    """A stage for as long as it is needed."""
    stage = Stage()
    listener = await asyncio.start_server(stage._connected, "127.0.0.1", 0, limit=2**20, backlog=1024)
    stage.port = listener.sockets[0].getsockname()[1]
    try:
        yield stage
    finally:
        listener.close()
        await stage.close()
        await listener.wait_closed()
