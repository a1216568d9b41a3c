"""What a chat completion may call and must look like: tools, the choice among them, and the format of the answer."""

import re
from collections.abc import Mapping, Sequence, Set

from agentui.chat.request import ChatRequest, ResponseFormat, ServerTool, Tool, ToolChoice
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.capabilities import capabilities_of
from agentui.vendors.openai.free_text import free_text_names, parse_custom_tool, render_custom_tool
from agentui.vendors.web_search import SEARCH_OPTIONS, is_web_search, options_of, search_of_options, web_search_of

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NOT_STRICT = frozenset(
    ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties")
)
"""Keywords that OpenAI's strict mode refuses; beside ``$ref`` it refuses every other one."""  # fmt: skip


def parse_tools(body: Mapping[str, Json]) -> tuple[Tool | ServerTool, ...]:
    """``tools``, or the legacy ``functions``, and the search that ``web_search_options`` ask for. Anything but a function is a
    ServerTool named by its type.

    Under ``tool_choice: allowed_tools`` in mode auto only the allowed ones are there: that is what it means.
    """
    if "tools" not in body and "functions" not in body and SEARCH_OPTIONS not in body:
        return ()
    search = search_of_options(body.get(SEARCH_OPTIONS))
    tools = _list(body, "tools")
    parsed: list[Tool | ServerTool] = [_parse_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    functions = _list(body, "functions")
    parsed += [_parse_function(function, function, f"functions[{index}]") for index, function in enumerate(functions)]
    match body.get("tool_choice"):
        case {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": list(allowed)}}:
            names = _names(allowed)
            parsed = [tool for tool in parsed if isinstance(tool, Tool) and tool.name in names]
    return tuple(parsed) if search is None else (*parsed, search)


def parse_tool_choice(body: Mapping[str, Json]) -> ToolChoice | None:
    """``tool_choice`` (or ``function_call``) with ``parallel_tool_calls``; None where neither says anything known."""
    parallel = body.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise BadRequest("parallel_tool_calls must be true or false.", param="parallel_tool_calls")
    choice = body.get("tool_choice")
    match body.get("function_call") if choice is None else choice:
        case "auto" | {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}:
            return ToolChoice("auto", parallel=parallel)
        case "none":
            return ToolChoice("none", parallel=parallel)
        case "required":
            return ToolChoice("required", parallel=parallel)
        case {"type": "function", "function": {"name": str(name)}} | {"type": "custom", "custom": {"name": str(name)}}:
            return ToolChoice("named", (name,), parallel)
        case {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": list(allowed)}}:
            return ToolChoice("named", _names(allowed), parallel)
        case {"name": str(name)}:
            return ToolChoice("named", (name,), parallel)
    return None if parallel is None else ToolChoice("auto", parallel=parallel)


def parse_response_format(body: Mapping[str, Json]) -> ResponseFormat | None:
    """``response_format``; None where it is absent or of an unknown type."""
    match body.get("response_format"):
        case {"type": "text"}:
            return ResponseFormat("text")
        case {"type": "json_object"}:
            return ResponseFormat("json")
        case {"type": "json_schema", "json_schema": dict(spec)}:
            schema, name, strict = spec.get("schema"), spec.get("name"), spec.get("strict")
            return ResponseFormat(
                "schema",
                schema if isinstance(schema, dict) else {},
                name if isinstance(name, str) else None,
                strict if isinstance(strict, bool) else None,
            )
        case {"type": "json_schema"}:
            raise BadRequest("response_format needs a json_schema object.", param="response_format.json_schema")
    return None


def render_tools(chat: ChatRequest) -> tuple[dict[str, Json], list[str]]:
    """The members ``tools``, ``tool_choice``, ``parallel_tool_calls`` and ``web_search_options``, and what was dropped.

    Choice and parallel calls are only legal beside ``tools``, and the options for models that search.
    """
    dropped: list[str] = []
    tools: list[Json] = []
    members: dict[str, Json] = {}
    search = web_search_of(chat.tools) if capabilities_of("openai", chat).search_options else None
    if search is not None:
        dropped += search.lost("user_location", "search_context_size")
        members[SEARCH_OPTIONS] = options_of(search)
    custom = free_text_names(chat.tools, chat.model)
    for tool in chat.tools:
        if isinstance(tool, Tool):
            told = tool.free_text if tool.name in custom else None
            tools.append(_render_tool(tool, dropped) if told is None else render_custom_tool(tool, told))
        elif search is None or not is_web_search(tool):
            dropped.append(f"tools.{tool.label}")
    choice = chat.tool_choice
    if not tools:
        if choice is not None and choice.mode in ("required", "named"):
            dropped.append("tool_choice")
        return members, dropped
    members["tools"] = tools
    if choice is not None:
        members["tool_choice"] = _render_choice(choice, custom)
        if choice.parallel is not None:
            members["parallel_tool_calls"] = choice.parallel
    return members, dropped


def render_response_format(format: ResponseFormat) -> Json:
    """``response_format``, with a name made up where there is none; strict only where the schema allows it."""
    if format.kind == "text":
        return {"type": "text"}
    if format.kind == "json":
        return {"type": "json_object"}
    schema = dict(format.schema or {})
    name = _NOT_IN_NAMES.sub("_", format.name or "response")[:64]
    strict = format.strict is not False and meets_strict_rules(schema)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}


def meets_strict_rules(schema: Mapping[str, Json]) -> bool:
    """Whether OpenAI's strict mode takes a schema: a closed object at the root, and every object below closed with all
    of its properties required."""
    return schema.get("type") == "object" and "anyOf" not in schema and _is_strict(schema)


def _is_strict(schema: Json) -> bool:
    """The rules for one schema and those inside it."""
    if not isinstance(schema, Mapping) or not _NOT_STRICT.isdisjoint(schema) or ("$ref" in schema and len(schema) > 1):
        return False
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if schema.get("additionalProperties") is not False:
            return False
        if not isinstance(properties, Mapping) or not isinstance(required, list) or set(properties) - set(required):
            return False
    inner: list[Json] = []
    for key in ("properties", "$defs", "definitions"):
        inner += schema.get(key, {}).values() if isinstance(schema.get(key, {}), Mapping) else [None]
    inner += schema.get("anyOf", []) if isinstance(schema.get("anyOf", []), list) else [None]
    inner += [schema["items"]] if "items" in schema else []
    return all(_is_strict(each) for each in inner)


def _list(body: Mapping[str, Json], field: str) -> list[Json]:
    """A member that is a list or absent."""
    value = body.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRequest(f"{field} must be a list.", param=field)
    return value


def _names(tools: Sequence[Json]) -> tuple[str, ...]:
    """The names in an ``allowed_tools`` list."""
    names: list[str] = []
    for tool in tools:
        match tool:
            case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
                names.append(name)
    return tuple(names)


def _parse_tool(tool: Json, where: str) -> Tool | ServerTool:
    """One entry of ``tools``."""
    match tool:
        case {"type": "function", "function": dict(function)}:
            return _parse_function(function, tool, f"{where}.function")
        case {"type": "custom", "custom": dict(custom)} if isinstance(custom.get("name"), str):
            return parse_custom_tool(custom, tool)
        case {"type": "function"}:
            raise BadRequest(f"{where} needs a function object.", param=f"{where}.function")
        case {"type": str(kind)}:
            return ServerTool(kind, tool)
    raise BadRequest(f"{where} must be an object with a type.", param=where)


def _parse_function(function: Json, raw: Json, where: str) -> Tool:
    """A function's name, description and schema."""
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequest(f"{where}.name must be a string.", param=f"{where}.name")
    schema = function.get("parameters")
    if schema is not None and not isinstance(schema, dict):
        raise BadRequest(f"{where}.parameters must be an object.", param=f"{where}.parameters")
    description, strict = function.get("description"), function.get("strict")
    return Tool(
        function["name"],
        description if isinstance(description, str) else None,
        schema,
        strict if isinstance(strict, bool) else None,
        raw,
    )


def _render_tool(tool: Tool, dropped: list[str]) -> Json:
    """A function tool; ``parameters`` may be absent."""
    function: dict[str, Json] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = dict(tool.schema)
    if tool.strict:
        if tool.schema is not None and meets_strict_rules(tool.schema):
            function["strict"] = True
        else:
            dropped.append("strict")
    return {"type": "function", "function": function}


def _render_choice(choice: ToolChoice, custom: Set[str]) -> Json:
    """``tool_choice``; several names are ``allowed_tools`` of which one is required."""
    if choice.mode != "named":
        return choice.mode
    kinds = [(name, "custom" if name in custom else "function") for name in choice.names]
    functions: list[Json] = [{"type": kind, kind: {"name": name}} for name, kind in kinds]
    if len(functions) == 1:
        return functions[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": functions}}
