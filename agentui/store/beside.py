"""``run_once``: one transaction of a command in the shell, whether a server runs on the same store or not."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection

from agentui.errors import StoreInUse, StoreReadOnly
from agentui.ids import SystemClock
from agentui.store.backups import Backups
from agentui.store.base import lend
from agentui.store.migrations import current_revision, head_revision
from agentui.store.opening import FILE, make_store
from agentui.store.sqlite_file import SqliteFile

BUSY_SECONDS: Final = 10.0
"""How long the server that has the file is waited for: it locks it for a transaction at a time."""

T = TypeVar("T")


async def run_once(database_url: str | None, data: Path, patience: float, transaction: Callable[[Connection], T]) -> T:
    """Run a transaction on the store that these settings name, and return its result.

    A server that keeps its memory in a file has locked the folder, not the file: what is written beside it is there for its
    next transaction. What a server remembers of its own writes it does not look up again, so this is for rows of which it
    believes nothing for long: accounts, keys, sign-ins. Raises as ``Store.write`` does, and StoreReadOnly where another version
    of agentui has the file.
    """
    store = make_store(database_url, data, patience=patience)
    try:
        try:
            await store.start()
        except StoreInUse:
            return await asyncio.to_thread(_beside, data / FILE, transaction)
        return await store.write(transaction)
    finally:
        await store.close()


def _beside(path: Path, transaction: Callable[[Connection], T]) -> T:
    file = SqliteFile(path, BUSY_SECONDS)
    if file.is_new:
        # The server opens its file when it first needs it; it finds the newest schema then.
        file.migrate(Backups(path, SystemClock()))
    with file.writer() as (db, raw):
        if current_revision(db) != head_revision():
            raise StoreReadOnly("Another version of agentui has this data folder: restart the server, or use its own command.")
        db.rollback()
        with db.begin():
            raw.execute("BEGIN IMMEDIATE")
            return lend(db, transaction)
