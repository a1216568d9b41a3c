"""What a turn has read is freed by its last reference, also where the history keeps its run: nothing waits for the search for
circles, which looks seldom while the server serves (``tests/faults/test_garbage.py``)."""

import asyncio
import contextlib
import gc
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import PreparedTurn
from agentui.tools.vars.system import VariableSystem
from agentui.turns.history import Past
from agentui.turns.service import Turn
from agentui.upstream import breaker
from agentui.variables.staging import Staged
from tests.faults.conftest import until
from tests.turns.conftest import StartHouse, on_engines
from tests.turns.house import KEY, House, Json
from tests.turns.talk import Talk, begin_talk
from tests.upstreams.step import Call, Step

OF_TURNS = (Turn, Past, HistoryEntry, PreparedTurn, Staged, VariableSystem)
"""What holds a chat's past, its prompt or its variables."""
MODELS = ("text", "thinking-tool", "error-400", "error-503", "empty-body", "truncated-reset", "fail-mid", "fail-first", "hang")
"""What the upstream does; most of it is a fault."""
ROLL = Call("roll_dice", '{"notation": "1d6"}', "call_1")


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nothing looks for circles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def held() -> Counter[str]:
    """The objects of turns that somebody holds, by their kind."""
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, OF_TURNS))


async def are_freed(house: House) -> None:
    """Wait until nothing of a turn is left."""
    await house.memory.http.close()  # a connection that is kept open keeps its last request
    with contextlib.suppress(TimeoutError):
        await until(lambda: not held())  # a failed turn ends when the database has recorded it, on a busy machine late
    assert held() == Counter()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("stream", ["", "/stream"])
async def test_live_turns_are_freed(start_house: StartHouse, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    """Whatever was asked for, and however it ended."""
    monkeypatch.setattr(breaker, "ENOUGH", sys.maxsize)  # however much fails here, the upstream is asked again
    house = await start_house(idle_timeout=0.3, first_byte_timeout=0.3)

    async def lead(model: str) -> None:
        talk = await begin_talk(house)
        first = await talk.respond("Hello")
        await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": model})
        page = await house.memory.page(first["floor_id"], "input")
        [message] = await house.memory.get(f"/messages?page_id={page}")
        await ask(talk, f"/sessions/{talk.session}/respond{stream}", {"message": "Hello"})
        await ask(talk, f"/sessions/{talk.session}/regenerate{stream}", {})
        await ask(talk, f"/floors/{first['floor_id']}/retry{stream}", {})
        await ask(talk, f"/messages/{message['id']}/edit-and-regenerate{stream}", {"content": "Hi"})

    await asyncio.gather(*map(lead, MODELS))
    await are_freed(house)


@pytest.mark.usefixtures("no_collector")
async def test_turns_with_tools_and_checks_are_freed(start_house: StartHouse) -> None:
    house = await start_house({})
    talk = await begin_talk(house)
    await house.memory.call("PUT", f"/sessions/{talk.session}/tool-permissions", {"enabled": True})
    house.mock.script([Step(text="I roll.", calls=(ROLL,)), Step(text="Done.")])
    await talk.respond("Roll!", config={"enableTools": True})
    house.mock.script([Step(text="", calls=(ROLL,)), Step(text="Done."), Step(text="An answer.")])
    await talk.respond("Roll!", config={"enableTools": True, "toolMode": "standalone"})
    await are_freed(house)


@pytest.mark.usefixtures("no_collector")
async def test_turns_of_thin_clients_are_freed(start_house: StartHouse) -> None:
    house = await start_house(turn_matching=True)
    talk = await begin_talk(house, character_snapshot={"name": "Anna", "description": "A smith."})
    for stream in (False, True):
        for text in ("Hello", "Go on."):
            got = await house.ask(text, session=talk.session, assemble="session", stream=stream)
            assert got.status == 200, got.body
    await are_freed(house)


@pytest.mark.usefixtures("no_collector")
async def test_a_turn_whose_caller_left_is_freed(start_house: StartHouse) -> None:
    house = await start_house()
    talk = await begin_talk(house, model_name="forever")
    async with talk.streaming(f"/sessions/{talk.session}/respond/stream", {"message": "Hello"}) as answer:
        await answer.content.readuntil(b"again")
    await are_freed(house)


@pytest.mark.usefixtures("no_collector")
@on_engines(["keys"], [0, 30_000])
async def test_what_the_history_holds_of_turns_does_not_grow_with_the_card(start_house: StartHouse, keys: int) -> None:
    """Of many turns on a large card none is kept: what ten more leave is a run each, however large the card is."""
    house = await start_house()
    own = {f"key{number}": [number] for number in range(keys)}
    card = {"name": "Anna", "description": "A smith.", "extensions": {"own": own}}
    talk = await begin_talk(house, character_snapshot=card)
    for _ in range(4):
        await talk.respond("Hello")
    before = len(gc.get_objects())
    for _ in range(10):
        await talk.respond("Hello")
    assert held() == Counter()
    assert len(house.server.state.history.list()) >= 14
    assert len(gc.get_objects()) - before < 25_000


async def ask(talk: Talk, path: str, body: Json) -> None:
    """Ask for a turn, and read what comes of it."""
    async with talk.house.memory.http.post(talk.house.memory.origin + path, json=body, headers=dict(KEY)) as answer:
        await answer.read()
