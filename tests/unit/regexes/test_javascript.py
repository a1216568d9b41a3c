"""JavaScript's regular expressions: limits, halves of characters, and what is said of a pattern that is none.

That they match as in JavaScript is tested against a real engine, in ``tests/browser/test_regexes.py``.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import MAX_TEXT, KeptPatterns, compile_js, joined
from agentui.regexes.syntax import MAX_PATTERN
from tests.fixtures.regexes import CASES


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 5000 + "b"),
        (r"(?:a|a)*$", "a" * 100_000 + "b"),
        (r"(.*?,){11}P", ",".join(map(str, range(700)))),
        (r"(x+x+)+y", "x" * 5000),
    ],
)
def test_a_pattern_that_never_ends_is_stopped(pattern: str, text: str) -> None:
    with pytest.raises(TimeoutError):
        compile_js(pattern).search(text, limit=0.01)


def test_many_searches_of_one_text_are_stopped_together() -> None:
    with pytest.raises(TimeoutError):
        compile_js("a", "g").replace("a" * MAX_TEXT, lambda match: match.group(0) or "", limit=0.0001)


def test_more_than_a_text_may_hold_is_refused() -> None:
    with pytest.raises(RegexError, match="come of it"):
        compile_js("a", "g").replace("a" * 1000, lambda _match: "b" * 2000)
    with pytest.raises(RegexError, match="longer"):
        compile_js("a").search("a" * (2 * MAX_TEXT + 1))


@pytest.mark.parametrize(
    ("pattern", "flags", "reason"),
    [
        ("(a", "", "is missing"),
        ("ab)", "", "closes nothing"),
        ("a**", "", "nothing to repeat"),
        ("[b-a]", "", "goes backwards"),
        ("a{2,1}", "", "wrong order"),
        (r"\p{Foo}", "u", "no such property"),
        (r"\p{RGI_Emoji}", "v", "no such property"),
        ("a", "x", "no such flags"),
        ("a" * (MAX_PATTERN + 1), "", "longer than"),
        ("(" * 200 + ")" * 200, "", "too deep"),
        ("[" * 200 + "]" * 200, "v", "too deep"),
        ("(?:(?:a{300}){300}){300}", "", "too large"),
        ("a{4000000000,}", "", "too large"),
        (r"\p{L}" * 600, "iu", "too large"),
    ],
)
def test_a_pattern_that_is_none_is_refused_with_the_reason(pattern: str, flags: str, reason: str) -> None:
    with pytest.raises(RegexError, match=reason):
        compile_js(pattern, flags)


def test_a_refusal_says_where() -> None:
    with pytest.raises(RegexError, match="at character 4") as refused:
        compile_js("abc)")
    assert refused.value.at == 3


def test_positions_count_characters() -> None:
    for flags in ("", "u"):
        match = compile_js("b", flags).search("😀ab")
        assert match is not None
        assert match.span() == (2, 3)


def test_half_a_character_alone_is_replaced() -> None:
    assert compile_js(".").replace("😀", lambda _match: "x") == "x\ufffd"
    assert compile_js("(.)", "g").replace("😀", lambda match: match.group(1) or "") == "😀"
    assert joined("\ud83d\ude00\ud83d") == "😀\ufffd"


def test_a_search_starts_anew() -> None:
    pattern = compile_js("a", "gy")
    assert pattern.search("ab") is not None
    assert pattern.search("ab") is not None
    assert pattern.search("ba") is None


@given(st.text(max_size=40), st.sampled_from(["", "i", "u", "iu", "v", "iv", "gims"]), st.text(max_size=20))
def test_no_pattern_raises_anything_else(pattern: str, flags: str, text: str) -> None:
    try:
        compile_js(pattern, flags).replace(text, lambda match: match.group(0) or "")
    except (RegexError, TimeoutError):
        pass


@given(st.sampled_from(CASES), st.integers(0, 60), st.text("()[]{}\\?<>|*+^$a-1:=!pPku&q", max_size=3))
def test_no_damaged_pattern_raises_anything_else(case: tuple[str, str, str], at: int, put: str) -> None:
    pattern, flags, text = case
    try:
        compile_js(pattern[:at] + put + pattern[at:], flags).replace(text, lambda match: match.group(0) or "")
    except (RegexError, TimeoutError):
        pass


@given(st.text(max_size=200))
def test_replacing_matches_by_themselves_changes_nothing(text: str) -> None:
    for pattern in (".", "", r"\w*", r"[^]"):
        assert compile_js(pattern, "g").replace(text, lambda match: match.group(0) or "") == text


def test_expressions_are_kept_up_to_a_number_of_bytes() -> None:
    kept = KeptPatterns(most=1024 * 1024)
    first = kept.made("a", "")
    assert kept.made("a", "") is first
    for number in range(100):
        kept.made(f"{number}(?:abc|x){{1000}}", "")
    assert kept.size <= 1024 * 1024
    assert 0 < len(kept) < 100
    assert kept.made("a", "") is not first
    assert kept.made("(", "") is kept.made("(", "")
