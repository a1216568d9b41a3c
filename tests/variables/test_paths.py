"""Paths into variables: the flat name first, then the path; a write changes the root alone."""

import copy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, step, walk
from agentui.variables.paths import PathBlocked, parse_path, read, root_of, write_path
from tests.variables.values import json_values

steps = st.lists(
    st.one_of(st.sampled_from(["a", "b", "0", "1", "-1", "剑.名", "金币"]), st.text(min_size=1, max_size=3)).map(step)
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("资产.金币", 3),
        ('装备["剑.名"]', "青锋"),
        ("装备['剑.名']", "青锋"),
        ("bag.0", "rope"),
        ("bag[-1]", "lamp"),
        ("资产.铜币", MISSING),
        ("资产.金币.x", MISSING),
        ("nothing", MISSING),
        ("", MISSING),
        ("a | b", MISSING),
    ],
)
def test_a_path_reads_into_the_root_variable(path: str, value: Json) -> None:
    assert read({"资产": {"金币": 3}, "装备": {"剑.名": "青锋"}, "bag": ["rope", "lamp"]}, path) == value


def test_a_variable_whose_name_is_the_whole_text_comes_first() -> None:
    variables = {"assets.gold": 1, "assets": {"gold": 2}}
    assert read(variables, "assets.gold") == 1
    assert root_of(variables, "assets.gold") == ("assets.gold", ())
    assert root_of({"assets": {}}, "assets.gold") == ("assets", (step("gold"),))


def test_a_flat_null_is_found_and_hides_the_path() -> None:
    assert read({"a.b": None, "a": {"b": 1}}, "a.b") is None


def test_a_text_that_is_no_path_is_a_name() -> None:
    assert parse_path("a | b") == (step("a | b"),)
    assert parse_path("a..b") == (step("a..b"),)


@pytest.mark.parametrize(
    ("root", "path", "changed"),
    [
        (MISSING, ["gold"], {"gold": 7}),
        (None, ["a", "b"], {"a": {"b": 7}}),
        ({"silver": 1}, ["gold"], {"silver": 1, "gold": 7}),
        ({"a": {"b": 1, "c": 2}}, ["a", "b"], {"a": {"b": 7, "c": 2}}),
        ([1, 2], ["0"], [7, 2]),
        ([1, 2], ["-1"], [1, 7]),
        ([1, 2], ["2"], [1, 2, 7]),
        ([{"x": 1}], ["0", "x"], [{"x": 7}]),
        (5, [], 7),
    ],
)
def test_writing_a_path_changes_only_what_it_names(root: Json, path: list[str], changed: Json) -> None:
    assert write_path(root, tuple(map(step, path)), 7) == changed


@pytest.mark.parametrize(
    ("root", "path", "said"),
    [
        (5, ["gold"], "a number"),
        (True, ["gold"], "a boolean"),
        ("rich", ["gold"], "a text"),
        ({"a": 1.5}, ["a", "b"], "a number"),
        ([1], ["gold"], "no place"),
        ([1], ["2"], "no place"),
        ([1], ["-2"], "no place"),
        ({}, ["a"] * 101, "100 steps"),
    ],
)
def test_a_path_through_what_has_no_such_place_is_refused(root: Json, path: list[str], said: str) -> None:
    with pytest.raises(PathBlocked, match=said):
        write_path(root, tuple(map(step, path)), 7)


@given(root=st.one_of(st.just(MISSING), json_values), path=steps, value=json_values)
def test_what_was_written_is_read_and_the_old_root_stays(root: Json, path: list[Json], value: Json) -> None:
    before = copy.deepcopy(root) if root is not MISSING else MISSING
    try:
        changed = write_path(root, tuple(path), value)
    except PathBlocked:
        assume(False)
        return
    assert walk(changed, tuple(path)) == value
    assert root == before


@given(
    root=st.dictionaries(st.text(max_size=3), json_values, max_size=4), key=st.text(min_size=1, max_size=3), value=json_values
)
def test_a_write_leaves_every_other_key_alone(root: dict[str, Json], key: str, value: Json) -> None:
    changed = write_path(root, (step(key),), value)
    assert {name: inner for name, inner in changed.items() if name != key} == {
        name: inner for name, inner in root.items() if name != key
    }
