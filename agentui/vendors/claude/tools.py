"""Tools and the choice among them, in and out, and JSON Schema as Claude takes it.

Names must match ``^[a-zA-Z0-9_-]{1,128}$`` and ``input_schema`` must be of type object. A name cannot be changed on the
way, because the caller would be asked for a function that it does not have. In the schemas of structured output objects
must say ``additionalProperties: false``; limits on numbers, lengths and counts are refused, and ``oneOf`` is not known
(``anyOf`` is).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agentui.chat.request import ChatRequest, ServerTool, Tool, ToolChoice
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.web_search import is_web_search, web_search_of

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MODELLED = frozenset({"type", "name", "description", "input_schema", "strict"})
_SEARCH: Mapping[str, Json] = MappingProxyType({"type": "web_search_20250305", "name": "web_search"})
_ANY_OBJECT: Mapping[str, Json] = {"type": "object", "properties": {}}


def parse_tools(tools: Json, lost: list[str]) -> tuple[Tool | ServerTool, ...]:
    """The body's ``tools``; whatever is not a caller's own function is a ``ServerTool``. Raises BadRequest."""
    if tools is None:
        return ()
    if not isinstance(tools, list):
        raise BadRequest("tools must be a list.", param="tools")
    return tuple(_parse_tool(tool, f"tools.{number}", lost) for number, tool in enumerate(tools))


def _parse_tool(tool: Json, where: str, lost: list[str]) -> Tool | ServerTool:
    """One entry of ``tools``."""
    match tool:
        case {"type": str(kind)} if kind != "custom":
            return ServerTool(kind, tool)
        case {"name": str(name), "input_schema": dict(schema), **rest}:
            for key in tool.keys() - _MODELLED:
                if tool[key] is not None:
                    lost.append(key if key == "cache_control" else f"tools.{key}")
            description, strict = rest.get("description"), rest.get("strict")
            return Tool(
                name,
                description if isinstance(description, str) else None,
                schema,
                strict if isinstance(strict, bool) else None,
                tool,
            )
    raise BadRequest(f"{where} must have a name and an input_schema object.", param=where)


def parse_tool_choice(choice: Json) -> ToolChoice | None:
    """The body's ``tool_choice``. Raises BadRequest."""
    if choice is None:
        return None
    parallel = None
    if isinstance(choice, dict) and isinstance(disabled := choice.get("disable_parallel_tool_use"), bool):
        parallel = not disabled
    match choice:
        case {"type": "auto"}:
            return ToolChoice("auto", parallel=parallel)
        case {"type": "any"}:
            return ToolChoice("required", parallel=parallel)
        case {"type": "none"}:
            return ToolChoice("none", parallel=parallel)
        case {"type": "tool", "name": str(name)}:
            return ToolChoice("named", (name,), parallel)
    raise BadRequest("tool_choice must be of type auto, any, none or tool (with a name).", param="tool_choice")


@dataclass(frozen=True, slots=True)
class RenderedTools:
    """The body's members about tools, each None where it is left out."""

    tools: list[Json] | None = None
    choice: dict[str, Json] | None = None

    @property
    def members(self) -> dict[str, Json]:
        """``tools`` and ``tool_choice`` as they stand in the body."""
        named = {"tools": self.tools, "tool_choice": self.choice}
        return {key: value for key, value in named.items() if value is not None}


def render_tools(chat: ChatRequest, used: Sequence[str], *, thinks: bool, dropped: list[str]) -> RenderedTools:
    """Another dialect's tools in Claude's words.

    ``used`` names the tools of the history. Claude refuses calls and results where ``tools`` is absent, so those are
    declared again when the caller declares none, and the model is told to call nothing. While thinking, no call may
    be forced.
    """
    own = [tool for tool in chat.tools if isinstance(tool, Tool)]
    search = _render_search(chat, dropped)
    dropped.extend(
        f"tools.{tool.label}" for tool in chat.tools if isinstance(tool, ServerTool) and not (search and is_web_search(tool))
    )
    if not own and search:
        return RenderedTools([*_dummies(used), *search], None)
    if not own:
        return RenderedTools(_dummies(used), {"type": "none"}) if used else RenderedTools()
    choice = chat.tool_choice
    if choice is not None and choice.mode == "named" and len(choice.names) > 1:
        # "One of these" is said by offering only these.
        own = [tool for tool in own if tool.name in choice.names] or own
    rendered: list[Json] = [*(_render_tool(tool, dropped) for tool in own), *search]
    return RenderedTools(rendered, _render_choice(choice, thinks=thinks, dropped=dropped))


def _render_search(chat: ChatRequest, dropped: list[str]) -> list[Json]:
    """Another vendor's search as Claude's own; [] for none, and where a function of the caller's has its name. Claude takes
    either the pages that are allowed or those that are not."""
    search = web_search_of(chat.tools)
    if search is None or any(isinstance(tool, Tool) and tool.name == _SEARCH["name"] for tool in chat.tools):
        return []
    blocked = None if search.allowed else search.blocked
    if search.blocked and not blocked:
        dropped.append(f"tools.{search.label}.blocked_domains")
    dropped += search.lost("allowed_domains", "blocked_domains", "user_location", "max_uses")
    said: dict[str, Json] = {
        "allowed_domains": search.allowed,
        "blocked_domains": blocked,
        "user_location": search.location,
        "max_uses": search.max_uses,
    }
    return [{**_SEARCH, **{name: value for name, value in said.items() if value}}]


def _dummies(names: Iterable[str]) -> list[Json]:
    """Declarations for tools that only the history knows."""
    described = "Was called earlier in this conversation; it cannot be called now."
    return [{"name": name, "description": described, "input_schema": dict(_ANY_OBJECT)} for name in dict.fromkeys(names)]


def _render_tool(tool: Tool, dropped: list[str]) -> dict[str, Json]:
    """One function, strict only where its schema needs no change for that. Raises UnsupportedFeature for a name that Claude
    does not take."""
    if not _NAME.fullmatch(tool.name):
        raise UnsupportedFeature(
            f"Claude takes tool names of 1 to 128 letters, digits, '_' and '-'; rename the tool {tool.name[:150]!r}.",
            param="tools",
        )
    rendered: dict[str, Json] = {"name": tool.name}
    if tool.description:
        rendered["description"] = tool.description
    rendered["input_schema"] = _input_schema(tool.schema)
    if tool.strict:
        if fit_schema(rendered["input_schema"], []) == rendered["input_schema"]:
            rendered["strict"] = True
        else:
            dropped.append("strict")
    return rendered


def _input_schema(schema: Mapping[str, Json] | None) -> dict[str, Json]:
    """The arguments' schema; its type must be "object", and arguments are never anything else."""
    if not schema:
        return dict(_ANY_OBJECT)
    return dict(schema) if schema.get("type") == "object" else {**schema, "type": "object"}


def _render_choice(choice: ToolChoice | None, *, thinks: bool, dropped: list[str]) -> dict[str, Json] | None:
    """The choice among tools, None for the default."""
    if choice is None or (choice.mode == "auto" and choice.parallel is not False):
        return None
    if choice.mode == "none":
        return {"type": "none"}
    rendered: dict[str, Json] = {"type": "auto"}
    if choice.mode != "auto" and thinks:
        dropped.append("tool_choice")
    elif choice.mode == "named" and len(choice.names) == 1:
        rendered = {"type": "tool", "name": choice.names[0]}
    elif choice.mode != "auto":
        rendered = {"type": "any"}
    if choice.parallel is False:
        rendered["disable_parallel_tool_use"] = True
    return rendered


_REFUSED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
    }
)
_MAPS_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_LISTS_OF_SCHEMAS = frozenset({"anyOf", "allOf", "prefixItems"})
_RENAMED: Mapping[str, str] = MappingProxyType({"oneOf": "anyOf"})


def fit_schema(schema: Json, removed: list[str]) -> Json:
    """A copy that Claude accepts; the keywords that had to go are named in ``removed``.

    Values that only look like schemas (``enum``, ``const``, ``default``) are left alone.
    """
    if not isinstance(schema, Mapping):
        return schema
    fitted: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword in _REFUSED or (keyword == "minItems" and value not in (0, 1)):
            removed.append(keyword)
            continue
        name = _RENAMED.get(keyword, keyword)
        if name in fitted:
            removed.append(keyword)
            continue
        fitted[name] = _fit_value(name, value, removed)
    if _is_object(fitted):
        fitted["additionalProperties"] = False
    return fitted


def _fit_value(keyword: str, value: Json, removed: list[str]) -> Json:
    """What stands behind one keyword: schemas are fitted, anything else is as it was."""
    if keyword in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: fit_schema(schema, removed) for name, schema in value.items()}
    if keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [fit_schema(schema, removed) for schema in value]
    if keyword == "items":
        return [fit_schema(item, removed) for item in value] if isinstance(value, list) else fit_schema(value, removed)
    return value


def _is_object(schema: Mapping[str, Json]) -> bool:
    """Whether the schema describes objects."""
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or (kind is None and "properties" in schema)
