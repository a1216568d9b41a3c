"""Servers with accounts: every test on SQLite and on PostgreSQL, and people who ask them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from agentui.jsonio import Json
from tests.api.editor_client import Answer, Editor
from tests.conftest import Server, StartServer, call
from tests.turns.conftest import engine, store_settings
from tests.upstreams.server import Mock

__all__ = ["engine", "store_settings"]

TOKEN = "the-operators-token-0123"
"""The operator's way in: the default account."""
ALICE, BOB, NOBODY = "static-key-of-alice", "static-key-of-bob", "static-key-of-nobody"


@dataclass
class Person(Editor):
    """Somebody who asks a server and shows the same credentials each time."""

    server: Server
    session: ClientSession
    shows: dict[str, str]

    async def call(self, method: str, path: str, body: Json, headers: Any) -> Answer:
        return await super().call(method, path, body, {**self.shows, **headers})

    async def made(self, path: str, **fields: Json) -> Json:
        """Make something, and give what was answered."""
        answer = await self.post(path, fields)
        assert answer.status == 201, answer.text
        return answer.body


@dataclass
class Team:
    """A server, and who asks it."""

    server: Server
    http: ClientSession

    def person(self, **shows: str) -> Person:
        """Somebody with these headers, whose names are written with underscores."""
        return Person(self.server, self.http, shows)

    @property
    def operator(self) -> Person:
        """Who has the access token."""
        return self.person(x_agentui_token=TOKEN)

    async def account(self, id: str, **fields: Json) -> Json:
        """Make an account."""
        return (await self.operator.made("/accounts", id=id, name=id.title(), **fields))["data"]

    async def key(self, person: Person, client: str | None = None, **fields: Json) -> Json:
        """Make a key, of a client of its own unless one is named: ``{item, secret}``."""
        if client is None:
            client = (await person.made("/clients", name="Laptop"))["item"]["id"]
        return await person.made(f"/clients/{client}/api-keys", **fields)


StartTeam = Callable[..., Awaitable[Team]]


@pytest.fixture
async def start_team(start_server: StartServer, mock: Mock, store_settings: Any) -> AsyncIterator[StartTeam]:
    """Start servers with several accounts in the mode api_key; Alice and Bob have static keys, and no account before somebody
    makes it."""
    async with ClientSession(connector=TCPConnector(limit=0)) as http:

        async def start(**settings: object) -> Team:
            chosen: dict[str, object] = {
                "auth_mode": "api_key",
                "account_mode": "multi",
                "auth_api_key_accounts": f"{ALICE}:alice,{BOB}:bob",
                "auth_api_keys": NOBODY,
                "token": TOKEN,
                **store_settings,
                **settings,
            }
            server = await start_server({"default": call("caller", mock.origin)}, **chosen)
            return Team(server, http)

        yield start


@pytest.fixture
async def team(start_team: StartTeam) -> Team:
    """A server with several accounts in the mode api_key."""
    return await start_team()


def bearer(key: str) -> dict[str, str]:
    """How most clients show a key."""
    return {"authorization": f"Bearer {key}"}


async def eventually(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait for something that tells nobody when it comes true."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110  # a database tells nobody
            await asyncio.sleep(0.02)
