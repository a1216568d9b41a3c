"""A caller of a server on either engine, whose model answers what the caller asks."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from tests.api.chats.conftest import Reader
from tests.api.editor_client import say
from tests.conftest import StartServer


@pytest.fixture(params=["sqlite", "postgres"])
async def reader(request: pytest.FixtureRequest, start_server: StartServer) -> AsyncIterator[Reader]:
    """A caller of a fresh server."""
    settings = {} if request.param == "sqlite" else {"database_url": request.getfixturevalue("database")}
    server = await start_server({"default": say()}, **settings)
    async with ClientSession() as session:
        yield Reader(server, session)
