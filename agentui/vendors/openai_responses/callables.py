"""The tools that the caller's own program runs: where a request declares them, and what its items call them.

A tool stands in ``tools``, in an ``additional_tools`` item, or in what a search for tools has found; it is a function, takes
free text (``custom``) or is the search itself; and it may belong to a namespace. Other dialects know functions with flat
names only, so that is what each becomes, and the call of it becomes what the caller declared:

    {"type": "namespace", "name": "mcp__git", "tools": [{"type": "custom", "name": "apply"}]}
    Tool("mcp__git__apply", schema of {"input": string})
    {"type": "custom_tool_call", "namespace": "mcp__git", "name": "apply", "input": "..."}
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from agentui.chat.request import ServerTool, Tool
from agentui.errors import BadRequest
from agentui.jsonio import InvalidJson, Json, loads
from agentui.vendors.openai.free_text import free_text_tool

Kind = Literal["function", "custom", "tool_search"]
SEARCH = "tool_search"
_DEFAULT_NAMESPACE = "functions"
"""OpenAI's models know every function under this name; it tells nothing apart."""  # fmt: skip
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class CallName:
    """What the caller's items name a tool."""

    name: str
    kind: Kind = "function"
    namespace: str | None = None


def flat_name(name: str, namespace: Json = None) -> str:
    """The name of a namespace's tool where there are no namespaces; the same one in every request."""
    if not isinstance(namespace, str) or namespace in ("", _DEFAULT_NAMESPACE):
        return name
    whole = f"{namespace}__{name}"
    if len(whole) <= _LONGEST_NAME:
        return whole
    return f"{whole[: _LONGEST_NAME - 9]}_{sha256(whole.encode()).hexdigest()[:8]}"


def parse_arguments(arguments: str) -> Json:
    """Arguments that a model wrote, as an object: an empty one where they are none."""
    try:
        parsed = loads(arguments)
    except InvalidJson:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def declared_tools(body: Mapping[str, Json]) -> tuple[Tool | ServerTool, ...]:
    """Every tool of a request, each name once (the latest declaration counts), without those that an ``allowed_tools``
    choice rules out. Raises BadRequest."""
    found = [tool for tool, _ in _declared(body)]
    latest = {tool.name: tool for tool in found if isinstance(tool, Tool)}
    named = {tool.name: latest[tool.name] for tool in found if isinstance(tool, Tool)}
    return (*named.values(), *(tool for tool in found if isinstance(tool, ServerTool)))


def call_names(body: Mapping[str, Json]) -> dict[str, CallName]:
    """How the caller's items name its tools, by the name that other dialects know. For a request that was read before."""
    return {tool.name: name for tool, name in _declared(body) if isinstance(tool, Tool)}


def _declared(body: Mapping[str, Json]) -> Iterator[tuple[Tool | ServerTool, CallName]]:
    """Every declaration, in the order of the request."""
    tools, given = body.get("tools"), body.get("input")
    allowed = _allowed(body.get("tool_choice"))
    if tools is not None and not isinstance(tools, list):
        raise BadRequest("tools must be a list.", param="tools")
    for number, tool in enumerate(tools or ()):
        if allowed is None or (called := _called(tool)) is None or called in allowed:
            yield from _entry(tool, f"tools[{number}]")
    for number, item in enumerate(given if isinstance(given, list) else ()):
        if isinstance(item, dict) and item.get("type") in ("additional_tools", "tool_search_output"):
            param = f"input[{number}].tools"
            if not isinstance(item.get("tools"), list):
                raise BadRequest(f"{param} must be a list.", param=param)
            for place, tool in enumerate(item["tools"]):
                yield from _entry(tool, f"{param}[{place}]")


def _entry(tool: Json, param: str, namespace: str | None = None) -> Iterator[tuple[Tool | ServerTool, CallName]]:
    """One entry: a tool, a namespace of tools, or one of the API's own under the name of its type."""
    if not isinstance(tool, dict) or not isinstance(kind := tool.get("type"), str):
        raise BadRequest(f"{param} must be an object with a 'type'.", param=param)
    if kind == "namespace" and namespace is None and isinstance(tool.get("tools"), list):
        for number, inner in enumerate(tool["tools"]):
            yield from _entry(inner, f"{param}.tools[{number}]", _name(tool, param))
    elif kind == "function":
        yield _function(tool, param, namespace), CallName(tool["name"], "function", namespace)
    elif kind == "custom":
        name = _name(tool, param)
        yield (
            free_text_tool(flat_name(name, namespace), tool.get("description"), _grammar(tool), tool),
            CallName(name, "custom", namespace),
        )
    elif kind == SEARCH and tool.get("execution") == "client":
        yield _function({**tool, "name": SEARCH}, param, None), CallName(SEARCH, "tool_search")
    else:
        yield ServerTool(kind, tool), CallName(kind)


def _name(tool: Mapping[str, Json], param: str) -> str:
    """A name that must be there."""
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{param}.name must be a non-empty string.", param=f"{param}.name")
    return name


def _function(tool: Mapping[str, Json], param: str, namespace: str | None) -> Tool:
    """A function in the API's flat form."""
    name, schema, strict, description = _name(tool, param), *(tool.get(key) for key in ("parameters", "strict", "description"))
    if schema is not None and not isinstance(schema, dict):
        raise BadRequest(f"{param}.parameters must be a JSON Schema object.", param=f"{param}.parameters")
    return Tool(
        flat_name(name, namespace),
        description if isinstance(description, str) else None,
        schema,
        strict if isinstance(strict, bool) else None,
        tool,
    )


def _grammar(tool: Mapping[str, Json]) -> tuple[str, str] | None:
    """Syntax and definition of a custom tool's input."""
    match tool.get("format"):
        case {"type": "grammar", "syntax": str(syntax), "definition": str(definition)}:
            return syntax, definition
    return None


def _allowed(choice: Json) -> set[str] | None:
    """The names (of functions) and types (of other tools) that ``allowed_tools`` leaves, None where all are allowed."""
    match choice:
        case {"type": "allowed_tools", "tools": list(tools)}:
            return {name for tool in tools if (name := _called(tool)) is not None}
    return None


def _called(tool: Json) -> str | None:
    """What a tool is called: its name, or its type; None for what has neither."""
    name = tool.get("name", tool.get("type")) if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None
