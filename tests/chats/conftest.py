"""A memory on each engine."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agentui.chats.parts import Content
from agentui.chats.records import AnyRow
from agentui.errors import ApiError
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.turns.joining import Joined, join_session
from agentui.turns.locks import Owner
from agentui.turns.transactions import Committed, OpenedFloor, commit_floor, open_floor
from agentui.variables.records import Put, put_all
from agentui.variables.scopes import Scope, Target
from tests.store.conftest import MakeStore, make_store
from tests.variables.database import save_branch_snapshot

__all__ = ["make_store"]

ME = "me"
OWNER = "this-process"


@dataclass
class Memory:
    """A store, one account, and a clock that the test moves."""

    store: Store
    account: str = ME
    now: int = 1_000_000

    async def write(self, transaction: Callable[..., Any], *args: Json, **kwargs: Json) -> Any:
        return await self.store.write(transaction, self.account, *args, **kwargs)

    async def read(self, transaction: Callable[..., Any], *args: Json, **kwargs: Json) -> Any:
        return await self.store.read(transaction, self.account, *args, **kwargs)

    async def rows(self, query: Any) -> list[AnyRow]:
        return await self.store.read(lambda db: list(db.execute(query).all()))

    async def join(self, name: str = "tale", branch: str | None = None) -> Joined:
        joined: Joined = await self.write(join_session, name, branch, self.now)
        return joined

    async def open(self, joined: Joined, text: str | None = "Hello?", owner: str = OWNER, lasts: int = 60_000) -> OpenedFloor:
        self.now += 1
        ends = self.now + lasts
        opened: OpenedFloor = await self.write(
            open_floor, joined.session_id, joined.branch_id, "run_1", Owner(owner, ends), text and Content(text), self.now
        )
        return opened

    async def commit(self, floor_id: str, text: str = "Hello.", **kwargs: Json) -> Committed:
        """Commit as a turn does, with the snapshot of the branch's variables."""
        self.now += 1

        def transaction(db: Any, account: str) -> Committed:
            committed = commit_floor(db, account, floor_id, Content(text), 3, 5, self.now, **kwargs)
            save_branch_snapshot(db, account, floor_id, self.now)
            return committed

        committed: Committed = await self.write(transaction)
        return committed

    async def turn(self, joined: Joined, text: str = "Hello?") -> OpenedFloor:
        """A whole turn."""
        opened = await self.open(joined, text)
        await self.commit(opened.floor_id)
        return opened

    async def put(self, scope: Scope, scope_id: str, key: str = "gold", value: Json = "1") -> None:
        """Write a variable."""
        await self.write(put_all, [Put(Target(scope, scope_id), key, value)], self.now)


@pytest.fixture
async def memory(make_store: MakeStore) -> AsyncIterator[Memory]:
    """An empty memory."""
    store = make_store()
    await store.start()
    yield Memory(store)
    await store.close()


def code_of(error: BaseException | None) -> str:
    """The code of an error of the memory's API."""
    assert isinstance(error, ApiError), error
    return error.code
