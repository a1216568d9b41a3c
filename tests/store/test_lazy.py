"""A store that opens when somebody first needs it."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from agentui.errors import AgentUIError, StoreInUse
from agentui.store.base import Store
from agentui.store.lazy import LazyStore
from agentui.store.opening import SqliteDoor, door_to_store


def one(db: Connection) -> int:
    found: int = db.execute(text("SELECT 1")).scalar_one()
    return found


def lazy_in(folder: Path, opened: list[Store]) -> LazyStore:
    async def note(store: Store) -> None:
        opened.append(store)

    return LazyStore(SqliteDoor(folder / "agentui.db"), note)


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


async def test_a_claimed_folder_is_kept_from_the_claim_to_the_close(tmp_path: Path) -> None:
    first, second = lazy_in(tmp_path, []), lazy_in(tmp_path, [])
    first.claim()
    with pytest.raises(StoreInUse):
        second.claim()
    assert await first.write(one) == 1
    with pytest.raises(StoreInUse):
        second.claim()
    await first.close()
    second.claim()
    await second.close()


async def test_a_claim_outlives_a_store_that_does_not_open(tmp_path: Path) -> None:
    first, second = lazy_in(tmp_path, []), lazy_in(tmp_path, [])
    first.claim()
    (tmp_path / "agentui.db").mkdir()
    with pytest.raises(AgentUIError):
        await first.write(one)
    with pytest.raises(StoreInUse):
        second.claim()
    (tmp_path / "agentui.db").rmdir()
    assert await first.write(one) == 1
    await first.close()


@pytest.mark.parametrize("url", [None, "postgresql://u:s3cret@h/d"])
def test_a_door_says_of_a_store_what_the_store_says_itself(tmp_path: Path, url: str | None) -> None:
    door = door_to_store(url, tmp_path)
    known = door.status
    assert "s3cret" not in str(known)
    assert {name: door.load().status[name] for name in known} == known
