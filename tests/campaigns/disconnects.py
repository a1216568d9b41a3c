"""``faults.disconnects``: clients that leave at any byte of the question or of the answer, in every way a socket can end.

The upstream notes when its side of the connection ends. It has to be soon after the client's end, and nothing may stay behind:
no socket, no task, no request under way, no floor that generates, no variable of a turn that was not kept.
"""

import asyncio
import json
import os
import random
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

from agentui.jsonio import Json
from tests.campaigns.answers import telling
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.lag import TICK, Lag, watching_lag
from tests.campaigns.scanner import Scanner, captured_log
from tests.conftest import Server, call, servers
from tests.faults.callers import ANOTHER, DIALECTS, Asked, ask
from tests.turns.house import Memory, chain, sets, target

AT_ONCE = 16
LIMIT = 2.0
"""Seconds after which an upstream is let go at the latest."""
USUALLY = 0.5
"""Seconds within which 99.9 % of them are, in the long form."""
SETTLED = 10.0
"""Seconds after which nothing more ends that nobody uses."""
SPARE = 6
"""Files that two threads of the database may have opened, for connections of three files each."""
LONG = 10_000
SESSIONS = 24
KINDS = ("same", "translated", "raw", "turn", "turn-raw")
MODES = ("silent", "headers", "midway", "endless", "slow", "whole")
_CASE = re.compile(rb"case-(\d+)-([a-z]+)")
_LINGER = struct.pack("ii", 1, 0)


@dataclass(eq=False)
class Patient(asyncio.Protocol):
    """One connection to an upstream that says as much as the model's name asks for, and waits for the other side to leave."""

    house: "Upstreams"
    transport: asyncio.Transport | None = None
    held: bytes = b""
    number: int | None = None
    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody calls."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.house.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller is gone."""
        self._gone()
        self.house.connections.discard(self)

    def eof_received(self) -> bool:
        """The caller says no more, which is to leave."""
        self._gone()
        return False

    def data_received(self, data: bytes) -> None:
        """Gather the question, and begin to answer."""
        self.held += data
        head, blank, body = self.held.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
        if not blank or (length is not None and len(body) < int(length[1])):
            return
        self.held = b""
        named = _CASE.search(head) or _CASE.search(body)
        assert named is not None
        self.number = int(named[1])
        self.house.asked.setdefault(self.number, time.monotonic())
        self.house.requests[self.number] = self.house.requests.get(self.number, 0) + 1
        self._answer(named[2].decode(), _dialect(head), b'"stream":true' in body.replace(b" ", b"") or b":streamGen" in head)

    def _answer(self, mode: str, dialect: str, stream: bool) -> None:
        pieces = tuple(f"word{n} " for n in range(8))
        told = telling(dialect, pieces, stream=stream)
        kind = b"text/event-stream" if stream else b"application/json"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n" % kind
        half = b"".join(told.events[: len(told.events) // 2]) if stream else told.body[: len(told.body) // 2]
        match mode:
            case "silent":
                pass
            case "headers":
                self._say(head + b"Connection: close\r\n\r\n")
            case "midway":
                self._say(head + b"Connection: close\r\n\r\n" + half)
            case "endless":
                self._say(head + b"Connection: close\r\n\r\n" + half)
                self._repeat(told.events[2] if stream else b" ", 10**9)
            case "slow":
                self._say(head + b"Content-Length: %d\r\n\r\n" % len(told.body))
                self._dribble(told.body)
            case "whole":
                self._say(head + b"Content-Length: %d\r\n\r\n" % len(told.body) + told.body)
                self._done()

    def _say(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)

    def _repeat(self, event: bytes, times: int) -> None:
        self._say(event)
        if times:
            self.timer = asyncio.get_running_loop().call_later(0.003, self._repeat, event, times - 1)

    def _dribble(self, rest: bytes) -> None:
        self._say(rest[:400])
        if rest[400:]:
            self.timer = asyncio.get_running_loop().call_later(0.004, self._dribble, rest[400:])
        else:
            self._done()

    def _done(self) -> None:
        """The answer is whole; the connection may serve again."""
        if self.number is not None:
            self.house.done.add(self.number)
            self.number = None

    def _gone(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.number is not None:
            self.house.gone[self.number] = time.monotonic()
            self.number = None


@dataclass
class Upstreams:
    """The upstream of all cases: when each was asked, answered whole, and left."""

    port: int = 0
    asked: dict[int, float] = field(default_factory=dict)
    gone: dict[int, float] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    requests: dict[int, int] = field(default_factory=dict)
    connections: set[Patient] = field(default_factory=set)


def _dialect(head: bytes) -> str:
    """Which dialect a request's path is in."""
    path = head.split(b" ", 2)[1]
    paths = {b"/v1/chat/completions": "openai", b"/v1/responses": "openai_responses", b"/v1/messages": "claude"}
    return paths.get(path, "gemini")


@asynccontextmanager
async def waiting() -> AsyncIterator[Upstreams]:
    """The upstream, on a port."""
    house = Upstreams()
    listener = await asyncio.get_running_loop().create_server(lambda: Patient(house), "127.0.0.1", 0, backlog=1024)
    house.port = listener.sockets[0].getsockname()[1]
    try:
        yield house
    finally:
        listener.close()
        for patient in list(house.connections):
            if patient.transport is not None:
                patient.transport.abort()
        await listener.wait_closed()


def pipelines(base_url: str) -> dict[str, Json]:
    """Every way; a turn's counts itself in a variable of its chat, and notes which one it was."""
    counts = sets(
        ("chat", "count", "json", "{{ count|default(0)|add(1) }}"), ("chat", "last", "string", "{{ incoming.model }}")
    )
    raw = {"id": "call", "type": "RawForward", "config": {"base_url": base_url}}
    return {
        **{dialect: call(dialect, base_url) for dialect in DIALECTS},
        "same": call("caller", base_url),
        "raw": {"format": 1, "name": "raw", "nodes": [raw], "edges": []},
        "turn": chain(counts, target("caller", base_url)),
        "turn-raw": chain(counts, raw),
    }


@dataclass(frozen=True)
class Leaver:
    """One client: what it asks, and when and how it leaves. ``after`` counts bytes of the question or of the answer."""

    number: int
    caller: str
    kind: str
    stream: bool
    mode: str
    phase: str
    after: float
    how: str

    @classmethod
    def choose(cls, dice: random.Random, number: int) -> "Leaver":
        """Any client."""
        mode = dice.choice(MODES)
        phase = dice.choices(("question", "asked", "answer", "later"), (3, 3, 6, 2))[0]
        after = dice.random() ** 2 * {"question": 1, "asked": 0.02, "answer": 4000, "later": 0.05}[phase]
        how = dice.choice(("fin", "fin", "reset", "reset", "half"))
        return cls(number, dice.choice(DIALECTS), dice.choice(KINDS), dice.random() < 0.6, mode, phase, after, how)

    def request(self) -> bytes:
        """The bytes of the question."""
        asked = ask(self.caller, f"case-{self.number}-{self.mode}", stream=self.stream, text="Hello " * 10)
        pipeline = ANOTHER[self.caller] if self.kind == "translated" else self.kind
        asked = Asked(f"/p/{pipeline}{asked.path}", dict(asked.headers), asked.body)
        if self.kind.startswith("turn"):
            asked = Asked(asked.path, {**asked.headers, "x-agentui-session": f"chat {self.number % SESSIONS}"}, asked.body)
        body = json.dumps(asked.body).encode()
        lines = [f"POST {asked.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        lines += [*(f"{name}: {value}" for name, value in asked.headers.items()), f"Content-Length: {len(body)}", "", ""]
        return "\r\n".join(lines).encode() + body


async def come_and_go(leaver: Leaver, server: Server, upstreams: Upstreams, lag: Lag) -> tuple[float, float]:
    """Ask, and leave; gives the moment of it, and the lag until then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.origin.rpartition(":")[2]), limit=2**16)
    try:
        question = leaver.request()
        if leaver.phase == "question":
            writer.write(question[: int(len(question) * leaver.after)])
            await asyncio.sleep(0)
        else:
            writer.write(question)
            await _until(lambda: leaver.number in upstreams.asked, 30)
            if leaver.phase == "asked":
                await asyncio.sleep(leaver.after)
            else:
                await _read(reader, int(leaver.after))
            if leaver.phase == "later":
                await asyncio.sleep(leaver.after)
        left, lost = time.monotonic(), lag.lost
        if leaver.how == "half":
            writer.write_eof()
            async with asyncio.timeout(30):
                while await reader.read(2**16):
                    pass
        elif leaver.how == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
            writer.transport.abort()
    except OSError:
        left, lost = time.monotonic(), lag.lost
    finally:
        writer.close()
    return left, lost


async def _read(reader: asyncio.StreamReader, size: int) -> None:
    """Read so many bytes of the answer, or as many as come before it falls silent."""
    while size > 0:
        try:
            async with asyncio.timeout(0.1):
                piece = await reader.read(min(size, 2**16))
        except TimeoutError:
            return
        if not piece:
            return
        size -= len(piece)


async def _until(holds: Callable[[], object], seconds: float) -> bool:
    """Wait for something; whether it came."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.002)
    return True


async def disconnects(trial: Trial) -> None:
    """``AT_ONCE`` clients at a time; then what is left behind is counted."""
    async with waiting() as upstreams, servers(trial.folder) as start, watching_lag() as lag:
        server = await start(
            pipelines(f"http://127.0.0.1:{upstreams.port}"), active="same", generation_queue=30.0, turn_matching=False
        )
        with captured_log(server.state.redactor, "warning") as log:
            async with aiohttp.ClientSession() as http:
                memory = Memory(server.origin, http)
                await memory.get("/sessions")  # the database is open
            await _until(lambda: _is_quiet(server), SETTLED)
            before_tasks, before_fds = _tasks(), _sockets(upstreams)
            await _crowd(trial, server, upstreams, lag)
            await _left_behind(trial, server, upstreams, before_tasks, before_fds)
            async with aiohttp.ClientSession() as http:
                await _judge_turns(trial, Memory(server.origin, http))
            scanner = Scanner({"caller's": "sk-test-key-0123456789abcdef"})
            scanner.scan_folder(server.data)
            scanner.scan("the log", log.getvalue())
            for find in scanner.finds:
                trial.fail(find)
            if log.getvalue():
                trial.fail(f"the log has complaints: {log.getvalue()[:2000]}")


async def _crowd(trial: Trial, server: Server, upstreams: Upstreams, lag: Lag) -> None:
    """All the clients."""
    numbers = iter(range(trial.size))
    taken: list[tuple[float, float]] = []

    async def work() -> None:
        for number in numbers:
            if trial.is_over():
                return
            leaver = Leaver.choose(random.Random(f"{trial.name}:{trial.seed}:{number}"), number)
            left, lost = await come_and_go(leaver, server, upstreams, lag)
            trial.counts["clients"] += 1
            trial.counts[f"left in {leaver.phase}"] += 1
            if not await _let_go(number, upstreams, left, lag, lost):
                trial.fail(f"{leaver}: the upstream was not let go")
                continue
            if upstreams.requests.get(number, 0) > 1:
                trial.fail(f"{leaver}: asked {upstreams.requests[number]} times")
            if number in upstreams.gone:
                await asyncio.sleep(TICK * 2)  # until the lag of this moment is known
                took = max(0.0, upstreams.gone[number] - max(left, upstreams.asked[number]))
                ran = max(0.0, took - (lag.lost - lost))
                taken.append((ran, took))
                if ran > LIMIT:
                    trial.fail(f"{leaver}: let go after {took:.2f} s")

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    if not taken:
        trial.fail("nobody left an upstream behind")
        return
    trial.counts["upstreams let go"] = len(taken)
    ran = _figures([ran for ran, _ in taken])
    trial.figures["let_go_ms"] = _figures([took for _, took in taken])
    trial.figures["let_go_ms_without_the_waits_for_a_processor"] = ran
    if trial.size >= LONG and ran["p99.9"] > USUALLY * 1000:
        trial.fail(f"p99.9 is {ran['p99.9']} ms")


def _figures(seconds: list[float]) -> dict[str, float]:
    """Percentiles in milliseconds."""
    ordered = sorted(seconds)
    places = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000, 2) for name, share in places.items()}


async def _let_go(number: int, upstreams: Upstreams, left: float, lag: Lag, lost: float) -> bool:
    """Wait until nothing of a case goes on upstream; whether it came to that before long. The waits for a processor are not
    held against anybody."""
    while not _is_let_go(number, upstreams, left):
        if time.monotonic() - left > LIMIT * 3 + lag.lost - lost:
            return False
        await asyncio.sleep(0.002)
    return True


def _is_let_go(number: int, upstreams: Upstreams, left: float) -> bool:
    """Whether nothing of a case goes on upstream; one that was not asked yet may still be, for a moment."""
    if number in upstreams.asked:
        return number in upstreams.gone or number in upstreams.done
    return time.monotonic() > left + 0.05


def _is_quiet(server: Server) -> bool:
    state = server.state
    return not state.in_flight and not state.history.list(1000, state="running")


def _tasks() -> set["asyncio.Task[object]"]:
    """All tasks, but for those that wait for the next request on a connection."""
    return {task for task in asyncio.all_tasks() if "RequestHandler.start" not in repr(task)}


def _sockets(upstreams: Upstreams) -> int | None:
    """Open files of this process but for both ends of the kept connections to the upstream; None where nobody can tell."""
    try:
        return len(os.listdir("/proc/self/fd")) - 2 * len(upstreams.connections)
    except FileNotFoundError:
        return None


async def _left_behind(
    trial: Trial, server: Server, upstreams: Upstreams, before_tasks: set["asyncio.Task[object]"], before_fds: int | None
) -> None:
    """What should be gone, and is not."""
    if not await _until(lambda: _is_quiet(server), SETTLED):
        trial.fail(f"{server.state.in_flight} requests are still under way")
    if not await _until(lambda: not (_tasks() - before_tasks), SETTLED):
        trial.fail(f"tasks are left: {[repr(task)[:300] for task in _tasks() - before_tasks][:3]}")
    asked = {number for number in upstreams.asked if number not in upstreams.gone and number not in upstreams.done}
    if asked:
        trial.fail(f"the upstream still works on {sorted(asked)[:10]}")
    trial.figures["kept_connections"] = len(upstreams.connections)
    if before_fds is not None:
        await _until(lambda: (_sockets(upstreams) or 0) <= before_fds + SPARE, SETTLED)
        after = _sockets(upstreams) or 0
        trial.figures["open_files"] = {"before": before_fds, "after": after}
        if after > before_fds + SPARE:
            trial.fail(f"{after - before_fds} open files more than before")


async def _judge_turns(trial: Trial, memory: Memory) -> None:
    """Every floor is settled, and the variables are those of the turns that were kept."""
    for session in await memory.get(f"/sessions?limit={SESSIONS * 2}"):
        floors = await memory.floors(session["id"])
        states = [floor["state"] for floor in floors]
        trial.counts["floors"] += len(floors)
        trial.counts["floors committed"] += states.count("committed")
        if set(states) - {"committed", "failed"}:
            trial.fail(f"{session['title']} has floors that are {set(states)}")
        variables = await memory.variables("chat", session["id"])
        if variables.get("count", 0) != states.count("committed"):
            trial.fail(f"{session['title']}: count is {variables.get('count')}, {states.count('committed')} turns were kept")


CAMPAIGNS = [Campaign("faults.disconnects", disconnects, "clients", short=400, long=LONG, short_seconds=40)]
