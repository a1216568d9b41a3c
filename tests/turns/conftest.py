"""Servers with a memory: every test on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.conftest import StartServer, call
from tests.turns.house import House, Json, Memory, chain, forward
from tests.upstreams.server import Mock

if TYPE_CHECKING:
    from agentui.jsonio import Json as AnyJson

ENGINES = ("sqlite", "postgresql")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine's name."""
    return str(request.param)


@pytest.fixture
def store_settings(engine: str, request: pytest.FixtureRequest) -> "dict[str, AnyJson]":
    """Settings for a server on an empty memory."""
    return {} if engine == "sqlite" else {"database_url": request.getfixturevalue("database")}


def on_engines(names: Sequence[str], *choices: Sequence[object]) -> pytest.MarkDecorator:
    """Give a test every combination of these choices on SQLite, and on PostgreSQL as many as it takes to try each choice: what
    a database does with a turn does not differ by its dialect."""
    every = [("sqlite", *chosen) for chosen in product(*choices)]
    enough = range(max(map(len, choices)))
    some = [("postgresql", *(choice[number % len(choice)] for choice in choices)) for number in enough]
    return pytest.mark.parametrize(("engine", *names), every + some, indirect=["engine"])


StartHouse = Callable[..., Awaitable[House]]


@pytest.fixture
async def start_house(start_server: StartServer, mock: Mock, store_settings: Json) -> AsyncIterator[StartHouse]:
    """Start a server with these pipelines, and with ``plain`` (in the caller's dialect), ``raw`` and one for each vendor."""
    patient = aiohttp.ClientTimeout(total=300, sock_connect=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=patient) as http:

        async def start(pipelines: dict[str, Json] | None = None, **settings: object) -> House:
            ways = {vendor: call(vendor, mock.origin) for vendor in ("openai", "openai_responses", "claude", "gemini")}
            plain = {"plain": call("caller", mock.origin), "raw": chain(forward(mock.origin)), **ways}
            # Most tests ask the same thing again and again, and send no history with it: each is to be a turn of its own.
            chosen = {"turn_matching": False, **store_settings, **settings}
            server = await start_server({**plain, **(pipelines or {})}, active="plain", **chosen)
            return House(server, mock, Memory(server.origin, http))

        yield start


@pytest.fixture
async def house(start_house: StartHouse) -> House:
    """A server before the strict mock."""
    return await start_house()
