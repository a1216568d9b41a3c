"""What SillyTavern's recordings do not show: where keys were found, why entries stay out, and what differs from SillyTavern."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.jsonio import dumps
from agentui.lore.activation import activate
from agentui.lore.compiled import compile_lore
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings
from agentui.lore.result import LoreMatch, LoreReason
from agentui.lore.timed import TimedEffects
from tests.unit.lore.books import always, book, contents, reasons, run, said

KEY = {"key": ["campfire"], "content": "Lore."}


def match_of(result_match: LoreMatch | None) -> LoreMatch:
    assert result_match is not None
    return result_match


def test_a_match_says_where_the_key_stands_in_what_was_said() -> None:
    result = run([KEY], "Nothing.", "Please continue the campfire scene.")
    (one,) = result.activated
    assert match_of(one.match).as_json() == {
        "source_kind": "message",
        "message_index_from_latest": 0,
        "matched_key": "campfire",
        "matched_key_scope": "primary",
        "matched_key_type": "plain",
        "char_start": 20,
        "char_end": 28,
        "excerpt": "Please continue the campfire scene.",
    }
    assert (one.mode, one.recursion_level) == ("triggered", 0)


def test_an_excerpt_is_cut_thirty_characters_around_the_key() -> None:
    match = match_of(run([KEY], "a" * 50 + "campfire" + "b" * 50).activated[0].match)
    assert match.excerpt == "a" * 30 + "campfire" + "b" * 30
    assert (match.start, match.end) == (50, 58)


def test_the_place_counts_characters_where_lower_case_is_longer() -> None:
    match = match_of(run([KEY], "\u0130\u0130 CAMPFIRE").activated[0].match)
    assert (match.start, match.end, match.excerpt) == (3, 11, "\u0130\u0130 CAMPFIRE")


def test_a_name_is_looked_through_while_the_setting_says_so() -> None:
    entries = [{"key": ["ann"], "content": "Lore."}]
    match = match_of(run(entries, "Hello.").activated[0].match)
    assert (match.start, match.end, match.excerpt) == (0, 0, "Ann: Hello.")
    assert contents(run(entries, "Hello.", settings=LoreSettings(is_naming=False))) == []


def test_sources_and_what_joined_are_named_with_the_match() -> None:
    entries: list[dict[str, object]] = [
        {"key": ["lamp"], "content": "The keeper.", "matchScenario": True},
        {"key": ["/keep\\w+/"], "content": "Second."},
        {"key": ["note"], "content": "Third."},
    ]
    result = run(
        entries,
        "Hello.",
        settings=LoreSettings(is_recursive=True),
        sources={"scenario": "A lamp."},
        injections=["A note."],
    )
    found = [(match_of(one.match).kind, match_of(one.match).start, one.recursion_level) for one in result.activated]
    assert found == [("scenario", 2, 0), ("injection", 2, 0), ("recursion_buffer", 4, 1)]
    assert match_of(result.activated[2].match).key_type == "regex"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (always("x", disable=True), "disabled"),
        (always("x", triggers=["continue"]), "trigger"),
        (always("x", characterFilter={"names": ["Eve"]}), "character"),
        (always("x", characterFilter={"names": ["Ada"], "isExclude": True}), "character"),
        (always("x", characterFilter={"tags": ["sea"]}), "tag"),
        (always("x", delay=2), "delay"),
        (always("x", delayUntilRecursion=1), "recursion_delay"),
        ({**KEY, "content": "@@dont_activate\nx"}, "decorator"),
        ({"content": "x"}, "no_keys"),
        ({"key": ["dragon"]}, "no_match"),
        ({**KEY, "keysecondary": ["dragon"]}, "secondary"),
        (always("x", probability=0), "probability"),
        (always("x" * 400, order=1), "budget"),
    ],
)
def test_an_entry_that_stays_out_has_a_reason(entry: dict[str, object], reason: str) -> None:
    result = run([entry], "The campfire.", character_name="Ada", character_tags=("land",), max_context=400)
    assert reasons(result) == {0: reason}
    assert result.is_cut == (reason == "budget")


def test_the_loser_of_a_group_knows_its_group() -> None:
    result = run([always("a", group="g", groupOverride=True, order=2), always("b", group="g", groupOverride=True)], "x")
    assert contents(result) == ["b"]
    assert [(one.reason, one.detail) for one in result.unused] == [("group", "g")]


def test_who_loses_two_groups_takes_nobody_else_out() -> None:
    first = always("first", group="g, h", order=9)
    second, third = always("second", group="g", groupOverride=True), always("third", group="h", groupOverride=True)
    assert contents(run([first, second, third, always("other", order=1)], "x")) == ["second", "third", "other"]


def test_a_blank_key_is_no_key() -> None:
    assert reasons(run([{"key": ["  "], "content": "x"}], "a b")) == {0: "no_keys"}


def test_a_key_that_comes_of_macros_is_compared_like_others() -> None:
    entries: list[dict[str, object]] = [
        {"key": ["{{char}} WAVES"], "content": "a"},
        {"key": ["{{char}}"], "content": "b", "matchWholeWords": True},
    ]
    assert contents(run(entries, "ada waves, Adam", expand=lambda text: text.replace("{{char}}", "Ada"))) == ["a", "b"]


def test_whole_words_end_at_what_is_no_ascii_letter() -> None:
    settings = LoreSettings(is_whole_words=True)
    entries = [{"key": ["сад"], "content": "a"}, {"key": ["cat"], "content": "b"}]
    assert contents(run(entries, "садовник", settings=settings)) == ["a"]
    assert contents(run(entries, "category cat's", settings=settings)) == ["b"]


def test_keys_of_many_words_are_found_however_many_share_one() -> None:
    entries = [{"key": [f"the lighthouse n{at}x"], "content": str(at)} for at in range(200)]
    texts = [f"Behind the lighthouse n{at}x is a door." for at in range(400)]
    result = run(entries, *texts, settings=LoreSettings(depth=1000, budget=100), max_context=10**6)
    assert sorted(contents(result), key=int) == [str(at) for at in range(200)]


def test_two_bindings_of_a_book_are_one() -> None:
    books = [book(always("x"), scope="character"), book(always("x"), scope="global")]
    result = activate(LoreInput(books, messages=said("x")))
    assert [one.bound.scope for one in result.activated] == ["global"]


def test_an_edited_entry_is_not_sticky_any_more() -> None:
    first = run([{**KEY, "sticky": 3}], "The campfire.")
    later = ("The campfire.", "a", "b", "c")
    assert contents(run([{**KEY, "sticky": 3}], *later[:3], timed=first.timed)) == ["Lore."]
    assert contents(run([{**KEY, "sticky": 3, "content": "New."}], *later[:3], timed=first.timed)) == []


def test_settings_are_read_from_sillytaverns_members() -> None:
    read = LoreSettings.of({"world_info_depth": "4", "world_info_recursive": True, "world_info_budget": 400, "other": 1})
    assert read == LoreSettings(depth=4, is_recursive=True)


def test_a_book_may_ask_for_recursion() -> None:
    asking = book({"key": ["a1"], "content": "b1"}, {"key": ["b1"], "content": "c1"})
    content = {"entries": {"0": {"key": ["a1"], "content": "b1"}, "1": {"key": ["b1"], "content": "c1"}}, "recursive": True}
    assert contents(activate(LoreInput([asking], messages=said("a1")))) == ["b1"]
    assert contents(activate(LoreInput([BoundBook(Lorebook.of(content))], messages=said("a1")))) == ["b1", "c1"]


def test_a_pattern_that_never_ends_matches_nothing() -> None:
    entries = [{"key": ["/(a+)+$/"], "content": "x"}]
    assert reasons(activate(LoreInput([book(*entries)], messages=[LoreMessage("a" * 200 + "!")]))) == {0: "no_match"}


def test_every_reason_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs/lorebooks.md").read_text("utf-8")
    rows = text.split("| reason |")[1].split("\n\n")[0].splitlines()[2:]
    told = [reason for row in rows for reason in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert told == list(get_args(LoreReason))


def test_sweeps_end_after_very_many_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [{"constant": True, "content": f"{at}", "delayUntilRecursion": at + 1} for at in range(10)]
    assert len(run(entries, "Hi.").activated) == 10
    monkeypatch.setattr("agentui.lore.activation.MOST_LOOKS", 30)
    assert 0 < len(run(entries, "Hi.").activated) < 10


def test_places_are_told_until_finding_them_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    entries: list[dict[str, object]] = [{"key": [key], "content": key} for key in ("red", "green")]
    monkeypatch.setattr("agentui.lore.buffer.MOST_PASSED", 0)
    found = [one.match for one in run(entries, "red green").activated]
    assert [match is None for match in found] == [False, True]


@pytest.mark.parametrize("is_whole", [True, False])
def test_keys_within_each_other_are_all_found(is_whole: bool) -> None:
    entries: list[dict[str, object]] = [{"key": [key], "content": key} for key in ("a", "aa", "aaa", "b-a")]
    settings = LoreSettings(is_whole_words=is_whole)
    assert sorted(contents(run(entries, "aaaa b-a", settings=settings))) == (
        ["a", "b-a"] if is_whole else ["a", "aa", "aaa", "b-a"]
    )


def test_what_was_compiled_is_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentui.lore.compiled.MOST_KEPT", 10)
    books = [[book({"key": [key * 8]})] for key in "ab"]
    first, second = (compile_lore(each, LoreSettings()) for each in books)
    assert compile_lore(books[1], LoreSettings()) is second
    assert compile_lore(books[0], LoreSettings()) is not first


def test_effects_of_very_many_entries_are_kept_as_far_as_a_variable_holds_them() -> None:
    bound = book(*({**always("x"), "sticky": 2 + at % 7, "cooldown": 20} for at in range(9000)))
    entries = compile_lore([bound], LoreSettings()).entries
    effects = TimedEffects({}, entries, 1)
    effects.begin(entries)
    kept = effects.as_json()
    assert len(dumps(kept)) < 1024 * 1024
    assert kept["sticky"] == {} != kept["cooldown"], "What ends first goes first."
    assert effects.as_json() == kept


def test_a_book_that_was_renamed_is_told_by_its_new_name() -> None:
    for name in ("Old", "New"):
        bound = replace(book(always("x")), id="asset")
        result = activate(LoreInput([replace(bound, book=replace(bound.book, name=name))], messages=said("x")))
        assert [one.bound.book.name for one in result.activated] == [name]
