"""Lorebooks are tried on a text without anything being kept."""

import pytest

from agentui.api.chats.lore_trial import MOST_ENTRIES
from agentui.jsonio import Json
from tests.api.chats.conftest import Reader

SEA: Json = {
    "uid": 0,
    "key": ["sea"],
    "content": "{{char}} is deep.",
    "comment": "Sea",
    "order": 50,
    "position": 4,
    "depth": 2,
}
ENTRIES: Json = {
    "0": SEA,
    "1": {"uid": 1, "key": ["deep"], "content": "So deep.", "order": 10},
    "2": {"uid": 2, "key": ["land"], "content": "Dry."},
    "3": {"uid": 3, "key": ["sea"], "content": "Off.", "disable": True},
    "4": {"uid": 4, "key": [], "content": "Always.", "constant": True},
}
BOOK: Json = {"name": "World", "entries": ENTRIES}


async def tried(reader: Reader, **body: Json) -> Json:
    """What is answered."""
    got = await reader.post("/worldbooks/test", {"worldbooks": [BOOK], **body})
    assert got.status == 200, got.text
    return got.body["data"]


async def test_each_entry_is_told_with_what_called_for_it_or_why_it_stays_out(reader: Reader) -> None:
    told = await tried(
        reader, text="By the sea", macros={"char": "Ada"}, settings={"world_info_recursive": True, "world_info_budget": 50}
    )
    entries = {entry["uid"]: entry for entry in told["entries"]}
    assert [(uid, entries[uid]["cause"], entries[uid]["reason"]) for uid in sorted(entries)] == [
        (0, "keys", None),
        (1, "keys", None),
        (2, None, "no_match"),
        (3, None, "disabled"),
        (4, "constant", None),
    ]
    sea = entries[0]
    assert (sea["is_active"], sea["position"], sea["depth"], sea["order"]) == (True, "at_depth", 2, 50)
    assert (sea["content_preview"], sea["first_match"]["matched_key"]) == ("Ada is deep.", "sea")
    assert (entries[1]["recursion_level"], entries[2]["is_active"]) == (1, False)
    assert told["tokens"] > 0
    assert (told["budget"], told["is_cut"]) == (4096, False)
    assert [entry["is_active"] for entry in told["entries"]] == [True] * 3 + [False] * 2


async def test_messages_are_looked_through_as_far_as_the_settings_say(reader: Reader) -> None:
    said = [{"text": "The sea!", "name": "Ada"}, {"text": "Yes."}]
    for depth, is_active in ((1, False), (2, False), (3, True)):
        told = await tried(reader, messages=said, text="Hm.", settings={"world_info_depth": depth})
        assert {entry["uid"]: entry["is_active"] for entry in told["entries"]}[0] is is_active


async def test_books_of_the_library_come_first(reader: Reader) -> None:
    made = await reader.post("/worldbooks", {"name": "Kept", "data": {"entries": {"9": {**SEA, "uid": 9}}}})
    id = made.body["data"]["id"]
    told = await tried(reader, worldbook_ids=[id], text="sea")
    places = {entry["uid"]: (entry["book"], entry["worldbook_id"]) for entry in told["entries"]}
    assert (places[9], places[0]) == ((0, id), (1, None))


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": "a"}, 400, "validation_error"),
        ({"worldbooks": [1], "text": "a"}, 400, "validation_error"),
        ({"worldbooks": [{}], "max_context": 0}, 400, "validation_error"),
        ({"worldbooks": [{}], "trigger": "x"}, 400, "validation_error"),
        ({"worldbook_ids": ["none"], "text": "a"}, 404, "worldbook_not_found"),
    ],
)
async def test_what_does_not_fit_is_refused(reader: Reader, body: Json, status: int, code: str) -> None:
    got = await reader.post("/worldbooks/test", body)
    assert (got.status, got.body["error"]["code"]) == (status, code)


async def test_an_empty_book_has_no_entries(reader: Reader) -> None:
    assert (await tried(reader, worldbooks=[{}, {"entries": 5}], text="sea"))["entries"] == []


async def test_large_books_are_tried_and_too_many_entries_refused(reader: Reader) -> None:
    long: dict[str, Json] = {"uid": 0, "key": ["sea"], "content": "Long. " * 300_000}
    got = await reader.post("/worldbooks/test", {"worldbooks": [{"entries": {"0": long}}], "text": "The sea"})
    assert (got.status, len(got.body["data"]["entries"])) == (200, 1)
    many: dict[str, Json] = {str(number): {} for number in range(MOST_ENTRIES + 1)}
    refused = await reader.post("/worldbooks/test", {"worldbooks": [{"entries": many}]})
    assert (refused.status, refused.code) == (413, "payload_too_large")
