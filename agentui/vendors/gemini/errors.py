"""Errors as Gemini writes them: ``{"error": {"code": int, "message", "status", "details"}}`` (google.rpc.Status)."""

import math
import re
from collections.abc import Mapping
from typing import Final

from agentui.errors import AgentUIError, ErrorKind, UpstreamRefused, kind_of_status
from agentui.jsonio import InvalidJson, Json, loads
from agentui.vendors.base import ErrorReply
from agentui.vendors.error_words import error_words
from agentui.vendors.gemini.parts import GEMINI
from agentui.vendors.gemini.protojson import member
from agentui.vendors.kept import Kept
from agentui.vendors.overflow import is_overflow, told_sizes

MAX_MESSAGE: Final = 2000

_STATUS_NAMES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    412: "FAILED_PRECONDITION",
    422: "INVALID_ARGUMENT",
    428: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TRAVELLING: Final = ("retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id", "x-goog-request-id")
_RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
    """What an upstream's error answer means, whatever its bytes are.

    Understands Gemini's own shape, also as the only element of an array (a stream without ``alt=sse`` answers so), other
    JSON, plain text, HTML and nothing. A bad key is a 400 with the reason API_KEY_INVALID: its kind is authentication, its
    status stays 400.
    """
    kept = _travelling(headers)
    try:
        value = loads(body)
    except InvalidJson:
        return _refused(status, _words_of(status, headers, body), None, kept)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return refusal_of(status, value, kept)


def refusal_of(status: int, value: Json, headers: Mapping[str, str] | None = None) -> UpstreamRefused:
    """The refusal that an error's JSON tells: a body of status ``status``, or an event inside a stream."""
    message = error_words(value) or f"The upstream answered {status} without saying why."
    return _refused(status, message, value, headers or {})


def status_of(value: Mapping[str, Json]) -> int:
    """The HTTP status that an in-stream error names, 500 where it names none."""
    error = value.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599 else 500


def _refused(status: int, message: str, value: Json, headers: Mapping[str, str]) -> UpstreamRefused:
    """Gather the facts."""
    error = value.get("error") if isinstance(value, dict) else None
    error = error if isinstance(error, dict) else {}
    details = [detail for detail in _list(error.get("details")) if isinstance(detail, dict)]
    name = error.get("status")
    return UpstreamRefused(
        message[:MAX_MESSAGE],
        status=status,
        kind="context_overflow" if is_overflow(status, message) else _kind(status, details),
        vendor=GEMINI,
        vendor_code=name if isinstance(name, str) else None,
        param=_field_at_fault(details),
        body=value,
        headers=headers,
        retry_after=_retry_after(headers, details),
    )


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _kind(status: int, details: list[dict[str, Json]]) -> ErrorKind:
    """A bad key hides behind a 400; everything else is as its status says."""
    if status == 400 and any(detail.get("reason") in ("API_KEY_INVALID", "API_KEY_EXPIRED") for detail in details):
        return "authentication"
    return kind_of_status(status)


def _field_at_fault(details: list[dict[str, Json]]) -> str | None:
    """The first field violation's field (google.rpc.BadRequest)."""
    for detail in details:
        for violation in _list(member(detail, "fieldViolations")):
            if isinstance(violation, dict) and isinstance(violation.get("field"), str):
                return str(violation["field"])
    return None


def _retry_after(headers: Mapping[str, str], details: list[dict[str, Json]]) -> float | None:
    """Seconds to wait: the header's, else RetryInfo's duration such as ``1.5s``."""
    told = [headers.get("retry-after", "")]
    told += [str(member(detail, "retryDelay") or "").removesuffix("s") for detail in details]
    return next((float(seconds) for seconds in told if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", seconds, re.ASCII)), None)


def _travelling(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that go on to the caller, their names in lower case."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name in _TRAVELLING or name.startswith("x-ratelimit-")}


def _words_of(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """A message for a body that is not JSON. HTML is never shown."""
    kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    stripped = body.strip()
    if not stripped:
        return f"The upstream answered {status} with an empty body."
    if "html" in kind.lower() or stripped.startswith(b"<"):
        return f"The upstream answered {status} with an HTML page."
    try:
        return stripped.decode()
    except UnicodeDecodeError:
        return f"The upstream answered {status} with {len(body)} bytes that are not text."


def not_found(kept: Kept) -> UpstreamRefused:
    """What Google answers to a name that it does not know: it does not tell what is not there from what is not yours."""
    text = f"You do not have permission to access the File {kept.id} or it may not exist."
    if kept.kind != "file":
        text = "CachedContent not found (or permission denied)"
    error: dict[str, Json] = {"code": 403, "message": text, "status": "PERMISSION_DENIED"}
    return UpstreamRefused(
        text, status=403, kind="permission", vendor=GEMINI, vendor_code="PERMISSION_DENIED", body={"error": error}
    )


def render_error(error: AgentUIError) -> ErrorReply:
    """An error in Gemini's shape; ``code`` is always a number, since google-genai compares it with numbers.

    A refusal of this dialect keeps its body. 529, which only Claude knows, becomes 503.
    """
    status = 503 if error.status == 529 else error.status
    headers = dict(error.headers) if isinstance(error, UpstreamRefused) else {}
    if error.retry_after is not None:
        headers.setdefault("retry-after", str(math.ceil(error.retry_after)))
    if isinstance(error, UpstreamRefused) and error.vendor == GEMINI and _is_own(error.body):
        return ErrorReply(status, headers, error.body)
    message = error.message
    if isinstance(error, UpstreamRefused) and error.kind == "context_overflow":
        status, message = 400, _overflow(message)
    body: dict[str, Json] = {
        "code": status,
        "message": message,
        "status": _STATUS_NAMES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL"),
    }
    if error.retry_after is not None:
        body["details"] = [{"@type": _RETRY_INFO, "retryDelay": f"{error.retry_after:.9g}s"}]
    return ErrorReply(status, headers, {"error": body})


def _overflow(message: str) -> str:
    """Another server's words for a conversation that is too long, in Gemini's, which clients look for."""
    if message.startswith("The input token count"):
        return message
    used, limit = ("", "") if (sizes := told_sizes(message)) is None else (f" ({sizes[0]})", f" ({sizes[1]})")
    return f"The input token count{used} exceeds the maximum number of tokens allowed{limit}. {message}"[:MAX_MESSAGE]


def _is_own(body: Json) -> bool:
    """True for a body that google-genai can read."""
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return isinstance(code, int) and not isinstance(code, bool)
