"""What SillyTavern sent, sent again: the memory follows every swipe, edit, branch and aside of it."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.conftest import StartServer
from tests.tavern.record import recorded
from tests.tavern.stage import COUNTS, STORY, answers
from tests.turns.house import House, Memory, chain, target
from tests.upstreams.server import Mock


@pytest.fixture
async def house(start_server: StartServer, mock: Mock) -> AsyncIterator[House]:
    """A server whose pipeline counts turns, before a model whose answers are all different."""
    mock.play(answers())
    server = await start_server({"gold": chain(COUNTS, target("caller", mock.origin))})
    async with aiohttp.ClientSession() as http:
        yield House(server, mock, Memory(server.origin, http))


@pytest.mark.parametrize("says", [True, False], ids=["says its intent", "leaves it to its history"])
async def test_a_counter_counts_the_turns_on_the_screen(house: House, says: bool) -> None:
    told: list[tuple[str, str, str, Any]] = []
    for request in recorded():
        headers = {name.removeprefix("x-agentui-"): text for name, text in request["headers"].items()}
        if not says:
            del headers["intent"]
        got = await house.caller(pipeline="gold", **headers).post(
            "/v1/chat/completions", {"model": "text", "messages": request["messages"]}
        )
        assert got.status == 200, got.body
        turn, gold = got.headers["x-agentui-turn"], None
        if turn != "background":
            gold = (await house.memory.seen(got.headers["x-agentui-session"], got.headers["x-agentui-branch"]))["gold"]
        told.append((request["scene"], headers["session"], turn, gold))
    assert told == list(STORY)
