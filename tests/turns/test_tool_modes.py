"""When tools are called in a turn, and by whom: while the model answers, in a round before that, by the director."""

import pytest

from tests.turns.conftest import on_engines
from tests.turns.house import House, Json
from tests.turns.talk import begin_talk, named
from tests.turns.test_live_tools import ROLL, allow
from tests.upstreams.server import Recorded
from tests.upstreams.step import Step

HEAD = "Results of tools"
PASS = '{"status": "pass", "issues": [], "suggestion": null}'


def model(recorded: Recorded) -> Step:
    """Rolls where it is asked to call tools or to direct, and answers otherwise."""
    *_, last = recorded.body["messages"]
    said = str(last["content"])
    if last["role"] == "tool":
        return Step(text="Be lucky.")
    if said.startswith(("[Call the tools", "[You are the director")):
        return Step(text="", calls=(ROLL,))
    return Step(text=PASS if said.startswith("[Judge") else "Answer.")


def offers(recorded: Recorded) -> bool:
    return bool(recorded.body.get("tools"))


def last_words(recorded: Recorded) -> str:
    return str(recorded.body["messages"][-1]["content"])


@on_engines(("name", "mode"), ("toolMode", "tool_mode"), ("inline", "standalone", "both"))
async def test_a_round_before_the_answer_tells_what_its_tools_gave(house: House, name: str, mode: str) -> None:
    talk = await begin_talk(house)
    await allow(talk)
    house.mock.play(model)
    events = await talk.stream("Hi", config={"enableTools": True, name: mode})
    (done,) = named(events, "done")
    assert done["generated_text"] == "Answer."
    *rounds, answered = house.mock.requests
    assert (len(rounds), all(offers(each) for each in rounds)) == (0 if mode == "inline" else 2, True)
    assert offers(answered) == (mode != "standalone")
    assert (HEAD in str(answered.body["messages"])) == (mode != "inline")
    listed = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    modes = [] if mode == "inline" else ["standalone"]
    assert [(each["tool_name"], each["delivery_mode"]) for each in listed] == [("roll_dice", each) for each in modes]
    assert len(named(events, "tool")) == 2 * len(modes)


async def test_a_round_that_fails_lets_the_answer_go_on(house: House) -> None:
    talk = await begin_talk(house)
    await allow(talk)
    house.mock.play(lambda recorded: Step(status=400) if last_words(recorded).startswith("[Call") else Step(text="Answer."))
    done = await talk.respond("Hi", config={"enableTools": True, "toolMode": "standalone"})
    assert done["generated_text"] == "Answer."
    explained = await house.memory.get(f"/floors/{done['floor_id']}/prompt-runtime/explain")
    assert "tools_skipped" in str(explained)


@pytest.mark.parametrize("wanted", [{}, {"enableTools": True}])
async def test_a_session_that_allows_no_tools_has_no_round(house: House, wanted: Json) -> None:
    talk = await begin_talk(house)
    await talk.respond("Hi", config={**wanted, "toolMode": "both"})
    assert len(house.mock.requests) == 1


async def test_directors_and_verifiers_call_what_their_slots_allow(house: House) -> None:
    talk = await begin_talk(house, director_pipeline_id="plain", verifier_pipeline_id="plain")
    await allow(talk, slot_allow_list={"director": ["roll_dice"]}, slot_deny_list={"verifier": ["*"]})
    house.mock.play(model)
    done = await talk.respond("Hi", config={"enableTools": True, "enableDirector": True, "enableVerifier": True})
    directing, directed, answered, judging = house.mock.requests
    told = [{tool["function"]["name"] for tool in each.body["tools"]} for each in (directing, directed)]
    assert told == [{"roll_dice", "ReadVar", "ListVars"}] * 2
    assert (offers(answered), offers(judging)) == (True, False)
    assert "Be lucky." in str(answered.body["messages"])
    (call,) = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    assert (call["tool_name"], call["caller_slot"], call["status"]) == ("roll_dice", "director", "success")
