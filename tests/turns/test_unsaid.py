"""Answers without words of the user's, and drafts of what the user may say next."""

import asyncio

import pytest

from agentui.prompt.drafts import NEXT_MESSAGE
from tests.turns.conftest import StartHouse
from tests.turns.house import Json, chain, sets, target, text
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.step import Step

CARD = {"name": "Mira", "first_mes": "Welcome."}


@pytest.fixture
async def talk(start_house: StartHouse) -> Talk:
    """A chat whose every turn finds one more gold, and which its character has begun."""
    house = await start_house()
    counts = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    house.server.put("count", chain(counts, target("caller", house.mock.origin)))
    return await begin_talk(house, pipeline_id="count", character_snapshot=CARD)


def sent(talk: Talk) -> list[tuple[str, str]]:
    """What the model was sent last, without the system's texts."""
    messages = talk.house.mock.last.body["messages"]
    return [(each["role"], each["content"]) for each in messages if each["role"] != "system"]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_character_speaks_again_where_nothing_is_said(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="Look."), Step(text="A ship."), Step(text="A boat."), Step(text="A whale.")])
    path = f"/sessions/{talk.session}/respond"
    nudge = ("user", NEXT_MESSAGE.replace("{{char}}", "Mira"))
    if stream:
        first = (await talk.events(f"{path}/stream", {}))[-1][1]
    else:
        status, answer = await talk.post(path)
        assert status == 200, answer
        first = answer["data"]
    assert (first["floor_no"], first["generated_text"], first["final_state"]) == (1, "Look.", "committed")
    assert sent(talk) == [("assistant", "Welcome."), nudge]
    status, answer = await talk.post(path, {"branch_id": "main"})
    assert (status, answer["data"]["floor_no"]) == (200, 2)
    said = [("assistant", "Welcome."), ("assistant", "Look.")]
    assert sent(talk)[-1] == nudge
    assert await talk.timeline() == [*said, ("assistant", "A ship.")]
    # Both ways to make it anew ask the same thing, and count once.
    status, answer = await talk.post(f"/floors/{answer['data']['floor_id']}/retry")
    assert (status, answer["data"]["generated_text"]) == (200, "A boat.")
    status, answer = await talk.post(f"/sessions/{talk.session}/regenerate")
    assert (status, answer["data"]["generated_text"]) == (200, "A whale.")
    assert sent(talk)[-1] == nudge
    assert await talk.timeline() == [*said, ("assistant", "A whale.")]
    assert (await talk.house.memory.seen(talk.session))["gold"] == 2
    would = await talk.post(f"{path}/dry-run", {})
    assert [(each["role"], each["content"]) for each in would[1]["data"]["messages"]][1:] == [
        ("assistant", "Welcome."),
        ("assistant", "Look."),
        ("assistant", "A whale."),
        nudge,
    ]


async def test_an_answer_without_words_goes_on_and_is_said_to_in_turn(talk: Talk) -> None:
    talk.house.mock.script([Step(text="Look"), Step(text=": a ship."), Step(text="Yes.")])
    _, answer = await talk.post(f"/sessions/{talk.session}/respond")
    status, answer = await talk.post(f"/floors/{answer['data']['floor_id']}/retry", {"prompt_intent": "continue"})
    assert (status, answer["data"]["generated_text"]) == (200, "Look: a ship.")
    await talk.respond("Really?")
    assert sent(talk) == [("assistant", "Welcome."), ("assistant", "Look: a ship."), ("user", "Really?")]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_draft_of_the_users_words_is_nobodys_turn(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="Hi."), Step(text="I go left."), Step(text="Fine.")])
    await talk.respond("Hello")
    before = await talk.house.memory.floors(talk.session), await talk.house.memory.seen(talk.session)
    body = {"prompt_intent": "impersonate", "debug_options": {"include_prompt_snapshot": True}}
    path = f"/sessions/{talk.session}/respond"
    if stream:
        events = await talk.events(f"{path}/stream", body)
        assert {name for name, _ in events} == {"start", "chunk", "done"}
        assert events[0] == ("start", {"branch_id": "main"})
        draft = events[-1][1]
        assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == draft["generated_text"]
    else:
        status, answer = await talk.post(path, body)
        assert status == 200, answer
        draft = answer["data"]
    assert draft.pop("prompt_snapshot")["token_estimate"] > 0
    assert (draft.pop("generated_text"), draft.pop("total_usage")["completion_tokens"]) == ("I go left.", 7)
    assert draft == {"branch_id": "main", "summaries": [], "final_state": "draft"}
    role, instruction = sent(talk)[-1]
    assert (role, instruction[:34]) == ("user", "[Write the next message as User, i")
    assert before == (await talk.house.memory.floors(talk.session), await talk.house.memory.seen(talk.session))
    assert (await talk.respond("I go left."))["floor_no"] == 2


async def test_a_draft_waits_for_no_turn_and_holds_none_up(talk: Talk) -> None:
    talk.house.mock.script([Step(text="one two three", hold=1), Step(text="Mine.")])
    asking = asyncio.ensure_future(talk.respond("Hello"))
    await talk.house.mock.was_asked()
    status, answer = await talk.post(f"/sessions/{talk.session}/respond", {"prompt_intent": "impersonate"})
    assert (status, answer["data"]["generated_text"]) == (200, "Mine.")
    talk.house.mock.release()
    assert (await asking)["generated_text"] == "one two three"


async def test_a_draft_that_is_asked_again_by_its_key_is_the_same(talk: Talk) -> None:
    talk.house.mock.script([Step(text="One."), Step(text="Two.")])
    path, body, key = f"/sessions/{talk.session}/respond", {"prompt_intent": "impersonate"}, {"idempotency-key": "k"}
    first, again = await talk.post(path, body, **key), await talk.post(path, body, **key)
    assert first == again and first[1]["data"]["generated_text"] == "One."
    assert len(talk.house.mock.requests) == 1
    assert await talk.refused(path, {**body, "message": "Or so"}, **key) == (422, "idempotency_key_reused")


async def test_what_a_draft_cannot_be_asked_for_is_refused(talk: Talk) -> None:
    memory, path = talk.house.memory, f"/sessions/{talk.session}/respond"
    draft: Json = {"prompt_intent": "impersonate"}
    writes = [{"namespace": "quest", "slot": "a", "value": 1}]
    assert await talk.refused(path, {**draft, "session_state_writes": writes}) == (400, "validation_error")
    assert await talk.refused("/sessions/nobody/respond", draft) == (404, "session_not_found")
    assert await talk.refused(path, {**draft, "branch_id": "b", "source_floor_id": "x"}) == (404, "source_floor_not_found")
    first = await talk.respond("Hello")
    assert await talk.refused(f"/floors/{first['floor_id']}/retry", draft) == (400, "validation_error")
    talk.house.mock.script([Step(status=500)] * 3)
    assert await talk.refused(path, draft) == (502, "upstream_error")
    status, _ = await memory.call("PATCH", f"/sessions/{talk.session}", {"status": "archived"})
    assert status == 200
    assert await talk.refused(path, draft) == (409, "session_archived")


async def test_a_caller_who_leaves_stops_a_draft(talk: Talk) -> None:
    talk.house.mock.script(Step(text="again ", forever=True, pause=0.002))
    body = {"prompt_intent": "impersonate"}
    async with talk.streaming(f"/sessions/{talk.session}/respond/stream", body, **{"idempotency-key": "k"}) as answer:
        async for line in answer.content:
            if line.startswith(b"event: chunk"):
                break
    await talk.house.mock.was_aborted()


async def test_the_nodes_of_a_draft_see_variables_and_leave_none(talk: Talk) -> None:
    await talk.respond("Hello")
    counts = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    talk.house.server.put("says", chain(counts, sets(text("{{ gold }} found"), id="say")))
    status, answer = await talk.post(f"/p/says/sessions/{talk.session}/respond", {"prompt_intent": "impersonate"})
    assert (status, answer["data"]["generated_text"]) == (200, "2 found")
    assert (await talk.house.memory.seen(talk.session))["gold"] == 1
