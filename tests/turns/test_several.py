"""Turns whose model gives several answers at once: the first counts, the others are its swipes."""

import pytest

from tests.turns.conftest import StartHouse
from tests.turns.house import Json, chain, sets, target
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.step import Step

COUNTS = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
PRESET: Json = {"n": 3, "new_chat_prompt": "", "prompts": [{"identifier": "chatHistory", "marker": True}]}


@pytest.fixture
async def talk(start_house: StartHouse) -> Talk:
    """A session whose every turn finds one more gold, and whose preset wants three answers."""
    house = await start_house()
    house.server.put("count", chain(COUNTS, target("caller", house.mock.origin)))
    status, preset = await house.memory.call("POST", "/import/preset", {"name": "Three", "data": PRESET})
    assert status == 201, preset
    return await begin_talk(house, pipeline_id="count", preset_id=preset["data"]["id"])


async def versions(talk: Talk, floor: str) -> list[tuple[str, bool, str]]:
    """The versions of a floor's answer: page, whether it is active, and its words."""
    pages = await talk.house.memory.get(f"/pages?floor_id={floor}&page_kind=output&sort_by=version&sort_order=asc")
    said = [(await talk.house.memory.get(f"/messages?page_id={page['id']}"))[0]["content"] for page in pages]
    return [(page["id"], page["is_active"], words) for page, words in zip(pages, said, strict=True)]


@pytest.mark.parametrize("stream", [False, True])
async def test_further_answers_are_swipes_with_what_the_turn_wrote(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="A <summary>Six.</summary>ship."), Step(text="Yes.")])
    if stream:
        events = await talk.stream("Hi")
        done = events[-1][1]
        assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == done["generated_text"]
    else:
        done = await talk.respond("Hi")
    assert talk.house.mock.last.body["n"] == 3
    floor = done["floor_id"]
    (first, *others) = await versions(talk, floor)
    assert first[1:] == (True, done["generated_text"])
    assert [is_active for _, is_active, _ in others] == [False, False]
    assert all("Six" not in words and words for _, _, words in others)
    assert (await talk.house.memory.seen(talk.session))["gold"] == 1
    explained = await talk.house.memory.get(f"/floors/{floor}/prompt-runtime/explain")
    status, _ = await talk.house.memory.call("PATCH", f"/pages/{others[1][0]}/activate")
    assert status == 200
    assert (await talk.timeline())[-1] == ("assistant", others[1][2])
    assert (await talk.house.memory.seen(talk.session))["gold"] == 1
    again = await talk.house.memory.get(f"/floors/{floor}/prompt-runtime/explain")
    assert again["sections"] == explained["sections"]
    assert (await talk.respond("And?", generation_params={"n": 1}))["floor_no"] == 1
    assert "n" not in talk.house.mock.last.body
    assert (await talk.house.memory.seen(talk.session))["gold"] == 2


async def test_swipes_come_several_at_once_too(talk: Talk) -> None:
    floor = (await talk.respond("Hi"))["floor_id"]
    status, _ = await talk.post(f"/floors/{floor}/retry", {"generation_params": {"n": 2}})
    assert status == 200
    assert [is_active for _, is_active, _ in await versions(talk, floor)] == [False, False, False, True, False]
    status, answer = await talk.post(f"/sessions/{talk.session}/regenerate")
    assert status == 200
    assert len(await versions(talk, answer["data"]["floor_id"])) == 3
    assert (await talk.house.memory.seen(talk.session))["gold"] == 1


async def test_several_are_asked_for_only_where_they_can_be_versions(talk: Talk) -> None:
    floor = (await talk.respond("Hi"))["floor_id"]
    assert talk.house.mock.last.body["n"] == 3
    for path, body in (
        (f"/floors/{floor}/retry", {"prompt_intent": "continue"}),
        (f"/sessions/{talk.session}/respond", {"message": "x", "prompt_intent": "quiet"}),
        (f"/sessions/{talk.session}/respond", {"prompt_intent": "impersonate"}),
    ):
        status, answer = await talk.post(path, body)
        assert (status, "n" in talk.house.mock.last.body) == (200, False), (path, answer)
    # A model that gives one answer gives one.
    status, answer = await talk.post(f"/p/claude/sessions/{talk.session}/respond", {"message": "And you?"})
    assert status == 200, answer
    assert len(await versions(talk, answer["data"]["floor_id"])) == 1
    too_many = {"message": "x", "generation_params": {"n": 33}}
    assert await talk.refused(f"/sessions/{talk.session}/respond", too_many) == (400, "validation_error")


async def test_who_advises_or_judges_is_asked_for_one_answer(talk: Talk) -> None:
    checks = {"director_pipeline_id": "plain", "verifier_pipeline_id": "plain"}
    status, _ = await talk.house.memory.call("PATCH", f"/sessions/{talk.session}", checks)
    assert status == 200
    for config, wanted in (({"enableDirector": True}, [None, 3]), ({"enableVerifier": True}, [None, None])):
        before = len(talk.house.mock.requests)
        floor = (await talk.respond("Hi", config=config))["floor_id"]
        assert [each.body.get("n") for each in talk.house.mock.requests[before:]] == wanted
        # A verifier judges one answer, so no other becomes a version.
        assert len(await versions(talk, floor)) == (wanted[-1] or 1)


async def test_only_the_answer_is_asked_for_several_times(talk: Talk) -> None:
    house, origin = talk.house, talk.house.mock.origin
    house.server.put("two", chain(target("caller", origin) | {"id": "first"}, target("caller", origin)))
    house.server.put("list", chain(target("caller", origin, response_schema='{"type": "array"}')))
    house.server.put("dice", chain(target("caller", origin, tools=["roll_dice"])))
    house.mock.script([Step(text="Hm."), Step(text="Yes."), Step(text="A six."), Step(text="[1]")])
    await talk.post(f"/p/two/sessions/{talk.session}/respond", {"message": "Hi"})
    await talk.post(f"/p/dice/sessions/{talk.session}/respond", {"message": "Hi"})
    status, answer = await talk.post(f"/p/list/sessions/{talk.session}/respond", {"message": "Hi"})
    # Answers that nobody reads are not paid for, and none becomes a version that no schema was held against.
    assert [each.body.get("n") for each in house.mock.requests] == [None, 3, None, None]
    assert (status, len(await versions(talk, answer["data"]["floor_id"]))) == (200, 1)
