"""A caller of the memory's API."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from agentui.jsonio import Json
from tests.api.editor_client import Answer, Editor, say
from tests.conftest import StartServer


class Reader(Editor):
    """Speaks to the memory of one server."""

    async def patch(self, path: str, body: Json = None) -> Answer:
        return await self.call("PATCH", path, body, {})

    async def chat_in(self, session: str) -> Answer:
        """A caller's turn in a session of this name or id."""
        body = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}
        return await self.post("/v1/chat/completions", body, x_agentui_session=session)

    async def make(self, path: str, **fields: Json) -> Json:
        """Make something, and give what was made."""
        made = await self.post(path, fields)
        assert made.status == 201, made.text
        return made.body["data"]

    async def session_id(self, **fields: Json) -> str:
        id: str = (await self.make("/sessions", **fields))["id"]
        return id

    async def floor_id(self, session_id: str, floor_no: int = 0, **fields: Json) -> str:
        id: str = (await self.make("/floors", session_id=session_id, floor_no=floor_no, **fields))["id"]
        return id


@pytest.fixture
async def reader(start_server: StartServer) -> AsyncIterator[Reader]:
    """A caller of a fresh server."""
    server = await start_server({"default": say()})
    async with ClientSession() as session:
        yield Reader(server, session)


@pytest.fixture
async def postgres_reader(start_server: StartServer, database: str) -> AsyncIterator[Reader]:
    """A caller of a server whose memory is PostgreSQL."""
    server = await start_server({"default": say()}, database_url=database)
    async with ClientSession() as session:
        yield Reader(server, session)
