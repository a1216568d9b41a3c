"""The database that the tests of variables run on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.variables.database import Database, sqlite_engine


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Database]:
    """A new database with the schema."""
    with sqlite_engine(tmp_path) as engine:
        yield Database(engine)
