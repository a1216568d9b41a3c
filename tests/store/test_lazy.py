"""A store that opens when somebody first needs it."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from agentui.errors import StoreInUse
from agentui.store.base import Store
from agentui.store.lazy import LazyStore
from agentui.store.sqlite import SqliteStore


def one(db: Connection) -> int:
    found: int = db.execute(text("SELECT 1")).scalar_one()
    return found


def lazy_in(folder: Path, opened: list[Store]) -> LazyStore:
    async def note(store: Store) -> None:
        opened.append(store)

    return LazyStore(SqliteStore(folder / "agentui.db", reserve=1024), note)


async def test_nothing_happens_until_somebody_asks(tmp_path: Path) -> None:
    opened: list[Store] = []
    store = lazy_in(tmp_path / "data", opened)
    assert (store.status["open"], (tmp_path / "data").exists()) == (False, False)
    assert await asyncio.gather(*(store.read(one) for _ in range(5))) == [1] * 5
    assert (store.status["open"], len(opened)) == (True, 1)
    await store.close()
    assert store.status["open"] is False


async def test_closing_what_never_opened_does_nothing(tmp_path: Path) -> None:
    store = lazy_in(tmp_path / "data", [])
    await store.close()
    assert not (tmp_path / "data").exists()


async def test_a_failure_to_open_is_the_callers_and_the_next_one_tries_again(tmp_path: Path) -> None:
    first, second = lazy_in(tmp_path, []), lazy_in(tmp_path, [])
    await first.write(one)
    with pytest.raises(StoreInUse):
        await second.write(one)
    await first.close()
    assert await second.write(one) == 1
    await second.close()
