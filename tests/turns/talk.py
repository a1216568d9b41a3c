"""A chat as a client of the memory's API leads it: live turns, as a whole and as events."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from agentui.jsonio import loads
from tests.turns.house import KEY, House

Json = Any
Event = tuple[str, Json]


async def events_of(answer: aiohttp.ClientResponse) -> AsyncIterator[Event]:
    """The events of a stream, by name and data; comments are left out."""
    name = ""
    async for raw in answer.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, loads(line.removeprefix("data: "))


def named(events: Sequence[Event], name: str) -> list[Json]:
    """What the events of one name tell."""
    return [data for each, data in events if each == name]


@dataclass
class Talk:
    """One session of a server, whose model the mock knows."""

    house: House
    session: str

    async def post(self, path: str, body: Json = None, **headers: str) -> tuple[int, Json]:
        """Any POST."""
        return await self.house.memory.call("POST", path, body, **KEY, **headers)

    async def respond(self, message: str = "Hello", **body: Json) -> Json:
        """Say something; what came of it."""
        status, answer = await self.post(f"/sessions/{self.session}/respond", {"message": message, **body})
        assert status == 200, answer
        return answer["data"]

    async def refused(self, path: str, body: Json = None, **headers: str) -> tuple[int, str]:
        """What must fail: its status and code."""
        status, answer = await self.post(path, body, **headers)
        assert status >= 400, answer
        return status, answer["error"]["code"]

    @asynccontextmanager
    async def streaming(self, path: str, body: Json = None, **headers: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """A stream while it is open."""
        url = self.house.memory.origin + path
        async with self.house.memory.http.post(url, json=body, headers={**KEY, **headers}) as answer:
            yield answer

    async def stream(self, message: str = "Hello", **body: Json) -> list[Event]:
        """Say something, and hear every event."""
        return await self.events(f"/sessions/{self.session}/respond/stream", {"message": message, **body})

    async def events(self, path: str, body: Json = None, **headers: str) -> list[Event]:
        """The events of any stream."""
        async with self.streaming(path, body, **headers) as answer:
            assert answer.status == 200, await answer.text()
            assert answer.content_type == "text/event-stream"
            return [event async for event in events_of(answer)]

    async def timeline(self, branch: str = "main") -> list[tuple[str, str]]:
        """What was said on a branch: the active pages' texts, by role."""
        floors = (await self.house.memory.get(f"/sessions/{self.session}/timeline?branch_id={branch}&limit=200"))["floors"]
        return [
            (message["role"], message["content"])
            for floor in floors
            for page in sorted(floor["active_pages"], key=lambda page: page["page_no"])
            for message in page["messages"]
        ]


async def begin_talk(house: House, **fields: Json) -> Talk:
    """A new session."""
    status, body = await house.memory.call("POST", "/sessions", {"model_name": "text", **fields})
    assert status == 201, body
    return Talk(house, str(body["data"]["id"]))
