"""Errors in Claude's dialect: ``{"type": "error", "error": {"type", "message"}, "request_id"}``."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from agentui.errors import AgentUIError, ErrorKind, UnsupportedState, UpstreamRefused, kind_of_status
from agentui.jsonio import InvalidJson, Json, loads
from agentui.vendors.base import ErrorReply
from agentui.vendors.error_words import error_words
from agentui.vendors.kept import Kept
from agentui.vendors.overflow import is_overflow, told_sizes

MAX_MESSAGE = 2000
"""Characters of an upstream's message that travel on."""

_KINDS: Mapping[str, ErrorKind] = MappingProxyType(
    {
        "invalid_request_error": "invalid_request",
        "authentication_error": "authentication",
        "billing_error": "billing",
        "permission_error": "permission",
        "not_found_error": "not_found",
        "request_too_large": "too_large",
        "rate_limit_error": "rate_limit",
        "timeout_error": "timeout",
        "api_error": "server",
        "overloaded_error": "overloaded",
    }
)
_TYPES: Mapping[ErrorKind, str] = MappingProxyType(
    {kind: name for name, kind in _KINDS.items()} | {"quota": "rate_limit_error", "context_overflow": "invalid_request_error"}
)
_STATUSES: Mapping[ErrorKind, int] = MappingProxyType(
    {
        "invalid_request": 400,
        "context_overflow": 400,
        "authentication": 401,
        "billing": 402,
        "permission": 403,
        "not_found": 404,
        "too_large": 413,
        "rate_limit": 429,
        "timeout": 504,
        "server": 500,
        "overloaded": 529,
    }
)
_KEPT_HEADERS = frozenset({"retry-after", "retry-after-ms", "x-should-retry", "request-id"})


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
    """What an upstream's error answer means; the message is the upstream's own words, never a page of HTML."""
    lowered = {name.lower(): value for name, value in headers.items()}
    try:
        value = loads(body)
    except InvalidJson:
        value = None
    told = value.get("error") if isinstance(value, dict) else None
    code = told.get("type") if isinstance(told, dict) else None
    message = (error_words(value) or _describe(status, lowered, body))[:MAX_MESSAGE]
    return UpstreamRefused(
        message,
        status=status,
        kind="context_overflow"
        if is_overflow(status, message, code if isinstance(code, str) else None)
        else _kind(code, status),
        vendor="claude",
        vendor_code=code if isinstance(code, str) else None,
        body=value,
        headers={name: text for name, text in lowered.items() if _travels(name)},
        retry_after=_retry_after(lowered),
    )


def error_in_stream(data: dict[str, Json]) -> UpstreamRefused:
    """An error event; it has no HTTP status, so it gets the one that its type has elsewhere."""
    told = data.get("error")
    code = told.get("type") if isinstance(told, dict) else None
    kind = _KINDS.get(code, "server") if isinstance(code, str) else "server"
    message = (error_words(data) or "The upstream reported an error in its stream and did not say which.")[:MAX_MESSAGE]
    if is_overflow(400, message):
        kind = "context_overflow"
    return UpstreamRefused(
        message,
        status=_STATUSES[kind],
        kind=kind,
        vendor="claude",
        vendor_code=code if isinstance(code, str) else None,
        body=data,
    )


def not_found(kept: Kept) -> UpstreamRefused:
    """What Anthropic answers to an id that it does not know."""
    what = "Message batch" if kept.kind == "batch" else kept.kind.replace("_", " ").capitalize()
    text = f"{what} not found: {kept.id}"
    body = {"type": "error", "error": {"type": "not_found_error", "message": text}}
    return UpstreamRefused(text, status=404, kind="not_found", vendor="claude", vendor_code="not_found_error", body=body)


def render_error(error: AgentUIError) -> ErrorReply:
    """An error for a Claude caller. Claude's own errors keep their body and status; another vendor's keep status and
    message, but a bad key is always 401."""
    headers = {name.lower(): value for name, value in error.headers.items()} if isinstance(error, UpstreamRefused) else {}
    if error.retry_after is not None and "retry-after" not in headers:
        headers["retry-after"] = str(max(0, math.ceil(error.retry_after)))
    if isinstance(error, UpstreamRefused) and error.vendor == "claude" and _is_understood(error):
        return ErrorReply(error.status, headers, error.body)
    status = error.status
    if isinstance(error, UpstreamRefused):
        kind = error.kind
        status = {"authentication": 401, "context_overflow": 400}.get(kind, status)
    else:
        kind = kind_of_status(status)
    told: dict[str, Json] = {
        "type": _TYPES[kind],
        "message": _overflow(error) if kind == "context_overflow" else _with_param(error),
    }
    if isinstance(error, UnsupportedState):
        # The SDK's threads send the whole conversation then.
        told["details"] = {"error_code": "thread_unsupported_request"}
    body = {
        "type": "error",
        "error": told,
        "request_id": headers.get("request-id") or headers.get("x-request-id"),
    }
    return ErrorReply(status, headers, body)


_OVERFLOWS = ("prompt is too long", "input length and `max_tokens` exceed context limit")
"""How Claude says that a conversation is too long. Its clients look for these words: there is no code for it."""


def _overflow(error: AgentUIError) -> str:
    """Another server's words for a conversation that is too long, in Claude's."""
    if error.message.startswith(_OVERFLOWS):
        return error.message
    sizes = told_sizes(error.message)
    numbers = "" if sizes is None else f"{sizes[0]} tokens > {sizes[1]} maximum. "
    return f"{_OVERFLOWS[0]}: {numbers}{error.message}"[:MAX_MESSAGE]


def _is_understood(error: UpstreamRefused) -> bool:
    """Whether Claude's clients understand the body as it came: compatible servers tell of an overflow in other words."""
    return _is_own(error.body) and (error.kind != "context_overflow" or error.message.startswith(_OVERFLOWS))


def _is_own(body: Json) -> bool:
    """Whether a body is an error as Claude writes it; some gateways before it write another dialect's."""
    match body:
        case {"type": "error", "error": {"type": str(), "message": str()}}:
            return True
    return False


def _with_param(error: AgentUIError) -> str:
    """The message; Claude has no field for the parameter at fault and names it in front instead."""
    message = error.message[:MAX_MESSAGE]
    return message if error.param is None or error.param in message else f"{error.param}: {message}"


def _kind(code: Json, status: int) -> ErrorKind:
    """What the error's type means, else what its status means."""
    known = _KINDS.get(code) if isinstance(code, str) else None
    return known or kind_of_status(status)


def _describe(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """An answer that is no JSON error: its text when it is plain text, else what it is."""
    text = body[: 4 * MAX_MESSAGE].decode("utf-8", "replace").strip()
    if not text:
        return f"The upstream answered {status} with an empty body."
    if text.startswith("<") or "html" in headers.get("content-type", ""):
        return f"The upstream answered {status} with an HTML page."
    if text[0] in "{[":
        return f"The upstream answered {status} with JSON that names no error."
    return text


def _travels(name: str) -> bool:
    """Whether a header goes on to the caller."""
    return name in _KEPT_HEADERS or name.startswith("anthropic-ratelimit-")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """How long to wait, in seconds; None for dates and nonsense."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None
