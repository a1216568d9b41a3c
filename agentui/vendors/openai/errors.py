"""Errors in OpenAI's words: ``{"error": {"message", "type", "param", "code"}}``.

What an upstream says is read generously, since compatible servers have shapes of their own; what a caller reads is exact.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from agentui.errors import AgentUIError, ErrorKind, UpstreamRefused, kind_of_status
from agentui.jsonio import InvalidJson, Json, loads
from agentui.vendors.base import ErrorReply
from agentui.vendors.error_words import error_words
from agentui.vendors.kept import Kept
from agentui.vendors.openai.messages import PLATFORM, VENDOR
from agentui.vendors.overflow import is_overflow

MAX_MESSAGE = 2000

_TRAVELLING = re.compile(r"retry-after|retry-after-ms|x-should-retry|x-request-id|request-id|x-ratelimit-.+")

_KINDS: dict[str, ErrorKind] = {
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "billing",
    "billing_not_active": "billing",
    "invalid_api_key": "authentication",
    "invalid_authentication": "authentication",
    "authentication_error": "authentication",
    "permission_denied": "permission",
    "permission_error": "permission",
    "unsupported_country_region_territory": "permission",
    "model_not_found": "not_found",
    "not_found_error": "not_found",
    "request_too_large": "too_large",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "requests": "rate_limit",
    "tokens": "rate_limit",
    "overloaded_error": "overloaded",
    "server_overloaded": "overloaded",
    "timeout": "timeout",
    "timeout_error": "timeout",
    "server_error": "server",
}
"""Codes and types that say more than the status does. ``invalid_request_error`` is not here: it comes with 401 and 404 too."""

_STATUS_OF_KIND: dict[ErrorKind, int] = {
    "invalid_request": 400,
    "context_overflow": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "too_large": 413,
    "rate_limit": 429,
    "quota": 429,
    "overloaded": 503,
    "timeout": 504,
    "server": 502,
}

OVERFLOW_CODE = "context_length_exceeded"
"""By what agents that speak OpenAI's dialects know that they have to shorten the conversation."""

_WORDS: dict[ErrorKind, tuple[str, str | None]] = {
    "invalid_request": ("invalid_request_error", None),
    "context_overflow": ("invalid_request_error", OVERFLOW_CODE),
    "authentication": ("invalid_request_error", "invalid_api_key"),
    "billing": ("insufficient_quota", "billing_not_active"),
    "permission": ("invalid_request_error", "permission_denied"),
    "not_found": ("invalid_request_error", "model_not_found"),
    "too_large": ("invalid_request_error", "request_too_large"),
    "rate_limit": ("requests", "rate_limit_exceeded"),
    "quota": ("insufficient_quota", "insufficient_quota"),
    "overloaded": ("server_error", "server_overloaded"),
    "timeout": ("server_error", "timeout"),
    "server": ("server_error", None),
}
"""Type and code of another dialect's errors; where the code is None, the upstream's own is shown."""


def parse_error(status: int, headers: Mapping[str, str], body: bytes, *, now: float) -> UpstreamRefused:
    """What an upstream's error answer means; any bytes are understood somehow.

    ``now`` (seconds since 1970) dates a Retry-After that names a moment, unless the answer has a Date of its own.
    """
    held = {name.lower(): value for name, value in headers.items()}
    try:
        parsed: Json = loads(body) if body.strip() else None
    except InvalidJson:
        parsed = None
    fields = _fields(parsed)
    return UpstreamRefused(
        fields.message or _message_of_bytes(status, held.get("content-type", ""), body, parsed),
        status=status,
        kind=_kind(status, fields),
        vendor=VENDOR,
        vendor_code=fields.code or fields.type,
        param=fields.param,
        body=parsed,
        headers={name: value for name, value in held.items() if _TRAVELLING.fullmatch(name)},
        retry_after=_retry_after(held, now),
    )


def reported_error(body: Json) -> UpstreamRefused:
    """An error inside a stream, or inside an answer with status 200. Its status is its code where that is one (OpenRouter),
    else what its words mean."""
    fields = _fields(body)
    code = int(fields.code) if fields.code is not None and re.fullmatch(r"[45]\d\d", fields.code) else None
    kind = _kind(code or 502, fields)
    return UpstreamRefused(
        fields.message or "The upstream reported an error without a message.",
        status=code or _STATUS_OF_KIND[kind],
        kind=kind,
        vendor=VENDOR,
        vendor_code=fields.code or fields.type,
        param=fields.param,
        body=body,
    )


def not_found(kept: Kept) -> UpstreamRefused:
    """What OpenAI answers to an id that it does not know: 404, but 400 for a response that another one goes on from."""
    status, code = 404, None
    text = f"{kept.kind.replace('_', ' ').capitalize()} with id '{kept.id}' not found."
    if kept.field == "previous_response_id":
        status, code, text = 400, "previous_response_not_found", f"Previous response with id '{kept.id}' not found."
    elif kept.kind == "file":
        text = f"No such File object: {kept.id}"
    error = {"message": text, "type": "invalid_request_error", "param": kept.field, "code": code}
    kind: ErrorKind = "not_found" if status == 404 else "invalid_request"
    return UpstreamRefused(
        text, status=status, kind=kind, vendor=VENDOR, vendor_code=code, param=kept.field, body={"error": error}
    )


def render_error(error: AgentUIError) -> ErrorReply:
    """An error in the caller's shape; 529 is no status that this dialect's clients know, so they read 503."""
    if isinstance(error, UpstreamRefused):
        if error.vendor in PLATFORM and _is_own(error.body) and _has_own_words(error):
            return ErrorReply(_plain(error.status), _headers(error), error.body)
        return ErrorReply(_status(error), _headers(error), _translated(error))
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    body = {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}
    return ErrorReply(_plain(error.status), _headers(error), body)


def _is_own(body: Json) -> bool:
    """Whether a body is an error as this dialect's clients look for it; servers made with FastAPI write ``{"detail"}``."""
    return isinstance(body, dict) and "error" in body


def _has_own_words(error: UpstreamRefused) -> bool:
    """Whether this dialect's clients understand the body: compatible servers tell of an overflow in words and codes of their
    own, which no client knows."""
    return error.kind != "context_overflow" or error.vendor_code == OVERFLOW_CODE


def render_stream_error(error: AgentUIError) -> Json:
    """An error as an event's data: always an object with ``error``, which is all that clients look for, and its message."""
    body = render_error(error).body
    match body:
        case {"error": {"message": str()}}:
            return body
    return _translated(error) if isinstance(error, UpstreamRefused) else body


def _translated(error: UpstreamRefused) -> Json:
    """Another dialect's error in this one's words."""
    kind, code = _WORDS[error.kind]
    return {"error": {"message": error.message, "type": kind, "param": error.upstream_param, "code": code or error.vendor_code}}


def _plain(status: int) -> int:
    """The status without Anthropic's own."""
    return 503 if status == 529 else status


def _status(error: UpstreamRefused) -> int:
    """The upstream's status, but where the meaning has one of its own here (Gemini says 400 to a bad key)."""
    if error.kind in ("context_overflow", "authentication", "not_found", "quota", "rate_limit"):
        return _STATUS_OF_KIND[error.kind]
    return _plain(error.status)


def _headers(error: AgentUIError) -> dict[str, str]:
    """The headers that travel, and when to try again: whole seconds rounded up, exact milliseconds beside them."""
    headers = dict(error.headers) if isinstance(error, UpstreamRefused) else {}
    if error.retry_after is not None and not headers.keys() & {"retry-after", "retry-after-ms"}:
        headers["retry-after"] = str(math.ceil(error.retry_after))
        if error.retry_after % 1:
            headers["retry-after-ms"] = str(math.ceil(error.retry_after * 1000))
    return headers


@dataclass(frozen=True, slots=True)
class _Fields:
    """What an error body says, whatever its shape; the message is "" where there is none."""

    message: str = ""
    type: str | None = None
    param: str | None = None
    code: str | None = None


def _fields(body: Json) -> _Fields:
    """Find the error in a body of any of the shapes that ``error_words`` knows."""
    match body:
        case [first, *_]:
            return _fields(first)
        case {"error": dict(error)} if error:
            return _fields_of(error)
        case dict():
            return _fields_of(body)
        case str(message):
            return _Fields(message.strip()[:MAX_MESSAGE])
    return _Fields()


def _fields_of(error: Mapping[str, Json]) -> _Fields:
    """The fields of an error object; some servers put a number into ``code``."""
    type, param, code = error.get("type"), error.get("param"), error.get("code")
    return _Fields(
        error_words(error)[:MAX_MESSAGE],
        type if isinstance(type, str) else None,
        param if isinstance(param, str) else None,
        str(code) if isinstance(code, str | int) and code != "" else None,
    )


def _message_of_bytes(status: int, content_type: str, body: bytes, parsed: Json) -> str:
    """A message for a body that has none: plain text is shown, a page never is."""
    text = body.decode("utf-8", "replace").strip()
    if not text:
        return f"The upstream answered {status} with an empty body."
    if "html" in content_type or text.startswith("<"):
        return f"The upstream answered {status} with an HTML page."
    if parsed is not None or text == "null":
        return f"The upstream answered {status} without a message."
    return text[:MAX_MESSAGE]


def _kind(status: int, fields: _Fields) -> ErrorKind:
    """The meaning: that the conversation is too long, else by code, else by type, else by status."""
    if is_overflow(status, fields.message, fields.code, fields.type):
        return "context_overflow"
    return _KINDS.get(fields.code or "") or _KINDS.get(fields.type or "") or kind_of_status(status)


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait; None where the answer does not say. The header may hold seconds or a date."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    moment = _moment(value)
    if moment is None:
        return None
    sent = _moment(headers.get("date", ""))
    return max(0.0, moment - (now if sent is None else sent))


def _seconds(text: str) -> float | None:
    """A plain decimal number that is not negative."""
    return float(text) if re.fullmatch(r"\s*\d{1,9}(?:\.\d{1,9})?\s*", text, re.ASCII) else None


def _moment(text: str) -> float | None:
    """An HTTP date as seconds since 1970."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
