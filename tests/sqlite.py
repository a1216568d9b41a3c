"""SQLite files of tests: most are about what is in them, and not about how they come to be."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine

from agentui.store import migrations, sqlite_file
from agentui.store.sqlite import SqliteStore

RESERVE = 64 * 1024
"""Bytes of the tests' reserve files."""

_upgrade = migrations.upgrade


@cache
def _statements() -> tuple[str, ...]:
    """What makes a new file as the migrations do: their result, in SQL."""
    engine = create_engine("sqlite://")
    with engine.connect() as db:
        _upgrade(db)
        raw = db.connection.driver_connection
        assert raw is not None
        # Not by ``iterdump``: the index of words cannot be read, and its inner tables come with it.
        parts = [(name, made) for name, made in raw.execute(_PARTS) if not name.startswith(("sqlite_", "search_words_"))]
        found = [made for _, made in parts]
        for table in (name for name, made in parts if made.startswith("CREATE TABLE")):
            columns = [f"quote({column[1]})" for column in raw.execute(f"PRAGMA table_info({table})")]
            rows = raw.execute(f"SELECT {', '.join(columns)} FROM {table}")
            found += [f"INSERT INTO {table} VALUES ({', '.join(row)})" for row in rows]
    engine.dispose()
    return tuple(found)


_PARTS = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'trigger', rowid"


def _upgraded(db: Connection, folder: Path = migrations.FOLDER) -> None:
    """``migrations.upgrade``, for a new file of SQLite by what it made of the first."""
    is_new = db.dialect.name == "sqlite" and folder == migrations.FOLDER
    if is_new and db.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None:
        for statement in _statements():
            db.exec_driver_sql(statement)
    else:
        _upgrade(db, folder)


_DURABLE = sqlite_file._DURABLE
_sync = os.fsync
_RESERVE = SqliteStore.__init__.__kwdefaults__["reserve"]


@contextmanager
def quick_files() -> Iterator[None]:
    """Within, the stores of this process run the migrations once for all new files, and reserve little of the disk: fifteen
    revisions and eight megabytes of chance cost four times what the rest of a store's start does. And nothing waits for the
    disk, for nobody pulls the plug of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "upgrade", _upgraded)
        patch.setitem(SqliteStore.__init__.__kwdefaults__, "reserve", RESERVE)
        patch.setattr(sqlite_file, "_DURABLE", tuple("synchronous=OFF" if "synchronous" in rule else rule for rule in _DURABLE))
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@contextmanager
def real_files() -> Iterator[None]:
    """Within ``quick_files``, new files are made as users' are, and what is written is on the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "upgrade", _upgrade)
        patch.setattr(sqlite_file, "_DURABLE", _DURABLE)
        patch.setattr(os, "fsync", _sync)
        patch.setitem(SqliteStore.__init__.__kwdefaults__, "reserve", _RESERVE)
        yield
