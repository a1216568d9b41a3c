"""Director and verifier: what they say of a turn, and what becomes of it."""

import asyncio

import pytest

from agentui.turns.live.checks import verdict_of
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, target, text
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.server import API_KEY, Recorded
from tests.upstreams.step import Step

FAIL = '{"status": "fail", "issues": ["too short"], "suggestion": "say more"}'
PASS = 'Sure: {"status": "pass", "issues": [], "suggestion": null}'


def answering(*verdicts: str) -> tuple[list[Recorded], "Json"]:
    """A model that gives the verifier these verdicts, the director an advice, and everybody else a numbered answer."""
    left, asked = list(verdicts), []

    def choose(request: Recorded) -> Step:
        asked.append(request)
        last = str(request.body["messages"][-1]["content"])
        if last.startswith("[Judge"):
            return Step(text=left.pop(0))
        if last.startswith("[You are the director"):
            return Step(text="Be brief.")
        number = sum(not str(each.body["messages"][-1]["content"]).startswith("[") for each in asked)
        return Step(text=f"Answer {number}.")

    return asked, choose


async def checked(house: House, **config: Json) -> tuple[Talk, list[tuple[str, Json]]]:
    """A turn of a session whose director and verifier are ``plain``."""
    talk = await begin_talk(house, director_pipeline_id="plain", verifier_pipeline_id="plain")
    return talk, await talk.stream("Hi", config=config)


async def test_an_answer_that_passes(house: House) -> None:
    _, choose = answering(PASS)
    house.mock.play(choose)
    _, events = await checked(house, enableVerifier=True)
    done = events[-1][1]
    assert done["generated_text"] == "Answer 1."
    assert named(events, "run")[-1]["verifier"] == {"status": "pass", "suggestion": None, "issues": []}
    result = await house.memory.get(f"/floors/{done['floor_id']}/result")
    assert result["verifier"]["status"] == "pass"


async def test_a_refused_answer_stays_where_the_verifier_only_warns(house: House) -> None:
    _, choose = answering(FAIL)
    house.mock.play(choose)
    _, events = await checked(house, enableVerifier=True, verifierFailStrategy="warn")
    refused = {"status": "fail", "suggestion": "say more", "issues": ["too short"]}
    assert (events[-1][0], events[-1][1]["generated_text"]) == ("done", "Answer 1.")
    assert named(events, "run")[-1]["verifier"] == refused


async def test_a_refused_answer_fails_the_turn_where_the_verifier_blocks(house: House) -> None:
    _, choose = answering(FAIL)
    house.mock.play(choose)
    talk, events = await checked(house, enableVerifier=True, verifierFailStrategy="block")
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "verifier_failed")
    assert events[-1][1]["details"]["verifier"]["issues"] == ["too short"]
    assert await talk.timeline() == []


async def test_a_refused_answer_is_asked_for_again(start_house: StartHouse) -> None:
    house = await start_house()
    asked, choose = answering(FAIL, FAIL, PASS)
    house.mock.play(choose)
    house.server.put(
        "count",
        chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("openai", house.mock.origin)),
    )
    talk = await begin_talk(house, verifier_pipeline_id="plain", pipeline_id="count")
    events = await talk.stream("Hi", config={"enableVerifier": True, "verifierFailStrategy": "retry", "maxRetries": 2})
    assert (events[-1][0], events[-1][1]["generated_text"]) == ("done", "Answer 3.")
    runs = named(events, "run")
    assert sorted({run["attempt_no"] for run in runs}) == [1, 2, 3]
    assert [run["phase_seq"] for run in runs] == sorted(run["phase_seq"] for run in runs)
    assert "say more" in str(asked[2].body["messages"])
    assert (await house.memory.seen(talk.session))["gold"] == 1
    assert events[-1][1]["total_usage"]["completion_tokens"] == 3 * 7


async def test_the_last_of_all_attempts_stays(house: House) -> None:
    _, choose = answering(FAIL, FAIL)
    house.mock.play(choose)
    _, events = await checked(house, enableVerifier=True, verifierFailStrategy="retry", maxRetries=1)
    assert (events[-1][0], events[-1][1]["generated_text"]) == ("done", "Answer 2.")
    assert named(events, "run")[-1]["verifier"]["status"] == "fail"


async def test_what_the_director_says_is_a_part_of_the_prompt(house: House) -> None:
    asked, choose = answering()
    house.mock.play(choose)
    talk, events = await checked(house, enableDirector=True)
    assert events[-1][0] == "done"
    assert [str(request.body["messages"][-1]["content"])[:8] for request in asked] == ["[You are", "Hi"]
    assert {"role": "system", "content": "Be brief."} in [
        {"role": message["role"], "content": message["content"]} for message in asked[1].body["messages"]
    ] or "Be brief." in str(asked[1].body["messages"])
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "Answer 1.")]


async def test_nobody_is_asked_where_no_pipeline_is_set_and_it_says_so(house: House) -> None:
    talk = await begin_talk(house)
    events = await talk.stream("Hi", config={"enableVerifier": True, "enableDirector": True})
    verifier = named(events, "run")[-1]["verifier"]
    assert verifier["status"] == "skipped"
    assert "verifier_pipeline_id" in verifier["issues"][0]
    assert len(house.mock.requests) == 1
    explained = await house.memory.get(f"/floors/{events[-1][1]['floor_id']}/prompt-runtime/explain")
    told = [(each["code"], each["source"]) for each in explained["diagnostics"]]
    assert told == [("director_skipped", "director")]
    assert "director_pipeline_id" in explained["diagnostics"][0]["message"]


async def test_a_key_that_an_upstream_repeats_to_a_check_is_not_told(house: House) -> None:
    def choose(request: Recorded) -> Step:
        last = str(request.body["messages"][-1]["content"])
        is_check = last.startswith(("[Judge", "[You are the director"))
        return Step(status=401, message=f"The key {API_KEY} is wrong.") if is_check else Step(text="Fine.")

    house.mock.play(choose)
    _, events = await checked(house, enableVerifier=True, enableDirector=True)
    kept = f"/floors/{events[-1][1]['floor_id']}"
    result, explained = [await house.memory.get(kept + path) for path in ("/result", "/prompt-runtime/explain")]
    assert "The key" in result["verifier"]["issues"][0]
    assert "The key" in explained["diagnostics"][0]["message"]
    assert API_KEY not in str((events, result, explained))


async def test_a_verifier_that_fails_is_not_held_against_the_answer(start_house: StartHouse) -> None:
    house = await start_house(
        {"broken": chain(sets(("run", "x", "expr", "1 // 0"), id="odd"), sets(text("never"), id="say"))},
        verifier_pipeline="broken",
    )
    talk = await begin_talk(house)
    events = await talk.stream("Hi", config={"enableVerifier": True, "verifierFailStrategy": "block"})
    assert events[-1][0] == "done"
    assert named(events, "run")[-1]["verifier"]["status"] == "skipped"


@pytest.mark.parametrize("text", ["", "yes", "{", '{"status": "maybe"}', "[]", '{"status": 1}', "}{", '{"status": "fail"'])
def test_what_is_no_verdict_is_none(text: str) -> None:
    verdict = verdict_of(text)
    assert (verdict.status, len(verdict.issues)) == ("skipped", 1)


def test_a_verdict_is_found_among_words() -> None:
    verdict = verdict_of('```json\n{"status": "fail", "issues": ["a", 1, "b"], "suggestion": ""}\n```')
    assert verdict.as_json() == {"status": "fail", "suggestion": None, "issues": ["a", "b"]}


async def test_a_turn_with_a_key_goes_on_when_its_caller_leaves_during_the_director(house: House) -> None:
    def choose(request: Recorded) -> Step:
        last = str(request.body["messages"][-1]["content"])
        return Step(text="Be brief.", hold=1) if last.startswith("[You are the director") else Step(text="Hello.")

    house.mock.play(choose)
    talk = await begin_talk(house, director_pipeline_id="plain")
    path, body = f"/sessions/{talk.session}/respond", {"message": "Hi", "config": {"enableDirector": True}}
    key = {"idempotency-key": "k"}
    asking = asyncio.ensure_future(talk.post(path, body, **key))
    await house.mock.was_asked()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    house.mock.release()
    await house.memory.becomes(f"/sessions/{talk.session}/timeline", lambda found: len(found["floors"]) == 1)
    status, answer = await talk.post(path, body, **key)
    assert (status, answer["data"]["generated_text"]) == (200, "Hello.")
    assert len(house.mock.requests) == 2
