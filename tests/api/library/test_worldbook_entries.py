"""Entries of a worldbook, one by one."""

from typing import Any

import pytest

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.library.conftest import refusal

ENTRIES: dict[str, dict[str, Any]] = {
    "0": {"uid": 0, "key": ["clock"], "content": "The clock stopped.", "order": 50, "probability": 20},
    "4": {"uid": 4, "key": ["Dwarf"], "keysecondary": ["mine"], "comment": "Dwarves", "disable": True, "order": 10},
    "9": {"uid": 9, "key": ["sea"], "content": "Salt.", "constant": True, "position": 4, "delayUntilRecursion": True},
}


async def made(caller: Reader, **entries: dict[str, Any]) -> str:
    """A worldbook with these entries; returns the path of its entries."""
    data = {"entries": entries or ENTRIES, "extensions": {"a": 1}}
    return f"/worldbooks/{(await caller.make('/worldbooks', name='W', data=data))['id']}/entries"


async def whole(caller: Reader, entries: str) -> dict[str, Any]:
    """The worldbook above these entries: its version and its content."""
    found: dict[str, Any] = (await caller.get(entries.removesuffix("/entries"))).body["data"]
    return found


async def test_an_entry_tells_its_fields_and_what_is_extra(caller: Reader) -> None:
    entries = await made(caller)
    book = await whole(caller, entries)
    assert (await caller.get(f"{entries}/0")).body["data"] == {
        "id": "0",
        "worldbook_id": book["id"],
        "uid": 0,
        "comment": "",
        "content": "The clock stopped.",
        "keys": ["clock"],
        "keys_secondary": [],
        "selective": True,
        "selective_logic": 0,
        "constant": False,
        "position": 0,
        "order": 50,
        "depth": 4,
        "role": 0,
        "disable": False,
        "scan_depth": None,
        "case_sensitive": None,
        "match_whole_words": None,
        "exclude_recursion": False,
        "prevent_recursion": False,
        "delay_until_recursion": None,
        "outlet_name": "",
        "extra": {"probability": 20},
        "created_at": book["created_at"],
        "updated_at": book["updated_at"],
    }
    assert (await caller.get(f"{entries}/9")).body["data"]["delay_until_recursion"] == 1
    assert await refusal(caller.get(f"{entries}/77")) == (404, "not_found")


async def test_entries_are_filtered_sorted_and_paged(caller: Reader) -> None:
    entries = await made(caller)

    async def ids(query: str = "") -> list[str]:
        return [entry["id"] for entry in (await caller.get(f"{entries}?{query}")).body["data"]]

    assert await ids() == ["4", "0", "9"]
    assert await ids("sort_order=desc") == ["9", "0", "4"]
    assert await ids("sort_by=uid&sort_order=desc") == ["9", "4", "0"]
    assert await ids("sort_by=updated_at") == ["0", "4", "9"]
    assert await ids("disable=true") == ["4"]
    assert await ids("constant=true&position=4") == ["9"]
    assert [await ids(f"q={word}") for word in ("dWARF", "MINE", "salt", "k", "nothing")] == [["4"], ["4"], ["9"], ["0"], []]
    page = (await caller.get(f"{entries}?limit=1&offset=1")).body
    assert [entry["id"] for entry in page["data"]] == ["0"]
    meta = {"total": 3, "limit": 1, "offset": 1, "has_more": True, "sort_by": "order", "sort_order": "asc"}
    assert page["meta"] == meta
    assert (await caller.get(f"{entries}?limit=201")).status == 400


async def test_a_new_entry_gets_the_next_uid(caller: Reader) -> None:
    entries = await made(caller)
    body = {"keys": ["bridge"], "content": "It burns.", "position": 7, "outlet_name": "news", "extra": {"probability": 5}}
    new = (await caller.post(entries, body)).body["data"]
    assert (new["id"], new["uid"], new["outlet_name"], new["extra"]) == ("10", 10, "news", {"probability": 5})
    book = await whole(caller, entries)
    assert (book["version"], book["data"]["extensions"]) == (2, {"a": 1})
    assert book["data"]["entries"]["10"]["key"] == ["bridge"]
    assert {id: book["data"]["entries"][id] for id in ENTRIES} == ENTRIES


async def test_names_that_are_no_uids_are_never_taken_again(caller: Reader) -> None:
    entries = await made(caller, **{"x": {"uid": 3}, "4": {}, "9007199254740992": {}})
    first, second = [(await caller.post(entries, {"keys": [], "content": ""})).body["data"] for _ in range(2)]
    assert (first["id"], second["id"]) == ("5", "6")
    listed = (await caller.get(f"{entries}?sort_by=uid")).body["data"]
    assert [entry["id"] for entry in listed] == ["x", "4", "5", "6", "9007199254740992"]


async def test_a_change_writes_only_what_is_named(caller: Reader) -> None:
    entries = await made(caller)
    changed = await caller.patch(f"{entries}/9", {"delay_until_recursion": None, "scan_depth": 0, "expected_version": 1})
    assert (changed.body["data"]["delay_until_recursion"], changed.body["data"]["scan_depth"]) == (None, 0)
    stored = (await whole(caller, entries))["data"]["entries"]
    assert stored == {**ENTRIES, "9": {**ENTRIES["9"], "delayUntilRecursion": False, "scanDepth": 0}}
    stale = await caller.patch(f"{entries}/9", {"order": 1, "expected_version": 1})
    assert (stale.status, stale.code, stale.body["error"]["details"]["version"]) == (409, "worldbook_conflict", 2)
    assert await refusal(caller.patch(f"{entries}/77", {"order": 1})) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, ""),
        ({"expected_version": 1}, ""),
        ({"position": 8}, "/position"),
        ({"selective_logic": 4}, "/selective_logic"),
        ({"role": 3}, "/role"),
        ({"keys": "clock"}, "/keys"),
        ({"extra": {"uid": 1}}, "/extra"),
        ({"delay_until_recursion": 0}, "/delay_until_recursion"),
    ],
)
async def test_what_no_entry_can_be_is_refused(reader: Reader, body: dict[str, Json], path: str) -> None:
    entries = await made(reader)
    refused = await reader.patch(f"{entries}/0", body)
    assert (refused.status, refused.code) == (400, "validation_error")
    assert refused.body["error"]["details"][0]["path"] == path
    assert (await whole(reader, entries))["version"] == 1


async def test_removing_and_batches(caller: Reader) -> None:
    entries = await made(caller)
    gone = await caller.call("DELETE", f"{entries}/0?expected_version=1", None, {})
    assert gone.body["data"] == {"id": "0", "deleted": True}
    assert await refusal(caller.call("DELETE", f"{entries}/0", None, {})) == (404, "not_found")
    batch = await caller.patch(f"{entries}/batch/update", {"ids": ["4", "0"], "fields": {"disable": False, "depth": 9}})
    results = batch.body["data"]["results"]
    assert [(each["id"], each["action"]) for each in results] == [("4", "updated"), ("0", "not_found")]
    assert (results[0]["data"]["depth"], results[1]["data"]) == (9, None)
    assert batch.body["data"]["meta"] == {"total": 2, "updated": 1, "not_found": 1}
    places = {"items": [{"id": "9", "order": 1}, {"id": "4", "order": 2}, {"id": "0", "order": 3}]}
    moved = (await caller.put(f"{entries}/batch/reorder", places)).body["data"]
    assert [each["action"] for each in moved["results"]] == ["updated", "updated", "not_found"]
    assert [entry["id"] for entry in (await caller.get(entries)).body["data"]] == ["9", "4"]
    removed = (await caller.post(f"{entries}/batch/delete", {"ids": ["4", "0"], "expected_version": 4})).body["data"]
    assert [each["action"] for each in removed["results"]] == ["deleted", "not_found"]
    assert removed["meta"] == {"total": 2, "deleted": 1, "not_found": 1}
    assert list((await whole(caller, entries))["data"]["entries"]) == ["9"]
    twice = {"ids": ["9", "9"], "fields": {"order": 1}}
    assert await refusal(caller.patch(f"{entries}/batch/update", twice)) == (400, "validation_error")


async def test_a_batch_cannot_make_a_worldbook_of_any_size(reader: Reader) -> None:
    entries = await made(reader, **{str(uid): {"uid": uid} for uid in range(100)})
    batch = {"ids": [str(uid) for uid in range(100)], "fields": {"content": "x" * 200_000}}
    assert await refusal(reader.patch(f"{entries}/batch/update", batch)) == (413, "payload_too_large")
    assert (await whole(reader, entries))["version"] == 1
