"""Server processes that end, politely, and that meet on one folder. Those that are killed are a campaign: ``kills.sqlite`` and
``kills.postgres`` in tests/campaigns."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from agentui.jsonio import dumps
from tests.api.callers import Caller, Got
from tests.campaigns.fork_server import Forked, environment, forked
from tests.conftest import ROOT
from tests.turns.dying import COUNTED
from tests.turns.house import KEY, Json, Memory, chain, sets, target
from tests.upstreams.server import Mock

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

PATIENCE = 150.0
"""Seconds after which a server that has not started, or not ended, has failed."""

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
    async def serving(self) -> AsyncIterator[tuple[Forked, str]]:
        """A server process that is ready, and its address."""
        with forked(*self.command, **self.settings) as process:
            hello = await asyncio.to_thread(process.hello, PATIENCE)
            yield process, hello.splitlines()[0].split()[-1]

    @asynccontextmanager
    async def executing(self, *program: str) -> AsyncIterator[str]:
        """The address of a server that is ready, which Python runs by a program of its own."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *program, *self.command),
            cwd=ROOT,
            env=environment(self.settings),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            first = (await process.stdout.readline()).decode()
            if "is running at" not in first:
                process.kill()
                pytest.fail(f"{first}{await process.communicate()}")
            async for line in process.stdout:
                if line.startswith(b"Stop with"):
                    break
            yield first.split()[-1]
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    @property
    def command(self) -> list[str]:
        """``agentui serve`` in these folders."""
        return ["serve", "--port", "0", *(f"--{name}={self.folder / name}" for name in ("pipelines", "presets", "data"))]


@pytest.fixture
def home(tmp_path: Path, mock: Mock, engine: str, store_settings: Json) -> Home:
    """A server's home with a pipeline that counts, on either engine."""
    (tmp_path / "pipelines").mkdir()
    find = chain(FIND, target("caller", mock.origin))
    (tmp_path / "pipelines" / "find.json").write_bytes(dumps(find))
    settings = {"AGENTUI_GENERATION_LEASE": "1", "AGENTUI_STOP_TIMEOUT": "2"}
    if engine == "postgresql":
        settings["AGENTUI_DATABASE_URL"] = store_settings["database_url"]
    return Home(tmp_path, settings)


async def test_a_polite_end_lets_turns_fail_that_are_under_way(home: Home, mock: Mock) -> None:
    headers = {"x-agentui-session": "s"}
    async with asyncio.timeout(200):
        async with home.serving() as (process, origin):
            caller = Caller("openai", origin, prefix="/p/find", headers=headers)
            first = await caller.ask("One")
            turn = asyncio.ensure_future(caller.ask("Two", "hang", stream=True))
            await mock.was_asked(2)
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, PATIENCE) == 0
            (heard,) = await asyncio.gather(turn, return_exceptions=True)
            assert isinstance(heard, aiohttp.ClientError) or (isinstance(heard, Got) and heard.status == 503)
        async with home.serving() as (_, origin), aiohttp.ClientSession() as http:
            memory, session = Memory(origin, http), first.headers["x-agentui-session"]
            await memory.becomes(
                f"/floors?session_id={session}", lambda floors: {"committed", "failed"} == {f["state"] for f in floors}
            )
            assert await memory.states(session) == ["committed", "failed"]
            assert await memory.seen(session) == {"gold": 1}


WAYS = {
    "regenerate": "/sessions/{session}/regenerate",
    "retry": "/floors/{floor}/retry",
    "edit": "/messages/{question}/edit-and-regenerate",
}


async def test_a_server_that_is_killed_while_it_makes_answers_anew_leaves_the_old_ones(home: Home, mock: Mock) -> None:
    """One kill in the middle of all ways to make an answer anew, each in a chat of its own."""
    headers = {"x-agentui-pipeline": "find"}
    chats: list[tuple[str, str]] = []
    async with asyncio.timeout(200), aiohttp.ClientSession(headers=KEY) as http:
        async with home.serving() as (process, origin):
            memory, cut = Memory(origin, http), []
            for way, path in WAYS.items():
                first = await Caller("openai", origin, prefix="/p/find", headers={"x-agentui-session": way}).ask("One")
                session, floor = first.headers["x-agentui-session"], first.headers["x-agentui-floor"]
                chats.append((session, floor))
                await memory.call("PATCH", f"/sessions/{session}", {"model_name": "hang"})
                (question,) = await memory.get(f"/messages?page_id={await memory.page(floor, 'input')}")
                url = origin + path.format(session=session, floor=floor, question=question["id"])
                body = {"content": "Uno", "branch_id": "alt"} if way == "edit" else {}
                cut.append(asyncio.ensure_future(http.post(url, json=body, headers=headers)))
                await mock.was_asked(2 * len(chats))
            process.send_signal(signal.SIGKILL)
            await asyncio.gather(*cut, return_exceptions=True)
        async with home.serving() as (_, origin):
            memory = Memory(origin, http)
            for session, floor in chats:
                await memory.becomes(f"/sessions/{session}/active-run", lambda found: found["active_run"] is None)
                assert await memory.states(session) == ["committed"]
                assert [text for *_, text in await memory.said(floor)] == ["One", "Hello from the mock."]
                assert (await memory.seen(session))["gold"] == 1
                assert [branch["branch_id"] for branch in await memory.get(f"/sessions/{session}/branches")] == ["main"]
                await memory.call("PATCH", f"/sessions/{session}", {"model_name": "text"})
                async with http.post(f"{origin}/floors/{floor}/retry", json={}, headers=headers) as again:
                    assert again.status == 200, await again.text()
                assert (await memory.seen(session))["gold"] == 1


async def test_a_kill_inside_the_commit_leaves_no_half_turn_and_no_branch(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    place = str(tmp_path / "agentui.db") if engine == "sqlite" else request.getfixturevalue("database")
    every = "1" if request.config.getoption("--campaigns", default=False) else "8"
    command = (sys.executable, "-m", "tests.turns.dying", place, every)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert [line.split()[0] for line in out.decode().splitlines()] == list(COUNTED)


async def test_a_second_server_on_one_folder_is_refused_at_once(home: Home, engine: str) -> None:
    async with home.serving() as (first, origin):
        if engine == "postgresql":
            async with home.serving() as (_, other):
                assert other != origin
            return
        with forked(*home.command, **home.settings) as second:
            assert await asyncio.to_thread(second.wait, PATIENCE) == 1
            assert second.out == ""
            assert second.err.count("\n") == 1
            assert second.err.startswith("agentui: The data folder ")
            assert f"process {first.pid}" in second.err
    async with home.serving():
        assert json.loads((home.folder / "data" / "agentui.lock").read_text()) != os.getpid()
