"""Processes that die: what was acknowledged is there, once and whole; nothing is there in half, and no branch stays locked.

``pytest tests/turns tests/store --kills 50`` kills more often.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from agentui.jsonio import dumps
from tests.api.callers import Caller, is_whole
from tests.conftest import ROOT
from tests.test_cli import environment
from tests.turns.house import Json, Memory, chain, sets, target
from tests.upstreams.server import Mock
from tests.upstreams.step import SCENARIOS

ANSWER = SCENARIOS["text"].words()
FIND = sets(
    ("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"),
    ("floor", "gold_then", "json", "{{ gold|default(0)|add(1) }}"),
    ("page", "said", "string", "{{ chat.last_user }}"),
)


@dataclass
class Home:
    """The folders of a server, and its settings."""

    folder: Path
    settings: Mapping[str, str]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
        """A server process that is ready, and its address."""
        process = await self.start()
        try:
            assert process.stdout is not None
            first = (await process.stdout.readline()).decode()
            if "is running at" not in first:
                process.kill()
                pytest.fail(f"{first}{await process.communicate()}")
            async for line in process.stdout:
                if line.startswith(b"Stop with"):
                    break
            yield process, first.split()[-1]
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def start(self) -> asyncio.subprocess.Process:
        """Start ``agentui serve``."""
        folders = [f"--{name}={self.folder / name}" for name in ("pipelines", "presets", "data")]
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentui", "serve", "--port", "0", *folders),
            cwd=ROOT,
            env=environment(self.settings),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )


@pytest.fixture
def home(tmp_path: Path, mock: Mock, engine: str, store_settings: Json) -> Home:
    """A server's home with a pipeline that counts, on either engine."""
    (tmp_path / "pipelines").mkdir()
    find = chain(FIND, target("caller", mock.origin))
    (tmp_path / "pipelines" / "find.json").write_bytes(dumps(find))
    settings = {"AGENTUI_GENERATION_LEASE": "1"}
    if engine == "postgresql":
        settings["AGENTUI_DATABASE_URL"] = store_settings["database_url"]
    return Home(tmp_path, settings)


@dataclass
class Witness:
    """Remembers every turn that a server has acknowledged: what was said, by floor."""

    heard: dict[str, str] = field(default_factory=dict)
    said: int = 0

    async def talk(self, origin: str, session: str, branch: str) -> None:
        """Take turns until the server is gone."""
        headers = {"x-agentui-session": session, "x-agentui-branch": branch}
        caller = Caller("openai", origin, prefix="/p/find", headers=headers)
        while True:
            self.said += 1
            words, stream = f"{session} {branch} {self.said}", self.said % 2 == 0
            try:
                got = await caller.ask(words, stream=stream)
            except (aiohttp.ClientError, OSError):
                return
            if got.status == 200 and (not stream or is_whole("openai", got.events)):
                self.heard[got.headers["x-agentui-floor"]] = words

    async def check(self, memory: Memory) -> None:
        """Everything acknowledged is whole, and everything committed is whole too; the gold is the number of turns."""
        found: dict[str, str] = {}
        for session in await memory.get("/sessions"):
            for branch in await memory.get(f"/sessions/{session['id']}/branches"):
                found |= await self._check_branch(memory, session["id"], branch["branch_id"])
        assert self.heard.items() <= found.items()

    async def _check_branch(self, memory: Memory, session: str, branch: str) -> dict[str, str]:
        found: dict[str, str] = {}
        gold = 0
        for floor in await memory.floors(session, branch):
            said = await memory.said(floor["id"])
            if floor["state"] == "failed":
                assert [kind for kind, _, _ in said] == ["input"]
                continue
            assert floor["state"] == "committed", floor
            gold += 1
            words = said[0][2]
            assert said == [("input", "user", words), ("output", "assistant", ANSWER)]
            page = await memory.page(floor["id"])
            assert await memory.variables("floor", floor["id"]) == {"gold_then": gold}
            assert await memory.variables("page", page) == {"gold_then": gold, "said": words}
            found[floor["id"]] = words
        assert await memory.variables("branch", f"branch:{session}:{branch}") == ({"gold": gold} if gold else {})
        return found


def nothing_generates(floors: Json) -> bool:
    """Whether all these floors have ended."""
    return {floor["state"] for floor in floors} <= {"committed", "failed"}


PLACES = [(f"s{number}", "main") for number in range(4)]


@pytest.mark.timeout(900)  # two starts of a server for each kill, on a machine that may be busy
async def test_what_was_acknowledged_survives_kill_9(home: Home, mock: Mock, request: pytest.FixtureRequest) -> None:
    witness, chance = Witness(), random.Random(7)
    for _ in range(request.config.getoption("kills", 3)):
        async with home.serving() as (process, origin):
            talks = asyncio.gather(*(witness.talk(origin, *place) for place in PLACES))
            before = len(witness.heard)
            async with asyncio.timeout(60):
                while len(witness.heard) < before + 8:  # noqa: ASYNC110  # the witness tells nobody
                    await asyncio.sleep(0.01)
            await asyncio.sleep(chance.uniform(0, 0.3))
            process.send_signal(signal.SIGKILL)
            await talks
        async with home.serving() as (_, origin), aiohttp.ClientSession() as http:
            memory = Memory(origin, http)
            # A lock that others might hold dies with its lease; SQLite's die with the process.
            await memory.becomes("/floors?limit=200", nothing_generates, seconds=60)
            await witness.check(memory)
            for session, branch in PLACES:
                headers = {"x-agentui-session": session, "x-agentui-branch": branch}
                got = await Caller("openai", origin, prefix="/p/find", headers=headers).ask("after")
                assert got.status == 200, got.body
                witness.heard[got.headers["x-agentui-floor"]] = "after"
    assert len(witness.heard) >= 24


async def test_a_polite_end_lets_turns_fail_that_are_under_way(home: Home, mock: Mock) -> None:
    headers = {"x-agentui-session": "s"}
    async with asyncio.timeout(40):
        async with home.serving() as (process, origin):
            caller = Caller("openai", origin, prefix="/p/find", headers=headers)
            first = await caller.ask("One")
            turn = asyncio.ensure_future(caller.ask("Two", "hang", stream=True))
            await mock.was_asked(2)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
            assert isinstance((await asyncio.gather(turn, return_exceptions=True))[0], aiohttp.ClientError)
        async with home.serving() as (_, origin), aiohttp.ClientSession() as http:
            memory, session = Memory(origin, http), first.headers["x-agentui-session"]
            await memory.becomes(
                f"/floors?session_id={session}", lambda floors: {"committed", "failed"} == {f["state"] for f in floors}
            )
            assert await memory.states(session) == ["committed", "failed"]
            assert await memory.seen(session) == {"gold": 1}


async def test_a_second_server_on_one_folder_is_refused_at_once(home: Home, engine: str) -> None:
    async with home.serving() as (first, origin):
        if engine == "postgresql":
            async with home.serving() as (_, other):
                assert other != origin
            return
        second = await home.start()
        out, said = await second.communicate()
        assert (second.returncode, out) == (1, b"")
        assert said.decode().count("\n") == 1
        assert said.startswith(b"agentui: The data folder ")
        assert f"process {first.pid}".encode() in said
    async with home.serving():
        assert json.loads((home.folder / "data" / "agentui.lock").read_text()) != os.getpid()
