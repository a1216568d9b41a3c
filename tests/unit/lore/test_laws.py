"""Laws of activation: whatever is given, it ends without an error, and comes out the same the next time."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.lorebook import BoundBook, Lorebook, LoreScope
from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings, SeededRolls
from agentui.lore.plain_keys import Needle, NeedleTable
from tests.unit.assets.values import ANYTHING
from tests.unit.work import assert_doubling

WORDS = st.sampled_from(["a", "ab", "b", "cat", "a cat", "б", "/a+/i", "/(/", "{{x}}", "A"])
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)
ENTRIES = st.fixed_dictionaries(
    {"key": st.lists(WORDS, max_size=2), "content": TEXTS},
    optional={
        "keysecondary": st.lists(WORDS, max_size=2),
        "selectiveLogic": st.integers(0, 3),
        "constant": st.booleans(),
        "order": st.integers(0, 3),
        "position": st.integers(0, 7),
        "outletName": st.sampled_from(["", "o"]),
        "group": st.sampled_from(["", "g", "g, h"]),
        "probability": st.integers(0, 100),
        "delayUntilRecursion": st.one_of(st.booleans(), st.integers(0, 3)),
        "preventRecursion": st.booleans(),
        "excludeRecursion": st.booleans(),
        "sticky": st.integers(0, 2),
        "cooldown": st.integers(0, 2),
        "delay": st.integers(0, 2),
        "ignoreBudget": st.booleans(),
        "scanDepth": st.integers(-1, 3),
        "matchWholeWords": st.booleans(),
        "caseSensitive": st.booleans(),
    },
)
SCOPES = st.sampled_from(["chat", "persona", "character", "global"])
BOOKS = st.lists(st.tuples(st.lists(ENTRIES, max_size=5), SCOPES), max_size=3)
SETTINGS = st.builds(
    LoreSettings,
    depth=st.integers(-1, 3),
    min_activations=st.integers(0, 3),
    min_activations_depth=st.integers(0, 3),
    budget=st.integers(0, 100),
    is_recursive=st.booleans(),
    max_recursion_steps=st.integers(0, 2),
    is_group_scored=st.booleans(),
    strategy=st.sampled_from(["evenly", "character_first", "global_first"]),
)
SAID = st.lists(st.builds(LoreMessage, TEXTS, WORDS), max_size=4)
Bound = list[tuple[list[dict[str, Any]], LoreScope]]


def input_of(books: Bound, settings: LoreSettings, messages: list[LoreMessage], seed: str = "") -> LoreInput:
    """The input of these, with books of different names."""
    bound = []
    for number, (entries, scope) in enumerate(books):
        rows = [(str(uid), entry) for uid, entry in enumerate(entries)]
        bound.append(BoundBook(Lorebook.of({"name": str(number), "entries": dict(rows)}), scope))
    return LoreInput(bound, settings, messages, rolls=SeededRolls(seed), max_context=200)


@given(BOOKS, SETTINGS, SAID)
def test_every_entry_joins_or_has_a_reason(books: Bound, settings: LoreSettings, messages: list[LoreMessage]) -> None:
    result = activate(input_of(books, settings, messages))
    assert len(result.activated) + len(result.unused) == sum(len(entries) for entries, _ in books)
    assert all(one.match is None or one.match.start <= one.match.end for one in result.activated)


@given(BOOKS, SETTINGS, SAID, st.text(max_size=3))
def test_the_same_seed_gives_the_same(books: Bound, settings: LoreSettings, messages: list[LoreMessage], seed: str) -> None:
    assert activate(input_of(books, settings, messages, seed)) == activate(input_of(books, settings, messages, seed))


@given(st.lists(ENTRIES, max_size=5), SETTINGS, SAID, st.randoms())
def test_the_order_in_a_file_is_no_matter(
    entries: list[dict[str, Any]], settings: LoreSettings, messages: list[LoreMessage], random: Any
) -> None:
    rows = [(str(uid), entry) for uid, entry in enumerate(entries)]
    results = []
    for _ in range(2):
        bound = BoundBook(Lorebook.of({"name": "Book", "entries": dict(rows)}))
        result = activate(LoreInput([bound], settings, messages, max_context=200))
        results.append([(one.entry, one.content, one.cause) for one in result.activated])
        random.shuffle(rows)
    assert results[0] == results[1]


@given(ANYTHING, SAID)
def test_whatever_was_kept_of_effects_is_taken(kept: Any, messages: list[LoreMessage]) -> None:
    bound = BoundBook(Lorebook.of({"name": "Book", "entries": {"0": {"constant": True, "sticky": 2, "cooldown": 1}}}))
    for timed in ({"sticky": kept, "cooldown": kept}, {"sticky": {"Book.0": kept}}):
        assert activate(LoreInput([bound], messages=messages, timed=timed)).timed.keys() == {"sticky", "cooldown"}


@given(st.lists(st.tuples(st.text("ab c", min_size=1), st.booleans()), max_size=8), st.lists(st.text("abc AB\n.", max_size=12)))
def test_the_table_finds_what_a_search_for_each_key_finds(keys: list[tuple[str, bool]], texts: list[str]) -> None:
    chosen = dict.fromkeys(
        Needle.of(key.strip(), is_cased=is_flagged, is_whole=not is_flagged) for key, is_flagged in keys if key.strip()
    )
    needles = list(chosen)
    places = NeedleTable(needles, 5).places(texts, [text.lower() for text in texts])
    for number, needle in enumerate(needles, 5):
        spelled = texts if needle.is_cased else [text.lower() for text in texts]
        expected = next((at for at, text in enumerate(spelled) if needle.start_in(text) >= 0), None)
        assert places.get(number) == expected, needle


def test_a_table_remembers_short_words_that_hold_few_keys() -> None:
    table = NeedleTable([Needle.of("a" * length, is_cased=False, is_whole=False) for length in range(1, 101)])
    texts = ["b" * 10_000, "aa", "a" * 100]
    assert table.places(texts, texts) == table.places(texts, texts) == {0: 1, 1: 1, **dict.fromkeys(range(2, 100), 2)}
    assert table._folded._seen.keys() == {"aa"}


def test_work_doubles_with_the_chat_and_with_the_entries() -> None:
    def of_messages(size: int) -> Any:
        messages = [LoreMessage(f"word{at} and other{at} words", "Ann") for at in range(size)]
        bound = BoundBook(Lorebook.of({"entries": [{"key": [f"word{at}"], "content": "x"} for at in range(10)]}))
        return lambda: activate(LoreInput([bound], LoreSettings(depth=1000), messages))

    def of_links(size: int) -> Any:
        links = [{"key": [f"n{at}x"], "content": f"n{at + 1}x"} for at in range(size)]
        blocked = [{"key": ["n0x"], "keysecondary": ["other"]} for _ in range(size)]
        bound = BoundBook(Lorebook.of({"entries": [*blocked, *links]}))
        return lambda: activate(
            LoreInput([bound], LoreSettings(is_recursive=True, budget=100), [LoreMessage("n0x")], max_context=10**6)
        )

    assert_doubling(of_messages, 32)

    def of_nested_keys(size: int) -> Any:
        keys = [("-a" * (at + 1))[at % 2 :] for at in range(50)]
        bound = BoundBook(Lorebook.of({"entries": [{"key": [key], "content": "x"} for key in keys]}))
        settings = LoreSettings(is_whole_words=True)
        return lambda: activate(LoreInput([bound], settings, [LoreMessage("a" + "-a" * size)]))

    assert_doubling(of_links, 32)
    assert_doubling(of_nested_keys, 100)


def test_looking_for_the_place_of_a_whole_word_ends() -> None:
    needle = Needle.of("-a-a", is_cased=True, is_whole=True)
    text = "a" + "-a" * 100 + " -a-a"
    assert needle.start_in(text) == len(text) - 4
    assert needle.start_in(text, most=40) == -1
