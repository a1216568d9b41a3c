"""Session State through live turns: written with the commit, kept by floors, and followed through forks and versions."""

from urllib.parse import urlencode

from tests.turns.house import House, Json
from tests.turns.talk import Talk, begin_talk, named
from tests.upstreams.step import Step

OWNER = {"logical_owner_type": "plugin", "logical_owner_id": "quest@1"}


async def begin(house: House, namespace: str = "quest", **fields: Json) -> Talk:
    """A session with a namespace."""
    talk = await begin_talk(house, **fields)
    await registered(talk, namespace)
    return talk


async def registered(talk: Talk, namespace: str, **more: Json) -> Json:
    status, body = await talk.post(f"/sessions/{talk.session}/state/namespaces", {"namespace": namespace, **OWNER, **more})
    assert status == 201, body
    return body["data"]


def writes(**slots: Json) -> list[Json]:
    return [{"namespace": "quest", "slot": slot, "value": value} for slot, value in slots.items()]


async def held(talk: Talk, branch: str = "main", namespace: str = "quest", **query: str) -> dict[str, Json]:
    """What the slots of a namespace hold, those that hold something."""
    asked = urlencode({"branch_id": branch, "namespace": namespace, **query})
    found = await talk.house.memory.get(f"/sessions/{talk.session}/state/resolve?{asked}")
    return {each["slot"]: each["value"] for each in found if each["present"]}


async def written(talk: Talk, slot: str, value: Json, branch: str = "main") -> None:
    body = {"branch_id": branch, "namespace": "quest", "slot": slot, "value": value}
    status, answer = await talk.post(f"/sessions/{talk.session}/state/values/write", body)
    assert status == 200, answer


async def test_a_turn_writes_with_its_commit(house: House) -> None:
    talk = await begin(house)
    done = await talk.respond("Hi", session_state_writes=writes(gold=1, mood=None))
    [gold, mood] = await house.memory.get(f"/sessions/{talk.session}/state/resolve?branch_id=main&namespace=quest")
    assert (gold["value"], gold["source"], gold["floor_id"]) == (1, "live_head", done["floor_id"])
    assert (mood["present"], mood["value"]) == (True, None)
    taken = [{"namespace": "quest", "slot": "gold", "delete": True}]
    events = await talk.stream("And?", session_state_writes=taken)
    assert named(events, "done")
    assert await held(talk) == {"mood": None}


async def test_of_several_writes_to_one_slot_the_last_counts(house: House) -> None:
    talk = await begin(house)
    await talk.respond("Hi", session_state_writes=[*writes(gold=1), *writes(gold=2)])
    assert await held(talk) == {"gold": 2}


async def test_a_turn_that_fails_writes_nothing(house: House) -> None:
    talk = await begin(house)
    await written(talk, "gold", 1)
    house.mock.script(Step(status=401))
    body = {"message": "Hi", "session_state_writes": writes(gold=2)}
    status, _ = await talk.refused(f"/sessions/{talk.session}/respond", body)
    assert status == 502
    assert await held(talk) == {"gold": 1}


async def test_what_a_turn_may_not_write_is_refused_before_it_begins(house: House) -> None:
    talk = await begin(house)
    path = f"/sessions/{talk.session}/respond"
    for bad, refused in (
        ({"namespace": "nobody", "slot": "x", "value": 1}, (404, "session_state_namespace_not_registered")),
        ({"namespace": "game_state", "slot": "scene", "value": 1}, (409, "session_state_public_write_forbidden")),
        ({"namespace": "game_state.x", "slot": "y", "delete": True}, (409, "session_state_public_write_forbidden")),
        ({"namespace": "quest", "slot": "x"}, (400, "validation_error")),
        ({"namespace": "quest", "slot": "x", "value": 1, "delete": True}, (400, "validation_error")),
    ):
        assert await talk.refused(path, {"message": "Hi", "session_state_writes": [bad]}) == refused
    assert await house.memory.floors(talk.session) == []
    unknown = {"namespace": "nobody", "slot": "x", "delete": True}
    body = {"message": "Hi", "session_state_writes": [*writes(gold=1), unknown]}
    events = await talk.events(f"{path}/stream", body)
    assert [data["code"] for data in named(events, "error")] == ["session_state_namespace_not_registered"]
    assert await held(talk) == {}


async def test_what_does_not_fit_is_refused_before_the_model_is_asked(house: House) -> None:
    talk = await begin(house)
    for number in range(16):
        await written(talk, f"s{number}", "x" * 1_000_000)
    body = {"message": "Hi", "session_state_writes": writes(gold="x" * 900_000)}
    code = (409, "session_state_namespace_byte_limit_exceeded")
    assert await talk.refused(f"/sessions/{talk.session}/respond", body) == code
    assert house.mock.requests == []


async def test_a_floor_keeps_what_held_when_it_was_committed(house: House) -> None:
    talk = await begin(house)
    first = await talk.respond("One", session_state_writes=writes(gold=1))
    await written(talk, "gold", 5)
    second = await talk.respond("Two", session_state_writes=writes(torch=True))
    await written(talk, "gold", 9)
    assert await held(talk, source_floor_id=first["floor_id"]) == {"gold": 1}
    assert await held(talk, source_floor_id=second["floor_id"]) == {"gold": 5, "torch": True}
    path = f"/sessions/{talk.session}/state/floors/{second['floor_id']}/snapshot"
    snapshot = await house.memory.get(f"{path}?namespace=quest&slot=torch")
    assert [(each["slot"], each["value"], each["floor_id"]) for each in snapshot] == [("torch", True, second["floor_id"])]
    diff = f"/sessions/{talk.session}/state/diff?namespace=quest&floor_id={second['floor_id']}&against="
    of_floors = await house.memory.get(f"{diff}floor:{first['floor_id']}")
    assert [(each["slot"], each["change_type"]) for each in of_floors] == [("gold", "changed"), ("torch", "added")]
    live = await house.memory.get(f"{diff}live&branch_id=main")
    assert [(each["slot"], each["change_type"], each["left_value"], each["right_value"]) for each in live] == [
        ("gold", "changed", 9, 5),
        ("torch", "unchanged", True, True),
    ]


async def test_a_fork_shows_its_state_from_the_start_and_goes_its_own_way(house: House) -> None:
    talk = await begin(house)
    first = await talk.respond("One", session_state_writes=writes(gold=1))
    await talk.respond("Two", session_state_writes=writes(gold=2))
    status, _ = await talk.post(f"/floors/{first['floor_id']}/branch", {"branch_id": "alt"})
    assert status == 201
    assert await held(talk, "alt") == {"gold": 1}
    await talk.respond("Other", branch_id="alt", session_state_writes=writes(gold=7))
    await talk.respond("New", branch_id="new", source_floor_id=first["floor_id"])
    assert (await held(talk), await held(talk, "alt"), await held(talk, "new")) == ({"gold": 2}, {"gold": 7}, {"gold": 1})
    status, _ = await talk.post(f"/sessions/{talk.session}/branches/main/reset", {"target_floor_id": first["floor_id"]})
    assert (status, await held(talk)) == (200, {"gold": 1})
    status, _ = await talk.post(f"/sessions/{talk.session}/branches/alt/merge", {})
    assert (status, await held(talk)) == (200, {"gold": 7})


async def test_an_answer_made_anew_takes_back_what_the_old_one_wrote(house: House) -> None:
    talk = await begin(house)
    await written(talk, "gold", 1)
    first = await talk.respond("One", session_state_writes=writes(gold=2, torch=True))
    _, regenerated = await talk.post(f"/sessions/{talk.session}/regenerate", {"session_state_writes": writes(gold=3)})
    assert regenerated["data"]["previous_floor_id"] == first["floor_id"]
    assert await held(talk) == {"gold": 3}
    floor_id = regenerated["data"]["floor_id"]
    status, _ = await talk.post(f"/floors/{floor_id}/retry", {})
    assert (status, await held(talk)) == (200, {"gold": 1})
    pages = await house.memory.get(f"/pages?floor_id={floor_id}&page_kind=output&sort_by=version&sort_order=asc")
    assert await house.memory.call("PATCH", f"/pages/{pages[0]['id']}/activate") != 404
    assert await held(talk) == {"gold": 3}
    assert await held(talk, source_floor_id=floor_id) == {"gold": 3}


async def test_a_retry_below_later_turns_leaves_what_they_wrote(house: House) -> None:
    talk = await begin(house)
    first = await talk.respond("One", session_state_writes=writes(gold=1, torch=1))
    await talk.respond("Two", session_state_writes=writes(gold=2))
    status, _ = await talk.post(f"/floors/{first['floor_id']}/retry", {"session_state_writes": writes(gold=8, torch=8)})
    assert (status, await held(talk)) == (200, {"gold": 2, "torch": 8})
    assert await held(talk, source_floor_id=first["floor_id"]) == {"gold": 8, "torch": 8}


async def test_an_edit_goes_on_from_what_held_before_its_floor(house: House) -> None:
    talk = await begin(house)
    await written(talk, "gold", 1)
    await talk.respond("One", session_state_writes=writes(gold=2, torch=True))
    [said] = [each for each in await house.memory.get(f"/messages?session_id={talk.session}") if each["role"] == "user"]
    body = {"content": "Else", "branch_id": "alt", "session_state_writes": writes(mood="calm")}
    status, answer = await talk.post(f"/messages/{said['id']}/edit-and-regenerate", body)
    assert status == 200, answer
    assert await held(talk, "alt") == {"gold": 1, "mood": "calm"}
    assert await held(talk) == {"gold": 2, "torch": True}


async def test_a_floor_that_is_removed_takes_its_writes_with_it(house: House) -> None:
    talk = await begin(house)
    await written(talk, "gold", 1)
    first = await talk.respond("One", session_state_writes=writes(gold=2))
    status, _ = await house.memory.call("DELETE", f"/floors/{first['floor_id']}")
    assert (status, await held(talk)) == (200, {"gold": 1})


async def test_the_server_tells_of_the_newest_turn_itself(house: House) -> None:
    talk = await begin_talk(house)
    assert await held(talk, namespace="game_state") == {}
    first = await talk.respond("One")
    told = await held(talk, namespace="game_state")
    scene, world = told["scene"], told["world"]
    assert scene["generatedText"] == first["generated_text"]
    assert (scene["floorId"], scene["runType"], scene["kind"]) == (first["floor_id"], "respond", "first_party_scene_state")
    assert scene["usage"]["totalTokens"] == first["total_usage"]["total_tokens"]
    assert (world["summaryLines"], world["worldbookId"], world["kind"]) == ([], None, "first_party_world_state")
    await talk.respond("Two")
    await talk.post(f"/floors/{first['floor_id']}/branch", {"branch_id": "alt"})
    assert (await held(talk, "alt", "game_state"))["scene"]["floorId"] == first["floor_id"]
    assert (await held(talk, namespace="game_state"))["scene"]["floorId"] != first["floor_id"]
    old = await held(talk, namespace="game_state", source_floor_id=first["floor_id"])
    assert old["scene"] == scene


async def test_there_may_be_more_than_64_sessions(house: House) -> None:
    for _ in range(66):
        talk = await begin(house)
        await written(talk, "gold", 1)
    await talk.respond("Hi", session_state_writes=writes(gold=2))
    assert await held(talk) == {"gold": 2}
