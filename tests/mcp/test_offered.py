"""Which tools of a server can be offered, and why others cannot."""

import pytest

from agentui.jsonio import Json
from agentui.mcp.offered import Likeness, parameters_fault, usable_tools
from agentui.mcp.records import ToolDefinition


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({}, None),
        ({"type": "object", "properties": {"city": {"type": "string"}}}, None),
        ({"type": "string"}, "Its parameters are no object."),
        ({"type": ["object", "null"]}, "Its parameters are no object."),
        ({"type": "object", "properties": {"city": {"type": "town"}}}, "This is no JSON Schema"),
        ({"type": "object", "required": "city"}, "This is no JSON Schema"),
    ],
)
def test_a_tool_that_no_vendor_takes_is_not_offered(parameters: dict[str, Json], fault: str | None) -> None:
    found = parameters_fault(parameters)
    assert found is fault is None or str(found).startswith(str(fault))
    good, tool = ToolDefinition("good", "", {"type": "object"}), ToolDefinition("odd", "", parameters)
    assert usable_tools([good, tool]) == ([good, tool] if fault is None else [good])


def test_a_tool_that_was_approved_before_hints_were_read_stays_approved() -> None:
    """Its row has none of them: they count for nothing, and the tool goes on being offered after an update of this program."""
    old, now = ToolDefinition("look", "Looks.", {}), ToolDefinition("look", "Looks.", {}, {"readOnlyHint": True})
    assert Likeness.of(now).is_approved_by(Likeness.of(old))
    assert not Likeness.of(now).is_approved_by(Likeness.of(ToolDefinition("look", "Looks.", {}, {})))
    assert not Likeness.of(ToolDefinition("look", "Looks, and tells.", {}, {})).is_approved_by(Likeness.of(old))
