"""A caller of a server on either engine, whose model answers what the caller asks."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import ClientSession

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.editor_client import say
from tests.conftest import StartServer, call
from tests.memories.chat import Chat
from tests.memories.scribe import Scribe, scribing

BeginChat = Callable[..., Awaitable[Chat]]


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> "dict[str, Json]":
    """The settings of an engine."""
    return {} if request.param == "sqlite" else {"database_url": request.getfixturevalue("database")}


@pytest.fixture
async def reader(start_server: StartServer, engine: "dict[str, Json]") -> AsyncIterator[Reader]:
    """A caller of a fresh server."""
    server = await start_server({"default": say()}, **engine)
    async with ClientSession() as session:
        yield Reader(server, session)


@pytest.fixture
async def scribe() -> AsyncIterator[Scribe]:
    """An upstream that answers and remembers."""
    async with scribing() as scribe:
        yield scribe


@pytest.fixture
async def begin_chat(start_server: StartServer, engine: "dict[str, Json]", scribe: Scribe) -> AsyncIterator[BeginChat]:
    """Start a server whose memories a scripted model writes, with a session."""
    async with ClientSession() as http:

        async def begin(fields: "dict[str, Json] | None" = None, **settings: Json) -> Chat:
            to_scribe = call("openai", scribe.origin, model="text")
            chosen = {"memory": "async", "memory_behind": 0, "memory_pipeline": "default", **settings}
            server = await start_server({"default": to_scribe}, **engine, **chosen)
            reader = Reader(server, http)
            return Chat(reader, scribe, await reader.session_id(**(fields or {})))

        yield begin
