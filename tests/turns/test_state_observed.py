"""What is told of Session State to those who look for a fault in it."""

from agentui.jsonio import Json
from tests.turns.house import House
from tests.turns.talk import Talk
from tests.turns.test_state import begin, registered, writes, written


async def seen(talk: Talk, path: str) -> Json:
    return await talk.house.memory.get(f"/sessions/{talk.session}/session-state/{path}")


async def test_every_write_is_listed_with_what_became_of_it(house: House) -> None:
    talk = await begin(house)
    await written(talk, "gold", "x" * 300)
    first = await talk.respond("One", session_state_writes=writes(gold=2, torch=True))
    _, again = await talk.post(f"/sessions/{talk.session}/regenerate", {"session_state_writes": writes(gold=3)})
    told = [
        (each["target_slot"], each["write_mode"], each["status"], each["source_floor_id"])
        for each in await seen(talk, "mutations?sort_order=asc")
    ]
    floor_id = again["data"]["floor_id"]
    assert (told[0], told[-1]) == (("gold", "direct", "applied", None), ("gold", "commit_bound", "applied", floor_id))
    assert sorted(told[1:-1]) == [(slot, "commit_bound", "discarded", first["floor_id"]) for slot in ("gold", "torch")]
    [direct] = await seen(talk, "mutations?write_mode=direct&target_slot=gold&state_namespace=quest&branch_id=main")
    assert (direct["payload_size_bytes"], direct["payload_preview"]) == (302, '"' + "x" * 255)
    whole = await seen(talk, f"mutations/{direct['id']}")
    assert whole["payload"] == {"present": True, "value": "x" * 300}
    assert len(await seen(talk, f"mutations?source_floor_id={first['floor_id']}&status=discarded")) == 2
    assert await seen(talk, f"mutations?created_before={direct['created_at'] - 1}") == []
    assert len(await seen(talk, "mutations?limit=1&offset=1")) == 1
    assert (await house.memory.call("GET", f"/sessions/{talk.session}/session-state/mutations/nobody"))[0] == 404
    other = await begin(house)
    assert (await house.memory.call("GET", f"/sessions/{other.session}/session-state/mutations/{direct['id']}"))[0] == 404


async def test_what_holds_is_listed_without_its_values(house: House) -> None:
    talk = await begin(house)
    first = await talk.respond("One", session_state_writes=writes(gold=1))
    await talk.post(f"/floors/{first['floor_id']}/branch", {"branch_id": "alt"})
    await written(talk, "gold", 2)
    live = await seen(talk, "live")
    assert [(each["branch_id"], each["slot"], each["source_floor_id"]) for each in live] == [
        ("alt", "gold", first["floor_id"]),
        ("main", "gold", None),
    ]
    assert "value" not in live[0]
    assert [each["branch_id"] for each in await seen(talk, "live?branch_id=alt&state_namespace=quest")] == ["alt"]
    assert (await seen(talk, "live/quest/gold?branch_id=main"))["value"] == 2
    assert (await seen(talk, f"live/quest/gold?branch_id=main&source_floor_id={first['floor_id']}"))["value"] == 1
    assert (await seen(talk, "live/game_state/scene?branch_id=alt"))["value"]["floorId"] == first["floor_id"]
    path = f"/floors/{first['floor_id']}/session-state"
    [kept] = await house.memory.get(f"{path}/snapshots?state_namespace=quest")
    assert (kept["slot"], kept["floor_id"], kept["present"], kept["payload_size_bytes"]) == ("gold", first["floor_id"], True, 1)
    assert (await house.memory.get(f"{path}/snapshots/quest/gold"))["value"] == 1
    assert (await house.memory.call("GET", f"{path}/snapshots/quest/nothing"))[0] == 404
    query = f"{path}/diff?against=live&branch_id=main&state_namespace=quest"
    [plain] = await house.memory.get(query)
    assert (plain["change_type"], "left_value" in plain) == ("changed", False)
    [whole] = await house.memory.get(f"{query}&include_values=true")
    assert (whole["left_value"], whole["right_value"]) == (2, 1)


async def test_what_stands_in_a_retrys_way_is_told_before(house: House) -> None:
    talk = await begin(house)
    await registered(talk, "deed", default_replay_safety="confirm_on_replay")
    deed = {"namespace": "deed", "slot": "door", "value": "open"}
    done = await talk.respond("Hi", session_state_writes=[deed, *writes(gold=1)])
    path = f"/floors/{done['floor_id']}/session-state/replay-safety"
    told = await house.memory.get(path)
    [blocker] = told["blockers"]
    assert (told["allowed"], blocker["target_slot"], blocker["reason"]) == (False, "door", "confirmation_required")
    sure = await house.memory.get(f"{path}?confirmed_mutation_ids=other,{blocker['mutation_id']}")
    assert sure == {"allowed": True, "blockers": []}
