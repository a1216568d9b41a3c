"""The search of the web that a vendor runs itself, from one dialect's words to another's.

    Claude      {"type": "web_search_20250305", "name": "web_search", "max_uses", "allowed_domains", "blocked_domains",
                 "user_location"}
    Responses   {"type": "web_search", "filters": {"allowed_domains"}, "user_location"}
    Responses   ... "search_context_size"
    chat        "web_search_options": {"search_context_size", "user_location": {"type": "approximate", "approximate": {...}}}
    Gemini      {"googleSearch": {}}

Chat completions have it as a member of the body, which only models that always search take (gpt-4o-search-preview); callers of
LiteLLM and OpenRouter send it for any model that can search. Sources: docs.claude.com (web search tool), OpenAI's guide to web
search, ai.google.dev (grounding with Google Search).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentui.chat.request import ServerTool, Tool
from agentui.jsonio import Json


@dataclass(frozen=True, slots=True)
class WebSearch:
    """What a caller says of its search. ``location`` is of type "approximate", with city, region, country and timezone;
    ``context`` is how much of the pages is read ("low", "medium", "high")."""

    label: str
    allowed: Json = None
    blocked: Json = None
    location: Json = None
    max_uses: Json = None
    context: Json = None

    def lost(self, *kept: str) -> list[str]:
        """The names of what was said and is not among these."""
        names = {
            "allowed_domains": self.allowed,
            "blocked_domains": self.blocked,
            "user_location": self.location,
            "max_uses": self.max_uses,
            "search_context_size": self.context,
        }
        return [f"tools.{self.label}.{name}" for name, value in names.items() if value and name not in kept]


def web_search_of(tools: Sequence[Tool | ServerTool]) -> WebSearch | None:
    """The search among a caller's tools, None where there is none."""
    return next((found for tool in tools if isinstance(tool, ServerTool) and (found := _read(tool)) is not None), None)


SEARCH_OPTIONS = "web_search_options"


def search_of_options(options: Json) -> ServerTool | None:
    """The search that a caller of chat completions asks for beside its tools; None where it asks for none."""
    if not isinstance(options, Mapping):
        return None
    match options.get("user_location"):
        case {"approximate": dict(place)}:
            location: Json = {"type": "approximate", **place}
        case _:
            location = None
    raw = {"type": "web_search", "user_location": location, "search_context_size": options.get("search_context_size")}
    return ServerTool(SEARCH_OPTIONS, raw)


def options_of(search: WebSearch) -> dict[str, Json]:
    """``web_search_options`` for a search of another dialect."""
    options: dict[str, Json] = {}
    if search.context:
        options["search_context_size"] = search.context
    if search.location:
        place = {name: value for name, value in search.location.items() if name != "type" and value is not None}
        options["user_location"] = {"type": "approximate", "approximate": place}
    return options


def is_web_search(tool: ServerTool) -> bool:
    """Whether a tool is a search of the web."""
    return _read(tool) is not None


def _read(tool: ServerTool) -> WebSearch | None:
    raw = tool.raw if isinstance(tool.raw, Mapping) else {}
    kind = raw.get("type")
    if isinstance(kind, str) and kind.startswith("web_search"):
        filters = raw.get("filters")
        narrowed = filters if isinstance(filters, Mapping) else raw
        location = raw.get("user_location")
        return WebSearch(
            tool.label,
            narrowed.get("allowed_domains"),
            narrowed.get("blocked_domains"),
            location if isinstance(location, Mapping) else None,
            raw.get("max_uses"),
            raw.get("search_context_size"),
        )
    if any(name in raw for name in ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")):
        return WebSearch(tool.label)
    return None
