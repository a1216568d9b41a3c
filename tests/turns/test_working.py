"""Working variables of turns: kept with the commit, gone with a failure, and those of each version with it; on both engines."""

import pytest

from agentui.chats.parts import Content
from agentui.chats.working.editing import write_working
from agentui.jsonio import dumps_text
from agentui.tools.vars.references import References
from agentui.tools.vars.system import VarFilter
from agentui.tools.vars.working import shipped_rules
from agentui.turns.request import Outcome
from agentui.turns.service import Turn
from tests.conftest import call
from tests.turns.chat import ACCOUNT, Chat
from tests.turns.conftest import StartHouse
from tests.turns.test_kinds import chat
from tests.upstreams.server import Call, Mock, Step

__all__ = ["chat"]


async def seen(turn: Turn) -> dict[str, str]:
    """What the turn's models see, without the rules."""
    system = await turn.working.system(shipped_rules)
    return {variable.name: variable.value for variable in system.listed() if variable.type in ("LLMAdd", "USER_ADD")}


async def write(turn: Turn, **values: str) -> Turn:
    """A model writes."""
    system = await turn.working.system(shipped_rules)
    for name, value in values.items():
        system.add(name, value, "LLMAdd")
    return turn


async def play(chat: Chat, **values: str) -> str:
    """A turn that writes; its floor."""
    turn = await write(await chat.begin(text="Hi"), **values)
    await turn.commit(Outcome(Content("Hello.")))
    return turn.place.floor_id


async def now_seen(chat: Chat) -> dict[str, str]:
    """What the next turn would see."""
    turn = await chat.begin(text="Hi")
    found = await seen(turn)
    await turn.fail({"code": "cancelled", "message": "Only looked."})
    return found


async def test_a_turn_that_fails_leaves_no_variable(chat: Chat) -> None:
    await play(chat, plan="one")
    turn = await write(await chat.begin(text="Hi"), plan="two", more="x")
    await turn.fail({"code": "upstream_error", "message": "Gone."}, partial=Content("Some words"))
    assert await now_seen(chat) == {"plan": "one"}


async def test_another_attempt_sees_nothing_of_the_first(chat: Chat) -> None:
    turn = await write(await chat.begin(text="Hi"), plan="one")
    turn.begin_again()
    assert await seen(turn) == {}
    await write(turn, plan="two")
    await turn.commit(Outcome(Content("Hello.")))
    assert await now_seen(chat) == {"plan": "two"}


async def test_an_answer_that_is_made_anew_begins_without_the_old_ones(chat: Chat) -> None:
    await play(chat, plan="one")
    await play(chat, plan="two", more="x")
    await chat.store.write(write_working, ACCOUNT, chat.session_id, "main", [], "mine", {"value": "kept"}, 1)
    turn = await chat.begin("regenerate_page")
    assert await seen(turn) == {"plan": "one", "mine": "kept"}
    await write(turn, plan="three")
    await turn.commit(Outcome(Content("Hello.")))
    assert await now_seen(chat) == {"plan": "three", "mine": "kept"}


async def test_a_version_that_is_shown_again_brings_its_variables(chat: Chat) -> None:
    await play(chat, plan="one")
    floor = await play(chat, plan="two")
    turn = await chat.begin("retry_turn", target_floor_id=floor)
    assert await seen(turn) == {"plan": "one"}
    await (await write(turn, other="three")).commit(Outcome(Content("Hello.")))
    assert await now_seen(chat) == {"plan": "one", "other": "three"}


async def test_what_was_said_is_there_for_later_turns(chat: Chat) -> None:
    """As what it is: text from outside, in which no reference is followed."""
    await play(chat, secret="hunter2")
    turn = await chat.begin(text="Look: $VAR_REF{{secret}}")
    system = await turn.working.system(shipped_rules)
    said = {variable.name: variable.value for variable in system.listed(VarFilter("MessageCache"))}
    assert said == {"Message_0_assistant": "Hello.", "Message_0_user": "Hi", "Message_1_user": "Look: $VAR_REF{{secret}}"}
    assert References(system).resolve("$VAR_REF{{Message_1_user}}") == "Look: $VAR_REF{{secret}}"
    floor = turn.place.floor_id
    await turn.commit(Outcome(Content("One.")))
    again = await write(await chat.begin("retry_turn", target_floor_id=floor))
    assert (await again.working.system(shipped_rules)).peek("Message_1_assistant") is None
    await again.commit(Outcome(Content("Two.")))
    later = await (await chat.begin(text="And?")).working.system(shipped_rules)
    answered = later.peek("Message_1_assistant")
    assert answered is not None and answered.value == "Two."


@pytest.mark.parametrize("stream", [False, True])
async def test_a_models_tools_write_to_the_branch(start_house: StartHouse, mock: Mock, stream: bool) -> None:
    """A model writes a variable, refers to it, and gets no more than it may."""
    house = await start_house({"worker": call("openai", mock.origin, tools=["group:vars"])})
    note = {"name": "note", "value": "remember"}
    again = {"name": "again", "value": "$VAR_REF{{note:2:4}}!"}
    mock.script(
        [
            Step(text="", calls=(Call("WriteVar", dumps_text(note), "c1"),)),
            Step(text="", calls=(Call("WriteVar", dumps_text(again), "c2"), Call("ReadVar", '{"name": "nobody"}', "c3"))),
            Step(text="Noted."),
        ]
    )
    got = await house.turn(pipeline="worker", session="tale", stream=stream)
    assert b"Noted." in got.body
    [session] = await house.memory.get("/sessions")
    path = f"/sessions/{session['id']}/working-variables"
    assert {item["name"] for item in await house.memory.get(f"{path}?type=LLMAdd")} == {"note", "again"}
    assert (await house.memory.get(f"{path}/again"))["value"] == "memb!"
    first, _, third = (dumps_text(request.body) for request in mock.requests)
    assert "On-Demand Documentation (Stored as Variables)" in first and "`Rule/Agent/VarRef`" in first
    assert "Variable 'nobody' not found" in third
