"""The callers: raw HTTP over asyncio, cheap enough not to be what is measured."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Times:
    """What callers saw, in seconds. ``gaps`` are the lags of chunks behind the pace at which they were sent."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    arrivals: list[list[float]] = field(default_factory=list)
    chunks: int = 0


def request_bytes(port: int, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """A POST as it goes over the wire, perhaps with more headers."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer bench-key-0123456789\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def whole_answers(port: int, message: bytes, count: int, callers: int) -> Times:
    """``count`` requests by ``callers`` keep-alive connections; answers with a content length or in chunks."""
    times = Times()
    left = iter(range(count))

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * 1024 * 1024)
        for _ in left:
            began = time.perf_counter()
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{head!r} {await reader.read(2000)!r}")
            lowered = head.lower()
            at = lowered.find(b"content-length:") + 15
            if at < 15:
                # The answers here hold no such line themselves.
                await reader.readuntil(b"\r\n0\r\n\r\n")
            else:
                await reader.readexactly(int(lowered[at : lowered.index(b"\r\n", at)]))
            times.whole.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(caller() for _ in range(callers)))
    return times


async def streams(port: int, message: bytes, count: int, mark: bytes = b"lorem ipsum") -> Times:
    """``count`` streams at once, read to their end; ``mark`` stands once in each chunk of text."""
    times = Times()

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * 1024 * 1024)
        began = time.perf_counter()
        writer.write(message)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{head!r} {await reader.read(2000)!r}")
        arrivals: list[float] = []
        while True:
            piece = await reader.read(65536)
            now = time.perf_counter()
            if not arrivals:
                times.first.append(now - began)
            found = piece.count(mark)
            times.chunks += found
            arrivals.extend([now] * max(1, found))
            if not piece or piece.endswith(b"0\r\n\r\n"):
                break
        times.whole.append(time.perf_counter() - began)
        times.arrivals.append(arrivals)
        writer.close()

    await asyncio.gather(*(caller() for _ in range(count)))
    return times


def quantile(values: list[float], share: float) -> float:
    """The value below which ``share`` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
