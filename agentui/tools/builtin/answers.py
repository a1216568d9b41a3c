"""How built-in tools put what they found: one value, as JSON for records and for the model."""

from collections.abc import Mapping, Sequence

from agentui.jsonio import Json, dumps_text
from agentui.tools.tool import ToolAnswer


def answered(value: Json) -> ToolAnswer:
    """A value as the answer of a tool."""
    return ToolAnswer(dumps_text(value), value)


def parameters(properties: Mapping[str, Json], required: Sequence[str] = ()) -> dict[str, Json]:
    """The JSON Schema of a tool's arguments: these properties and no others."""
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}
