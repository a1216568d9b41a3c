"""Prompts of a prompt preset, one by one."""

from typing import Any

import pytest

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.library.conftest import refusal

PROMPTS: list[dict[str, Any]] = [
    {"identifier": "main", "name": "Main", "role": "system", "content": "Answer briefly.", "colour": "red"},
    {"identifier": "chatHistory", "marker": True},
    {"identifier": "spare", "injection_position": 1, "injection_depth": 2, "injection_trigger": ["continue"]},
]
ORDERS = [
    {"character_id": 100000, "order": [{"identifier": "spare", "enabled": True}]},
    {
        "character_id": 100001,
        "order": [{"identifier": "chatHistory", "enabled": True}, {"identifier": "main", "enabled": False}],
    },
]


async def made(caller: Reader, **content: Json) -> str:
    """A preset with these contents; returns the path of its entries."""
    data = content or {"temperature": 1, "prompts": PROMPTS, "prompt_order": ORDERS}
    return f"/presets/{(await caller.make('/presets', name='P', data=data))['id']}/entries"


async def whole(caller: Reader, entries: str) -> dict[str, Any]:
    """The preset above these entries: its version and its content."""
    found: dict[str, Any] = (await caller.get(entries.removesuffix("/entries"))).body["data"]
    return found


async def test_entries_are_listed_in_the_order_that_counts(caller: Reader) -> None:
    entries = await made(caller)
    listed = (await caller.get(entries)).body["data"]
    assert listed["preset_id"] == entries.split("/")[2]
    assert listed["default_character_id"] == 100001
    assert [(entry["identifier"], entry["enabled"]) for entry in listed["entries"]] == [
        ("chatHistory", True),
        ("main", False),
        ("spare", False),
    ]
    assert listed["entries"][1] == {
        "identifier": "main",
        "name": "Main",
        "role": "system",
        "content": "Answer briefly.",
        "system_prompt": False,
        "marker": False,
        "injection_position": 0,
        "injection_depth": None,
        "injection_order": None,
        "forbid_overrides": None,
        "injection_trigger": None,
        "enabled": False,
        "extra": {"colour": "red"},
    }
    assert (await caller.get(f"{entries}/main")).body["data"] == listed["entries"][1]

    async def names(query: str) -> list[str]:
        return [entry["identifier"] for entry in (await caller.get(f"{entries}?{query}")).body["data"]["entries"]]

    assert await names("enabled=true") == ["chatHistory"]
    assert await names("enabled=false&marker=false") == ["main", "spare"]
    assert (await caller.get(f"{entries}?enabled=1")).status == 400
    assert await refusal(caller.get(f"{entries}/nobody")) == (404, "not_found")


async def test_a_new_entry_stands_at_the_end_and_is_sent(caller: Reader) -> None:
    entries = await made(caller)
    new = (await caller.post(entries, {"identifier": "tone", "content": "Be warm.", "extra": {"mark": 1}})).body["data"]
    assert (new["name"], new["role"], new["enabled"], new["extra"]) == ("", "system", True, {"mark": 1})
    preset = await whole(caller, entries)
    assert preset["version"] == 2
    assert preset["data"]["prompts"][-1]["mark"] == 1
    assert preset["data"]["prompt_order"][1]["order"][-1] == {"identifier": "tone", "enabled": True}
    assert preset["data"]["prompt_order"][0] == ORDERS[0]
    again = await caller.post(entries, {"identifier": "tone"})
    assert (again.status, again.code, again.body["error"]["details"]["identifier"]) == (409, "preset_entry_exists", "tone")
    assert (await whole(caller, entries))["version"] == 2


async def test_a_preset_without_an_order_gets_sillytaverns_own(caller: Reader) -> None:
    entries = await made(caller, temperature=1)
    await caller.post(entries, {"identifier": "tone"})
    order = (await whole(caller, entries))["data"]["prompt_order"]
    assert [track["character_id"] for track in order] == [100001]
    names = [place["identifier"] for place in order[0]["order"]]
    assert (names[0], names[-1], len(names)) == ("main", "tone", 13)


async def test_a_change_writes_only_what_is_named(caller: Reader) -> None:
    entries = await made(caller)
    changed = await caller.patch(f"{entries}/main", {"content": "Answer at length.", "enabled": True})
    assert (changed.status, changed.body["data"]["enabled"]) == (200, True)
    preset = (await whole(caller, entries))["data"]
    assert preset["prompts"][0] == {**PROMPTS[0], "content": "Answer at length."}
    assert preset["prompts"][1:] == PROMPTS[1:]
    spare = (await caller.patch(f"{entries}/spare", {"injection_depth": None, "extra": {"a": 1}})).body["data"]
    assert (spare["injection_depth"], spare["extra"]) == (None, {"a": 1})
    stored = (await whole(caller, entries))["data"]["prompts"][2]
    assert stored == {"identifier": "spare", "injection_position": 1, "injection_trigger": ["continue"], "a": 1}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, ""),
        ({"expected_version": 1}, ""),
        ({"role": "tool"}, "/role"),
        ({"content": None}, "/content"),
        ({"extra": {"content": "x"}}, "/extra"),
        ({"injection_trigger": "continue"}, "/injection_trigger"),
    ],
)
async def test_what_no_entry_can_be_is_refused(reader: Reader, body: dict[str, Json], path: str) -> None:
    entries = await made(reader)
    refused = await reader.patch(f"{entries}/main", body)
    assert (refused.status, refused.code) == (400, "validation_error")
    assert refused.body["error"]["details"][0]["path"] == path
    assert (await whole(reader, entries))["version"] == 1


async def test_removing_takes_an_entry_out_of_every_order(caller: Reader) -> None:
    entries = await made(caller)
    gone = await caller.call("DELETE", f"{entries}/spare?expected_version=1", None, {})
    assert gone.body["data"] == {"identifier": "spare", "deleted": True}
    preset = (await whole(caller, entries))["data"]
    assert [prompt["identifier"] for prompt in preset["prompts"]] == ["main", "chatHistory"]
    assert preset["prompt_order"][0]["order"] == []
    stale = await caller.call("DELETE", f"{entries}/main?expected_version=1", None, {})
    assert (stale.status, stale.code, stale.body["error"]["details"]["version"]) == (409, "preset_conflict", 2)
    assert await refusal(caller.call("DELETE", f"{entries}/spare", None, {})) == (404, "not_found")


async def test_reordering_puts_the_others_behind(caller: Reader) -> None:
    entries = await made(caller)
    put = await caller.put(f"{entries}/reorder", {"identifiers": ["spare", "main"]})
    assert [(entry["identifier"], entry["enabled"]) for entry in put.body["data"]["entries"]] == [
        ("spare", False),
        ("main", False),
        ("chatHistory", True),
    ]
    preset = (await whole(caller, entries))["data"]
    assert [prompt["identifier"] for prompt in preset["prompts"]] == ["spare", "main", "chatHistory"]
    assert await refusal(caller.put(f"{entries}/reorder", {"identifiers": ["main", "nobody"]})) == (404, "not_found")
    assert await refusal(caller.put(f"{entries}/reorder", {"identifiers": ["main", "main"]})) == (400, "validation_error")
    assert (await whole(caller, entries))["version"] == 2


async def test_a_batch_tells_what_became_of_each(caller: Reader) -> None:
    entries = await made(caller)
    fields = {"enabled": True, "role": "user"}
    batch = await caller.patch(f"{entries}/batch/update", {"identifiers": ["main", "nobody", "spare"], "fields": fields})
    results = batch.body["data"]["results"]
    assert [(each["index"], each["identifier"], each["action"]) for each in results] == [
        (0, "main", "updated"),
        (1, "nobody", "not_found"),
        (2, "spare", "updated"),
    ]
    assert results[1]["data"] is None
    assert [results[at]["data"]["role"] for at in (0, 2)] == ["user", "user"]
    assert batch.body["data"]["meta"] == {"total": 3, "updated": 2, "not_found": 1}
    removed = await caller.post(f"{entries}/batch/delete", {"identifiers": ["spare", "nobody"], "expected_version": 2})
    assert [each["action"] for each in removed.body["data"]["results"]] == ["deleted", "not_found"]
    assert removed.body["data"]["meta"] == {"total": 2, "deleted": 1, "not_found": 1}
    assert (await whole(caller, entries))["version"] == 3
    await caller.post(f"{entries}/batch/delete", {"identifiers": ["nobody"]})
    assert (await whole(caller, entries))["version"] == 3


async def test_a_batch_cannot_make_a_preset_of_any_size(reader: Reader) -> None:
    names = [f"p{number}" for number in range(100)]
    entries = await made(reader, prompts=[{"identifier": name} for name in names])
    batch = {"identifiers": names, "fields": {"content": "x" * 200_000}}
    assert await refusal(reader.patch(f"{entries}/batch/update", batch)) == (413, "payload_too_large")
    assert (await whole(reader, entries))["version"] == 1
