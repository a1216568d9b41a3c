"""The choice among tools, in and out, and tools on their way out."""

from collections.abc import Mapping, Sequence, Set

from agentui.chat.request import FreeText, ServerTool, Tool, ToolChoice
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.openai.tools import meets_strict_rules
from agentui.vendors.openai_responses.items import Losses
from agentui.vendors.web_search import WebSearch, is_web_search, web_search_of

_MODELLED_CHOICES = ("function", "custom", "allowed_tools")


def parse_tool_choice(body: Mapping[str, Json]) -> ToolChoice | None:
    """``tool_choice`` and ``parallel_tool_calls``; None where neither says anything. Raises BadRequest.

    ``allowed_tools`` becomes a choice among the tools that ``declared_tools`` left; a choice of one of the API's own tools
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
        case {"type": "function" | "custom", "name": str(name)}:
            return ToolChoice("named", (name,), parallel)
        case {"type": "allowed_tools", "tools": list(), "mode": "auto" | "required" as mode}:
            return ToolChoice(mode, (), parallel)
        case {"type": str(kind)} if kind not in _MODELLED_CHOICES:
            return ToolChoice("auto", (), parallel)
    raise BadRequest("tool_choice is none of auto, none, required, a function, allowed_tools or a tool.", param="tool_choice")


def is_own_choice(choice: Json) -> bool:
    """Whether ``tool_choice`` names one of the API's own tools, which no other dialect has."""
    return isinstance(choice, dict) and choice.get("type") not in _MODELLED_CHOICES


def render_tools(tools: Sequence[Tool | ServerTool], custom: Set[str], losses: Losses) -> list[Json]:
    """Functions in the flat form, and the ``custom`` ones as such; another vendor's own tools are left out by their label."""
    rendered: list[Json] = []
    search = web_search_of(tools)
    for tool in tools:
        if isinstance(tool, ServerTool):
            if search is not None and is_web_search(tool):
                rendered.append(_render_search(search, losses))
                search = None
            else:
                losses.drop(tool.label)
            continue
        if tool.free_text is not None and tool.name in custom:
            rendered.append(_render_custom(tool, tool.free_text))
            continue
        function: dict[str, Json] = {"type": "function", "name": tool.name}
        if tool.description is not None:
            function["description"] = tool.description
        function["parameters"] = dict(tool.schema) if tool.schema is not None else {"type": "object", "properties": {}}
        # The API's default is strict, which refuses most schemas written for other vendors.
        function["strict"] = tool.strict is True and meets_strict_rules(function["parameters"])
        if tool.strict and not function["strict"]:
            losses.drop("strict")
        rendered.append(function)
    return rendered


def _render_search(search: WebSearch, losses: Losses) -> Json:
    """Another vendor's search as the API's own, which knows no pages that are not allowed."""
    losses.drop(*search.lost("allowed_domains", "user_location", "search_context_size"))
    told: dict[str, Json] = {"type": "web_search"}
    if search.allowed:
        told["filters"] = {"allowed_domains": search.allowed}
    if search.location:
        told["user_location"] = search.location
    if search.context:
        told["search_context_size"] = search.context
    return told


def _render_custom(tool: Tool, told: FreeText) -> Json:
    """A tool that takes free text."""
    custom: dict[str, Json] = {"type": "custom", "name": tool.name}
    if told.description is not None:
        custom["description"] = told.description
    if told.grammar is not None:
        custom["format"] = {"type": "grammar", "syntax": told.grammar[0], "definition": told.grammar[1]}
    return custom


def render_tool_choice(choice: ToolChoice, custom: Set[str]) -> Json:
    """``tool_choice``; several names are the allowed tools of which one is required."""
    if choice.mode != "named":
        return choice.mode
    functions: list[Json] = [{"type": "custom" if name in custom else "function", "name": name} for name in choice.names]
    return functions[0] if len(functions) == 1 else {"type": "allowed_tools", "mode": "required", "tools": functions}
