"""A caller of the library on each engine."""

import pytest

from tests.api.chats.conftest import Reader, postgres_reader, reader

__all__ = ["caller", "postgres_reader", "reader"]


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found
