"""Live turns of a server process that is killed: no half turn, and what was committed stays."""

import asyncio
import contextlib
from itertools import product

import aiohttp
import pytest

from agentui.jsonio import dumps
from tests.turns.house import KEY, Json, Memory, chain, target
from tests.turns.test_kill import FIND, Home, home
from tests.upstreams.server import Mock

__all__ = ["home"]

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""


async def until_asked(http: aiohttp.ClientSession, url: str, body: Json) -> None:
    """Ask, and listen until the connection breaks."""
    with contextlib.suppress(aiohttp.ClientError):
        async with http.post(url, json=body, headers=KEY) as answer:
            await answer.read()


WAYS = {
    "respond": "/sessions/{session}/respond",
    "regenerate": "/sessions/{session}/regenerate",
    "retry": "/floors/{floor}/retry",
}


async def answered(memory: Memory) -> tuple[str, str]:
    """A new session with one turn, and the floor of that turn."""
    _, made = await memory.call("POST", "/sessions", {"model_name": "text"})
    session = made["data"]["id"]
    status, first = await memory.call("POST", f"/sessions/{session}/respond", {"message": "One"}, **KEY)
    assert status == 200, first
    return session, first["data"]["floor_id"]


async def test_a_killed_server_leaves_no_half_turn(home: Home, mock: Mock) -> None:
    """One kill in the middle of turns of every kind, each before its first word and after some."""
    (home.folder / "pipelines" / "chat.json").write_bytes(dumps(chain(FIND, target("caller", mock.origin))))
    async with asyncio.timeout(200), aiohttp.ClientSession() as http:
        async with home.serving() as (process, origin):
            memory = Memory(origin, http)
            asking, sessions = [], []
            for kind, model in product(WAYS, ("hang", "hang-mid")):
                session, floor = await answered(memory)
                sessions.append(session)
                await memory.call("PATCH", f"/sessions/{session}", {"model_name": model})
                url = f"{origin}{WAYS[kind].format(session=session, floor=floor)}/stream"
                body = {"message": "Two"} if kind == "respond" else {}
                asking.append(asyncio.ensure_future(until_asked(http, url, body)))
                await mock.was_asked(2 * len(asking))
            process.kill()
            await asyncio.gather(*asking)
        async with home.serving() as (_, origin):
            for session in sessions:
                await left_whole(Memory(origin, http), session)


async def left_whole(memory: Memory, session: str) -> None:
    """Of what was under way nothing is there, what was there is, and the chat goes on."""
    await memory.becomes(f"/sessions/{session}/active-run", lambda run: run["active_run"] is None, 60)
    told = await memory.get(f"/sessions/{session}/timeline")
    assert [message["content"] for message in told["floors"][0]["messages"]] == ["One", "Hello from the mock."]
    assert (len(told["floors"]), await memory.seen(session)) == (1, {"gold": 1})
    await memory.call("PATCH", f"/sessions/{session}", {"model_name": "text"})
    status, answer = await memory.call("POST", f"/sessions/{session}/respond", {"message": "Three"}, **KEY)
    assert status == 200, answer
    assert await memory.seen(session) == {"gold": 2}
