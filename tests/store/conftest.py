"""A store on each engine."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.postgres import PATIENCE
from tests.sqlite import RESERVE, real_files
from tests.store.ledger import make_ledger


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--kills 50``: how many processes the kill -9 tests kill, on each engine."""
    parser.addoption("--kills", type=int, default=4, help="how many writing processes are killed on each engine")


@pytest.fixture(autouse=True, scope="package")
def _real_files() -> Iterator[None]:
    """How files come to be is what the tests of this folder are about."""
    with real_files():
        yield


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
