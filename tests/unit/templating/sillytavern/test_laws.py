"""Laws: whatever the text, macros keep their promises."""

from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import Limits, MacroScope

NOW = datetime(2026, 3, 2, tzinfo=UTC)
MARKS = ["{{", "}}", "::", "{", "}", " ", "=", "++", "+=", "(", ")", '"', "'", ",", ":", "[", "]", "\n", "#", "//", "///"]
WORDS = ["user", "if ", "else", "/if", "setvar", "getvar", "a", "b", ".a", "$a", "1", "not ", " and ", " or ", " == ", " > "]
NUMBERS = ["1e308", "-1e308", "{{.big += 1e308}}", "{{.big -= 1e308}}", "{{addvar::big::1e308}}"]
MACROS = ["{{user}}", "{{if 1}}", "{{else}}", "{{/if}}", "{{.a=1}}", "{{.a++}}", "{{trim}}", "<USER>", "noop", "random", "d6"]
PIECES = st.sampled_from([*MARKS, *WORDS, *NUMBERS, *MACROS])
SOURCES = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def run_of(**settings):
    return MacroRun(MacroScope("assemble", NOW, random=Random(1), **settings))


@given(SOURCES, JSON, st.builds(Limits, depth=st.integers(0, 8), steps=st.integers(0, 20), length=st.integers(0, 60)))
def test_nothing_raises_and_limits_hold(source, value, limits):
    run = run_of(
        values={"user": "Ann"}, local={"a": value, "b": {"c": value}, "big": 1e308}, globals={"a": value}, limits=limits
    )
    text = run.expand(source)
    assert text == source or len(text) <= len(source) + limits.length


@given(st.text().filter(lambda text: "{{" not in text and "<" not in text))
def test_a_text_without_macros_comes_back_itself(source):
    run = run_of()
    assert run.expand(source) == source
    assert run.report.warnings == [] and run.report.mutations == []


@given(SOURCES)
def test_what_a_macro_inserts_is_never_read_again(value):
    run = run_of(values={"description": value}, local={"a": value})
    assert run.expand("{{description}}") == value
    assert run.expand("{{setvar::b::{{.a}}}}[{{.b}}]") == f"[{value}]"
    assert run.expand("{{if {{.a}} == {{description}}}}same{{/if}}") == "same"


@given(SOURCES)
def test_the_local_view_never_shows_in_the_global_one(source):
    run = run_of(local={"secret": "local"}, globals={"a": "global"})
    run.expand(source)
    assert run.expand("{{$secret}}") == ""
    assert {each.scope for each in run.report.mutations if each.macro.endswith("globalvar")} <= {"global"}
    assert {each.scope for each in run.report.mutations if not each.macro.endswith("globalvar")} <= {"branch"}


@given(SOURCES)
def test_the_same_text_gives_the_same(source):
    assert run_of(local={"a": 1}).expand(source) == run_of(local={"a": 1}).expand(source)


@given(SOURCES)
def test_the_writes_that_are_kept_are_those_that_are_seen(source):
    run = run_of()
    run.expand(source)
    for scope, view in run.views.items():
        last = {each.key: each.value for each in run.report.mutations if each.scope == scope}
        assert last == view.written
