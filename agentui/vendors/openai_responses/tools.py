"""Tools and the choice among them, in and out."""

from collections.abc import Mapping, Sequence

from agentui.chat.request import ServerTool, Tool, ToolChoice
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.openai_responses.items import Losses


def parse_tools(body: Mapping[str, Json]) -> tuple[Tool | ServerTool, ...]:
    """``tools``, without those that an ``allowed_tools`` choice rules out. Raises BadRequest."""
    tools = body.get("tools")
    if tools is None:
        return ()
    if not isinstance(tools, list):
        raise BadRequest("tools must be a list.", param="tools")
    parsed = tuple(_parse_tool(tool, f"tools[{number}]") for number, tool in enumerate(tools))
    allowed = _allowed(body.get("tool_choice"))
    if allowed is None:
        return parsed
    return tuple(tool for tool in parsed if (tool.name if isinstance(tool, Tool) else tool.label) in allowed)


def _parse_tool(tool: Json, param: str) -> Tool | ServerTool:
    """A function, or one of the API's own tools under the name of its type."""
    if not isinstance(tool, dict) or not isinstance(tool.get("type"), str):
        raise BadRequest(f"{param} must be an object with a 'type'.", param=param)
    if tool["type"] != "function":
        return ServerTool(tool["type"], tool)
    name, schema, strict, description = (tool.get(key) for key in ("name", "parameters", "strict", "description"))
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{param}.name must be a non-empty string.", param=f"{param}.name")
    if schema is not None and not isinstance(schema, dict):
        raise BadRequest(f"{param}.parameters must be a JSON Schema object.", param=f"{param}.parameters")
    return Tool(
        name,
        description if isinstance(description, str) else None,
        schema,
        strict if isinstance(strict, bool) else None,
        tool,
    )


def _allowed(choice: Json) -> set[Json] | None:
    """The names (of functions) and types (of other tools) that ``allowed_tools`` leaves, None where all are allowed."""
    match choice:
        case {"type": "allowed_tools", "tools": list(tools)}:
            return {tool.get("name", tool.get("type")) for tool in tools if isinstance(tool, dict)}
    return None


def parse_tool_choice(body: Mapping[str, Json]) -> ToolChoice | None:
    """``tool_choice`` and ``parallel_tool_calls``; None where neither says anything. Raises BadRequest.

    ``allowed_tools`` becomes a choice among the tools that ``parse_tools`` left; a choice of one of the API's own tools
    is nobody else's and counts as unmodelled.
    """
    parallel = body.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise BadRequest("parallel_tool_calls must be true or false.", param="parallel_tool_calls")
    match body.get("tool_choice"):
        case None:
            return ToolChoice("auto", (), parallel) if parallel is not None and body.get("tools") else None
        case "auto" | "none" | "required" as mode:
            return ToolChoice(mode, (), parallel)
        case {"type": "function", "name": str(name)}:
            return ToolChoice("named", (name,), parallel)
        case {"type": "allowed_tools", "tools": list(), "mode": "auto" | "required" as mode}:
            return ToolChoice(mode, (), parallel)
        case {"type": str(kind)} if kind not in ("function", "allowed_tools"):
            return ToolChoice("auto", (), parallel)
    raise BadRequest("tool_choice is none of auto, none, required, a function, allowed_tools or a tool.", param="tool_choice")


def is_own_choice(choice: Json) -> bool:
    """Whether ``tool_choice`` names one of the API's own tools, which no other dialect has."""
    return isinstance(choice, dict) and choice.get("type") not in ("function", "allowed_tools")


def render_tools(tools: Sequence[Tool | ServerTool], losses: Losses) -> list[Json]:
    """Functions in the flat form; another vendor's own tools are left out by their label."""
    rendered: list[Json] = []
    for tool in tools:
        if isinstance(tool, ServerTool):
            losses.drop(tool.label)
            continue
        function: dict[str, Json] = {"type": "function", "name": tool.name}
        if tool.description is not None:
            function["description"] = tool.description
        function["parameters"] = dict(tool.schema) if tool.schema is not None else {"type": "object", "properties": {}}
        # The API's default is strict, which refuses most schemas written for other vendors.
        function["strict"] = tool.strict is True
        rendered.append(function)
    return rendered


def render_tool_choice(choice: ToolChoice) -> Json:
    """``tool_choice``; several names are the allowed tools of which one is required."""
    if choice.mode != "named":
        return choice.mode
    functions: list[Json] = [{"type": "function", "name": name} for name in choice.names]
    return functions[0] if len(functions) == 1 else {"type": "allowed_tools", "mode": "required", "tools": functions}
