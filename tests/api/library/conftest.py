"""A caller of the library on each engine."""

from collections.abc import Awaitable

import pytest

from tests.api.chats.conftest import Reader, postgres_reader, reader
from tests.api.editor_client import Answer

__all__ = ["caller", "postgres_reader", "reader"]


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def refusal(asking: Awaitable[Answer]) -> tuple[int, str]:
    """The status and the code of an answer that is an error."""
    answer = await asking
    return answer.status, answer.code
