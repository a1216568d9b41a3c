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


async def test_an_address_with_a_memory_finds_each_chat_by_its_history(house: House) -> None:
    told: list[tuple[str, str, Any]] = []
    sessions: list[str] = []
    for request in recorded():
        body = {"model": "text", "messages": request["messages"]}
        got = await house.caller(pipeline="gold+memory").post("/v1/chat/completions", body)
        assert got.status == 200, got.body
        if request["scene"] in ("aside", "group"):  # prompts without a chat, and characters who share one, begin chats here
            continue
        session = got.headers["x-agentui-session"]
        gold = (await house.memory.seen(session, got.headers["x-agentui-branch"]))["gold"]
        told.append((request["scene"], got.headers["x-agentui-turn"], gold))
        sessions.append(session)
    expected = [(scene, turn, gold) for scene, _, turn, gold in STORY if scene not in ("aside", "group")]
    # A second chat with one character is a session of its own.
    begins = expected.index(("another chat", "fork", 1))
    expected[begins] = ("another chat", "new", 1)
    assert told == expected
    assert (len(set(sessions[:begins])), len(set(sessions[begins:]))) == (1, 1)
    assert sessions[0] != sessions[-1]
