"""A store that opens when somebody first needs it."""

import asyncio
import os
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from agentui.errors import AgentUIError, StoreInUse
from agentui.ids import SystemClock
from agentui.store.backups import Backups
from agentui.store.base import Store
from agentui.store.opening import make_store
from agentui.store.sqlite import SqliteStore


def one(db: Connection) -> int:
    found: int = db.execute(text("SELECT 1")).scalar_one()
    return found


def store_in(folder: Path, opened: list[int] | None = None) -> Store:
    store = SqliteStore(folder / "agentui.db", reserve=0)
    if opened is not None:
        store.at_open(lambda db: opened.append(one(db)))
    return store


async def test_nothing_happens_until_somebody_asks(tmp_path: Path) -> None:
    opened: list[int] = []
    store = store_in(tmp_path / "data", opened)
    assert (store.status["open"], (tmp_path / "data").exists()) == (False, False)
    assert await asyncio.gather(*(store.read(one) for _ in range(5))) == [1] * 5
    assert (store.status["open"], len(opened)) == (True, 1)
    await store.close()
    assert store.status["open"] is False


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind")
@pytest.mark.parametrize("is_there", [False, True])
async def test_only_its_owner_reads_the_database_whoever_made_the_folder(tmp_path: Path, is_there: bool) -> None:
    folder = tmp_path / "data"
    (folder / "backups").mkdir(parents=True)
    for path in (folder, folder / "backups"):
        path.chmod(0o777)
    if is_there:
        (folder / "agentui.db").touch(mode=0o666)
        (folder / "agentui.db").chmod(0o666)
    store = store_in(folder)
    await store.write(one)
    Backups(folder / "agentui.db", SystemClock()).make_if_due()
    found = {path.name: oct(path.stat().st_mode & 0o777) for path in folder.rglob("*") if ".db" in path.name}
    assert {"agentui.db", "agentui.db-wal", "agentui.db-shm"} < found.keys() and len(found) == 4
    assert set(found.values()) == {"0o600"}, found
    await store.close()


async def test_closing_what_never_opened_does_nothing(tmp_path: Path) -> None:
    store = store_in(tmp_path / "data")
    await store.close()
    assert not (tmp_path / "data").exists()


async def test_a_failure_to_open_is_the_callers_and_the_next_one_tries_again(tmp_path: Path) -> None:
    first, second = store_in(tmp_path), store_in(tmp_path)
    await first.write(one)
    with pytest.raises(StoreInUse):
        await second.write(one)
    await first.close()
    assert await second.write(one) == 1
    await second.close()


async def test_a_claimed_folder_is_kept_from_the_claim_to_the_close(tmp_path: Path) -> None:
    first, second = store_in(tmp_path), store_in(tmp_path)
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
    first, second = store_in(tmp_path), store_in(tmp_path)
    first.claim()
    (tmp_path / "agentui.db").mkdir()
    with pytest.raises(AgentUIError):
        await first.write(one)
    with pytest.raises(StoreInUse):
        second.claim()
    (tmp_path / "agentui.db").rmdir()
    assert await first.write(one) == 1
    await first.close()


async def test_what_has_to_happen_first_fails_the_opening_and_is_tried_again(tmp_path: Path) -> None:
    store, outcomes = store_in(tmp_path), [ValueError("not yet"), None]

    def first(db: Connection) -> None:
        if (outcome := outcomes.pop(0)) is not None:
            raise outcome

    store.at_open(first)
    with pytest.raises(ValueError, match="not yet"):
        await store.read(one)
    assert store.status["open"] is False
    assert await store.read(one) == 1
    await store.close()


async def test_a_caller_who_leaves_does_not_stop_the_opening(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    leaving, staying = asyncio.ensure_future(store.read(one)), asyncio.ensure_future(store.read(one))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 1
    assert leaving.cancelled()
    await store.close()


@pytest.mark.parametrize("url", [None, "postgresql://u:s3cret@h/d"])
def test_a_store_that_is_not_open_says_so_and_no_password(tmp_path: Path, url: str | None) -> None:
    status = make_store(url, tmp_path, patience=1).status
    assert "s3cret" not in str(status)
    assert status["open"] is False and status["engine"] == ("sqlite" if url is None else "postgresql")
