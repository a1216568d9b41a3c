"""The search of the web that a vendor runs itself, from one dialect's words to another's.

    Claude      {"type": "web_search_20250305", "name": "web_search", "max_uses", "allowed_domains", "blocked_domains",
                 "user_location"}
    Responses   {"type": "web_search", "filters": {"allowed_domains"}, "user_location"}
    Gemini      {"googleSearch": {}}

Sources: docs.claude.com (web search tool), OpenAI's guide to web search, ai.google.dev (grounding with Google Search).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentui.chat.request import ServerTool, Tool
from agentui.jsonio import Json


@dataclass(frozen=True, slots=True)
class WebSearch:
    """What a caller says of its search. ``location`` is of type "approximate", with city, region, country and timezone."""

    label: str
    allowed: Json = None
    blocked: Json = None
    location: Json = None
    max_uses: Json = None

    def lost(self, *kept: str) -> list[str]:
        """The names of what was said and is not among these."""
        names = {
            "allowed_domains": self.allowed,
            "blocked_domains": self.blocked,
            "user_location": self.location,
            "max_uses": self.max_uses,
        }
        return [f"tools.{self.label}.{name}" for name, value in names.items() if value and name not in kept]


def web_search_of(tools: Sequence[Tool | ServerTool]) -> WebSearch | None:
    """The search among a caller's tools, None where there is none."""
    return next((found for tool in tools if isinstance(tool, ServerTool) and (found := _read(tool)) is not None), None)


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
        )
    if any(name in raw for name in ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")):
        return WebSearch(tool.label)
    return None
