"""Branches, floors, pages and messages over HTTP: the table of locks, conflicts and moves."""

import pytest
from sqlalchemy import Connection, delete, update

from agentui.api.chats.protocol import now_ms
from agentui.chats import rows
from agentui.chats.parts import Content
from agentui.errors import Busy
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.paging import MAX_PART_BYTES
from agentui.store.tables import branch_snapshots, messages
from agentui.turns import service
from agentui.turns.failing import fail_floor
from agentui.turns.locks import Owner
from agentui.turns.transactions import commit_floor, open_floor
from tests.api.chats.conftest import Reader
from tests.variables.database import save_branch_snapshot

STATES = ("draft", "generating", "committed", "failed")


async def content(reader: Reader, state: str) -> tuple[str, str, str]:
    """A floor in a state with an output page and a message; a committed one comes from a turn."""
    session_id = await reader.session_id()
    if state != "committed":
        floor_id = await reader.floor_id(session_id, state=state)
        page = await reader.make("/pages", floor_id=floor_id, page_no=1, page_kind="output")
        message = await reader.make("/messages", page_id=page["id"], seq=0, role="assistant", content="Hi")
        return floor_id, page["id"], message["id"]
    store = reader.server.state.store
    opened = await store.write(open_floor, DEFAULT_ACCOUNT, session_id, "main", "r", Owner("me", 2), Content("Hi"), 1)
    done = await store.write(commit_floor, DEFAULT_ACCOUNT, opened.floor_id, Content("Hello."), 1, 2, 1)
    await store.write(save_branch_snapshot, DEFAULT_ACCOUNT, opened.floor_id, 1)
    result = (await reader.get(f"/floors/{opened.floor_id}/result")).body["data"]
    return opened.floor_id, done.output_page_id, result["assistant_message_id"]


@pytest.mark.parametrize("state", STATES)
async def test_content_is_locked_once_it_is_committed(reader: Reader, state: str) -> None:
    floor_id, page_id, message_id = await content(reader, state)
    tries = [
        await reader.post("/pages", {"floor_id": floor_id, "page_no": 5, "page_kind": "mixed"}),
        await reader.post("/messages", {"page_id": page_id, "seq": 5, "role": "narrator", "content": "x"}),
        await reader.patch(f"/pages/{page_id}", {"checksum": "abc"}),
        await reader.patch(f"/messages/{message_id}", {"content": "changed"}),
        await reader.patch("/messages/batch/visibility", {"ids": [message_id, "nobody"], "is_hidden": True}),
        await reader.post("/messages/batch/delete", {"ids": ["nobody", message_id]}),
        await reader.post("/pages/batch/delete", {"ids": ["nobody", page_id]}),
    ]
    if state == "committed":
        assert {(answer.status, answer.code) for answer in tries} == {(409, "content_target_locked")}
        assert (await reader.get(f"/messages/{message_id}")).body["data"]["content"] == "Hello."
    else:
        assert [answer.status for answer in tries] == [201, 201, 200, 200, 200, 200, 200]
        assert (await reader.get(f"/pages/{page_id}")).status == 404


@pytest.mark.parametrize("state", STATES)
async def test_an_output_page_can_always_be_activated_and_an_input_page_never(reader: Reader, state: str) -> None:
    floor_id, page_id, _ = await content(reader, state)
    assert (await reader.patch(f"/pages/{page_id}/activate")).body["data"]["is_active"] is True
    if state == "committed":
        (page,) = (await reader.get(f"/pages?floor_id={floor_id}&page_kind=input")).body["data"]
    else:
        page = await reader.make("/pages", floor_id=floor_id, page_no=0, page_kind="input")
    refused = await reader.patch(f"/pages/{page['id']}/activate")
    assert (refused.status, refused.code) == (409, "page_activation_not_allowed")


@pytest.mark.parametrize("state", STATES)
async def test_only_committed_floors_have_branches_and_results(reader: Reader, state: str) -> None:
    floor_id, _, _ = await content(reader, state)
    forked = await reader.post(f"/floors/{floor_id}/branch", {"branch_id": "alt"})
    result = await reader.get(f"/floors/{floor_id}/result")
    if state == "committed":
        assert (forked.status, forked.body["data"]["source_floor_no"], result.status) == (201, 0, 200)
        assert (await reader.post(f"/floors/{floor_id}/branch", {"branch_id": "alt"})).code == "branch_exists"
        unnamed = await reader.call("POST", f"/floors/{floor_id}/branch", None, {})
        assert unnamed.body["data"]["branch_id"].startswith("branch-")
    else:
        assert {(answer.status, answer.code) for answer in (forked, result)} == {(409, "invalid_state")}


async def branch_values(reader: Reader, session_id: str, branch_id: str) -> dict[str, Json]:
    """What a branch's tier holds."""
    listed = await reader.get(f"/variables?scope=branch&scope_id=branch:{session_id}:{branch_id}")
    return {variable["key"]: variable["value"] for variable in listed.body["data"]}


async def test_a_committed_floor_made_by_hand_is_forked_with_the_variables_it_saw(reader: Reader) -> None:
    session_id = await reader.session_id()

    async def put(key: str, value: Json) -> None:
        here = {"scope": "branch", "session_id": session_id, "branch_id": "main"}
        assert (await reader.call("PUT", "/variables", {**here, "key": key, "value": value}, {})).status in (200, 201)

    await put("gold", {"coins": [1, None, "2"]})
    await put("näme", "Ada")
    floor_id = await reader.floor_id(session_id, state="committed")
    await put("gold", 0)
    await put("later", True)
    later = await reader.floor_id(session_id, 1, state="committed")
    for source, name in ((floor_id, "alt"), (later, "late")):
        assert (await reader.post(f"/floors/{source}/branch", {"branch_id": name})).status == 201
    assert await branch_values(reader, session_id, "alt") == {"gold": {"coins": [1, None, "2"]}, "näme": "Ada"}
    assert await branch_values(reader, session_id, "late") == {"gold": 0, "näme": "Ada", "later": True}


async def test_a_floor_without_a_snapshot_is_not_forked(reader: Reader) -> None:
    session_id = await reader.session_id()
    floor_id = await reader.floor_id(session_id, state="committed")

    def forget(db: Connection) -> None:
        db.execute(delete(branch_snapshots).where(branch_snapshots.c.floor_id == floor_id))

    await reader.server.state.store.write(forget)
    refused = await reader.post(f"/floors/{floor_id}/branch", {"branch_id": "alt"})
    assert (refused.status, refused.code) == (409, "branch_local_snapshot_missing")
    names = [branch["branch_id"] for branch in (await reader.get(f"/sessions/{session_id}/branches")).body["data"]]
    assert names == ["main"]


@pytest.mark.parametrize("state", STATES)
async def test_floors_can_be_moved_and_removed_in_every_state(reader: Reader, state: str) -> None:
    floor_id, page_id, _ = await content(reader, state)
    moved = await reader.patch(f"/floors/{floor_id}", {"floor_no": 9, "branch_id": "alt"})
    assert (moved.body["data"]["floor_no"], moved.body["data"]["branch_id"]) == (9, "alt")
    assert (await reader.delete(f"/floors/{floor_id}")).body == {"data": {"id": floor_id, "deleted": True}}
    assert (await reader.get(f"/pages/{page_id}")).status == 404


async def test_a_floor_is_made_as_it_is_asked_for(reader: Reader) -> None:
    session_id = await reader.session_id()
    parent = await reader.floor_id(session_id, 0, state="committed")
    made = await reader.make("/floors", session_id=session_id, floor_no=3, parent_floor_id=parent, token_in=5, branch_id="alt")
    assert (made["state"], made["parent_floor_id"], made["token_in"], made["superseded_at"]) == ("draft", parent, 5, None)
    listed = (await reader.get(f"/sessions/{session_id}/branches?sort_by=branch_id")).body["data"]
    names = [branch["branch_id"] for branch in listed]
    assert names == ["main", "alt"]


async def test_a_parent_must_come_before_and_from_the_same_session(reader: Reader) -> None:
    here, there = await reader.session_id(), await reader.session_id()
    floors = [await reader.floor_id(here, number) for number in range(3)]
    foreign = await reader.floor_id(there)
    assert (await reader.post("/floors", {"session_id": here, "floor_no": 9, "parent_floor_id": foreign})).code == (
        "floor_parent_session_mismatch"
    )
    assert (await reader.post("/floors", {"session_id": here, "floor_no": 9, "parent_floor_id": "nobody"})).status == 404
    for number in (1, 2):
        below = {"session_id": here, "branch_id": "alt", "floor_no": number, "parent_floor_id": floors[2]}
        assert (await reader.post("/floors", below)).code == "floor_patch_topology_invalid"

    async def code(fields: Json) -> str:
        return (await reader.patch(f"/floors/{floors[1]}", fields)).code

    assert await code({"parent_floor_id": floors[1]}) == "floor_patch_topology_invalid"
    assert await code({"parent_floor_id": floors[2]}) == "floor_patch_topology_invalid"
    assert await code({"parent_floor_id": foreign}) == "floor_parent_session_mismatch"
    assert await code({"floor_no": 2}) == "constraint_error"
    assert await code({"floor_no": 2, "state": "draft"}) == "floor_patch_mixed_fields"
    assert await code({"token_in": 2}) == "floor_patch_restricted_field"
    assert await code({}) == "validation_error"
    assert (await reader.patch(f"/floors/{floors[1]}", {"parent_floor_id": floors[0]})).status == 200


async def test_versions_of_a_page_take_turns(reader: Reader) -> None:
    floor_id = await reader.floor_id(await reader.session_id())
    first, second = [
        await reader.make("/pages", floor_id=floor_id, page_no=1, page_kind="output", version=version) for version in (1, 2)
    ]
    other = await reader.make("/pages", floor_id=floor_id, page_no=2, page_kind="output")
    assert [page["is_active"] for page in (first, second, other)] == [True, False, True]
    await reader.patch(f"/pages/{second['id']}/activate")
    active = (await reader.get(f"/pages?floor_id={floor_id}&is_active=true&sort_by=page_no&sort_order=asc")).body["data"]
    assert [page["id"] for page in active] == [second["id"], other["id"]]
    again = await reader.post("/pages", {"floor_id": floor_id, "page_no": 1, "page_kind": "output", "version": 2})
    moved = await reader.patch(f"/pages/{first['id']}", {"version": 2})
    assert (again.code, moved.code) == ("page_conflict", "page_conflict")
    onto_active = await reader.patch(f"/pages/{other['id']}", {"page_no": 1, "version": 7})
    assert (onto_active.status, onto_active.code) == (409, "page_conflict")
    assert "Page 1 has an active version already, version 2" in onto_active.body["error"]["message"]
    assert (await reader.patch(f"/pages/{first['id']}", {"page_no": 2, "version": 2})).body["data"]["is_active"] is False
    by_hand = await reader.post("/pages", {"floor_id": floor_id, "page_no": 3, "page_kind": "output", "is_active": True})
    assert (by_hand.status, by_hand.body["error"]["details"][0]["path"]) == (400, "/is_active")


async def test_messages_keep_their_order_and_their_flags(reader: Reader) -> None:
    floor_id = await reader.floor_id(await reader.session_id())
    page = await reader.make("/pages", floor_id=floor_id, page_no=0, page_kind="mixed")
    made = [await reader.make("/messages", page_id=page["id"], seq=seq, role="user", content=f"{seq}") for seq in (2, 0, 1)]
    assert {**made[0], "id": "", "created_at": 0} == {
        "id": "", "page_id": page["id"], "seq": 2, "role": "user", "content": "2", "content_format": "text",
        "token_count": 0, "is_hidden": False, "source": None, "created_at": 0, "parts": None,
    }  # fmt: skip
    listed = (await reader.get(f"/messages?floor_id={floor_id}&sort_by=seq&sort_order=asc")).body["data"]
    assert [message["seq"] for message in listed] == [0, 1, 2]
    taken = await reader.post("/messages", {"page_id": page["id"], "seq": 0, "role": "user", "content": "x"})
    moved = await reader.patch(f"/messages/{made[0]['id']}", {"seq": 0})
    empty = await reader.patch(f"/messages/{made[0]['id']}", {"content": ""})
    assert (taken.code, moved.code, empty.status) == ("message_conflict", "message_conflict", 400)
    hidden = await reader.patch("/messages/batch/visibility", {"ids": [made[0]["id"], "nobody"], "is_hidden": True})
    assert hidden.body["data"] == {
        "results": [
            {"index": 0, "id": made[0]["id"], "action": "updated", "data": {**made[0], "is_hidden": True}},
            {"index": 1, "id": "nobody", "action": "not_found"},
        ],
        "meta": {"total": 2, "updated": 1, "not_found": 1, "is_hidden": True},
    }
    assert [one["id"] for one in (await reader.get("/messages?is_hidden=true")).body["data"]] == [made[0]["id"]]
    gone = await reader.post("/messages/batch/delete", {"ids": [made[0]["id"], "nobody"]})
    assert gone.body["data"]["meta"] == {"total": 2, "deleted": 1, "not_found": 1, "conflicts": 0}


@pytest.mark.parametrize("kind", ["pages", "messages"])
async def test_one_that_is_locked_refuses_the_whole_batch(reader: Reader, kind: str) -> None:
    _, *locked = await content(reader, "committed")
    _, *free = await content(reader, "draft")
    ids = [{"pages": page_id, "messages": message_id}[kind] for page_id, message_id in (free, locked)]
    refused = await reader.post(f"/{kind}/batch/delete", {"ids": ids})
    assert (refused.status, refused.code) == (409, "content_target_locked")
    assert (await reader.get(f"/{kind}/{ids[0]}")).status == 200


async def test_pages_are_removed_together_with_what_is_on_them(reader: Reader) -> None:
    kept, gone, too = [await content(reader, state) for state in ("draft", "generating", "failed")]
    host = {"scope": "page", "scope_id": too[1], "key": "gold", "value": 5}
    assert (await reader.put("/variables", host)).status == 201
    answer = await reader.post("/pages/batch/delete", {"ids": [gone[1], "nobody", too[1]]})
    assert answer.body["data"] == {
        "results": [
            {"index": 0, "id": gone[1], "action": "deleted"},
            {"index": 1, "id": "nobody", "action": "not_found"},
            {"index": 2, "id": too[1], "action": "deleted"},
        ],
        "meta": {"total": 3, "deleted": 2, "not_found": 1, "conflicts": 0},
    }
    found = [(await reader.get(f"/messages/{message_id}")).status for _, _, message_id in (kept, gone, too)]
    assert (found, (await reader.get("/variables")).body["data"]) == ([200, 404, 404], [])


async def test_what_is_hidden_comes_back_as_far_as_one_answer_holds_it(reader: Reader) -> None:
    floor_id = await reader.floor_id(await reader.session_id())
    page = await reader.make("/pages", floor_id=floor_id, page_no=0, page_kind="mixed")
    made = [await reader.make("/messages", page_id=page["id"], seq=seq, role="user", content="x") for seq in range(3)]
    huge = "x" * (MAX_PART_BYTES // 2)
    await reader.server.state.store.write(lambda db: db.execute(update(messages).values(content=huge)))
    answer = await reader.patch("/messages/batch/visibility", {"ids": [one["id"] for one in made], "is_hidden": True})
    results = answer.body["data"]["results"]
    assert [(result["action"], "data" in result) for result in results] == [
        ("updated", True),
        ("updated", True),
        ("updated", False),
    ]


async def test_what_a_turn_answers_is_not_changed_meanwhile(reader: Reader) -> None:
    session_id = await reader.session_id()
    store, turns, now = reader.server.state.store, reader.server.state.turns, now_ms()
    opened = await store.write(
        open_floor, DEFAULT_ACCOUNT, session_id, "main", "r", turns.owner_at(now), Content("How much gold?"), now
    )
    (page,) = (await reader.get(f"/pages?floor_id={opened.floor_id}")).body["data"]
    (question,) = (await reader.get(f"/messages?floor_id={opened.floor_id}")).body["data"]
    refused = [
        await reader.patch(f"/messages/{question['id']}", {"content": "How old?"}),
        await reader.delete(f"/messages/{question['id']}"),
        await reader.patch("/messages/batch/visibility", {"ids": [question["id"]], "is_hidden": True}),
        await reader.post("/messages/batch/delete", {"ids": [question["id"]]}),
        await reader.post("/messages", {"page_id": page["id"], "seq": 1, "role": "user", "content": "And silver?"}),
        await reader.post("/pages", {"floor_id": opened.floor_id, "page_no": 1, "page_kind": "output"}),
        await reader.patch(f"/pages/{page['id']}", {"page_no": 4}),
        await reader.delete(f"/pages/{page['id']}"),
        await reader.post("/pages/batch/delete", {"ids": [page["id"]]}),
    ]
    assert {(answer.status, answer.code) for answer in refused} == {(409, "active_run_in_progress")}
    assert (await reader.get(f"/messages/{question['id']}")).body["data"] == question
    await store.write(fail_floor, DEFAULT_ACCOUNT, opened.floor_id, {"code": "cancelled"}, now)
    assert (await reader.patch(f"/messages/{question['id']}", {"content": "How old?"})).status == 200


async def test_a_branch_name_of_two_sessions_needs_the_session(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [await reader.session_id(), await reader.session_id()]
    floors = [await reader.floor_id(session_id, branch_id="alt") for session_id in sessions]
    assert (await reader.delete("/branches/alt")).code == "ambiguous_branch"
    gone = await reader.delete(f"/branches/alt?session_id={sessions[0]}")
    assert gone.body["data"] == {
        "id": "alt",
        "branch_id": "alt",
        "session_id": sessions[0],
        "deleted": True,
        "deleted_floor_count": 1,
        "deleted_floor_ids": floors[:1],
    }
    assert [(await reader.get(f"/floors/{floor_id}")).status for floor_id in floors] == [404, 200]
    monkeypatch.setattr(rows, "AT_ONCE", 1)
    await reader.floor_id(sessions[1], 1, branch_id="alt")
    assert (await reader.delete("/branches/alt")).body["data"]["deleted_floor_count"] == 2
    # Also a branch that goes in parts is gone with the answer.
    again = await reader.floor_id(sessions[1], branch_id="alt")
    listed = (await reader.get(f"/floors?session_id={sessions[1]}")).body["data"]
    assert [floor["id"] for floor in listed] == [again]

    def busy(*_: object) -> bool:
        raise Busy("The database is busy.", retry_after=1)

    # It is removed also where its parts cannot be yet.
    await reader.floor_id(sessions[1], 1, branch_id="alt")
    monkeypatch.setattr(service, "remove_part", busy)
    assert (await reader.delete("/branches/alt")).body["data"]["deleted_floor_count"] == 2
    assert (await reader.get(f"/floors/{again}")).status == 404


async def test_two_branches_are_compared_by_the_floors_they_lead_through(reader: Reader) -> None:
    session_id = await reader.session_id()
    main = [await reader.floor_id(session_id, number, state="committed") for number in range(3)]
    await reader.post(f"/floors/{main[1]}/branch", {"branch_id": "alt"})
    path = f"/sessions/{session_id}/branches/diff?target_branch_id=alt"
    assert (await reader.get(path)).code == "branch_not_found"
    own = await reader.floor_id(session_id, 2, branch_id="alt", state="committed")
    diff = (await reader.get(path)).body["data"]
    assert (diff["fork_floor_no"], diff["shared_floor_nos"]) == (1, [0, 1])
    assert [floor["id"] for floor in diff["base_only_floors"]] == [main[2]]
    assert [(floor["id"], floor["floorNo"], floor["branchId"]) for floor in diff["target_only_floors"]] == [(own, 2, "alt")]


async def test_a_branch_is_reset_and_merged_as_told_before(reader: Reader) -> None:
    session_id = await reader.session_id()
    main = [await reader.floor_id(session_id, number, state="committed") for number in range(3)]
    place = f"/sessions/{session_id}/branches"
    stale = await reader.post(f"{place}/main/reset", {"target_floor_id": main[0], "expected_head_floor_id": main[1]})
    reset = await reader.post(f"{place}/main/reset", {"target_floor_id": main[1], "expected_head_floor_id": main[2]})
    assert (stale.status, stale.code) == (409, "branch_head_conflict")
    assert (reset.body["data"]["superseded_floor_ids"], reset.body["data"]["superseded_count"]) == ([main[2]], 1)
    listed = (await reader.get(f"/floors?session_id={session_id}")).body
    assert (listed["meta"]["total"], (await reader.get(f"/floors/{main[2]}")).status) == (2, 200)
    await reader.post(f"/floors/{main[1]}/branch", {"branch_id": "alt"})
    nothing = (await reader.post(f"{place}/alt/merge/preview", {})).body["data"]
    own = await reader.floor_id(session_id, 2, branch_id="alt", state="committed")
    preview = (await reader.post(f"{place}/alt/merge/preview", {"target_branch_id": "main"})).body["data"]
    merged = (await reader.post(f"{place}/alt/merge", {"expected_target_head_floor_id": main[1]})).body["data"]
    assert (nothing["strategy"], preview["strategy"], preview["can_merge"]) == ("no_op", "fast_forward", True)
    assert (merged["merged_floor_ids"], merged["target_head_floor_id"]) == ([own], own)
    assert (await reader.get(f"/floors/{own}")).body["data"]["branch_id"] == "main"


async def test_a_merge_that_would_lose_floors_is_blocked(reader: Reader) -> None:
    session_id = await reader.session_id()
    head = await reader.floor_id(session_id, 0, state="committed")
    await reader.post(f"/floors/{head}/branch", {"branch_id": "alt"})
    await reader.floor_id(session_id, 1, branch_id="alt", state="committed")
    await reader.floor_id(session_id, 1, state="committed")
    place = f"/sessions/{session_id}/branches/alt/merge"
    preview, refused = await reader.post(f"{place}/preview", {}), await reader.post(place, {})
    assert (preview.body["data"]["strategy"], preview.body["data"]["can_merge"]) == ("blocked", False)
    assert (refused.status, refused.code) == (409, "branch_merge_conflict")
    assert [conflict["code"] for conflict in refused.body["error"]["details"]["conflicts"]] == ["target_diverged"]
    assert refused.body["error"]["details"]["conflicts"][0]["target_floor_id"] == preview.body["data"]["target_head_floor_id"]
    for target, code in (("alt", "same_branch"), ("nowhere", "target_branch_not_found")):
        asked = {"target_branch_id": target}
        preview, refused = await reader.post(f"{place}/preview", asked), await reader.post(place, asked)
        told = preview.body["data"]["conflicts"]
        assert (refused.status, refused.code, [each["code"] for each in told]) == (409, "branch_merge_conflict", [code])
        assert refused.body["error"]["details"]["conflicts"] == told and told[0]["scope"] == "branch"
