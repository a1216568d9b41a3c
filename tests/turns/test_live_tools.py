"""Tools in the turns of a chat: offered where turn and session say so, run, told to the client, and kept with the turn."""

import pytest

from tests.turns.house import House, Json
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.step import Call, Step

TOOLS = {"config": {"enableTools": True}}
ROLL = Call("roll_dice", '{"notation": "1d6"}', "call_1")
WRITE = Call("set_variable", '{"key": "gold", "value": 7, "intent": "promote_to_branch_on_accept"}', "call_2")


async def allow(talk: Talk, **said: Json) -> None:
    """Say what the session allows."""
    status, answer = await talk.house.memory.call(
        "PUT", f"/sessions/{talk.session}/tool-permissions", {"enabled": True, **said}
    )
    assert status == 200, answer


def offered(house: House) -> list[list[str]]:
    """The names of the tools that each request offered."""
    return [[tool["function"]["name"] for tool in request.body.get("tools", ())] for request in house.mock.requests]


async def test_a_turn_calls_tools_and_is_told_of_them(house: House) -> None:
    talk = await begin_talk(house)
    await allow(talk)
    house.mock.script([Step(text="I roll.", calls=(ROLL, WRITE)), Step(text="It is done.")])
    events = await talk.stream("Roll!", **TOOLS)
    told = named(events, "tool")
    assert sorted((each["tool_name"], each["phase"]) for each in told) == [
        ("roll_dice", "start"),
        ("roll_dice", "success"),
        ("set_variable", "start"),
        ("set_variable", "success"),
    ]
    assert {each["replay_safety"] for each in told if each["phase"] == "start"} == {"uncertain"}
    (done,) = named(events, "done")
    assert done["generated_text"] == "I roll.\n\nIt is done."
    assert all("roll_dice" in names and "set_variable" in names for names in offered(house))
    listed = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    assert {each["execution_id"] for each in listed} == {each["execution_id"] for each in told}
    assert {(each["tool_name"], each["status"], each["commit_outcome"]) for each in listed} == {
        ("roll_dice", "success", "committed"),
        ("set_variable", "success", "committed"),
    }
    resolved = await house.memory.get(f"/variables/resolve?session_id={talk.session}&branch_id=main")
    assert [each["value"] for each in resolved["resolved"] if each["key"] == "gold"] == [7]
    page = (await house.memory.get(f"/floors/{done['floor_id']}/result"))["output_page_id"]
    [staged] = (await house.memory.get(f"/pages/{page}/variables/staged"))["items"]
    assert (staged["intent"], staged["status"], staged["value"]) == ("promote_to_branch_on_accept", "promoted", 7)
    [promoted] = (await house.memory.get(f"/pages/{page}/variables/promotions"))["items"]
    assert (promoted["staged_write_id"], promoted["from_scope_id"], promoted["to_scope"]) == (staged["id"], page, "branch")
    [target] = [each for each in await house.memory.get("/variables?scope=branch") if each["key"] == "gold"]
    assert (promoted["target_variable_id"], promoted["to_scope_id"]) == (target["id"], target["scope_id"])


async def test_a_session_says_how_long_a_write_is_kept_that_does_not(house: House) -> None:
    talk = await begin_talk(house)
    write = Call("set_variable", '{"key": "gold", "value": null}', "call_1")
    told = {}
    for intent in (None, "promote_to_branch_on_accept"):
        await allow(talk, default_write_intent=intent)
        house.mock.script([Step(text="", calls=(write,)), Step(text="Done."), Step(text="Next.")])
        await talk.respond("Write!", **TOOLS)
        tools = [tool["function"] for tool in house.mock.requests[-1].body["tools"]]
        [told[intent]] = [tool["description"] for tool in tools if tool["name"] == "set_variable"]
        await talk.respond("And now?")
        resolved = await house.memory.get(f"/variables/resolve?session_id={talk.session}&branch_id=main")
        kept = [(each["key"], each["value"]) for each in resolved["resolved"]]
        assert kept == ([] if intent is None else [("gold", None)])
    assert told[None].endswith("this turn alone: later turns do not see it.")
    assert told["promote_to_branch_on_accept"].endswith("this turn and all later ones.")


async def test_a_list_of_what_is_allowed_leaves_the_tools_that_read_what_prompts_tell_of(house: House) -> None:
    talk = await begin_talk(house)
    await allow(talk, slot_allow_list={"narrator": ["group:chance"]})
    read = Call("ReadVar", '{"name": "Rule/Agent/VarRef"}', "call_1")
    house.mock.script([Step(text="", calls=(read,)), Step(text="Read.")])
    done = await talk.respond("Hi", **TOOLS)
    assert done["generated_text"] == "Read."
    assert all({*names} == {"roll_dice", "random_choice", "ReadVar", "ListVars"} for names in offered(house))
    asked = house.mock.requests[-1].body["messages"]
    assert "ReadVar(" in str(asked[:2]) and "Write a reference" in str(asked[-1]["content"])
    listed = await talk.house.memory.get(f"/sessions/{talk.session}/tool-catalog")
    assert {one["name"] for one in listed if one["is_allowed"]} == {"roll_dice", "random_choice"}
    house.mock.script([Step(text="Without.")])
    floors = {"left": {"floor_id": done["floor_id"]}, "right": {"floor_id": (await talk.respond("And now?"))["floor_id"]}}
    _, compared = await house.memory.call("POST", f"/sessions/{talk.session}/prompt-runtime/compare", floors)
    changes = {(one["name"], one["change_type"]) for one in compared["data"]["tool_changes"]}
    assert changes == {("roll_dice", "removed"), ("random_choice", "removed")}


@pytest.mark.parametrize("said", [None, {"enabled": False}])
async def test_a_session_that_does_not_allow_tools_offers_none(house: House, said: Json) -> None:
    talk = await begin_talk(house)
    if said is not None:
        await allow(talk, **said)
    await talk.respond("Hi", **TOOLS)
    assert offered(house) == [[]]


async def test_a_turn_that_wants_no_tools_offers_none(house: House) -> None:
    talk = await begin_talk(house)
    await allow(talk)
    await talk.respond("Hi")
    assert offered(house) == [[]]


async def test_what_a_session_denies_is_not_offered_and_its_steps_and_calls_are_counted(house: House) -> None:
    talk = await begin_talk(house)
    denied = {"narrator": ["set_variable"]}
    await allow(talk, max_steps_per_generation=2, max_calls_per_turn=1, slot_deny_list=denied)
    house.mock.script([Step(text="", calls=(ROLL, WRITE)), Step(text="", calls=(ROLL,)), Step(text="Enough.")])
    done = await talk.respond("Roll!", **TOOLS)
    assert done["generated_text"] == "Enough." and all("set_variable" not in names for names in offered(house))
    assert house.mock.requests[2].body["tool_choice"] == "none"
    listed = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    assert sorted((each["tool_name"], each["status"]) for each in listed) == [
        ("roll_dice", "blocked"),
        ("roll_dice", "success"),
        ("set_variable", "denied"),
    ]
