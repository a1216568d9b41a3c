"""Somebody else's hands on the database: a lock that keeps every writer waiting, and a disk that is full."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from pydantic import SecretStr
from sqlalchemy import Connection

from tests.turns.house import House

_NO_ROOM = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER no_room BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.role = 'assistant') EXECUTE FUNCTION no_room();
"""


@asynccontextmanager
async def locked(house: House, table: str = "floors") -> AsyncIterator[None]:
    """Nobody writes this table (SQLite: any) meanwhile; reading goes on."""
    url = house.server.state.settings.database_url
    if url is None:
        other = sqlite3.connect(house.server.data / "agentui.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.close()
        return
    connection = await asyncpg.connect(url.get_secret_value())
    try:
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


def asked_to_write(house: House, transaction: str, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> asyncio.Event:
    """Set as soon as the store is asked for a transaction of this name, which nobody stops from then on by leaving; or when it
    has been asked so many times."""
    store, asked, left = house.server.state.store, asyncio.Event(), times

    def listen(write: Callable[..., Any]) -> Callable[..., Any]:
        def hear(wanted: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            writing = write(wanted, *args, **kwargs)
            nonlocal left
            left -= getattr(wanted, "__name__", "") == transaction
            if left <= 0:
                asked.set()
            return writing

        return hear

    for name in ("write", "start_write"):
        monkeypatch.setattr(store, name, listen(getattr(store, name)))
    return asked


async def fill_disk(house: House) -> None:
    """From now on there is no room for an answer."""
    url = house.server.state.settings.database_url
    if url is None:
        await house.server.state.store.write(_allow_no_page_more)
        return
    await _execute(url, _NO_ROOM)


async def make_room(house: House) -> None:
    """The disk has room again."""
    url = house.server.state.settings.database_url
    if url is None:
        await house.server.state.store.write(lambda db: db.exec_driver_sql("PRAGMA max_page_count=1000000").scalar())
        return
    await _execute(url, "DROP FUNCTION no_room CASCADE")


async def _execute(url: SecretStr, statements: str) -> None:
    connection = await asyncpg.connect(url.get_secret_value())
    try:
        await connection.execute(statements)
    finally:
        await connection.close()


def _allow_no_page_more(db: Connection) -> None:
    # SQLite's own limit, of the connection that writes: it answers SQLITE_FULL as it does on a full disk. The limit is never
    # below the size that the file has.
    db.exec_driver_sql("PRAGMA max_page_count=1").scalar()
