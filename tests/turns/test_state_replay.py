"""Answers made anew whose turns wrote to Session State: what wants a confirmation, and what is never repeated."""

import pytest

from tests.turns.house import House, Json
from tests.turns.talk import Talk, named
from tests.turns.test_state import begin, held, registered, writes, written

NEEDED = "session_state_replay_confirmation_required"
BLOCKED = "session_state_replay_blocked"


async def begun(house: House, safety: str) -> tuple[Talk, Json]:
    """A chat whose answer's turn wrote to a namespace of this safety, and to one that is safe; its floor."""
    talk = await begin(house)
    await registered(talk, "deed", default_replay_safety=safety)
    deed = {"namespace": "deed", "slot": "door", "value": "open"}
    done = await talk.respond("Open it", session_state_writes=[deed, *writes(gold=1)])
    return talk, done["floor_id"]


async def ways(talk: Talk, floor_id: str) -> list[tuple[str, Json]]:
    """The paths that make the answer anew, with their bodies."""
    said = await talk.house.memory.get(f"/messages?session_id={talk.session}")
    [asked] = [each["id"] for each in said if each["role"] == "user"]
    return [
        (f"/sessions/{talk.session}/regenerate", {}),
        (f"/floors/{floor_id}/retry", {}),
        (f"/messages/{asked}/edit-and-regenerate", {"content": "Close it"}),
    ]


@pytest.mark.parametrize("safety", ["confirm_on_replay", "uncertain"])
async def test_what_wants_a_confirmation_gets_one(house: House, safety: str) -> None:
    talk, floor_id = await begun(house, safety)
    asked = len(house.mock.requests)
    for path, body in await ways(talk, floor_id):
        status, answer = await talk.post(path, body)
        assert (status, answer["error"]["code"]) == (409, NEEDED), path
        [blocker] = answer["error"]["details"]["blocking_session_state_mutations"]
        assert (blocker["state_namespace"], blocker["target_slot"], blocker["replay_safety"]) == ("deed", "door", safety)
        assert (blocker["status"], blocker["reason"]) == ("applied", "confirmation_required")
        events = await talk.events(f"{path}/stream", body)
        assert [data["code"] for data in named(events, "error")] == [NEEDED]
        assert await talk.refused(path, {**body, "confirmed_session_state_mutation_ids": ["another"]}) == (409, NEEDED)
    assert len(house.mock.requests) == asked
    assert (await held(talk), await held(talk, namespace="deed")) == ({"gold": 1}, {"door": "open"})
    confirmed = {"confirmed_session_state_mutation_ids": [blocker["mutation_id"]]}
    status, answer = await talk.post(f"/floors/{floor_id}/retry", confirmed)
    assert status == 200, answer
    assert (await held(talk), await held(talk, namespace="deed")) == ({}, {})
    status, answer = await talk.post(f"/floors/{floor_id}/retry", {})
    assert status == 200, answer


async def test_what_is_never_repeated_takes_no_confirmation(house: House) -> None:
    talk, floor_id = await begun(house, "never_auto_replay")
    for path, body in await ways(talk, floor_id):
        status, answer = await talk.post(path, body)
        assert (status, answer["error"]["code"]) == (409, BLOCKED), path
        [blocker] = answer["error"]["details"]["blocking_session_state_mutations"]
        assert blocker["reason"] == "never_auto_replay"
        body = {**body, "confirmed_session_state_mutation_ids": [blocker["mutation_id"]]}
        assert await talk.refused(path, body) == (409, BLOCKED)
    assert await held(talk, namespace="deed") == {"door": "open"}
    assert len(await house.memory.floors(talk.session)) == 1


async def test_what_is_safe_or_was_written_by_itself_is_in_nobodys_way(house: House) -> None:
    talk = await begin(house)
    await registered(talk, "deed", default_replay_safety="never_auto_replay")
    done = await talk.respond("Hi", session_state_writes=writes(gold=1))
    body = {"branch_id": "main", "namespace": "deed", "slot": "door", "value": 1}
    assert (await talk.post(f"/sessions/{talk.session}/state/values/write", body))[0] == 200
    await written(talk, "torch", 1)
    for path, body in reversed(await ways(talk, done["floor_id"])):  # the regenerate sets the floor aside
        status, answer = await talk.post(path, body)
        assert status == 200, answer
