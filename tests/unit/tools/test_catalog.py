"""Choosing tools, names that stand for two of them, and schemas of strangers."""

import tracemalloc
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.catalog import Catalog
from agentui.tools.errors import InvalidArguments, InvalidToolSchema, ToolCatalogConflict, UnknownTool
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext


async def _nothing(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
    return ToolAnswer("")


def _tool(name: str, group: str = "dice") -> HostedTool:
    return HostedTool(name, "", {"type": "object"}, _nothing, group)


ROLL, READ = _tool("roll"), _tool("read", "assets")
FAR = replace(_tool("far_read", "far"), provider_type="mcp", provider_id="files")
ALL = Catalog.of([ROLL, READ, FAR])


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        ([], []),
        (["*"], ["roll", "read", "far_read"]),
        (["far_read", "roll"], ["roll", "far_read"]),
        (["group:assets", "roll", "roll"], ["roll", "read"]),
        (["mcp:files"], ["far_read"]),
    ],
)
def test_tools_are_chosen_by_name_group_and_server(selectors: list[str], names: list[str]) -> None:
    assert [tool.name for tool in ALL.chosen(selectors)] == names


@pytest.mark.parametrize("selector", ["", "Roll", "group:", "group:dices", "mcp:dice", "mcp:builtin"])
def test_a_selector_that_names_nothing_is_refused(selector: str) -> None:
    with pytest.raises(UnknownTool):
        ALL.chosen([selector])


def test_a_tool_that_takes_anothers_name_is_refused() -> None:
    with pytest.raises(ToolCatalogConflict) as caught:
        Catalog.of([ROLL, replace(FAR, name="roll")])
    assert caught.value.details == {"tool": "roll"}


@given(st.lists(st.sampled_from(["roll", "read", "far_read", "group:dice", "group:assets", "mcp:files"])))
def test_choosing_twice_is_choosing_once(selectors: list[str]) -> None:
    chosen = ALL.chosen(selectors)
    assert chosen.chosen([tool.name for tool in chosen]) == chosen


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"properties": []},
        {"description": "x" * 300_000},
        {"patternProperties": {"a": {}}, "unevaluatedProperties": False},
    ],
)
def test_a_schema_that_is_none_is_refused(schema: dict[str, Json]) -> None:
    with pytest.raises(InvalidToolSchema):
        ArgumentCheck(schema)


DOUBLING: dict[str, Json] = {
    "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}, {"$ref": f"#/$defs/{n + 1}"}]} for n in range(60)} | {"60": {}},
    "$ref": "#/$defs/0",
}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        DOUBLING,
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"patternProperties": {"^(a+)+$": {}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
        {"properties": {"b": {"items": {"anyOf": [*({"const": n} for n in range(2000)), True]}}}},
        {"patternProperties": {f"x{n}": {} for n in range(1000)}, "properties": {"b": {"items": {"$ref": "#"}}}},
    ],
)
def test_a_schema_that_leads_elsewhere_or_never_ends_is_not_applied(schema: dict[str, Json]) -> None:
    with pytest.raises(InvalidToolSchema):
        ArgumentCheck(schema).check({"a": "a" * 5000 + "!", "a" * 5000 + "!": 1, "b": [{"c": 1999}] * 30_000})


def test_alternatives_do_not_repeat_a_long_value_each() -> None:
    alternatives = {"anyOf": [{"type": "null"}] * 300}
    arguments = {"a": "x" * 1_000_000}
    tracemalloc.start()
    try:
        for word in ("anyOf", "oneOf"):
            with pytest.raises((InvalidArguments, InvalidToolSchema)):
                ArgumentCheck({"properties": {"a": {word: alternatives["anyOf"]}}}).check(arguments)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_one_of_several_alternatives_fits() -> None:
    check = ArgumentCheck({"properties": {"a": {"oneOf": [{"minimum": 1}, {"minimum": 5}]}}})
    check.check({"a": 2})
    for wrong, told in ((0, "under 0"), (6, "under 2")):
        with pytest.raises(InvalidArguments, match=told):
            check.check({"a": wrong})


def test_arguments_are_held_against_the_whole_schema() -> None:
    check = ArgumentCheck(
        {
            "type": "object",
            "properties": {"list": {"uniqueItems": True}, "word": {"pattern": "^\\p{L}+$"}},
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": {"type": "boolean"},
        }
    )
    check.check({"list": [1, {"a": 1}], "word": "größe", "x-a": 1, "other": True})
    for wrong in ({"list": [{"a": 1}, {"a": 1}]}, {"word": "1"}, {"x-a": "1"}, {"other": 1}):
        with pytest.raises(InvalidArguments):
            check.check(wrong)
