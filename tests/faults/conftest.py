"""A proxy before a mock (``house``), and before an upstream that says any bytes (``wild``)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import aiohttp
import pytest

from agentui.jsonio import Json
from tests.conftest import Server, StartServer, call
from tests.faults.callers import ANOTHER, Asked, Heard, Route, ask, send
from tests.faults.speech import says
from tests.faults.tricks import MACROS, STORED, templated
from tests.unit.upstream.conftest import Bytes, serving
from tests.upstreams.server import Mock

KINDS = ("same", "translated", "raw")
PATIENCE = 100.0
"""Seconds to wait for anything; a busy machine may take its time. That two seconds are enough is what the campaign
``faults.disconnects`` says, which knows how late the machine is."""
QUICK = {"first_byte_timeout": 0.3, "idle_timeout": 0.3, "body_timeout": 0.3}
"""Settings with which silence is given up soon."""


async def until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for something that tells nobody when it comes true."""
    async with asyncio.timeout(seconds):
        while True:
            if holds():
                return
            await asyncio.sleep(0.005)


def ways(base_url: str) -> dict[str, Json]:
    """Pipelines to one upstream: in the caller's dialect, in each of the four, and forwarded."""
    pipelines = {dialect: call(dialect, base_url) for dialect in ANOTHER}
    return {"same": call("caller", base_url), "raw": forward(base_url), **pipelines}


def forward(base_url: str, **config: Json) -> Json:
    """A pipeline of one RawForward."""
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": base_url, **config}}
    return {"format": 1, "name": "forward", "nodes": [node], "edges": []}


@dataclass
class House:
    """A proxy, and a client at its door."""

    server: Server
    session: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return self.server.origin

    def at(self, route: Route, asked: Asked) -> Asked:
        """The request by the route's pipeline."""
        pipeline = ANOTHER[route.caller] if route.kind == "translated" else route.kind
        return Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body)

    async def ask(self, route: Route, model: str = "text", **more: str) -> Heard:
        """A plain question by this route."""
        return await self.send(self.at(route, ask(route.caller, model, stream=route.stream, **more)))

    async def send(self, asked: Asked, **more: object) -> Heard:
        """Any request."""
        return await send(self.session, self.origin, asked, **more)

    async def is_quiet(self) -> None:
        """Wait until no request is under way and every run is over."""
        state = self.server.state
        await until(lambda: not state.in_flight and not state.history.list(1000, state="running"))

    def run_states(self) -> set[str]:
        """How the runs so far have ended."""
        return {summary.state for summary in self.server.state.history.list(1000)}


StartHouse = Callable[..., Awaitable[House]]


@pytest.fixture
async def start_house(start_server: StartServer) -> AsyncIterator[StartHouse]:
    """Start proxies before any upstream."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def start(base_url: str, pipelines: dict[str, Json] | None = None, **settings: object) -> House:
            server = await start_server({**ways(base_url), **(pipelines or {})}, active="same", **settings)
            return House(server, session)

        yield start


@pytest.fixture
async def house(start_house: StartHouse, mock: Mock) -> House:
    """A proxy before the strict mock."""
    return await start_house(mock.origin)


@pytest.fixture
async def wild() -> AsyncIterator[Bytes]:
    """An upstream that says what its script says."""
    async for server in serving():
        yield server


@pytest.fixture
async def wild_house(start_house: StartHouse, wild: Bytes) -> House:
    """A proxy before the wild upstream."""
    return await start_house(wild.url)


@pytest.fixture
async def hostile(start_house: StartHouse, wild: Bytes) -> House:
    """A proxy with a stored key and a template, before an upstream that says macros."""
    says(wild, MACROS)
    return await start_house(wild.url, {"templated": templated(wild.url)}, secret_env=STORED)
