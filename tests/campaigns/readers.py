"""Callers who ask for a long answer and do not read it: the upstream is held, and memory does not grow with the answer.

Each has a socket of its own with a small buffer. The upstream would say megabytes at once; what it could not say is what the
proxy held back. Then the callers read on and hear everything, or (at another server, whose patience is short) they do not and
are dropped.
"""

import asyncio
import json
import socket
from collections import Counter
from dataclasses import dataclass, field

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.crowd import FEW, FIRST_COST, KB, MB, STREAM_COST, WAYS, asked_by, left_nothing, warm, way_of
from tests.campaigns.process import HAS_PROC, Process, allow_descriptors, serving
from tests.campaigns.speech import number_of, speech_for, upstream
from tests.conftest import call
from tests.faults.callers import looks_finished, said_in
from tests.unit.upstream.conftest import Visit

COST = STREAM_COST + 64 * KB
"""Resident bytes that a caller who reads nothing may take: an open stream's, and 64 KB for what waits for him. (The words that
wait are there several times: as bytes to be written, as events, and as the text that OUT and the run's record keep.)"""
PIECE = "0123456789abcdef" * 6
PIECES = 1600
"""Events of about 300 bytes: together more than the buffers of all systems between the two ends take."""
AT_ONCE = 16
"""Events that the upstream says in one breath."""
BATCH = 16
"""Callers who read on at a time: what is heard is kept until its run ends, for OUT and the run's record."""


@dataclass
class Tap:
    """An upstream that says everything as fast as it is taken, and counts the bytes that were taken, and who was told all."""

    pieces: int = PIECES
    said: set[int] = field(default_factory=set)
    taken: Counter[int] = field(default_factory=Counter)

    async def script(self, visit: Visit) -> None:
        speech, number = speech_for(visit), number_of(visit)
        connection = visit.writer.get_extra_info("socket")
        # What this end holds back itself is nobody's burden.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * KB)
        visit.writer.transport.set_write_buffer_limits(high=0)
        await visit.say(speech.begin())
        breath = speech.say(PIECE) * AT_ONCE
        for _ in range(self.pieces // AT_ONCE):
            await visit.say(breath)
            self.taken[number] += len(breath)
        await visit.say(speech.end())
        self.said.add(number)

    async def stands_still(self) -> bool:
        """Wait until nothing more is taken for a second; whether that was because it is held, not because all was said."""
        before = -1
        while (now := self.taken.total()) != before:
            before = now
            await asyncio.sleep(1.0)
        return not self.said


@dataclass
class Reader:
    """A caller with a socket of its own, who reads only when told to."""

    number: int
    connection: socket.socket
    heard: bytes = b""

    @classmethod
    async def ask(cls, process: Process, number: int) -> "Reader":
        """Connect and ask."""
        asked = asked_by(*way_of(number), number)
        body = json.dumps(asked.body).encode()
        lines = [f"POST {asked.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        lines += [f"{name}: {value}" for name, value in asked.headers.items()] + [f"Content-Length: {len(body)}", "", ""]
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * KB)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, ("127.0.0.1", process.port))
        await loop.sock_sendall(connection, "\r\n".join(lines).encode() + body)
        return cls(number, connection)

    async def sip(self) -> None:
        """Read a little."""
        self.heard += await asyncio.get_running_loop().sock_recv(self.connection, KB)

    async def read_on(self) -> None:
        """Read to the answer's end, or the connection's."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MB)
        loop, pieces = asyncio.get_running_loop(), [self.heard]
        try:
            while piece := await loop.sock_recv(self.connection, 256 * KB):
                pieces.append(piece)
                if piece.endswith(b"0\r\n\r\n"):
                    break
        except ConnectionError:
            pass
        finally:
            self.heard = b"".join(pieces)
            self.connection.close()

    def body(self) -> bytes:
        """The answer without HTTP's chunks, as far as it came."""
        data = memoryview(self.heard)[self.heard.index(b"\r\n\r\n") + 4 :]
        pieces: list[bytes] = []
        while True:
            head = bytes(data[:20]).partition(b"\r\n")
            if not head[1] or not (size := int(head[0], 16)):
                return b"".join(pieces)
            at = len(head[0]) + 2
            pieces.append(bytes(data[at : at + size]))
            data = data[at + size + 2 :]


async def readers(trial: Trial) -> None:
    """Half of the time is theirs who read on in the end, the rest theirs who never do."""
    crowd = min(trial.size, (allow_descriptors(3 * trial.size + 500) - 400) // 3)
    await _who_read_on(trial, crowd)
    await _who_never_do(trial, crowd // 4)


async def _who_read_on(trial: Trial, crowd: int) -> None:
    """Nobody reads: the upstream stands still, and memory with it. Then everybody hears everything."""
    tap = Tap()
    async with upstream(tap.script) as server:
        pipelines = {dialect: call(dialect, server.url) for dialect in ("openai", "claude")}
        # Nobody is dropped for want of patience, however slow the machine.
        settings = {"max_in_flight": str(crowd), "max_per_origin": str(crowd), "write_timeout": "3600"}
        async with serving(trial.folder / "patient", pipelines, **settings) as process:
            await _warm_up(process, tap)
            idle, descriptors = process.memory(), process.descriptors()
            callers = [await Reader.ask(process, number) for number in range(crowd)]
            for caller in callers[::2]:
                await caller.sip()
            if not await tap.stands_still():
                trial.fail(f"{len(tap.said)} upstreams were not held: they could say everything.")
            trial.figures["KB taken of an upstream, at most"] = max(tap.taken.values()) // KB
            cost = process.memory() - idle
            trial.figures["KB a caller who reads nothing"] = round(cost / crowd / KB, 1)
            if cost > crowd * COST + (FIRST_COST if crowd < FEW else 0):
                trial.fail(f"{crowd} callers who read nothing took {cost / MB:.1f} MB.")
            if (await process.health())["in_flight"] != crowd:
                trial.fail("Somebody was dropped who had time left.")
            for at in range(0, crowd, BATCH):
                batch = callers[at : at + BATCH]
                await asyncio.gather(*(caller.read_on() for caller in batch))
                for caller in batch:
                    _check_whole(trial, caller)
                    caller.heard = b""
            await left_nothing(trial, process, descriptors, server)


async def _warm_up(process: Process, tap: Tap) -> None:
    """One short answer of each way."""
    tap.pieces = AT_ONCE
    await warm(process)
    tap.pieces = PIECES
    tap.taken.clear()
    tap.said.clear()


def _check_whole(trial: Trial, caller: Reader) -> None:
    """Count a caller, and fail unless he heard everything."""
    trial.counts["callers"] += 1
    dialect, to = way_of(caller.number)
    body = caller.body() if b"\r\n\r\n" in caller.heard else b""
    said = said_in(dialect, body, stream=True) if body else ""
    if said != PIECE * PIECES or not looks_finished(dialect, body):
        trial.fail(f"caller {caller.number} ({dialect} by {to}) read on and heard {len(said)} characters.")


async def _who_never_do(trial: Trial, crowd: int) -> None:
    """Nobody reads, and the server's patience ends: they are dropped, the upstream is let go, nothing is left."""
    tap = Tap()
    async with upstream(tap.script) as server:
        pipelines = {dialect: call(dialect, server.url) for dialect in ("openai", "claude")}
        settings = {"max_in_flight": str(crowd), "max_per_origin": str(crowd), "write_timeout": "1", "heartbeat": "0.3"}
        async with serving(trial.folder / "impatient", pipelines, **settings) as process:
            await _warm_up(process, tap)
            descriptors = process.descriptors()
            callers = [await Reader.ask(process, number) for number in range(crowd)]
            if left := await process.is_quiet(descriptors + len(WAYS)):
                trial.fail(f"Of {crowd} callers who never read, {left}.")
            for caller in callers:
                await caller.read_on()
                trial.counts["callers dropped"] += 1
                if looks_finished(way_of(caller.number)[0], caller.heard[-2000:]):
                    trial.fail(f"caller {caller.number} was dropped, and yet the answer looks finished.")
            if tap.said:
                trial.fail("An upstream could say everything to somebody who was dropped.")
            await left_nothing(trial, process, descriptors, server)


CAMPAIGNS = (
    [Campaign("crowd.readers", readers, counted="callers", short=60, long=1000, short_seconds=60.0, least=0.9)]
    if HAS_PROC
    else []
)
