"""Live turns that make something anew: regenerate, retry, edit, stop and go on; and what becomes of the variables."""

import asyncio

import pytest

from tests.faults.conftest import until
from tests.turns.conftest import StartHouse
from tests.turns.house import Json, chain, sets, target
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.step import Step

COUNTS = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"), ("chat", "said", "string", "{{ chat.last_user }}"))


@pytest.fixture
async def talk(start_house: StartHouse) -> Talk:
    """A session whose every turn finds one more gold."""
    house = await start_house()
    house.server.put("count", chain(COUNTS, target("caller", house.mock.origin)))
    return await begin_talk(house, pipeline_id="count")


async def gold(talk: Talk, branch: str = "main") -> Json:
    """How much there is on a branch."""
    return (await talk.house.memory.seen(talk.session, branch)).get("gold")


async def page_ids(talk: Talk, floor: str, *, is_active: bool) -> list[str]:
    """A floor's output pages."""
    pages = await talk.house.memory.get(f"/pages?floor_id={floor}&page_kind=output")
    return [page["id"] for page in pages if page["is_active"] is is_active]


async def message_id(talk: Talk, floor: str) -> str:
    """The question of a floor."""
    found = await talk.house.memory.get(f"/messages?floor_id={floor}&role=user")
    return str(found[0]["id"])


@pytest.mark.parametrize("stream", [False, True])
async def test_a_regenerate_takes_the_place_of_the_newest_floor(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="One."), Step(text="Two."), Step(text="Three.")])
    await talk.respond("Hi")
    old = await talk.respond("Go on")
    assert await gold(talk) == 2
    path = f"/sessions/{talk.session}/regenerate"
    if stream:
        events = await talk.events(f"{path}/stream")
        new = events[-1][1]
        assert {run["run_type"] for run in named(events, "run")} == {"regenerate_page"}
    else:
        status, answer = await talk.post(path, {})
        assert status == 200, answer
        new = answer["data"]
    assert (new["previous_floor_id"], new["floor_no"], new["generated_text"]) == (old["floor_id"], 1, "Three.")
    assert new["floor_id"] != old["floor_id"]
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "One."), ("user", "Go on"), ("assistant", "Three.")]
    assert await gold(talk) == 2
    sent = [message["content"] for message in talk.house.mock.last.body["messages"] if message["role"] != "system"]
    assert sent == ["Hi", "One.", "Go on"]
    was = await talk.house.memory.get(f"/floors/{old['floor_id']}")
    assert (was["state"], was["superseded_by_floor_id"]) == ("committed", new["floor_id"])


async def test_an_answer_that_is_made_anew_is_no_kept_one(start_house: StartHouse) -> None:
    house = await start_house()
    house.server.put("kept", chain(target("caller", house.mock.origin, cache_s=3600)))
    talk = await begin_talk(house, pipeline_id="kept")
    house.mock.script([Step(text="One."), Step(text="Two."), Step(text="Three.")])
    await talk.respond("Hi")
    status, answer = await talk.post(f"/sessions/{talk.session}/regenerate", {})
    assert (status, answer["data"]["generated_text"]) == (200, "Two.")
    status, answer = await talk.post(f"/floors/{answer['data']['floor_id']}/retry", {})
    assert (status, answer["data"]["generated_text"]) == (200, "Three.")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_retry_keeps_the_old_answer_and_its_variables(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="One."), Step(text="Two.")])
    first = await talk.respond("Hi")
    floor = first["floor_id"]
    (old,) = await page_ids(talk, floor, is_active=True)
    path = f"/floors/{floor}/retry"
    if stream:
        again = (await talk.events(f"{path}/stream"))[-1][1]
    else:
        status, answer = await talk.post(path)
        assert status == 200, answer
        again = answer["data"]
    assert (again["floor_id"], again["floor_no"], again["generated_text"]) == (floor, 0, "Two.")
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "Two.")]
    assert await gold(talk) == 1
    assert await page_ids(talk, floor, is_active=False) == [old]
    status, _ = await talk.house.memory.call("PATCH", f"/pages/{old}/activate")
    assert status == 200
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "One.")]
    assert await gold(talk) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_an_edit_takes_the_place_of_its_message_on_a_branch_of_its_own(talk: Talk, stream: bool) -> None:
    talk.house.mock.script([Step(text="One."), Step(text="Two."), Step(text="Three.")])
    await talk.respond("Hi")
    second = await talk.respond("Go left")
    message = await message_id(talk, second["floor_id"])
    path, body = f"/messages/{message}/edit-and-regenerate", {"content": "Go right", "branch_id": "right"}
    if stream:
        new = (await talk.events(f"{path}/stream", body))[-1][1]
    else:
        status, answer = await talk.post(path, body)
        assert status == 200, answer
        new = answer["data"]
    assert (new["branch_id"], new["floor_no"]) == ("right", 1)
    assert (new["source_floor_id"], new["source_message_id"]) == (second["floor_id"], message)
    assert await talk.timeline("right") == [("user", "Go right"), ("assistant", "Three.")]
    sent = [message["content"] for message in talk.house.mock.last.body["messages"] if message["role"] != "system"]
    assert sent == ["Hi", "One.", "Go right"]
    assert (await gold(talk), await gold(talk, "right")) == (2, 2)
    assert await talk.refused(path, body) == (409, "branch_exists")
    status, answer = await talk.post(path, {"content": "Go up"})
    assert (status, answer["data"]["floor_no"]) == (200, 1)
    assert answer["data"]["branch_id"].startswith("branch-")


async def test_what_cannot_be_made_anew_says_why(talk: Talk) -> None:
    memory = talk.house.memory
    assert await talk.refused(f"/sessions/{talk.session}/regenerate") == (404, "no_floor_to_regenerate")
    assert await talk.refused("/sessions/nobody/regenerate") == (404, "session_not_found")
    assert await talk.refused("/floors/nobody/retry") == (404, "floor_not_found")
    assert await talk.refused("/floors/nobody/retry/stream") == (404, "floor_not_found")
    assert await talk.refused("/messages/nobody/edit-and-regenerate", {"content": "x"}) == (404, "message_not_found")
    assert await talk.refused("/messages/nobody/edit-and-regenerate/stream", {"content": "x"}) == (404, "message_not_found")
    greeted = await begin_talk(talk.house, character_snapshot={"name": "Ada", "first_mes": "Hello, {{user}}."})
    (floor,) = await memory.floors(greeted.session)
    assert await talk.refused(f"/floors/{floor['id']}/retry") == (404, "no_user_message")
    assert await talk.refused(f"/sessions/{greeted.session}/regenerate") == (404, "no_user_message")
    (greeting,) = await memory.get(f"/messages?floor_id={floor['id']}")
    path = f"/messages/{greeting['id']}/edit-and-regenerate"
    assert await talk.refused(path, {"content": "x"}) == (400, "invalid_message_role")
    status, made = await memory.call("POST", "/floors", {"session_id": talk.session, "floor_no": 7})
    assert status == 201
    assert await talk.refused(f"/floors/{made['data']['id']}/retry") == (409, "invalid_state")
    source = {"message": "Hi", "branch_id": "new", "source_floor_id": "nobody"}
    assert await talk.refused(f"/sessions/{talk.session}/respond", source) == (404, "source_floor_not_found")


async def test_a_turn_forks_behind_a_floor(talk: Talk) -> None:
    first = await talk.respond("One")
    await talk.respond("Two")
    forked = await talk.respond("Other", branch_id="alt", source_floor_id=first["floor_id"])
    assert (forked["branch_id"], forked["floor_no"]) == ("alt", 1)
    assert (await gold(talk), await gold(talk, "alt")) == (2, 2)
    sent = [message["content"] for message in talk.house.mock.last.body["messages"] if message["role"] == "user"]
    assert sent == ["One", "Other"]
    again = await talk.respond("More", branch_id="main", source_floor_id=first["floor_id"])
    assert (again["branch_id"], again["floor_no"]) == ("main", 2)


@pytest.mark.parametrize("kind", ["retry", "regenerate"])
async def test_a_failure_leaves_everything_as_it_was(talk: Talk, kind: str) -> None:
    talk.house.mock.script([Step(text="One."), Step(status=500), Step(status=500), Step(status=500)])
    first = await talk.respond("Hi")
    path = f"/floors/{first['floor_id']}/retry" if kind == "retry" else f"/sessions/{talk.session}/regenerate"
    assert await talk.refused(path) == (502, "upstream_error")
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "One.")]
    assert await gold(talk) == 1
    talk.house.mock.forget_steps()
    status, _ = await talk.post(path)
    assert (status, await gold(talk)) == (200, 1)


async def stopped(talk: Talk, path: str, body: Json = None) -> Json:
    """Begin a turn, and stop it when words have arrived; the words that a client had heard by then."""
    talk.house.mock.script(Step(text="again ", forever=True, pause=0.002))
    asking = asyncio.ensure_future(talk.events(f"{path}/stream", body))
    active = talk.house.server.state.live.active
    await until(lambda: any(each.pending and "again" in each.pending.text for each in active.of_session(talk.session)))
    await talk.post(f"/sessions/{talk.session}/active-run/cancel")
    events = await asking
    assert (events[-1][0], events[-1][1]["code"], events[-1][1]["details"]["is_partial"]) == (
        "error",
        "generation_cancelled",
        True,
    )
    talk.house.mock.forget_steps()
    return "".join(chunk["chunk"] for chunk in named(events, "chunk"))


async def test_a_stopped_turn_keeps_its_words_and_can_be_gone_on_with(talk: Talk) -> None:
    words = await stopped(talk, f"/sessions/{talk.session}/respond", {"message": "Go"})
    assert await talk.timeline() == [("user", "Go"), ("assistant", words)]
    assert await gold(talk) is None
    (floor,) = await talk.house.memory.floors(talk.session)
    (page,) = await talk.house.memory.get(f"/pages?floor_id={floor['id']}&page_kind=output")
    assert page["is_partial"] is True
    talk.house.mock.script(Step(text=" and ends."))
    status, answer = await talk.post(f"/floors/{floor['id']}/retry", {"prompt_intent": "continue"})
    assert status == 200, answer
    assert answer["data"]["generated_text"] == f"{words} and ends."
    assert await talk.timeline() == [("user", "Go"), ("assistant", f"{words} and ends.")]
    assert await gold(talk) == 1


async def test_a_whole_answer_can_be_gone_on_with(talk: Talk) -> None:
    talk.house.mock.script([Step(text="One"), Step(text=", and two.")])
    floor = (await talk.respond("Hi"))["floor_id"]
    events = await talk.events(f"/floors/{floor}/retry/stream", {"prompt_intent": "continue"})
    assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == ", and two."
    assert events[-1][1]["generated_text"] == "One, and two."
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "One, and two.")]
    assert [message["content"] for message in talk.house.mock.last.body["messages"]][-3:-1] == ["Hi", "One"]
    assert await gold(talk) == 1
    (before,) = await page_ids(talk, floor, is_active=False)
    (message,) = await talk.house.memory.get(f"/messages?page_id={before}")
    assert message["content"] == "One"


@pytest.mark.parametrize("kind", ["retry", "regenerate"])
async def test_a_stopped_retry_keeps_its_words_beside_the_old_answer(talk: Talk, kind: str) -> None:
    talk.house.mock.script(Step(text="One."))
    first = await talk.respond("Hi")
    floor = first["floor_id"]
    words = await stopped(talk, f"/floors/{floor}/retry" if kind == "retry" else f"/sessions/{talk.session}/regenerate")
    assert await talk.timeline() == [("user", "Hi"), ("assistant", "One.")]
    assert await gold(talk) == 1
    (partial,) = await page_ids(talk, floor, is_active=False)
    (message,) = await talk.house.memory.get(f"/messages?page_id={partial}")
    assert message["content"] == words
    assert (await talk.house.memory.get(f"/pages/{partial}"))["is_partial"] is True
    status, _ = await talk.house.memory.call("DELETE", f"/pages/{partial}")
    assert status == 200


@pytest.mark.parametrize("pipeline", ["count", "raw"])
async def test_an_upstream_that_breaks_off_leaves_its_words(talk: Talk, pipeline: str) -> None:
    ends: tuple[Json, ...] = ({"cut": "reset"}, {"cut": "clean"}, {"fail_after": 4})
    for number, end in enumerate(ends):
        after = {"cut_after": 4} if "cut" in end else {}
        talk.house.mock.script(Step(text="one <summary>Six.</summary> two three four", **after, **end))
        status, answer = await talk.post(f"/p/{pipeline}/sessions/{talk.session}/respond", {"message": "Go"})
        assert (status, answer["error"]["code"], answer["error"]["details"]["is_partial"]) == (502, "upstream_error", True), end
        role, text = (await talk.timeline())[2 * number + 1]
        assert role == "assistant" and text.startswith("one ") and "Six." not in text, (end, text)


async def test_a_queued_turn_whose_target_moved_is_stale(start_house: StartHouse) -> None:
    house = await start_house(generation_queue=20)
    talk = await begin_talk(house)
    await talk.respond("One")
    house.mock.script([Step(text="one two three four", hold=3), Step(), Step()])
    asking = asyncio.ensure_future(talk.respond("Two"))
    await house.mock.was_asked(2)
    stale = asyncio.ensure_future(talk.refused(f"/sessions/{talk.session}/regenerate"))
    await until(lambda: house.server.state.turns.queue._waiting, 30)  # it is in the queue, which nobody tells
    house.mock.release()
    assert (await asking)["floor_no"] == 1
    assert await stale == (409, "generation_target_stale")


@pytest.mark.parametrize("branch", [None, "right"])
async def test_an_edit_that_fails_leaves_no_branch_and_can_be_asked_again(talk: Talk, branch: str | None) -> None:
    talk.house.mock.script([Step(text="One."), *[Step(status=400)] * 3, Step(text="Two.")])
    first = await talk.respond("Hi")
    path = f"/messages/{await message_id(talk, first['floor_id'])}/edit-and-regenerate"
    body = {"content": "Ho", **({} if branch is None else {"branch_id": branch})}
    for _ in range(3):
        assert await talk.refused(path, body) == (502, "upstream_error")
    branches = await talk.house.memory.get(f"/sessions/{talk.session}/branches")
    assert [each["branch_id"] for each in branches] == ["main"]
    status, answer = await talk.post(path, body)
    assert (status, answer["data"]["generated_text"]) == (200, "Two.")
    assert (await gold(talk), await gold(talk, answer["data"]["branch_id"])) == (1, 1)


async def test_a_stopped_turn_with_a_key_is_not_played_twice(talk: Talk) -> None:
    path, body, key = f"/sessions/{talk.session}/respond", {"message": "Go"}, {"idempotency-key": "k"}
    talk.house.mock.script(Step(text="again ", forever=True, pause=0.002))
    asking = asyncio.ensure_future(talk.refused(path, body, **key))
    active = talk.house.server.state.live.active
    await until(lambda: any(each.pending and "again" in each.pending.text for each in active.of_session(talk.session)))
    await talk.post(f"/sessions/{talk.session}/active-run/cancel")
    assert await asking == (499, "generation_cancelled")
    talk.house.mock.forget_steps()
    status, answer = await talk.post(path, body, **key)
    assert (status, answer["error"]["code"]) == (410, "idempotency_answer_gone")
    (floor,) = await talk.house.memory.floors(talk.session)
    assert answer["error"]["details"]["floor_id"] == floor["id"]
    assert len(talk.house.mock.requests) == 1


async def test_partial_pages_of_a_committed_floor_are_removed_in_a_batch(talk: Talk) -> None:
    talk.house.mock.script(Step(text="One."))
    floor = (await talk.respond("Hi"))["floor_id"]
    for _ in range(2):
        await stopped(talk, f"/floors/{floor}/retry")
    whole, partial = await page_ids(talk, floor, is_active=True), await page_ids(talk, floor, is_active=False)
    assert len(partial) == 2
    status, _ = await talk.house.memory.call("PATCH", f"/pages/{partial[0]}/activate")
    assert status == 200
    status, answer = await talk.post("/pages/batch/delete", {"ids": partial})
    assert status == 200, answer
    assert (await page_ids(talk, floor, is_active=True), await page_ids(talk, floor, is_active=False)) == (whole, [])
    assert await talk.refused("/pages/batch/delete", {"ids": whole}) == (409, "content_target_locked")


async def test_the_run_of_a_turn_that_could_not_be_kept_has_failed(talk: Talk) -> None:
    talk.house.mock.script(Step(text="One.", hold=1))
    asking = asyncio.ensure_future(talk.refused(f"/sessions/{talk.session}/respond", {"message": "Hi"}))
    await talk.house.mock.was_asked()
    value = {"scope": "branch", "scope_id": f"branch:{talk.session}:main", "key": "gold", "value": 9}
    status, answer = await talk.house.memory.call("PUT", "/variables", value)
    assert status in (200, 201), answer
    talk.house.mock.release()
    assert await asking == (409, "variable_conflict")
    status, runs = await talk.house.memory.call("GET", "/api/runs?limit=1")
    assert (status, runs[0]["state"], runs[0]["error"]["code"]) == (200, "failed", "variable_conflict")
