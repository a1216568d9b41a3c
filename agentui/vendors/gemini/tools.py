"""Tools, the choice among them, and their schemas: Gemini's ``Schema`` is a subset of OpenAPI 3."""

import re
from collections.abc import Mapping
from typing import Final

from agentui.chat.request import ChatRequest, ServerTool, Tool, ToolChoice
from agentui.errors import UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, camel, items, label_of, member, obj, text
from agentui.vendors.web_search import is_web_search, web_search_of

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")


def parse_tools(body: Mapping[str, Json]) -> tuple[Tool | ServerTool, ...]:
    """All declarations of all tools, in order; anything else in a tool is run by Gemini. Raises Malformed."""
    tools: list[Tool | ServerTool] = []
    for entry in items(body, "tools"):
        if not isinstance(entry, dict):
            raise Malformed("Every tool must be an object.", "tools")
        tools += [_parse_declaration(raw) for raw in items(entry, "functionDeclarations")]
        own = {key: value for key, value in entry.items() if value is not None and camel(key) != "functionDeclarations"}
        tools += [ServerTool(label_of(key), {key: value}) for key, value in own.items()]
    return tuple(tools)


def _parse_declaration(raw: Json) -> Tool:
    """One declaration: ``parametersJsonSchema`` is JSON Schema, ``parameters`` becomes it."""
    if not isinstance(raw, dict) or not text(raw, "name"):
        raise Malformed("Every function declaration must be an object with a name.", "tools.functionDeclarations")
    schema = member(raw, "parametersJsonSchema")
    if schema is None:
        schema = to_json_schema(member(raw, "parameters"))
    if schema is not None and not isinstance(schema, dict):
        raise Malformed("A function's parameters must be a schema object.", "tools.functionDeclarations.parameters")
    return Tool(text(raw, "name") or "", text(raw, "description"), schema, raw=raw)


def parse_tool_choice(body: Mapping[str, Json]) -> ToolChoice | None:
    """``functionCallingConfig``: VALIDATED means AUTO with checked arguments. Raises Malformed."""
    config = obj(obj(body, "toolConfig"), "functionCallingConfig")
    names = items(config, "allowedFunctionNames")
    if not all(isinstance(name, str) for name in names):
        raise Malformed("allowedFunctionNames must hold strings.", "toolConfig.functionCallingConfig.allowedFunctionNames")
    match (text(config, "mode") or "MODE_UNSPECIFIED").upper():
        case "AUTO" | "VALIDATED":
            return ToolChoice("auto")
        case "NONE":
            return ToolChoice("none")
        case "ANY":
            return ToolChoice("named", tuple(names)) if names else ToolChoice("required")
        case "MODE_UNSPECIFIED":
            return None
    raise Malformed("mode must be AUTO, ANY, NONE or VALIDATED.", "toolConfig.functionCallingConfig.mode")


def unmodelled_tool_config(body: Mapping[str, Json]) -> list[str]:
    """What ``toolConfig`` says beyond the neutral choice, by name."""
    config = obj(body, "toolConfig")
    names = [f"toolConfig.{label_of(key)}" for key, value in config.items() if value and camel(key) != "functionCallingConfig"]
    calling = obj(config, "functionCallingConfig")
    if member(calling, "allowedFunctionNames") and str(member(calling, "mode")).upper() != "ANY":
        names.append("toolConfig.functionCallingConfig.allowedFunctionNames")
    return names


def render_tools(chat: ChatRequest, dropped: list[str]) -> dict[str, Json]:
    """``tools`` and ``toolConfig`` for a request of another dialect; neither without functions, as Gemini asks.

    Raises UnsupportedFeature for a name that Gemini refuses.
    """
    declarations = []
    # Before Gemini 3 a request has functions or the search, not both ("tool use with function calling is unsupported").
    search = None if any(isinstance(tool, Tool) for tool in chat.tools) else web_search_of(chat.tools)
    for tool in chat.tools:
        if isinstance(tool, ServerTool) and search is not None and is_web_search(tool):
            dropped += search.lost()
        elif isinstance(tool, ServerTool):
            dropped.append(f"tools.{tool.label}")
        else:
            declarations.append(_declaration(tool))
            if tool.strict:
                dropped.append("tools.strict")
    choice = chat.tool_choice
    if choice is not None and choice.parallel is False:
        dropped.append("parallel_tool_calls")
    if not declarations:
        if choice is not None and choice.mode in ("required", "named"):
            dropped.append("tool_choice")
        return {} if search is None else {"tools": [{"googleSearch": {}}]}
    members: dict[str, Json] = {"tools": [{"functionDeclarations": declarations}]}
    if choice is not None:
        members["toolConfig"] = {"functionCallingConfig": _calling(choice)}
    return members


def _declaration(tool: Tool) -> dict[str, Json]:
    if not _NAME.fullmatch(tool.name):
        raise UnsupportedFeature(
            f"Gemini does not take {tool.name[:80]!r} as a function's name: it must start with a letter or '_', hold only "
            "letters, digits, '_', '.', ':' and '-', and have at most 64 characters.",
            param="tools",
        )
    declaration: dict[str, Json] = {"name": tool.name}
    if tool.description:
        declaration["description"] = tool.description
    if not takes_nothing(tool.schema):
        declaration["parametersJsonSchema"] = tool.schema
    return declaration


def _calling(choice: ToolChoice) -> dict[str, Json]:
    match choice.mode:
        case "none":
            return {"mode": "NONE"}
        case "required":
            return {"mode": "ANY"}
        case "named":
            return {"mode": "ANY", "allowedFunctionNames": list(choice.names)}
    return {"mode": "AUTO"}


_OF_SCHEMAS: Final = {"properties", "$defs", "definitions", "patternProperties"}
_LISTS_OF_SCHEMAS: Final = {"anyOf", "oneOf", "allOf", "prefixItems"}
_SCHEMAS: Final = {"items", "additionalProperties", "not"}
_COUNTS: Final = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
_RENAMED: Final = {"defs": "$defs", "ref": "$ref"}


def to_json_schema(schema: Json) -> Json:
    """A ``Schema`` as JSON Schema: lower-case types, ``nullable`` as a type or an alternative, counts as numbers.

    ``propertyOrdering`` and ``example`` have no counterpart that others accept and are left out. Anything that is not an
    object (``true``) comes back as it is.
    """
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Json] = {}
    for key, value in schema.items():
        name = camel(key)
        name = _RENAMED.get(name, name)
        if value is not None and name not in ("nullable", "propertyOrdering", "example"):
            result[name] = _member(name, value)
    return _nullable(result) if schema.get("nullable") is True else result


def _member(name: str, value: Json) -> Json:
    """One keyword's value."""
    if name == "type":
        return _types(value)
    if name in _OF_SCHEMAS and isinstance(value, Mapping):
        return {key: to_json_schema(inner) for key, inner in value.items()}
    if name in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [to_json_schema(inner) for inner in value]
    if name in _SCHEMAS:
        return to_json_schema(value)
    if name in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value


def _types(value: Json) -> Json:
    """``STRING`` as ``string``; lists of types are JSON Schema already but for their case."""
    if isinstance(value, str):
        return value.lower()
    return [_types(inner) for inner in value] if isinstance(value, list) else value


def _nullable(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema, or null."""
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def takes_nothing(schema: Mapping[str, Json] | None) -> bool:
    """True for the schema of a function without arguments, whose parameters Gemini wants left out."""
    if not schema:
        return True
    meaningful = {"anyOf", "oneOf", "allOf", "$ref", "patternProperties", "minProperties"}
    return (
        schema.get("type", "object") == "object"
        and not schema.get("properties")
        and schema.get("additionalProperties") in (None, False)
        and not meaningful & schema.keys()
    )
