"""A real file system of a few megabytes that fills up while turns run: answers go out, chats can be read, and it works again
when there is room (S3). What fails at which byte is tried without privileges in tests/store/test_sqlite.py."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from agentui.store.reserve import FILE
from tests.api.callers import Caller, is_whole, text_of
from tests.conftest import StartServer
from tests.sqlite import real_files
from tests.turns.house import Memory, chain, sets, target
from tests.upstreams.server import Mock
from tests.upstreams.step import Step

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

SIZE = 28 * 1024 * 1024
"""Bytes: the reserve of eight megabytes, as much again before it is taken anew, and room for a few turns."""
LONG = "A word. " * 10_000
"""More than what a database has left over in its files."""

NOTE = {"title": "New", "metadata": {"note": LONG}}
"""A session of that size."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system where the first server's data will lie."""
    folder = tmp_path / "server0" / "data"
    folder.mkdir(parents=True)
    if sys.platform != "linux":
        pytest.skip("Only Linux has a tmpfs.")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"Nobody but root may mount a file system: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> None:
    """Take every byte that is free."""
    with suppress(OSError), (disk / "ballast").open("ab", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):
                while ballast.write(b"x" * size):
                    pass


@pytest.mark.parametrize("stream", [False, True])
async def test_a_disk_that_fills_up_costs_no_answer_and_nothing_that_was_kept(
    disk: Path, start_server: StartServer, mock: Mock, stream: bool
) -> None:
    count = chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("caller", mock.origin))
    # Nothing but the turn itself meets the full disk: not the renewal of its lease, which would be given the reserve first.
    server = await start_server({"count": count}, active="count", generation_lease=3600)
    caller = Caller("openai", server.origin, headers={"x-agentui-session": "s"})
    async with aiohttp.ClientSession() as http, asyncio.timeout(200):
        memory = Memory(server.origin, http)
        kept = [(await caller.ask("Before", stream=stream)).headers["x-agentui-floor"]]
        before = await memory.said(kept[0])
        session = (await memory.get("/sessions"))[0]["id"]

        mock.script(Step(text=LONG, hold="headers"))
        turn = asyncio.ensure_future(caller.ask("Meanwhile", stream=stream))
        await mock.was_asked(2)
        await asyncio.to_thread(fill, disk)
        mock.release()
        lost = await turn
        assert lost.status == 200
        assert is_whole("openai", lost.events) if stream else text_of("openai", lost.json) == LONG
        # A stream's headers are out long before anybody knows.
        assert lost.headers.get("x-agentui-not-saved") == (None if stream else "store_full")

        # What was kept back for this moment fills up as well: now no turn begins, and no model is asked.
        await asyncio.to_thread(fill, disk)
        refused = await caller.ask("Behind", stream=stream)
        assert (refused.status, refused.json["error"]["code"], len(mock.requests)) == (507, "store_full", 2)
        assert str(disk) not in refused.body.decode()
        async with http.get(f"{server.origin}/health") as health:
            told = await health.json()
            assert (health.status, told["store"]["full"], told["database"]) == (200, True, "full")
        assert await memory.said(kept[0]) == before
        assert await memory.seen(session) == {"gold": 1}

        (disk / "ballast").unlink()
        kept.append((await caller.ask("After", stream=stream)).headers["x-agentui-floor"])
        await _check_whole(memory, session, kept)
        assert not server.state.store.status["full"]


async def _use_all(memory: Memory) -> None:
    """Write until nothing fits into the database's files either."""
    for _ in range(200):
        status, told = await memory.call("POST", "/sessions", NOTE)
        if status != 201:
            break
    assert (status, told["error"]["code"]) == (507, "store_full"), told


async def _check_whole(memory: Memory, session: str, kept: list[str]) -> None:
    """Nothing that was kept is gone or half, and what was not kept is marked."""
    floors = await memory.floors(session)
    assert [floor["floor_no"] for floor in floors] == list(range(len(floors)))
    await memory.becomes(f"/floors?session_id={session}&limit=200", lambda rows: "generating" not in {f["state"] for f in rows})
    floors = await memory.floors(session)
    assert [floor["id"] for floor in floors if floor["state"] == "committed"] == kept
    assert {floor["state"] for floor in floors} == {"committed", "failed"}
    for floor in kept:
        assert [(kind, role) for kind, role, _ in await memory.said(floor)] == [("input", "user"), ("output", "assistant")]
    assert await memory.seen(session) == {"gold": len(kept)}


async def test_on_a_full_disk_everything_can_be_removed_and_nothing_else_uses_its_room(
    disk: Path, start_server: StartServer, mock: Mock
) -> None:
    plain = chain(target("caller", mock.origin))
    with real_files():
        server = await start_server({"count": plain, "other": plain}, active="count")
    reserve = disk / FILE
    async with aiohttp.ClientSession() as http, asyncio.timeout(200):
        memory = Memory(server.origin, http)
        paths = []
        for number in range(12):
            caller = Caller("openai", server.origin, headers={"x-agentui-session": f"s{number}"})
            await caller.ask("Hello" + LONG)
            snapshot = {"name": f"User {number}", "description": LONG}
            made = await memory.call("POST", "/users", {"snapshot": snapshot})
            assert made[0] == 201, made
            paths.append(f"/users/{made[1]['data']['id']}")
        paths += [f"/sessions/{session['id']}" for session in await memory.get("/sessions")]
        for number in range(3):
            stored = await memory.call("PUT", f"/api/secrets/key{number}", {"value": "k" * 3000, "origins": [mock.origin]})
            assert stored[0] in (200, 201), stored
        paths += [f"/api/secrets/key{number}" for number in range(3)] + ["/api/pipelines/other"]
        assert len(paths) == 12 + 12 + 3 + 1

        for path in paths:
            await asyncio.to_thread(fill, disk)
            await _use_all(memory)
            async with http.delete(server.origin + path, headers={"if-match": "*"}) as removed:
                assert removed.status in (200, 204), (path, await removed.text())
        assert reserve.stat().st_size > 6 * 1024 * 1024
        assert {session["title"] for session in await memory.get("/sessions")} <= {"New"}
        assert await memory.get("/users") == []
        assert (await memory.call("GET", "/api/secrets"))[1] == []
        assert server.state.store.status["full"]

        (disk / "ballast").unlink()
        status, _ = await memory.call("POST", "/sessions", NOTE)
        assert status == 201
        assert (reserve.stat().st_size, server.state.store.status["full"]) == (8 * 1024 * 1024, False)
