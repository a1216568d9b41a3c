"""Guard blocks, rewrites and flags texts by words, regular expressions and conditions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.nodes.text.words import small
from agentui.pipeline.plans.compile import compile_plan
from tests.unit.pipeline.parts import Ear, catalog_of, compiled, document, execute, heard, make_incoming

LETTERS = st.text("ab c", max_size=12)


def rule(pattern: str, action: str = "block", kind: str = "words", **more: Json) -> Json:
    return {"pattern": pattern, "action": action, "kind": kind, **more}


def guard(*rules: Json, **config: Json) -> Json:
    return {"id": "g", "type": "Guard", "config": {"rules": list(rules), **config}}


async def checked(said: str, *rules: Json, **config: Json) -> tuple[Json, list[str]]:
    """OUT of a Guard that answers, and what it says."""
    ear = Ear()
    request = make_incoming({"model": "m", "messages": [{"role": "user", "content": said}]})
    run = await execute(compiled([guard(*rules, **config)]), request, ear)
    return run.out["g"], ear.texts


@pytest.mark.parametrize(
    ("said", "words", "is_found"),
    [
        ("A BOMB here", "bomb", True),
        ("bombastic", "bomb", False),
        ("a_bomb", "bomb", False),
        ("the big\nbomb.", "x, big bomb", False),
        ("the big bomb.", "x, big  bomb\ny", True),
        ("这是坏话吗", "坏话", True),
        ("Straße", "STRASSE", False),
        ("GROẞ wird alles", "groß", True),
        ("der Spaß ist ein BOMBENspaß", "bombe", False),
        ("Spaß mit der BOMBE", "bombe", True),
        ("(c++)", "c++", True),
        ("бомба", "БОМБА", True),
    ],
)
async def test_words_are_found_whole_whatever_their_case(said: str, words: str, is_found: bool) -> None:
    out, told = await checked(said, rule(words))
    assert out["verdict"] == ("blocked" if is_found else "passed")
    assert told == [out["text"]] == ["I cannot help with that." if is_found else said]


async def test_rules_are_applied_in_their_order() -> None:
    out, told = await checked(
        "Call 555-1234, Ada",
        rule("(\\d{3})-\\d{4}", "rewrite", "regex", replacement="$1-xxxx", name="phones"),
        rule("ada", "flag", name="names"),
        rule('text contains "1234"', "block", "condition"),
        rule('text contains "xxxx"', "rewrite", "condition", replacement="Call"),
        rule("call", "rewrite", replacement="$&?"),
    )
    assert out["verdict"] == "rewritten"
    assert [(hit["rule"], hit["action"]) for hit in out["hits"]] == [
        ("phones", "rewrite"),
        ("names", "flag"),
        ("4", "rewrite"),
        ("5", "rewrite"),
    ]
    assert told == ["$&?"]


async def test_a_block_ends_the_rules_with_its_own_words() -> None:
    out, told = await checked("no", rule("no", message="Not this."), rule("no", "flag"))
    assert out == {"text": "Not this.", "verdict": "blocked", "hits": [{"rule": "1", "action": "block"}]}
    assert told == ["Not this."]


async def test_the_way_on_is_its_port() -> None:
    nodes: list[Json] = [
        guard(rule("bad")),
        {"id": "yes", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "asked"}]}},
        {"id": "no", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "refused"}]}},
    ]
    edges = [{"from": "g", "to": "yes", "from_port": "pass"}, {"from": "g", "to": "no", "from_port": "blocked"}]
    plan = compile_plan("test", {**document(nodes), "edges": edges}, catalog_of())
    for said, answer, skipped in (("good", "asked", "no"), ("bad", "refused", "yes")):
        ear = Ear()
        run = await execute(plan, make_incoming({"model": "m", "messages": [{"role": "user", "content": said}]}), ear)
        assert ear.texts == [answer]
        assert ("node.skipped", skipped) in heard(run)


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (rule(" "), "guard.pattern"),
        (rule(" , \n"), "guard.pattern"),
        (rule("(", kind="regex"), "regex.syntax"),
        (rule("a", kind="regex", flags="q"), "regex.syntax"),
        (rule("text contains", kind="condition"), "condition.syntax"),
    ],
)
def test_a_broken_rule_is_told_when_the_pipeline_is_saved(one: Json, code: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([guard(one)])
    assert [problem.field for problem in caught.value.problems] == ["rules.0.pattern"]
    assert caught.value.problems[0].code == code


async def test_a_rule_that_takes_too_long_lets_nothing_pass() -> None:
    with pytest.raises(NodeFailed, match="takes too long"):
        await checked("a" * 20_000 + "!", rule("(a|a?)+$", "flag", "regex"))


async def test_a_thousand_rules_go_over_a_megabyte() -> None:
    rules = [rule(f"word{number}") for number in range(999)]
    out, _ = await checked("lorem ipsum " * 80_000 + "word998", *rules, rule("lorem", "flag"))
    assert out["verdict"] == "blocked"


async def test_thousands_of_words_of_one_rule_go_over_a_long_text() -> None:
    words = ", ".join(f"{number}word" for number in range(3000))
    out, _ = await checked("lorem ipsum " * 16_000 + "2999Word", rule(words, "rewrite", replacement="#"))
    assert (out["verdict"], out["text"][-7:]) == ("rewritten", "ipsum #")


@given(LETTERS, st.lists(st.sampled_from(["a", "b", "ab", "a b", "aa", "a c", " a"]), min_size=1, unique=True))
async def test_many_words_are_found_from_the_left_and_the_longest_first(said: str, words: list[str]) -> None:
    wanted = sorted({word.strip() for word in words}, key=len, reverse=True)
    expected = re.sub("|".join(rf"(?<!\w){word}(?!\w)" for word in wanted), "#", said)
    out, _ = await checked(said, rule(",".join(words), "rewrite", replacement="#"))
    assert out["text"] == expected


def test_every_letter_keeps_its_place_in_small_letters() -> None:
    text = "".join(map(chr, range(0x10500)))
    assert len(small(text)) == len(text)
    assert small(small(text)) == small(text)


@given(LETTERS, st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "a b"]), st.sampled_from("xyz")), max_size=4))
async def test_words_are_rewritten_as_plain_replacing_would(said: str, changes: list[tuple[str, str]]) -> None:
    expected = said
    for word, instead in changes:
        expected = re.sub(rf"(?<!\w){word}(?!\w)", instead, expected)
    out, told = await checked(said, *(rule(word, "rewrite", replacement=instead) for word, instead in changes))
    assert [out["text"]] == told == [expected]
