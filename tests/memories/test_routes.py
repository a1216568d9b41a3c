"""The routes of memories: fields, codes and limits (TavernHeadless' contract, 3.2 to 3.4, 3.10, 3.11)."""

from typing import Any

from agentui.jsonio import Json, dumps_text
from tests.api.chats.conftest import Reader

CONTRACT = {
    "id", "scope", "scope_id", "type", "summary_tier", "content", "importance", "fact_key", "confidence", "source_floor_id",
    "source_message_id", "status", "lifecycle_status", "source_job_id", "token_count_estimate", "last_used_at",
    "coverage_start_floor_no", "coverage_end_floor_no", "derived_from_count", "created_at", "updated_at",
}  # fmt: skip


async def remember(reader: Reader, content: Json = "The lamp is lit.", **fields: Json) -> Any:
    """Write an item, by default a global fact."""
    return await reader.make(
        "/memories", **{"scope": "global", "scope_id": "global", "type": "fact", "content": content, **fields}
    )


async def listed(reader: Reader, query: str = "") -> list[str]:
    """The contents of a list."""
    answer = await reader.get(f"/memories?{query}")
    assert answer.status == 200, answer.text
    assert answer.body["meta"]["total"] == len(answer.body["data"])
    return [item["content"] for item in answer.body["data"]]


async def test_an_item_is_written_read_changed_undone_and_removed(reader: Reader) -> None:
    item = await remember(reader, {"text": "Mira fears wolves."}, fact_key="  Mira.FEAR ", summary_tier="micro", keys=["wolf"])
    assert item.keys() >= CONTRACT
    told = {name: item[name] for name in ("content", "fact_key", "summary_tier", "status", "lifecycle_status", "importance")}
    assert told == {
        "content": {"text": "Mira fears wolves."},
        "fact_key": "mira.fear",
        "summary_tier": None,
        "status": "active",
        "lifecycle_status": "active",
        "importance": 0.5,
    }
    assert item["scope_id"] != "global"
    assert (item["visible"], item["author"], item["keys"], item["sources"]) == (None, "user", ["wolf"], [])
    path = f"/memories/{item['id']}"
    assert (await reader.get(path)).body["data"] == item

    changed = (await reader.patch(path, {"type": "summary", "content": "Mira fears nothing."})).body["data"]
    assert (changed["fact_key"], changed["content"]) == (None, "Mira fears nothing.")
    assert (await reader.patch(path, {"status": "deprecated"})).body["data"]["lifecycle_status"] == "deprecated"
    history = (await reader.get(f"{path}/history")).body["data"]
    assert [each["before"]["content"] for each in history] == ["Mira fears nothing.", {"text": "Mira fears wolves."}]
    assert (await reader.delete(path)).body == {"data": {"id": item["id"], "deleted": True}}
    assert (await reader.get(path)).status == 404
    for _ in range(3):
        undone = await reader.post(f"{path}/undo", {})
    assert {**undone.body["data"], "updated_at": item["updated_at"]} == item
    assert (await reader.post(f"{path}/undo", {})).status == 409
    logged = (await reader.get(f"/operation-logs?target_id={item['id']}")).body["data"]
    assert [each["action"] for each in logged][-2:] == ["update_memory", "create_memory"]
    assert "wolves" not in str(logged)


async def test_a_status_that_is_left_out_follows_the_other(reader: Reader) -> None:
    for given, kept in (
        ({"lifecycle_status": "deprecated"}, ("deprecated", "deprecated")),
        ({"lifecycle_status": "compacted"}, ("active", "compacted")),
        ({"status": "deprecated"}, ("deprecated", "deprecated")),
        ({"status": "deprecated", "lifecycle_status": "active"}, ("deprecated", "active")),
    ):
        item = await remember(reader, **given)
        assert (item["status"], item["lifecycle_status"]) == kept
    item = (await reader.patch(f"/memories/{item['id']}", {"lifecycle_status": "compacted"})).body["data"]
    assert (item["status"], item["lifecycle_status"]) == ("deprecated", "compacted")


async def test_lists_and_numbers_take_the_same_filters(reader: Reader) -> None:
    await remember(reader, "Ключ под ПОРОГОМ", importance=0.9, fact_key="key.place")
    await remember(reader, "100% of_it", type="summary", summary_tier="macro", confidence=0.25)
    loop = await remember(reader, {"text": 'She said "go\nhome"'}, type="open_loop", status="deprecated")
    assert await listed(reader, "q=%D0%BF%D0%BE%D1%80%D0%BE%D0%B3%D0%BE%D0%BC") == ["Ключ под ПОРОГОМ"]
    assert await listed(reader, "q=0%25%20of_") == ["100% of_it"]
    assert await listed(reader, "q=%25f") == []
    assert await listed(reader, "q=%22go%0Ahome%22") == [{"text": 'She said "go\nhome"'}]
    assert await listed(reader, "fact_key=KEY.place") == ["Ключ под ПОРОГОМ"]
    assert await listed(reader, "importance_min=0.9&importance_max=1") == ["Ключ под ПОРОГОМ"]
    assert await listed(reader, "importance_min=1&importance_max=0") == []
    assert await listed(reader, f"created_from={loop['created_at']}&status=deprecated") == [loop["content"]]
    assert await listed(reader, "scope=global&scope_id=global&sort_by=confidence&summary_tier=macro") == ["100% of_it"]
    stats = (await reader.get("/memories/stats")).body["data"]
    assert stats["by_type"] == {"fact": 1, "summary": 1, "open_loop": 1}
    assert (stats["total"], stats["active"], stats["deprecated"]) == (3, 2, 1)
    assert stats["estimated_tokens"] == 4 + 3 + 5
    assert abs(stats["avg_importance"] - 1.9 / 3) < 1e-9
    assert abs(stats["avg_confidence"] - 0.75) < 1e-9
    nothing = (await reader.get("/memories/stats?q=dragon")).body["data"]
    assert (nothing["total"], nothing["avg_importance"], nothing["estimated_tokens"]) == (0, 0, 0)


async def test_batches_tell_of_each_id(reader: Reader) -> None:
    ids = [(await remember(reader, f"fact {number}"))["id"] for number in range(2)]
    done = (await reader.patch("/memories/batch/status", {"ids": [ids[1], "nobody"], "status": "deprecated"})).body["data"]
    assert [(row["index"], row["action"]) for row in done["results"]] == [(0, "updated"), (1, "not_found")]
    assert done["results"][0]["data"]["lifecycle_status"] == "deprecated"
    assert done["meta"] == {"total": 2, "updated": 1, "not_found": 1, "status": "deprecated"}
    gone = (await reader.post("/memories/batch/delete", {"ids": [*ids, "nobody"]})).body["data"]
    assert gone["results"][2] == {"index": 2, "id": "nobody", "action": "not_found"}
    assert gone["meta"] == {"total": 3, "deleted": 2, "not_found": 1}
    assert (await reader.post("/memories/batch/delete", {"ids": [ids[0], ids[0]]})).status == 400
    assert await listed(reader) == []


async def test_what_does_not_fit_is_refused_with_its_place(reader: Reader) -> None:
    good = {"scope": "global", "scope_id": "global", "type": "fact", "content": "x"}
    for fault, path in (
        ({"content": ""}, "/content"),
        ({"content": {"text": "x", "more": 1}}, "/content"),
        ({"content": "x" * 70_000}, "/content"),
        ({"importance": 1.5}, "/importance"),
        ({"scope": "page"}, "/scope"),
        ({"scope": "branch", "scope_id": "main"}, "/scope_id"),
        ({"keys": ["k"] * 65}, "/keys"),
        ({"sources": [{"page_id": "p"}, {"page_id": "p"}]}, "/sources"),
    ):
        answer = await reader.post("/memories", {**good, **fault})
        assert answer.status == 400, fault
        assert answer.body["error"]["details"][0]["path"].startswith(path), answer.text
    assert (await reader.post("/memories", {**good, "content": "x" * 1_100_000})).status == 413
    assert (await reader.post("/memories", {**good, "sources": [{"page_id": "nowhere"}]})).status == 404
    item = await remember(reader)
    assert (await reader.patch(f"/memories/{item['id']}", {})).status == 400
    assert (await reader.get(f"/memories?q={'q' * 5000}")).status == 400
    assert (await reader.get("/memories?visible=true")).status == 400
    assert (await reader.get("/memories?limit=201")).status == 400
    assert (await reader.get("/memories?session_id=nowhere")).status == 404
    assert await listed(reader, "limit=200") == ["The lamp is lit."]


async def test_edges_are_unique_and_go_with_their_ends(reader: Reader) -> None:
    one, two = [(await remember(reader, text))["id"] for text in ("one", "two")]
    edge = await reader.make("/memory-edges", from_id=one, to_id=two, relation="supports")
    assert edge.keys() >= {"id", "from_id", "to_id", "relation", "created_at"}
    other = await reader.make("/memory-edges", from_id=one, to_id=two, relation="updates")
    again = await reader.post("/memory-edges", {"from_id": one, "to_id": two, "relation": "supports"})
    assert (again.status, again.body["error"]["code"]) == (409, "memory_edge_conflict")
    nowhere = await reader.post("/memory-edges", {"from_id": one, "to_id": "nobody", "relation": "supports"})
    assert (nowhere.status, nowhere.body["error"]["code"]) == (404, "memory_edge_node_not_found")
    path = f"/memory-edges/{edge['id']}"
    assert (await reader.patch(path, {"relation": "supports"})).body["data"] == edge
    assert (await reader.patch(path, {"relation": "updates"})).body["error"]["code"] == "memory_edge_conflict"
    assert (await reader.patch(path, {"relation": "resolves"})).body["data"]["relation"] == "resolves"
    [found] = (await reader.get(f"/memory-edges?from_id={one}&relation=updates")).body["data"]
    assert found["id"] == other["id"]
    await reader.make("/memory-edges", from_id=one, to_id=one, relation="updates")
    assert (await reader.get(f"/memory-edges?to_id={two}")).body["meta"]["total"] == 2
    assert (await reader.delete(path)).body == {"data": {"id": edge["id"], "deleted": True}}
    assert (await reader.get(path)).status == 404
    await reader.delete(f"/memories/{two}")
    assert (await reader.get("/memory-edges")).body["meta"]["total"] == 1


async def test_scopes_and_ledgers_are_empty_before_any_job(reader: Reader) -> None:
    session = await reader.session_id()
    floor = await reader.floor_id(session)
    page = await reader.make("/pages", floor_id=floor, page_no=0, page_kind="output")
    for kind in ("proposals", "promotions"):
        ledger = (await reader.get(f"/pages/{page['id']}/memory/{kind}")).body["data"]
        assert ledger == {"page_id": page["id"], "floor_id": floor, "session_id": session, "branch_id": "main", "items": []}
        assert (await reader.get(f"/pages/nowhere/memory/{kind}")).status == 404
    scopes = (await reader.get("/memory/scopes?scope=global&scope_id=global&sort_by=last_compaction_at")).body
    assert (scopes["data"], scopes["meta"]["total"]) == ([], 0)


async def test_the_hosts_of_an_item_go_and_it_with_them(reader: Reader) -> None:
    session = await reader.session_id()
    floor = await reader.floor_id(session, state="committed")
    other = await reader.floor_id(session, floor_no=1, state="committed")
    await reader.post(f"/floors/{other}/branch", {"branch_id": "side"})
    side = dumps_text([session, "side"])
    await remember(reader, "of the side", scope="branch", scope_id=f' ["{session}", "side"]')
    await remember(reader, "of a branch to come", scope="branch", scope_id=dumps_text([session, "later"]))
    await remember(reader, "of the floor", scope="floor", scope_id=floor)
    await remember(reader, "of the chat", scope="chat", scope_id=session)
    named = await remember(reader, "of everybody", source_floor_id=floor)
    assert await listed(reader, f"scope=branch&scope_id={side}") == ["of the side"]
    await reader.delete(f"/branches/side?session_id={session}")
    assert await listed(reader, "scope=branch") == ["of a branch to come"]
    await reader.delete(f"/floors/{floor}")
    assert await listed(reader, "scope=floor") == []
    assert (await reader.get(f"/memories/{named['id']}")).body["data"]["source_floor_id"] is None
    await reader.delete(f"/sessions/{session}")
    assert await listed(reader) == ["of everybody"]
