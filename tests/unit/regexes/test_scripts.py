"""Regex scripts run as SillyTavern 1.19 runs them."""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin, ScriptPlacement
from agentui.jsonio import Json
from agentui.regexes.kept_results import KeptResults, LinkResult
from agentui.regexes.scripts import CHANNELS, KEPT, Channel, ScriptRun, ScriptsResult, run_scripts
from agentui.regexes.search_time import SearchTime
from tests.unit.work import lines_run

ALL: Json = [1, 2, 3, 5, 6]


def bound(origin: ScriptOrigin = "global", *, is_allowed: bool = True, **content: Json) -> BoundScript:
    """A script of SillyTavern's members, for every placement unless they say otherwise."""
    return BoundScript(RegexScript.of({"placement": ALL, **content}), origin, is_allowed)


def run(text: str, *scripts: BoundScript, **options: object) -> ScriptsResult:
    """What the scripts make of a text of the model's that is kept."""
    given: dict[str, object] = {"placement": "ai_output", "channel": "persist", **options}
    return run_scripts(text, scripts, **given)  # type: ignore[arg-type]  # arguments by their names


def macros(text: str) -> str:
    """Two macros."""
    return text.replace("{{user}}", "Ann (A.)").replace("{{char}}", "Bo")


@pytest.mark.parametrize(
    ("find", "replace", "text", "expected"),
    [
        ("/a/g", "b", "aa", "bb"),
        ("/a/", "b", "aa", "ba"),
        ("a", "b", "aa", "ba"),
        ("/A/gi", "<$0>", "aA", "<a><A>"),
        ("/(a)(b)?/g", "[$1|$2|$3]", "ab a", "[a|b|] [a||]"),
        ("/(?<first>a)/g", "$<first>$<other>!", "a", "a!"),
        ("/a+/g", "{{match}}{{MATCH}}", "aa", "aaaa"),
        ("/a/g", "$& $$ $ $x", "a", "$& $$ $ $x"),
        ("/(a)(b)/", "$2$1$01", "ab", "baa"),
        ("a/b", "x", "a/b", "x"),
        ("/a/b/g", "x", "a/b a/b", "x x"),
        ("/a", "x", "/a", "x"),
        ("/a/y", "x", "/a/y a", "x a"),
        ("/a/gg", "x", "/a/gg", "x"),
        ("/(./", "x", "a", "a"),
        ("/a/x", "x", "a", "a"),
        ("/a/", "", "", ""),
        ("/😀/g", "$0$0", "a😀", "a😀😀"),
        ("/(.)/g", "$1", "a😀", "a😀"),
    ],
)
def test_replacements(find: str, replace: str, text: str, expected: str) -> None:
    assert run(text, bound(findRegex=find, replaceString=replace)).text == expected


def test_texts_are_taken_out_of_what_groups_insert() -> None:
    script = bound(findRegex="/<(.*?)>/g", replaceString="* $1", trimStrings=["*", "{{char}}", "😀"])
    assert run("<*Bo😀*x>", script, macros=macros).text == "* x"


def test_macros_are_replaced_in_what_is_put_in() -> None:
    script = bound(findRegex="/x(.*)/", replaceString="{{user}} $1")
    assert run("x{{char}}", script, macros=macros).text == "Ann (A.) Bo"
    assert run("x", script).text == "{{user}} "


@pytest.mark.parametrize(
    ("mode", "find", "text", "expected"),
    [
        (0, "/{{user}}/g", "{{user}} Ann (A.)", "! Ann (A.)"),
        (1, "/{{user}}/g", "{{user}} Ann A.", "{{user}} !"),
        (2, "/{{user}}/g", "Ann (A.) Ann A.", "! Ann A."),
        (2, "/{{nobody}}|{{char}}/g", "{{nobody}} Bo", "! !"),
        (True, "/{{char}}/g", "Bo", "!"),
    ],
)
def test_macros_are_replaced_in_what_is_looked_for(mode: Json, find: str, text: str, expected: str) -> None:
    script = bound(findRegex=find, replaceString="!", substituteRegex=mode)
    assert run(text, script, macros=macros).text == expected


@pytest.mark.parametrize(
    ("flags", "channels"),
    [
        ({}, {"persist"}),
        ({"runOnEdit": True}, {"persist", "edit"}),
        ({"markdownOnly": True}, {"display"}),
        ({"promptOnly": True}, {"prompt"}),
        ({"markdownOnly": True, "promptOnly": True, "runOnEdit": True}, {"display", "prompt"}),
    ],
)
def test_channels(flags: Mapping[str, Json], channels: set[Channel]) -> None:
    script = bound(findRegex="a", replaceString="b", **flags)
    for channel in CHANNELS:
        made = run("a", script, channel=channel)
        assert made.text == ("b" if channel in channels else "a")
        assert [each.skipped for each in made.trace] == [None if channel in channels else "channel_filtered"]


def test_depths() -> None:
    script = bound(findRegex="a", replaceString="b", minDepth=1, maxDepth=2)
    assert [run("a", script, depth=depth).text for depth in (0, 1, 2, 3, None)] == ["a", "b", "b", "a", "b"]
    assert run("a", script, depth=0).trace[0].skipped == "depth_filtered"
    assert run("a", bound(findRegex="a", replaceString="b", minDepth=None, maxDepth=None), depth=99).text == "b"


def test_scripts_run_in_the_order_of_where_they_are_from() -> None:
    made = run(
        "",
        *(
            bound(origin, scriptName=origin, findRegex="$", replaceString=origin[0])
            for origin in ("preset", "character", "global")
        ),
    )
    assert made == ScriptsResult("")
    made = run(
        "-",
        bound("preset", scriptName="1", findRegex="$", replaceString="p"),
        bound("character", scriptName="2", findRegex="$", replaceString="c"),
        bound(scriptName="3", findRegex="$", replaceString="g"),
        bound(scriptName="4", findRegex="$", replaceString="h"),
    )
    assert made.text == "-ghpc"
    assert [each.name for each in made.trace] == ["3", "4", "1", "2"]


def test_the_trace_says_why_a_script_changed_nothing() -> None:
    made = run(
        "aaa" * 2000 + "b",
        bound("character", scriptName="foreign", findRegex="a", is_allowed=False),
        bound(scriptName="off", findRegex="a", disabled=True),
        bound(scriptName="elsewhere", findRegex="a", placement=[1]),
        bound(scriptName="empty"),
        bound(scriptName="shown", findRegex="a", markdownOnly=True),
        bound(scriptName="broken", findRegex="/(/g"),
        bound(scriptName="missing", findRegex="z"),
        bound(scriptName="endless", findRegex="/(a+)+$/"),
        bound(scriptName="huge", findRegex="/a/g", replaceString="x" * 1000),
        bound(scriptName="good", findRegex="/a/g", replaceString=""),
    )
    assert made.text == "b"
    assert [(each.name, each.skipped, each.matches) for each in made.trace] == [
        ("shown", "channel_filtered", 0),
        ("broken", "invalid_regex", 0),
        ("missing", "no_match", 0),
        ("endless", "timed_out", 0),
        ("huge", "too_large", 0),
        ("good", None, 6000),
        ("foreign", "not_allowed", 0),
    ]
    assert "at character" in made.trace[1].error


def test_what_took_too_long_is_not_tried_again() -> None:
    time = SearchTime(limit=0.01)
    script = bound(findRegex="/(a+)+$/", replaceString="x")
    assert run("a" * 5000 + "b", script, time=time).trace[0].skipped == "timed_out"
    assert run("a", script, time=time).trace[0].skipped == "timed_out"
    assert run("a", script).text == "x"


def test_all_searches_have_a_time_together() -> None:
    assert run("a", bound(findRegex="a", replaceString="x"), time=SearchTime(in_all=0)).trace[0].skipped == "timed_out"


def test_waiting_is_not_searching() -> None:
    def waiting(text: str) -> str:
        other = Thread(target=compute)
        other.start()
        other.join()
        return macros(text)

    def compute() -> None:
        began = thread_time()
        while thread_time() - began < 0.06:
            zlib.crc32(bytes(1024 * 1024))

    scripts = [bound(findRegex="/a/g", replaceString="{{char}}"), bound(findRegex="o", replaceString="!")]
    assert run("aa", *scripts, macros=waiting, time=SearchTime(limit=0.05, in_all=0.05)).text == "B!Bo"


@contextmanager
def computing() -> Iterator[None]:
    """Two threads compute without the interpreter's lock."""
    ended, data = Event(), bytes(1024 * 1024)

    def compute() -> None:
        while not ended.is_set():
            zlib.crc32(data)

    others = [Thread(target=compute) for _ in range(2)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        ended.set()
        for other in others:
            other.join()


def made_anew(texts: list[str], scripts: list[BoundScript], in_all: float) -> object:
    """What a run makes of texts that nobody has seen before, and what it tells."""
    KEPT.clear()
    return made_of(texts, scripts, in_all)


def made_of(texts: list[str], scripts: list[BoundScript], in_all: float) -> object:
    """What a run makes of texts at the depths that they have in a chat, and what it tells."""
    made = ScriptRun(scripts, "persist", macros, SearchTime(in_all=in_all, beyond=60))
    return [made.run(text, "ai_output", depth) for depth, text in enumerate(texts)], list(made.traces())


_FINDS = ("a", "/a/g", "/b+?/gi", "/[ab]c?/g", "/(?:ab)*$/", "/^/gm", "/{{user}}/g", "/(/", "/😀/gu", "/(a)(b)?/g")
_REPLACEMENTS = ("", "b", "$1a", "{{match}}", "{{user}}", "<i>$0</i>", "😀")
_SCRIPTS = st.lists(
    st.builds(
        lambda find, replace, least, most, mode: bound(
            findRegex=find, replaceString=replace, minDepth=least, maxDepth=most, substituteRegex=mode
        ),
        st.sampled_from(_FINDS),
        st.sampled_from(_REPLACEMENTS),
        st.none() | st.integers(0, 3),
        st.none() | st.integers(0, 3),
        st.integers(0, 2),
    ),
    max_size=6,
)


@given(st.lists(st.text("abc😀{}<", max_size=12), max_size=8), _SCRIPTS, st.floats(0, 2e-4) | st.just(2.0))
def test_what_scripts_make_depends_on_nothing_but_what_they_are_given(
    texts: list[str], scripts: list[BoundScript], in_all: float
) -> None:
    first = made_anew(texts, scripts, in_all)
    assert made_of(texts, scripts, in_all) == first, "what was kept"
    with computing():
        assert made_anew(texts, scripts, in_all) == first, "under load"
    if in_all == 2.0:
        apart = [run(text, *scripts, macros=macros, depth=depth).text for depth, text in enumerate(texts)]
        assert apart == first[0], "one text after another"  # type: ignore[index]


def test_later_turns_search_only_what_is_new() -> None:
    scripts = [bound(findRegex=f"/word{number}/g", replaceString="x") for number in range(50)]
    texts = [f"word{number} is said" for number in range(40)]
    made_anew(texts, scripts, 2.0)
    again = lines_run(lambda: made_of(texts, scripts, 2.0))
    longer = lines_run(lambda: made_of([*texts, "word7, said now"], scripts, 2.0))
    anew = lines_run(lambda: made_anew(texts, scripts, 2.0))
    assert again < anew / 2
    assert longer - again < anew / 10


def test_what_is_left_of_the_time_bounds_the_searches_of_one_script() -> None:
    script = bound(findRegex="/a/g", replaceString="x")
    made = run("a" * 1000, script, time=SearchTime(limit=60, in_all=1e-9))
    assert (made.trace[0].skipped, made.text) == ("timed_out", "a" * 1000)


_PLACEMENTS: tuple[ScriptPlacement, ...] = ("user_input", "ai_output", "slash_command", "world_info", "reasoning")


@given(
    st.text(max_size=50),
    st.lists(
        st.builds(
            lambda find, replace, trims, mode: bound(
                findRegex=find, replaceString=replace, trimStrings=trims, substituteRegex=mode
            ),
            st.text("/gimsu(a)[]b*+?{}$^\\|.{{user}}", max_size=12),
            st.text("$0123<a>{{match}}{{user}}", max_size=12),
            st.lists(st.text(max_size=2), max_size=2),
            st.integers(0, 2),
        ),
        max_size=3,
    ),
    st.sampled_from(_PLACEMENTS),
    st.sampled_from(CHANNELS),
    st.none() | st.integers(-1, 9),
)
def test_no_script_raises(
    text: str, scripts: list[BoundScript], placement: ScriptPlacement, channel: Channel, depth: int | None
) -> None:
    made = run_scripts(text, scripts, placement=placement, channel=channel, depth=depth, macros=macros)
    if not any(each.skipped is None for each in made.trace):
        assert made.text == text


def test_a_text_that_would_become_huge_stays_as_it_was_without_being_made() -> None:
    result = run("a" * 100_000, bound(scriptName="x", findRegex="/([^]*)/", replaceString="$1" * 100_000))
    assert len(result.text) == 100_000
    assert [trace.skipped for trace in result.trace] == ["too_large"]


def test_a_wrong_expression_says_the_same_each_time() -> None:
    wrong = bound(scriptName="x", findRegex="/(a/")
    assert run("a", wrong).trace == run("a", wrong).trace
    assert "is missing" in run("a", wrong).trace[0].error


def test_what_is_kept_is_bounded_and_what_nobody_asks_for_goes() -> None:
    kept = KeptResults(most=2000)
    for number in range(50):
        kept.keep(b"link", str(number).encode(), LinkResult("x" * 100, (), 0.0))
        assert kept.get(b"link", b"0") is not None
    assert [number for number in range(50) if kept.get(b"link", str(number).encode()) is not None] == [0, 48, 49]


def test_what_was_kept_without_macros_is_none_for_who_has_some():
    script = bound(findRegex="/said (.+)/", replaceString="$1")
    assert run("kept alone: said {{user}}", script).text == "kept alone: {{user}}"
    assert (
        run("kept alone: said {{user}}", script, macros=lambda text: text.replace("{{user}}", "Ann")).text == "kept alone: Ann"
    )
