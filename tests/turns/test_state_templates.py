"""Session State in the templates of a turn's nodes."""

from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain, forward, sets
from tests.turns.talk import begin_talk
from tests.turns.test_state import begin, registered, writes, written

READER = "{{ state.quest.gold }}|{{ state.quest.main.door }}|{{ state.game_state.scene.generatedText }}"


async def house_with(start_house: StartHouse) -> House:
    """A server whose pipeline ``reader`` puts what it sees into a variable of the chat."""
    house = await start_house()
    house.server.put("reader", chain(sets(("chat", "seen", "string", READER)), forward(house.mock.origin)))
    return house


async def test_a_turn_sees_what_held_before_it(start_house: StartHouse) -> None:
    house = await house_with(start_house)
    talk = await begin(house, pipeline_id="reader")
    await registered(talk, "quest.main")
    await written(talk, "gold", 7)
    await written(talk, "main", "hidden by the namespace")
    door = {"namespace": "quest.main", "slot": "door", "value": "open"}

    async def seen() -> str:
        text: str = (await house.memory.variables("chat", talk.session))["seen"]
        return text

    first = await talk.respond("One", session_state_writes=[*writes(gold=8), door])
    assert await seen() == "7||"
    second = await talk.respond("Two", session_state_writes=writes(gold=9))
    assert await seen() == f"8|open|{first['generated_text']}"
    await talk.respond("Three")
    assert (await seen()).startswith("9|open|")
    status, _ = await talk.post(f"/sessions/{talk.session}/branches/main/reset", {"target_floor_id": second["floor_id"]})
    assert status == 200
    status, _ = await talk.post(f"/floors/{second['floor_id']}/retry", {})
    assert (status, await seen()) == (200, f"8|open|{first['generated_text']}")


async def test_a_proxied_turn_sees_it_too_and_a_chat_without_any_sees_nothing(start_house: StartHouse) -> None:
    house = await house_with(start_house)
    talk = await begin(house)
    await written(talk, "gold", 7)
    await house.turn(pipeline="reader", session=talk.session)
    assert (await house.memory.variables("chat", talk.session))["seen"] == "7||"
    other = await begin_talk(house)
    await house.turn(pipeline="reader", session=other.session)
    assert (await house.memory.variables("chat", other.session))["seen"] == "||"
