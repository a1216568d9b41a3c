"""Regex scripts run as SillyTavern 1.19 runs them."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin, ScriptPlacement
from agentui.jsonio import Json
from agentui.regexes.scripts import CHANNELS, Channel, ScriptsResult, SearchTime, run_scripts

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
