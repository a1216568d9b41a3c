"""Servers on several machines that share one PostgreSQL and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import aiohttp
import asyncpg
import pytest

from agentui.jsonio import dumps
from tests.turns.house import KEY, Memory, chain, target
from tests.turns.talk import Event, events_of
from tests.turns.test_kill import Home
from tests.upstreams.server import Mock

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""


def machine(folder: Path, mock: Mock, database: str) -> Home:
    """A server's home that has nothing but the database in common with others."""
    (folder / "pipelines").mkdir(parents=True)
    (folder / "pipelines" / "chat.json").write_bytes(dumps(chain(target("caller", mock.origin))))
    return Home(folder, {"AGENTUI_DATABASE_URL": database})


async def until_words(events: AsyncIterator[Event]) -> None:
    """Wait for the first words of an answer."""
    async for name, _ in events:
        if name == "chunk":
            return


async def test_a_turn_is_stopped_from_another_machine(tmp_path: Path, mock: Mock, database: str) -> None:
    one, two = (machine(tmp_path / name, mock, database) for name in ("one", "two"))
    async with (
        asyncio.timeout(200),
        one.serving() as (_, here),
        two.serving() as (_, there),
        aiohttp.ClientSession() as http,
    ):
        near, far = Memory(here, http), Memory(there, http)
        status, made = await near.call("POST", "/sessions", {"model_name": "forever"})
        assert status == 201, made
        session = made["data"]["id"]
        path = f"/sessions/{session}/active-run/cancel"
        assert await far.call("POST", path) == (200, {"data": {"session_id": session, "stopped": []}})
        database_itself = await asyncpg.connect(database)
        await database_itself.execute("SELECT pg_notify('agentui', told) FROM unnest(ARRAY['', 'stop', '[]']) told")
        await database_itself.close()
        asked = http.post(f"{here}/sessions/{session}/respond/stream", json={"message": "Go"}, headers=KEY)
        async with asked as answer, aclosing(events_of(answer)) as events:
            await until_words(events)
            status, told = await far.call("POST", path)
            (stopped,) = told["data"]["stopped"]
            name, error = [event async for event in events][-1]
        assert (status, name, error["code"]) == (200, "error", "generation_cancelled")
        run = (await far.run(stopped["floor_id"]))["run"]
        assert (run["run_id"], run["status"]) == (stopped["run_id"], "cancelled")
        assert await far.states(session) == ["committed"]  # with the words that had arrived
