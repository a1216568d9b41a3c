"""Lorebooks: whatever stands in a file is read, and SillyTavern's members and numbers mean what they mean there."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.lorebook import CharacterFilter, Lorebook, LoreEntry
from agentui.jsonio import Json
from tests.unit.assets.values import ANYTHING

ENTRY = {
    "uid": 7,
    "key": ["campfire", ""],
    "keysecondary": ["night"],
    "comment": "Campfire Lore",
    "content": "The pass is watched.",
    "selectiveLogic": 3,
    "order": 40,
    "position": 4,
    "depth": 2,
    "role": 1,
    "scanDepth": 5,
    "caseSensitive": True,
    "matchWholeWords": False,
    "matchScenario": True,
    "matchPersonaDescription": True,
    "excludeRecursion": True,
    "delayUntilRecursion": True,
    "probability": 30,
    "group": "weather, place",
    "groupOverride": True,
    "groupWeight": 50,
    "sticky": 3,
    "cooldown": "2",
    "characterFilter": {"isExclude": True, "names": ["Ann"], "tags": []},
    "triggers": ["continue"],
    "ignoreBudget": True,
}
MEMBERS = st.sampled_from([*ENTRY, "useProbability", "selective", "disable", "constant", "outletName", "delay"])


def test_an_entry_has_the_meaning_of_its_members() -> None:
    (entry,) = Lorebook.of({"name": "Camp", "entries": {"7": ENTRY}}).entries
    assert (entry.uid, entry.keys, entry.secondary_keys, entry.logic) == (7, ("campfire",), ("night",), "and_all")
    assert (entry.position, entry.depth, entry.role, entry.order) == ("at_depth", 2, "user", 40)
    assert (entry.scan_depth, entry.is_case_sensitive, entry.is_whole_words) == (5, True, False)
    assert entry.sources == ("persona_description", "scenario")
    assert (entry.recursion_delay, entry.probability, entry.groups) == (1, 30, ("weather", "place"))
    assert (entry.sticky, entry.cooldown, entry.delay) == (3, 2, 0)
    assert entry.characters == CharacterFilter(("Ann",), (), True)
    assert entry.is_ignoring_budget and entry.is_excluded_from_recursion and not entry.is_preventing_recursion


def test_an_entry_without_members_is_sillytaverns_new_entry() -> None:
    (entry,) = Lorebook.of({"entries": {"0": {}}}).entries
    assert (entry.order, entry.depth, entry.group_weight, entry.position, entry.logic) == (100, 4, 100, "before", "and_any")
    assert entry.scan_depth is None and entry.is_case_sensitive is None and entry.probability is None


def test_what_an_entry_leaves_open_its_book_may_decide() -> None:
    book = Lorebook.of({"scanDepth": 9, "matchWholeWords": True, "recursive": True, "entries": [{}, {"scanDepth": 1}]})
    assert [(entry.uid, entry.scan_depth, entry.is_whole_words) for entry in book.entries] == [(0, 9, True), (1, 1, True)]
    assert book.is_recursive


def test_secondary_keys_count_only_while_the_entry_is_selective() -> None:
    (entry,) = Lorebook.of({"entries": [{"keysecondary": ["night"], "selective": False}]}).entries
    assert entry.secondary_keys == ()


@pytest.mark.parametrize(
    ("content", "decorators", "said"),
    [
        ("@@activate\nText", ("@@activate",), "Text"),
        ("@@other\n@@@dont_activate\nText\n@@activate", ("@@dont_activate",), "Text\n@@activate"),
        ("@@activate\n@@@dont_activate\nText", ("@@activate",), "Text"),
        ("@@other", (), ""),
        ("Text\n@@activate", (), "Text\n@@activate"),
    ],
)
def test_decorators_are_cut_off(content: str, decorators: tuple[str, ...], said: str) -> None:
    (entry,) = Lorebook.of({"entries": [{"content": content}]}).entries
    assert (entry.decorators, entry.content) == (decorators, said)


def test_entries_stand_in_the_order_of_their_numbers() -> None:
    named = {name: {"comment": name} for name in ("10", "b", "9", "01", "a")}
    assert [entry.comment for entry in Lorebook.of({"entries": named}).entries] == ["9", "10", "b", "01", "a"]


@given(ANYTHING, st.dictionaries(st.text(max_size=3), st.dictionaries(MEMBERS, ANYTHING), max_size=4))
def test_a_book_is_made_of_whatever_is_kept(other: Json, entries: Mapping[str, Json]) -> None:
    made = Lorebook.of({"name": other, "scanDepth": other, "recursive": other, "entries": entries})
    assert len(made.entries) == len(entries)
    assert Lorebook.of({"entries": other}).digest


@given(st.permutations([{"uid": uid, "order": uid % 3} for uid in range(6)]))
def test_a_file_may_hold_its_entries_in_any_order(entries: list[dict[str, Json]]) -> None:
    book = Lorebook.of({"entries": {str(entry["uid"]): entry for entry in entries}})
    assert [entry.uid for entry in book.entries] == list(range(6))
    assert all(isinstance(entry, LoreEntry) for entry in book.entries)
