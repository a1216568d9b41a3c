"""Custom tools of OpenAI's two APIs: they take free text, perhaps by a grammar, where functions take arguments.

Everywhere else such a tool is a function of one string:

    {"type": "custom", "custom": {"name": "apply", "format": {"type": "text"}}}      Tool("apply", schema of {"input": string})
    {"type": "custom", "custom": {"name": "apply", "input": "..."}}                  ToolCall("apply", '{"input": "..."}')
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from agentui.chat.request import FreeText, ServerTool, Tool
from agentui.jsonio import InvalidJson, Json, dumps_text, loads

_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
_TAKING = re.compile(r"(?:^|[/:])gpt-(?:[5-9]|\d\d)")


def takes_free_text(model: str) -> bool:
    """Whether a model knows custom tools: gpt-5 and later do; compatible servers and older models refuse them."""
    return _TAKING.search(model) is not None


def free_text_tool(name: str, description: Json, grammar: tuple[str, str] | None, raw: Json) -> Tool:
    """A custom tool, described as a function of one string too; ``grammar`` is its syntax and definition."""
    told = description if isinstance(description, str) and description else None
    said = [told] if told else []
    said.append("Put the tool's whole input, as it is, into the string `input`.")
    if grammar is not None:
        said.append(f"The input follows this grammar ({grammar[0]}):\n{grammar[1]}")
    return Tool(name, "\n\n".join(said), _SCHEMA, None, raw, FreeText(told, grammar))


def free_text_names(tools: Iterable[Tool | ServerTool], model: str) -> frozenset[str]:
    """The names of those tools that the model knows as custom ones."""
    if not takes_free_text(model):
        return frozenset()
    return frozenset(tool.name for tool in tools if isinstance(tool, Tool) and tool.free_text is not None)


def free_text_arguments(text: str) -> str:
    """A custom tool's input as the arguments of a function."""
    return dumps_text({"input": text})


def free_text(arguments: str) -> str:
    """A custom tool's input in arguments that a model wrote; all of them where they are not what was asked for."""
    try:
        match loads(arguments):
            case {"input": str(text)}:
                return text
    except InvalidJson:
        pass
    return arguments


def parse_custom_tool(custom: Mapping[str, Json], raw: Json) -> Tool:
    """A custom tool of chat completions, whose name was looked at before."""
    match custom.get("format"):
        case {"type": "grammar", "grammar": {"syntax": str(syntax), "definition": str(definition)}}:
            return free_text_tool(custom["name"], custom.get("description"), (syntax, definition), raw)
    return free_text_tool(custom["name"], custom.get("description"), None, raw)


def render_custom_tool(tool: Tool, told: FreeText) -> Json:
    """A custom tool of chat completions."""
    custom: dict[str, Json] = {"name": tool.name}
    if told.description is not None:
        custom["description"] = told.description
    if told.grammar is not None:
        grammar = {"syntax": told.grammar[0], "definition": told.grammar[1]}
        custom["format"] = {"type": "grammar", "grammar": grammar}
    return {"type": "custom", "custom": custom}


def custom_names(body: Mapping[str, Json]) -> frozenset[str]:
    """The names of the custom tools that a request of chat completions declares."""
    names = [
        tool["custom"].get("name")
        for tool in body.get("tools") or ()
        if isinstance(tool, dict) and isinstance(tool.get("custom"), dict)
    ]
    return frozenset(name for name in names if isinstance(name, str))
