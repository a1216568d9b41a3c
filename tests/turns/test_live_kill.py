"""Live turns of a server process that is killed: no half turn, and what was committed stays."""

import asyncio
import contextlib
import signal

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


@pytest.mark.parametrize("kind", ["respond", "regenerate", "retry"])
@pytest.mark.parametrize("model", ["hang", "hang-mid"])
async def test_a_killed_server_leaves_no_half_turn(home: Home, mock: Mock, kind: str, model: str) -> None:
    (home.folder / "pipelines" / "chat.json").write_bytes(dumps(chain(FIND, target("caller", mock.origin))))
    async with asyncio.timeout(200), aiohttp.ClientSession() as http:
        async with home.serving() as (process, origin):
            memory = Memory(origin, http)
            _, made = await memory.call("POST", "/sessions", {"model_name": "text"})
            session = made["data"]["id"]
            status, first = await memory.call("POST", f"/sessions/{session}/respond", {"message": "One"}, **KEY)
            assert status == 200, first
            floor = first["data"]["floor_id"]
            await memory.call("PATCH", f"/sessions/{session}", {"model_name": model})
            path = {"respond": f"/sessions/{session}/respond", "regenerate": f"/sessions/{session}/regenerate"}
            url = origin + path.get(kind, f"/floors/{floor}/retry") + "/stream"
            asking = asyncio.ensure_future(until_asked(http, url, {"message": "Two"} if kind == "respond" else {}))
            await mock.was_asked(2)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await asking
        async with home.serving() as (_, origin):
            memory = Memory(origin, http)
            await memory.becomes(f"/sessions/{session}/active-run", lambda run: run["active_run"] is None, 60)
            told = await memory.get(f"/sessions/{session}/timeline")
            assert [message["content"] for message in told["floors"][0]["messages"]] == ["One", "Hello from the mock."]
            assert (len(told["floors"]), await memory.seen(session)) == (1, {"gold": 1})
            await memory.call("PATCH", f"/sessions/{session}", {"model_name": "text"})
            status, answer = await memory.call("POST", f"/sessions/{session}/respond", {"message": "Three"}, **KEY)
            assert status == 200, answer
            assert await memory.seen(session) == {"gold": 2}
