"""The wall clock jumps under a server process: nothing ends, begins, or changes its place because of it (S10)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from agentui.jsonio import dumps
from tests.api.callers import Caller, Got
from tests.conftest import call
from tests.faults.callers import ask, talking
from tests.faults.conftest import PATIENCE
from tests.faults.test_bad_requests import read_answer
from tests.turns.house import Memory, chain, sets, target
from tests.turns.test_kill import Home
from tests.upstreams.server import Mock
from tests.upstreams.step import Step

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

DAY = 86_400.0
SUMMER_TIME = datetime(2027, 3, 28, 1, tzinfo=UTC).timestamp()
"""When clocks in Berlin go from 2 to 3."""
JUMPS = (DAY, -DAY, 0.0)


@dataclass
class Skewed:
    """A server whose wall clock is moved, and its memory."""

    origin: str
    memory: Memory
    file: Path

    def jump(self, seconds: float) -> None:
        """Let the clock be wrong by so much from now on."""
        draft = self.file.with_suffix(".new")
        draft.write_text(str(seconds))
        draft.replace(self.file)

    async def turn(self, text: str, model: str = "text") -> Got:
        """A turn of the session ``s``."""
        caller = Caller("openai", self.origin, prefix="/p/count", headers={"x-agentui-session": "s"})
        return await caller.ask(text, model)

    async def runs(self) -> list[str]:
        """The ids of the runs that are remembered, newest first."""
        async with self.memory.http.get(f"{self.origin}/api/runs") as answer:
            return [run["id"] for run in await answer.json()]


@asynccontextmanager
async def skewed(tmp_path: Path, mock: Mock, **settings: str) -> AsyncIterator[Skewed]:
    """Serve a pipeline that counts, in a time zone that has summer time."""
    (tmp_path / "pipelines").mkdir()
    count = chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("caller", mock.origin))
    for id, document in {"count": count, "plain": call("caller", mock.origin)}.items():
        (tmp_path / "pipelines" / f"{id}.json").write_bytes(dumps(document))
    file = tmp_path / "skew"
    file.write_text("0")
    environment = {f"AGENTUI_{name.upper()}": value for name, value in settings.items()}
    home = Home(tmp_path, {"TZ": "Europe/Berlin", **environment})
    async with home.executing("-m", "tests.turns.skewed", str(file)) as origin, aiohttp.ClientSession() as http:
        yield Skewed(origin, Memory(origin, http), file)


async def test_a_turn_under_way_outlives_every_jump(tmp_path: Path, mock: Mock) -> None:
    mock.script(Step(hold="headers"))
    async with skewed(tmp_path, mock) as server, asyncio.timeout(200), asyncio.TaskGroup() as group:
        first = group.create_task(server.turn("One"))
        await mock.was_asked()
        session = (await server.memory.get("/sessions"))[0]["id"]
        for jump in JUMPS:
            server.jump(jump)
            assert (await server.turn("Two")).status == 409
            assert (await server.memory.call("DELETE", f"/sessions/{session}"))[0] == 409
        server.jump(DAY)
        mock.release()
        got = await first
        assert got.status == 200
        assert "x-agentui-not-saved" not in got.headers
        assert await server.memory.states(session) == ["committed"]
        assert await server.memory.seen(session) == {"gold": 1}


async def test_turns_and_runs_keep_the_order_in_which_they_came(tmp_path: Path, mock: Mock) -> None:
    now = time.time()
    moments = [0.0, DAY, 0.0, -DAY, SUMMER_TIME - 1 - now, SUMMER_TIME + 1 - now, -DAY, 0.0]
    async with skewed(tmp_path, mock, run_history="3") as server, asyncio.timeout(200):
        floors: list[str] = []
        runs: list[str] = []
        told: list[str] = []
        url = f"{server.origin}/api/runs/live?events=1"
        async with server.memory.http.get(url) as live:
            for number, moment in enumerate(moments):
                server.jump(moment)
                got = await server.turn(f"{number}")
                assert got.status == 200, got.body
                floors.append(got.headers["x-agentui-floor"])
                newest = await server.runs()
                assert newest[1:] == runs[::-1][: len(newest) - 1]
                runs.append(newest[0])
                while runs[-1] not in told:
                    line = await live.content.readline()
                    if line.startswith(b'data: {"run":'):
                        told.append(json.loads(line[5:])["run"])
        assert list(dict.fromkeys(told)) == runs
        assert sorted(runs) == runs
        session = (await server.memory.get("/sessions"))[0]["id"]
        assert [floor["id"] for floor in await server.memory.floors(session)] == floors
        assert await server.memory.states(session) == ["committed"] * len(floors)
        assert await server.memory.seen(session) == {"gold": len(floors)}
        for number, floor in enumerate(floors):
            assert (await server.memory.said(floor))[0] == ("input", "user", f"{number}")
        await _pages_hold_everything_once(server, session, len(floors))


async def _pages_hold_everything_once(server: Skewed, session: str, count: int) -> None:
    """Whatever a list is sorted by, its pages hold every row once."""
    for by in ("created_at", "updated_at", "floor_no"):
        seen: list[str] = []
        for offset in range(0, count, 3):
            query = f"session_id={session}&branch_id=main&limit=3&sort_by={by}&offset={offset}"
            seen += [floor["id"] for floor in await server.memory.get(f"/floors?{query}")]
        assert len(set(seen)) == len(seen) == count, by


async def test_limits_are_measured_by_a_clock_that_does_not_jump(tmp_path: Path, mock: Mock) -> None:
    asked = ask("openai")
    body = json.dumps(asked.body).encode()
    head = f"POST /p/plain{asked.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {asked.headers['authorization']}\r\n"
    plain = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    limits = {"first_byte_timeout": "1", "rate_limit": "5"}
    async with skewed(tmp_path, mock, **limits) as server, asyncio.timeout(200):
        # A connection that is kept is kept, whatever the time of day.
        async with talking(server.origin) as (reader, writer), asyncio.timeout(PATIENCE):
            for jump in (0.0, DAY, -DAY):
                server.jump(jump)
                writer.write(plain + body)
                assert (await read_answer(reader))[0] == 200
        # An upstream's silence ends after its second, neither at once nor a day later.
        mock.script(Step(hold="headers"))
        waiting = asyncio.ensure_future(Caller("openai", server.origin, prefix="/p/plain").ask())
        await mock.was_asked(4)
        server.jump(DAY)
        server.jump(-DAY)
        assert (await waiting).status == 504
        # Who has used up this minute's requests has not got another day's.
        caller = Caller("openai", server.origin, prefix="/p/plain")
        statuses = [(await caller.ask()).status for _ in range(2)]
        assert statuses[-1] == 429
        for jump in JUMPS:
            server.jump(jump)
            refused = await caller.ask()
            assert refused.status == 429
            assert 1 <= int(refused.headers["retry-after"]) <= 60
