"""Far too many bytes, from upstreams and from callers: refused at their caps, in the caller's shape, at no price in memory.

A flood comes by any of the dialects, streamed or not, several at once, at a server that is a process of its own. The most that
it ever held is what counts, not what it holds when somebody looks.
"""

import asyncio
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.crowd import MB, left_nothing
from tests.campaigns.process import HAS_PROC, Process, allow_descriptors, serving
from tests.campaigns.speech import upstream
from tests.faults.callers import ANOTHER, DIALECTS, Asked, Heard, ask, check_failed, error_of, send
from tests.faults.conftest import ways
from tests.unit.upstream.conftest import Visit

COST = 144 * MB
"""Resident bytes that all floods of one moment may take. Long bodies are read in two threads, and malloc keeps for each what
it freed."""
AT_ONCE = 2
"""Floods at a time: an answer of 32 MB is still within the cap, so each may take that much."""
HUGE = 100 * MB
BOMB = 1024 * MB
PIECE = b"x" * 65536
FLOOD = re.compile(rb"flood<([a-z-]+)>")

JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
TO_THE_END = b"Connection: close\r\n\r\n"


def repeated(piece: bytes, size: int, before: bytes = b"") -> Iterator[bytes]:
    """``before``, then ``piece`` again and again, ``size`` bytes of it."""
    yield before
    for _ in range(size // len(piece)):
        yield piece


def chunked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces as HTTP chunks, with the end."""
    for piece in pieces:
        if piece:
            yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def bomb(before: bytes, size: int = BOMB, wbits: int = 31) -> Iterator[bytes]:
    """``before`` and ``size`` spaces, compressed by a factor of a thousand as one gzip (or, by ``wbits``, deflate) file."""
    machine = zlib.compressobj(9, wbits=wbits)
    spaces = b" " * (16 * MB)
    yield machine.compress(before)
    # Flushed at both ends, the same spaces are the same bytes: they are compressed once.
    yield machine.compress(spaces) + machine.flush(zlib.Z_FULL_FLUSH)
    block = machine.compress(spaces) + machine.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // len(spaces)):
        yield block
    yield machine.flush()


def with_head(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A head, then the pieces."""
    yield head
    yield from pieces


GZIP = b"Content-Encoding: gzip\r\n"
UPSTREAMS: dict[str, Callable[[], Iterator[bytes]]] = {
    "json-declared": lambda: repeated(PIECE, HUGE, JSON + b"Content-Length: %d\r\n\r\n" % HUGE),
    "json-chunked": lambda: with_head(JSON + CHUNKED, chunked(repeated(PIECE, HUGE, b'"'))),
    "json-to-the-end": lambda: repeated(PIECE, HUGE, JSON + TO_THE_END + b'{"text": "'),
    "gzip-bomb": lambda: with_head(JSON + GZIP + CHUNKED, chunked(bomb(b'{"text": "'))),
    "deflate-bomb": lambda: with_head(JSON + b"Content-Encoding: deflate\r\n" + TO_THE_END, bomb(b"[", wbits=15)),
    "gzip-bomb-in-a-stream": lambda: with_head(SSE + GZIP + CHUNKED, chunked(bomb(b"data: "))),
    "line-without-end": lambda: repeated(PIECE, HUGE, SSE + TO_THE_END + b"data: "),
    "event-without-end": lambda: repeated(b"data: " + b"y" * 4000 + b"\n", HUGE, SSE + TO_THE_END),
    "header-without-end": lambda: repeated(PIECE, HUGE, b"HTTP/1.1 200 OK\r\nX-Much: "),
    "headers-without-end": lambda: repeated(b"X-Much: 1\r\n" * 1000, HUGE, b"HTTP/1.1 200 OK\r\n"),
    "chunk-extension-without-end": lambda: repeated(PIECE, HUGE, JSON + CHUNKED + b"5;a="),
    "trailer-without-end": lambda: repeated(PIECE, HUGE, JSON + CHUNKED + b"0\r\nX-Much: "),
    "interim-without-end": lambda: repeated(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100, HUGE),
    "error-declared": lambda: repeated(
        PIECE, HUGE, b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % HUGE
    ),
    "error-bomb": lambda: with_head(b"HTTP/1.1 422 No\r\n" + GZIP + CHUNKED, chunked(bomb(b"{"))),
}
"""What an upstream says, by the name of the flood that the caller's text asks for."""
STATUSES = {400, 422, 502}
"""An error of the upstream keeps its status, however much is said with it."""


@dataclass(frozen=True)
class Flood:
    """What a caller sends: its body in pieces, its headers, and how it may be refused."""

    body: Callable[[], Iterator[bytes]]
    statuses: frozenset[int]
    encoding: str = ""
    declared: int | None = None


DEEP = 16 * MB
"""Within the cap, so it is read whole before it is refused, and joining its pieces holds it twice."""
CALLERS: dict[str, Flood] = {
    "body-declared": Flood(lambda: repeated(PIECE, HUGE), frozenset({413}), declared=HUGE),
    "body-chunked": Flood(lambda: repeated(PIECE, HUGE, b'{"model": "'), frozenset({413})),
    "body-gzip-bomb": Flood(lambda: bomb(b'{"model": "'), frozenset({413}), "gzip"),
    "body-deflate-bomb": Flood(lambda: bomb(b"[", wbits=15), frozenset({413}), "deflate"),
    "body-twice-compressed": Flood(lambda: bomb(b"["), frozenset({400, 413, 415}), "gzip, gzip"),
    "body-deep-lists": Flood(lambda: repeated(b"[" * 65536, DEEP), frozenset({400})),
    "body-deep-objects": Flood(lambda: repeated(b'{"a":' * 13000, DEEP), frozenset({400})),
    "body-long-number": Flood(lambda: repeated(b"7" * 65536, DEEP, b'{"model": '), frozenset({400})),
    "body-not-compressed": Flood(lambda: repeated(PIECE, HUGE), frozenset({400, 413}), "gzip"),
}


async def script(visit: Visit) -> None:
    """Say the flood that was asked for, until nobody listens."""
    found = FLOOD.search(visit.body)
    assert found is not None, visit.body
    for piece in UPSTREAMS[found[1].decode()]():
        await visit.say(piece)
    visit.writer.close()


async def floods(trial: Trial) -> None:
    """Every flood in turn, several at a time, each time by another way."""
    allow_descriptors(2000)
    async with (
        upstream(script) as server,
        serving(trial.folder / "server", ways(server.url)) as process,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False) as session,
    ):
        await _first(process, session)
        idle, descriptors = process.memory(), process.descriptors()
        process.forget_peak()
        await _all_floods(trial, process, session)
        cost = process.peak() - idle
        trial.figures["MB idle, at most more, afterwards more"] = [
            round(bytes / MB, 1) for bytes in (idle, cost, process.memory() - idle)
        ]
        if cost > COST:
            trial.fail(f"Floods took {cost / MB:.1f} MB.")
        await session.close()
        await left_nothing(trial, process, descriptors, server)


async def _all_floods(trial: Trial, process: Process, session: aiohttp.ClientSession) -> None:
    """Several at a time, while /health is asked again and again."""
    lane = asyncio.Semaphore(AT_ONCE)
    watch = asyncio.create_task(_watch(trial, process))
    async with asyncio.TaskGroup() as group:
        for number in range(trial.size):
            await lane.acquire()
            if trial.is_over():
                break
            flood = group.create_task(_flood(trial, process, session, number))
            flood.add_done_callback(lambda _: lane.release())
    watch.cancel()
    for failure in await asyncio.gather(watch, return_exceptions=True):
        if not isinstance(failure, asyncio.CancelledError):
            trial.fail(f"/health during floods: {type(failure).__name__} {failure}")


async def _first(process: Process, session: aiohttp.ClientSession) -> None:
    """A refusal of each dialect, so that code and caches are there before anything is measured."""
    for caller in DIALECTS:
        heard = await _ask(process, session, caller, ANOTHER[caller], "headers-without-end", stream=False)
        assert heard.status == 502, heard.body


async def _watch(trial: Trial, process: Process) -> None:
    """/health answers all the while."""
    while True:
        health = await process.health()
        assert health["status"] == "ok"
        trial.counts["healths"] += 1
        await asyncio.sleep(0.2)


async def _flood(trial: Trial, process: Process, session: aiohttp.ClientSession, number: int) -> None:
    """The flood of this number: all names in turn, by ways that the seed and the number choose."""
    names = [*UPSTREAMS, *CALLERS]
    name = names[number % len(names)]
    turn = number // len(names) + trial.seed
    caller = DIALECTS[(number + turn) % len(DIALECTS)]
    pipeline = ("same", ANOTHER[caller])[turn % 2]
    stream = turn % 4 < 2
    try:
        async with asyncio.timeout(120):
            if name in UPSTREAMS:
                heard = await _ask(process, session, caller, pipeline, name, stream=stream)
                check_failed(caller, heard, STATUSES, stream=stream)
            else:
                was_read = await _post(process, caller, pipeline, CALLERS[name], stream=stream)
                trial.counts["callers who broke before they read"] += not was_read
    except (AssertionError, aiohttp.ClientError, OSError) as error:
        what = f"{name} (number {number}, seed {trial.seed}: {caller} by {pipeline}, stream={stream})"
        trial.fail(f"{what}: {type(error).__name__} {str(error)[:300]}")
    trial.counts["floods"] += 1
    peak = round(process.peak() / MB, 1)
    highest = trial.figures.setdefault("MB at most, by the flood that was last", {})
    if peak > max(highest.values(), default=0):
        highest[name] = peak


async def _ask(
    process: Process, session: aiohttp.ClientSession, caller: str, pipeline: str, flood: str, *, stream: bool
) -> Heard:
    """A plain question to an upstream that floods. One that did so too often is left alone for a moment: that is waited for."""
    asked = ask(caller, "m", stream=stream, text=f"Send flood<{flood}>.")
    while True:
        heard = await send(session, process.origin, Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
        if heard.status != 503 or b"left alone for a moment" not in heard.body:
            return heard
        await asyncio.sleep(int(heard.headers["retry-after"]))


async def _post(process: Process, caller: str, pipeline: str, flood: Flood, *, stream: bool) -> bool:
    """A flood from the caller, which is refused while it is still being sent; False when it broke before that was read."""
    asked = ask(caller, "m", stream=stream)
    headers = [*asked.headers.items(), ("Content-Type", "application/json"), ("Host", "localhost")]
    if flood.encoding:
        headers.append(("Content-Encoding", flood.encoding))
    framing = ("Transfer-Encoding", "chunked") if flood.declared is None else ("Content-Length", str(flood.declared))
    lines = [f"POST /p/{pipeline}{asked.path} HTTP/1.1", *(f"{name}: {value}" for name, value in [*headers, framing]), "", ""]
    reader, writer = await asyncio.open_connection("127.0.0.1", process.port)
    try:
        writer.write("\r\n".join(lines).encode())
        sending = asyncio.create_task(_pour(writer, chunked(flood.body()) if flood.declared is None else flood.body()))
        try:
            heard = await _read_answer(reader)
        except BrokenPipeError:
            # Whoever goes on sending into a connection that was closed behind its answer may find it broken before it has
            # read it (RFC 9112, 9.6). A reset or a missing answer stays a failure.
            return False
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        assert heard.status in flood.statuses, (heard.status, heard.body[:300])
        error_of(caller, heard)
        return True
    finally:
        writer.transport.abort()


async def _pour(writer: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
    """Send for as long as somebody takes it."""
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


async def _read_answer(reader: asyncio.StreamReader) -> Heard:
    """A whole answer with a content length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = CIMultiDict((name, value) for name, _, value in (line.partition(": ") for line in head[1:] if line))
    body = await reader.readexactly(int(headers["content-length"]))
    return Heard(int(head[0].split()[1]), CIMultiDictProxy(headers), body)


CAMPAIGNS = (
    [Campaign("crowd.bytes", floods, counted="floods", short=24, long=200, short_seconds=60.0, least=0.5)] if HAS_PROC else []
)
