"""Regex scripts: whatever a file holds, a reading of it is made, and what is well formed is read as it is."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.script import RegexScript
from agentui.jsonio import Json
from agentui.library.parsed import READERS
from tests.unit.assets.test_character import ANYTHING

FIELDS = [
    "id",
    "scriptName",
    "findRegex",
    "replaceString",
    "trimStrings",
    "placement",
    "substituteRegex",
    "minDepth",
    "maxDepth",
]


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_a_script_is_made_of_whatever_a_file_holds(content: Mapping[str, Json]) -> None:
    made = RegexScript.of(content)
    assert made.max_depth is None or made.max_depth >= 0


def test_a_script_is_read() -> None:
    made = RegexScript.of(
        {
            "id": "a1",
            "scriptName": "Quotes",
            "findRegex": "/x/g",
            "replaceString": "$1",
            "trimStrings": ["*"],
            "placement": [1, 2, 4],
            "promptOnly": True,
            "substituteRegex": 2,
            "minDepth": None,
            "maxDepth": 3,
        }
    )
    assert made == RegexScript(
        "a1",
        "Quotes",
        "/x/g",
        "$1",
        ("*",),
        frozenset({"user_input", "ai_output"}),
        is_prompt_only=True,
        substitution="escaped",
        max_depth=3,
    )


@pytest.mark.parametrize(
    ("minimum", "maximum", "limits"),
    [(None, None, (None, None)), (-1, 0, (-1, 0)), (-2, -1, (None, None)), ("2", "x", (2, None))],
)
def test_depths_that_say_nothing_are_no_limits(minimum: Json, maximum: Json, limits: tuple[int | None, int | None]) -> None:
    made = RegexScript.of({"minDepth": minimum, "maxDepth": maximum})
    assert (made.min_depth, made.max_depth) == limits


@pytest.mark.parametrize(("value", "expected"), [(True, "raw"), (False, "none"), (2, "escaped"), (9, "none"), (None, "none")])
def test_old_exports_have_a_switch_for_macros(value: Json, expected: str) -> None:
    assert RegexScript.of({"substituteRegex": value}).substitution == expected


def test_old_placements_are_those_of_today() -> None:
    shown = RegexScript.of({"placement": [0]})
    assert (len(shown.placements), shown.is_markdown_only, shown.is_prompt_only) == (5, True, True)
    assert RegexScript.of({"placement": [0, 2]}).placements == {"ai_output"}
    assert RegexScript.of({"placement": [4]}).placements == {"slash_command"}
    assert RegexScript.of({"placement": [2, 4]}).placements == {"ai_output"}


def test_patterns_keep_their_line_ends() -> None:
    made = RegexScript.of({"findRegex": "a\r\nb", "replaceString": "\r"})
    assert (made.find, made.replace) == ("a\r\nb", "\r")


def test_what_is_no_script_is_left_out_of_a_profile() -> None:
    profile = READERS["regex"]
    assert [bound.script.name for bound in profile({"name": "p", "scripts": [{"scriptName": "one"}, None, 3]})] == ["one"]
    assert profile({"scripts": "none"}) == ()
