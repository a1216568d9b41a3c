"""A store on each engine."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.postgres import PATIENCE
from tests.store.ledger import make_ledger

RESERVE = 64 * 1024
"""Bytes of the tests' reserve files."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--kills 50``: how many processes the kill -9 tests kill, on each engine."""
    parser.addoption("--kills", type=int, default=4, help="how many writing processes are killed on each engine")


MakeStore = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """Make stores, not yet started, on one and the same empty database."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "data" / "agentui.db", reserve=RESERVE)
    url: str = request.getfixturevalue("database")
    return lambda: PostgresStore(url, patience=PATIENCE)


@pytest.fixture
async def store(make_store: MakeStore) -> AsyncIterator[Store]:
    """A running store with the ledger's tables."""
    store = make_store()
    await store.start()
    await store.write(make_ledger)
    yield store
    await store.close()
