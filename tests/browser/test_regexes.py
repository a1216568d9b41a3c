"""Regular expressions match and replace as a real JavaScript engine does it."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import JsMatch, compile_js, joined
from tests.fixtures.regexes import CASES, Case

if TYPE_CHECKING:
    from playwright.async_api import Browser

IN_JAVASCRIPT = """(cases) => JSON.stringify(cases.map(([pattern, flags, text]) => {
  try {
    const matches = [];
    const replaced = text.replace(new RegExp(pattern, flags), (...args) => {
      if (typeof args.at(-1) === 'object') args.pop();
      matches.push([args.at(-2), ...args.slice(0, -2).map((group) => group?.toWellFormed() ?? '')]);
      return `<${args[0]}>`;
    });
    return {matches, replaced: replaced.toWellFormed()};
  } catch (error) {
    return {error: error.name};
  }
}))"""
"""What Chromium makes of each case; a group that took no part counts as empty, as it does in a replacement."""


def ours(case: Case) -> Json:
    """What we make of a case, in the same shape."""
    pattern, flags, text = case
    try:
        compiled = compile_js(pattern, flags)
    except RegexError:
        return {"error": "SyntaxError"}
    halves = compile_js("").units
    matches: list[Json] = []

    def by(match: JsMatch) -> str:
        start = match.found.start()
        offset = len(halves(text[:start])) if compiled.is_unicode else start
        groups = range(len(compiled.translated.groups) + 1)
        matches.append([offset, *(joined(match.group(number) or "") for number in groups)])
        return f"<{match.group(0)}>"

    replaced = joined(compiled.replace(text, by, limit=10))
    return {"matches": matches, "replaced": replaced}


async def differences(browser: "Browser", cases: Sequence[Case]) -> list[tuple[Case, Json, Json]]:
    """The cases of which Chromium makes something else: the case, what is right, and what we made of it."""
    page = await browser.new_page()
    rights = json.loads(await page.evaluate(IN_JAVASCRIPT, [list(case) for case in cases]))
    await page.close()
    return [(case, right, made) for case, right in zip(cases, rights, strict=True) if (made := ours(case)) != right]


async def test_the_table_of_patterns_matches_as_in_chromium(browser: "Browser") -> None:
    assert len(CASES) >= 150
    assert await differences(browser, CASES) == []


CHARACTERS = "aAbBkKsSß1_ -\n\u2028\u212a\u017fяЯ😀"
TEXTS = st.text(st.sampled_from(CHARACTERS), max_size=8)
PLAIN = st.sampled_from([*"aAbBkKsSß1_ -яЯ😀", ".", "^", "$", "\\b", "\\B", "\\n", "\\u212a", "\\x61", "\\/", "[^]", "[]"])
SETS = st.sampled_from(
    ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[ab]", "[^a]", "[a-k]", "[^\\w]", "[\\s\\d]", "[A-Z😀]", "[^я]", "[\\b-]"]
)
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?", "??", "{1,2}?"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Groups, alternatives, repetitions and looks of smaller patterns."""
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        inner.map("({})".format),
        # What may match nothing is repeated in another way there (see agentui/regexes/javascript.py).
        st.tuples(SETS, QUANTIFIERS).map("".join),
        st.tuples(inner, SETS, QUANTIFIERS).map(lambda parts: "(?:(?:{}){}){}".format(*parts)),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:"]), inner).map("".join).map("{})".format),
    )


PATTERNS = st.recursive(st.one_of(PLAIN, SETS), _larger, max_leaves=8)
FLAGS = st.sets(st.sampled_from("gimsy")).map(sorted).map("".join)


async def test_generated_patterns_match_as_in_chromium(browser: "Browser") -> None:
    cases: list[Case] = []

    @settings(
        max_examples=1500, database=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(PATTERNS, FLAGS, st.sampled_from(["", "", "u", "v"]), st.lists(TEXTS, min_size=2, max_size=2).map("".join))
    def collect(pattern: str, flags: str, mode: str, text: str) -> None:
        cases.append((pattern, flags + mode, text))

    collect()
    assert await differences(browser, cases) == []
