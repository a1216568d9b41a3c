"""Worldbooks: every form becomes SillyTavern's, a card's lorebook comes back as it was, and nothing is lost on the way."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.files.books import book_of_card, card_of_book, read_book, write_book
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.jsonio import Json, loads
from agentui.library.content import wrong_content
from tests.unit.assets.values import ANYTHING, OBJECTS

LIMITS = FileLimits()
ENTRIES = st.fixed_dictionaries(
    {
        "keys": st.lists(st.text(max_size=8), max_size=3),
        "content": st.text(max_size=20),
        "extensions": st.dictionaries(
            st.sampled_from(["position", "depth", "role", "probability", "sticky", "mine", "group_weight"]),
            st.integers(0, 7),
        ),
        "enabled": st.booleans(),
        "insertion_order": st.integers(0, 500),
    },
    optional={
        "secondary_keys": st.lists(st.text(max_size=8), max_size=3),
        "comment": st.text(max_size=8),
        "name": st.text(max_size=8),
        "priority": st.integers(),
        "use_regex": st.booleans(),
        "case_sensitive": st.booleans(),
        "constant": st.booleans(),
        "selective": st.booleans(),
        "another": ANYTHING,
    },
)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8)
"""A name's line ends are those of all texts: ``\\n``."""


@st.composite
def card_books(draw: st.DrawFn) -> dict[str, Json]:
    entries = draw(st.lists(ENTRIES, max_size=4))
    ids = draw(st.lists(st.integers(0, 1000), min_size=len(entries), max_size=len(entries), unique=True))
    for entry, id in zip(entries, ids, strict=True):
        entry["id"] = id
        position = entry["extensions"].get("position", draw(st.integers(0, 1)))
        entry["position"] = "before_char" if position == 0 else "after_char"
    others = draw(
        st.fixed_dictionaries({}, optional={"scan_depth": st.integers(0, 9), "description": st.text(), "odd": ANYTHING})
    )
    return {**others, "name": draw(NAMES), "extensions": draw(OBJECTS), "entries": entries}


@given(card_books())
def test_a_cards_lorebook_comes_back_with_every_member(book: dict[str, Json]) -> None:
    back = card_of_book(book_of_card(book, ImportReport("")))
    entries, given_entries = back.pop("entries"), book.pop("entries")
    assert back == book
    for written, entry in zip(entries, given_entries, strict=True):
        assert written | {"extensions": {}} == {**written, **entry, "extensions": {}} | (
            {"comment": written["comment"]} if "name" in entry and not entry.get("comment") else {}
        )
        assert {name: written["extensions"][name] for name in entry["extensions"]} == entry["extensions"]


@given(card_books(), OBJECTS)
def test_a_worldbook_goes_through_a_card_and_comes_back(book: dict[str, Json], odd: dict[str, Json]) -> None:
    native = book_of_card(book, ImportReport(""))
    entries = {uid: {**odd, **entry, "characterFilter": {"names": ["Mira"]}} for uid, entry in native["entries"].items()}
    native = {**native, "entries": entries, "originalData": odd}
    assert book_of_card(card_of_book(native), ImportReport("")) == native


@given(st.dictionaries(st.from_regex(r"[0-9]{1,4}", fullmatch=True), OBJECTS), OBJECTS)
def test_sillytaverns_own_file_comes_back_as_it_was(entries: dict[str, Json], others: dict[str, Json]) -> None:
    for entry in entries.values():
        entry["key"] = []
    document = {**others, "name": "Harbour", "entries": entries}
    read = read_book(document, "", LIMITS)
    assert loads(write_book(read.content)) == document


def test_a_book_without_entries_can_be_read_again() -> None:
    assert read_book(loads(write_book({})), "", LIMITS).content["entries"] == {}


@pytest.mark.parametrize(
    ("document", "format", "expected"),
    [
        (
            {
                "lorebookVersion": 5,
                "settings": {"orderByKeyLocations": False},
                "entries": [
                    {
                        "keys": ["sea"],
                        "text": "Salt.",
                        "displayName": "Sea",
                        "enabled": False,
                        "contextConfig": {"budgetPriority": 300},
                        "id": "a",
                    }
                ],
            },
            "novelai",
            {"key": ["sea"], "content": "Salt.", "comment": "Sea", "disable": True, "order": 300},
        ),
        (
            {"kind": "memory", "name": "B", "entries": [{"keywords": ["sea"], "entry": "Salt.", "name": "S", "weight": 3}]},
            "agnai",
            {"key": ["sea"], "content": "Salt.", "comment": "S", "disable": False, "order": 3},
        ),
        (
            {
                "type": "risu",
                "ver": 1,
                "data": [
                    {"key": "sea, shore", "secondkey": "wind", "content": "Salt.", "selective": True, "activationPercent": 40}
                ],
            },
            "risu",
            {"key": ["sea", "shore"], "keysecondary": ["wind"], "content": "Salt.", "selective": True, "probability": 40},
        ),
        (
            {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["sea"], "content": "Salt.", "position": "after_char"}]}},
            "character_book",
            {"key": ["sea"], "content": "Salt.", "position": 1, "disable": False},
        ),
        (
            {"entries": [{"uid": 7, "key": ["sea"]}]},
            "sillytavern",
            {"uid": 7, "key": ["sea"]},
        ),
    ],
)
def test_books_of_every_program_become_sillytaverns(
    document: dict[str, Json], format: str, expected: Mapping[str, Json]
) -> None:
    read = read_book(document, "Named", LIMITS)
    assert read.origin == {"format": format}
    (entry,) = read.content["entries"].values()
    assert {name: entry[name] for name in expected} == expected
    assert read.content["name"] == (document.get("name") or "Named")


def test_what_a_program_has_of_its_own_is_kept_and_told() -> None:
    read = read_book({"lorebookVersion": 5, "entries": [{"keys": [], "lastUpdatedAt": 3}], "settings": {"a": 1}}, "B", LIMITS)
    assert read.content["entries"]["0"]["extensions"] == {"novelai": {"lastUpdatedAt": 3}}
    assert read.content["extensions"] == {"novelai": {"lorebookVersion": 5, "settings": {"a": 1}}}
    assert read.report.ignored_fields == ["entries[].lastUpdatedAt"]


def test_entries_without_an_id_of_their_own_get_the_next_free_one() -> None:
    entries: list[Json] = [{"keys": [], "id": 0}, {"keys": []}, {"keys": [], "id": 1}, {"keys": [], "id": 1}, 5, {"id": "a"}]
    read = read_book({"entries": entries}, "B", LIMITS)
    assert list(read.content["entries"]) == ["0", "2", "1", "3", "4"]
    assert len(read.report.downgraded_entries) == 3


@given(st.one_of(OBJECTS, ANYTHING, st.builds(lambda entries, odd: {**odd, "entries": entries}, st.lists(ANYTHING), OBJECTS)))
def test_a_book_of_anything_is_read_or_refused(document: Json) -> None:
    try:
        read = read_book(document, "B", LIMITS)
    except InvalidFile as refused:
        assert str(refused)
    else:
        assert all(isinstance(entry, dict) for entry in read.content["entries"].values())


def test_a_book_of_very_many_expressions_is_refused() -> None:
    entries = [{"uid": number, "key": [f"/{'a' * 29_990}/"], "content": "x"} for number in range(9)]
    assert read_book({"entries": entries[:8]}, "B", LIMITS).report.read["entries"] == 8
    assert read_book({"entries": [{**each, "key": ["a" * 29_990]} for each in entries]}, "B", LIMITS)
    with pytest.raises(InvalidFile, match="have at most 262,144 characters together, these have 269,928") as refused:
        read_book({"entries": entries}, "B", LIMITS)
    assert refused.value.is_too_large and refused.value.where == "entries"
    assert wrong_content("worldbook", {"entries": {str(number): each for number, each in enumerate(entries)}})
