"""The memory that the tests of variables run on: every test on SQLite and on PostgreSQL."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.conftest import skip
from tests.store.conftest import start_postgres
from tests.variables.database import Database


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
def on_postgresql(runner: asyncio.Runner) -> Iterator[Database]:
    """A memory on a PostgreSQL server of its own."""
    folder = Path(tempfile.mkdtemp(prefix="agentui-pg-"))  # not pytest's own folder: the server's user must get in
    try:
        server = start_postgres(folder / "data")
    except (ImportError, OSError, RuntimeError) as error:
        skip(f"no PostgreSQL on this machine: {error}")
    store = PostgresStore(server.get_uri())
    runner.run(store.start())
    yield Database(runner, store)
    runner.run(store.close())
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def base(request: pytest.FixtureRequest) -> Database:
    """An empty memory."""
    base: Database = request.getfixturevalue(f"on_{request.param}")
    base.empty()
    return base
