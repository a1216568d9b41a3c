"""Servers that die between a tool's call, its result and the turn's commit: nothing that cannot be undone is called twice.

The tool belongs to an MCP server of this process, which counts what arrives. After each kill the caller asks for the same turn
with the same Idempotency-Key, and, where the turn was kept, for another version of it: neither may let the call arrive again
before somebody confirms it.
"""

import asyncio
import os
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from aiohttp import web

from agentui.jsonio import Json, dumps_text, loads
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fork_server import fork_server
from tests.campaigns.kills import Lane, lane_of
from tests.turns.house import KEY, Memory
from tests.upstreams.server import Mock, Recorded, start_mock
from tests.upstreams.step import Call, Step

MOMENTS: Final = ("call", "result", "commit")
"""While the tool works, when the model hears its result, and around the commit."""
_PATIENCE: Final = 120.0
"""Seconds after which something hangs."""
TOOL: Final = {"name": "send", "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}}}


@dataclass
class Post:
    """An MCP server with one tool, which sends a word. ``sent`` counts the words; while it ``holds`` it gives no answer."""

    sent: Counter[str] = field(default_factory=Counter)
    is_holding: bool = False
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    origin: str = ""

    async def serve(self, stack: AsyncExitStack) -> None:
        """Listen on loopback until the stack ends."""
        app = web.Application()
        app.router.add_post("/mcp", self._answer)
        app.router.add_route("*", "/mcp", self._nothing)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"

    async def _nothing(self, _: web.Request) -> web.Response:
        return web.Response(status=405)

    async def _answer(self, request: web.Request) -> web.Response:
        asked = loads(await request.read())
        if "id" not in asked:
            return web.Response(status=202)
        result = await self._result(asked)
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async def _result(self, asked: Json) -> Json:
        match asked["method"]:
            case "initialize":
                info = {"name": "post", "version": "1"}
                version = asked["params"]["protocolVersion"]
                return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                return {"tools": [TOOL]}
            case "tools/call":
                self.sent[asked["params"]["arguments"]["word"]] += 1
                self.arrived.set()
                if self.is_holding:
                    await asyncio.Event().wait()
                return {"content": [{"type": "text", "text": "It is sent."}]}
            case _:
                return {}


def sending(recorded: Recorded) -> Step:
    """A model that sends the last word that it is told, once a turn."""
    *_, last = recorded.body["messages"]
    if last["role"] == "tool":
        return Step(text="It is done.")
    return Step(text="", calls=(Call("send", dumps_text({"word": str(last["content"])}), "call_1"),))


@dataclass
class Caller:
    """Who takes turns in one session of a server that dies again and again."""

    trial: Trial
    lane: Lane
    post: Post
    mock: Mock
    http: aiohttp.ClientSession
    session: str = ""
    word: str = ""
    """What was said when the server died."""

    async def cycle(self, number: int) -> None:
        """One life of the server: see what became of the last turn, begin another, and die."""
        self.post.is_holding = False
        async with self.lane.life(is_cold=self.lane.fork_server is None) as (origin, kill):
            await self.lane.recovered(origin)
            memory = Memory(origin, self.http)
            if self.session:
                await self._ask_again(memory)
            else:
                await self._begin(memory)
            self.word = f"word{number}"
            moment = self.trial.random.choice(MOMENTS)
            self.mock.requests.clear()
            self.post.arrived.clear()
            self.post.is_holding = moment == "call"
            talking = asyncio.ensure_future(self._say(memory))
            async with asyncio.timeout(_PATIENCE):
                await self.post.arrived.wait()
                if moment != "call":
                    await self.mock.was_asked(2)
                if moment == "commit":
                    await asyncio.sleep(self.trial.random.uniform(0, 0.05))
            await kill()
            await asyncio.gather(talking, return_exceptions=True)
        self.trial.counts[f"killed at the {moment}"] += 1
        self.trial.counts["cycles"] += 1

    async def _begin(self, memory: Memory) -> None:
        """Configure the tool and make a session that may call it."""
        config = {"name": "post", "transport": "http", "http": {"url": self.post.origin}}
        _, made = await memory.call("POST", "/mcp/servers", config)
        status, answer = await memory.call("POST", f"/mcp/servers/{made['data']['id']}/connect", {})
        assert status == 200, answer
        _, made = await memory.call("POST", "/sessions", {"model_name": "text", "pipeline_id": "count"})
        self.session = made["data"]["id"]
        allowed = {"enabled": True, "allow_irreversible": True}
        status, answer = await memory.call("PUT", f"/sessions/{self.session}/tool-permissions", allowed)
        assert status == 200, answer

    async def _say(self, memory: Memory) -> tuple[int, Json]:
        """The turn, with a key of its own."""
        body = {"message": self.word, "config": {"enableTools": True}}
        path = f"/sessions/{self.session}/respond"
        return await memory.call("POST", path, body, **KEY, **{"idempotency-key": self.word})

    async def _ask_again(self, memory: Memory) -> None:
        """Ask for the turn that the last kill met, and for another version of it where it was kept."""
        status, answer = await self._say(memory)
        self.trial.counts[f"asked again: {status}"] += 1
        if status not in (200, 410):
            self.trial.fail(f"{self.word}: asked again: {status} {answer}")
        floors = await memory.floors(self.session)
        newest = max(floors, key=lambda floor: floor["floor_no"])
        if newest["state"] == "committed":
            await self._retry(memory, newest["id"])
        calls = await memory.get(f"/tool-executions?floor_id={newest['id']}")
        if not calls or any(call["status"] not in ("success", "uncertain") for call in calls):
            self.trial.fail(f"{self.word}: the records are {[call['status'] for call in calls]}")
        self.trial.counts["uncertain"] += sum(call["status"] == "uncertain" for call in calls)

    async def _retry(self, memory: Memory, floor_id: str) -> None:
        """Another version is refused, and nothing is called; with a confirmation the call is made once more."""
        path, body = f"/floors/{floor_id}/retry", {"config": {"enableTools": True}}
        status, answer = await memory.call("POST", path, body, **KEY)
        if (status, answer["error"]["code"] if status != 200 else "") != (409, "tool_replay_confirmation_required"):
            self.trial.fail(f"{self.word}: a version of what was sent is made unasked: {status} {answer}")
            return
        self.see()
        ids = [each["execution_id"] for each in answer["error"]["details"]["blocking_executions"]]
        status, answer = await memory.call("POST", path, {**body, "confirmed_execution_ids": ids}, **KEY)
        if status != 200 or self.post.sent[self.word] != 2:
            self.trial.fail(f"{self.word}: confirmed: {status}, sent {self.post.sent[self.word]} times")
        self.trial.counts["confirmed"] += 1
        self.post.sent[self.word] = 1

    def see(self) -> None:
        """Nothing has arrived twice."""
        for word, times in self.post.sent.items():
            if times > 1:
                self.trial.fail(f"{word} was sent {times} times.")


async def _run(trial: Trial) -> None:
    async with AsyncExitStack() as stack:
        mock = await start_mock()
        stack.push_async_callback(mock.close)
        mock.play(sending)
        post = Post()
        await post.serve(stack)
        forks = fork_server() if hasattr(os, "fork") else None
        lane = await stack.enter_async_context(lane_of(trial, 0, "sqlite", mock, forks))
        caller = Caller(trial, lane, post, mock, await stack.enter_async_context(aiohttp.ClientSession()))
        for number in range(trial.size):
            if trial.is_over():
                break
            await caller.cycle(number)
            caller.see()
        trial.counts["words sent"] = len(post.sent)


CAMPAIGNS = [Campaign("kills.tools", _run, counted="cycles", short=3, long=200, short_seconds=60)]
