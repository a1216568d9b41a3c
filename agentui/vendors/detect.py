"""Which dialect a request speaks: by its path, else by its headers, else by its body; and the paths that run a pipeline."""

import re
from collections.abc import Mapping

from agentui.chat.request import VendorName
from agentui.jsonio import Json

PROXIED_PATHS: Mapping[str, VendorName] = {
    "/v1/chat/completions": "openai",
    "/v1/completions": "openai",
    "/v1/responses": "openai_responses",
    "/v1/responses/input_tokens": "openai_responses",
    "/v1/embeddings": "openai",
    "/v1/messages": "claude",
    "/v1/messages/count_tokens": "claude",
}
"""The paths that run a pipeline, but for those that hold a model and its method. Each also stands below ``/p/{pipeline}``."""
METHOD_PATH = "/{version:v1|v1beta|v1alpha}/models/{call:.+:[A-Za-z]+}"
"""The paths that hold a model and its method, as aiohttp's router spells them: Gemini's."""
_METHOD = re.compile(r"/(v1|v1beta|v1alpha)/models/.+:[A-Za-z]+")

_PATHS: tuple[tuple[re.Pattern[str], VendorName], ...] = (
    (
        re.compile(r"(?:/v1)?/(?:(?:chat/)?completions|embeddings|moderations|rerank|(?:images|audio|batches)(?:/.*)?)"),
        "openai",
    ),
    (re.compile(r"(?:/v1)?/responses(?:/.*)?"), "openai_responses"),
    (re.compile(r"(?:/v1)?/messages(?:/.*)?"), "claude"),
    # A model's name may hold colons (ft:gpt-4o:acme::id), so on /v1 only a known operation makes the path Gemini's.
    (re.compile(r"/v1/cachedContents(?:/.*)?"), "gemini"),
    (re.compile(r"/v1/.+:(?:(?:g|streamG)enerateContent|countTokens|(?:batchE|e)mbedContents?)"), "gemini"),
    (re.compile(r"/v1(?:beta|alpha)\d*/.+"), "gemini"),
)
_SHARED = re.compile(r"/v1/(?:models|files)(?:/.*)?")
"""What three vendors have at the same place."""

_CLAUDE_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image", "server_tool_use", "search_result"}
)


def proxied_route(path: str) -> tuple[str, VendorName] | None:
    """The route behind a path whose POST runs a pipeline, and its dialect; None for any other path. ``path`` has no
    ``/p/{pipeline}`` before it, and the route holds nothing of the request."""
    if (vendor := PROXIED_PATHS.get(path)) is not None:
        return path, vendor
    match = _METHOD.fullmatch(path)
    return None if match is None else (f"/{match[1]}/models/{{call}}", "gemini")


def detect_vendor(path: str, headers: Mapping[str, str], query: Mapping[str, str], body: Json = None) -> VendorName | None:
    """The dialect of a request, None when nothing tells.

    ``path`` has no pipeline prefix and no query; header names are lower case. ``/v1/models`` and ``/v1/files`` are shared by
    three vendors: a Google key says Gemini, ``anthropic-version`` or ``x-api-key`` says Claude, anything else is OpenAI. The
    kind of key alone says nothing on other paths: Anthropic's own SDK sends ``Authorization: Bearer``.
    """
    path = path.rstrip("/")
    for pattern, vendor in _PATHS:
        if pattern.fullmatch(path):
            return vendor
    if _SHARED.fullmatch(path):
        return _by_key(headers, query)
    return _by_body(headers, body)


def _by_key(headers: Mapping[str, str], query: Mapping[str, str]) -> VendorName:
    """The owner of a path that several vendors have."""
    if "x-goog-api-key" in headers or "key" in query:
        return "gemini"
    if "anthropic-version" in headers or "x-api-key" in headers:
        return "claude"
    return "openai"


def _by_body(headers: Mapping[str, str], body: Json) -> VendorName | None:
    """The dialect whose container of messages the body has."""
    match body:
        case {"contents": _} | {"generateContentRequest": _}:
            return "gemini"
        case {"input": _}:
            return "openai_responses"
        case {"messages": messages}:
            is_claude = "system" in body or "anthropic_version" in body or "anthropic-version" in headers
            return "claude" if is_claude or _has_claude_blocks(messages) else "openai"
    return None


def _has_claude_blocks(messages: Json) -> bool:
    """Whether any message holds a content block that only Claude's dialect has."""
    if not isinstance(messages, list):
        return False
    return any(
        isinstance(block, dict) and block.get("type") in _CLAUDE_BLOCKS
        for message in messages
        if isinstance(message, dict) and isinstance(message.get("content"), list)
        for block in message["content"]
    )
