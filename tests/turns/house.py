"""A server with a memory before the strict mock, and somebody who asks it things and looks into its memory."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import aiohttp

from tests.api.callers import Caller, Got
from tests.conftest import Server
from tests.upstreams.server import API_KEY, Mock

Json = Any


@dataclass
class Memory:
    """The memory's API of one server."""

    origin: str
    http: aiohttp.ClientSession

    async def call(self, method: str, path: str, body: Json = None, **headers: str) -> tuple[int, Json]:
        """Any call: the status, and the JSON."""
        async with self.http.request(method, self.origin + path, json=body, headers=headers) as answer:
            return answer.status, await answer.json()

    async def get(self, path: str) -> Json:
        """The data behind a path."""
        status, body = await self.call("GET", path)
        assert status == 200, body
        return body["data"]

    async def becomes(self, path: str, holds: Callable[[Json], bool], seconds: float = 60) -> None:
        """Wait until the data behind a path is so."""
        async with asyncio.timeout(seconds):
            while not holds(await self.get(path)):  # noqa: ASYNC110  # the server tells nobody
                await asyncio.sleep(0.02)

    async def put(self, scope: str, key: str, value: Json, **where: str) -> None:
        """Write a variable."""
        if scope == "global":
            where = {"scope_id": "global"}
        status, body = await self.call("PUT", "/variables", {"scope": scope, "key": key, "value": value, **where})
        assert status in (200, 201), body

    async def floors(self, session: str, branch: str = "main") -> list[Json]:
        """The floors of a branch, by number."""
        query = f"session_id={session}&branch_id={branch}&limit=200&sort_by=floor_no&sort_order=asc"
        floors: list[Json] = []
        while True:
            more = await self.get(f"/floors?{query}&offset={len(floors)}")
            floors += more
            if len(more) < 200:
                return floors

    async def states_of(self, session: str, branch: str) -> list[str]:
        """How the floors of a branch ended, wherever their numbers begin."""
        return [floor["state"] for floor in await self.floors(session, branch)]

    async def states(self, session: str, branch: str = "main") -> list[str]:
        """How the floors of a branch ended, by number."""
        floors = await self.floors(session, branch)
        assert [floor["floor_no"] for floor in floors] == list(range(len(floors)))
        return [floor["state"] for floor in floors]

    async def run(self, floor: str) -> Json:
        """The run of a floor."""
        return await self.get(f"/floors/{floor}/run")

    async def said(self, floor: str) -> list[tuple[str, str, str]]:
        """Page kind, role and text of everything that was said on a floor."""
        said = []
        for page in sorted(await self.get(f"/pages?floor_id={floor}"), key=lambda page: page["page_no"]):
            for message in await self.get(f"/messages?page_id={page['id']}"):
                said.append((page["page_kind"], message["role"], message["content"]))
        return said

    async def page(self, floor: str, kind: str = "output") -> str:
        """The id of a floor's page."""
        found = [page["id"] for page in await self.get(f"/pages?floor_id={floor}") if page["page_kind"] == kind]
        assert len(found) == 1
        return str(found[0])

    async def variables(self, scope: str, scope_id: str) -> dict[str, Json]:
        """One tier's variables."""
        rows = await self.get(f"/variables?scope={scope}&scope_id={scope_id}&limit=100")
        return {row["key"]: row["value"] for row in rows}

    async def seen(self, session: str, branch: str | None = "main", **where: str) -> dict[str, Json]:
        """What is visible from a place."""
        query = {"session_id": session, **({"branch_id": branch} if branch else {}), **where}
        rows = (await self.get("/variables/resolve?" + "&".join(f"{name}={value}" for name, value in query.items())))[
            "resolved"
        ]
        return {row["key"]: row["value"] for row in rows}


@dataclass
class House:
    """The server, its memory, and the mock behind it."""

    server: Server
    mock: Mock
    memory: Memory

    def caller(self, dialect: str = "openai", pipeline: str = "plain", **headers: str) -> Caller:
        """Who asks in a dialect; ``session="x"`` sends the header x-agentui-session."""
        own = {f"x-agentui-{name}": value for name, value in headers.items()}
        return Caller(dialect, self.server.origin, prefix=f"/p/{pipeline}", headers=own)

    async def ask(
        self,
        text: str = "Hello",
        *,
        dialect: str = "openai",
        pipeline: str = "plain",
        model: str = "text",
        stream: bool = False,
        **headers: str,
    ) -> Got:
        """Ask, and hear the whole answer."""
        return await self.caller(dialect, pipeline, **headers).ask(text, model, stream=stream)

    async def turn(self, text: str = "Hello", **more: Any) -> Got:
        """Ask for what must succeed."""
        got = await self.ask(text, **more)
        assert got.status == 200, got.body
        return got


def target(provider: str, base_url: str, **config: Json) -> Json:
    """A node that calls."""
    return {"id": "call", "type": "ProviderCall", "config": {"provider": provider, "base_url": base_url, **config}}


def forward(base_url: str) -> Json:
    """A node that forwards."""
    return {"id": "call", "type": "RawForward", "config": {"base_url": base_url}}


def sets(*rows: tuple[str, str, str, str], id: str = "set") -> Json:
    """A node that sets variables: tier, name, mode and value of each."""
    variables = [{"tier": tier, "name": name, "mode": mode, "value": value} for tier, name, mode, value in rows]
    return {"id": id, "type": "SetVars", "config": {"variables": variables}}


def chain(*nodes: Json, answer: str | None = None) -> Json:
    """A pipeline of nodes one after the other."""
    edges = [{"from": one["id"], "to": two["id"]} for one, two in pairwise(nodes)]
    return {"format": 1, "name": "chain", "nodes": list(nodes), "edges": edges, "answer": answer or nodes[-1]["id"]}


def text(value: str) -> tuple[str, str, str, str]:
    """The row that makes a text of a template, for a node that answers."""
    return ("run", "answer", "string", value)


KEY: Mapping[str, str] = {"authorization": f"Bearer {API_KEY}"}
