"""What can go wrong between a program and its server.

TavernError
├── TavernApiError          the server answered with an error: status, code, details, request_id
│   ├── BadRequest          400, 413, 415, 422: what was sent does not fit
│   ├── Unauthorized        401
│   ├── Forbidden           403
│   ├── NotFound            404, 410
│   ├── Conflict            409, 412: it stands otherwise than the caller thought
│   ├── RateLimited         429
│   ├── ServerFailed        5xx
│   └── StreamFailed        the error was an event of a stream that had begun
└── TavernConnectionError   no answer came, or it broke off
    └── TavernTimeout       it took too long
"""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

_SHOWN = 500
"""Characters of an answer in no known shape that an error repeats."""


class TavernError(Exception):
    """Whatever the client raises."""


class TavernApiError(TavernError):
    """The server's own error.

    ``status`` is the HTTP status, ``code`` the server's stable word for programs (``http_502`` where something before the
    server answered), ``details`` its facts (of ``validation_error`` a list of ``{path, message, code}``), ``request_id`` the
    answer's ``x-request-id``, and ``retry_after`` the seconds that the server wants to be left alone.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Any = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        """Everything that a log needs, on one line."""
        named = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}: {self.message}{named}"


class BadRequest(TavernApiError):
    """What was sent does not fit."""


class Unauthorized(TavernApiError):
    """The server wants to know who asks."""


class Forbidden(TavernApiError):
    """Whoever asks may not have this."""


class NotFound(TavernApiError):
    """There is no such thing, or no more."""


class Conflict(TavernApiError):
    """It stands otherwise than the caller thought."""


class RateLimited(TavernApiError):
    """Too much was asked; ``retry_after`` says for how long."""


class ServerFailed(TavernApiError):
    """The server, or a model behind it, could not do it."""


class StreamFailed(TavernApiError):
    """A turn or a run failed after its stream had begun. ``event`` is the event of the error as it came."""

    def __init__(self, event: Mapping[str, Any], told: Mapping[str, Any], *, status: int, request_id: str | None) -> None:
        super().__init__(
            str(told.get("message", "The stream failed.")),
            status=status,
            code=_code(told, "stream_failed"),
            details=told.get("details"),
            request_id=request_id,
        )
        self.event = event


class TavernConnectionError(TavernError, OSError):
    """No answer came, or it broke off; an OSError, as errors of connections are."""


class TavernTimeout(TavernConnectionError, TimeoutError):
    """It took too long."""


_KINDS: Mapping[int, type[TavernApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    412: Conflict,
    429: RateLimited,
}


def error_of(response: httpx.Response) -> TavernApiError:
    """The error that an answer tells, whose body was read."""
    status = response.status_code
    kind = _KINDS.get(status, ServerFailed if status >= 500 else BadRequest if status >= 400 else TavernApiError)
    told = _told(response.content)
    message = told.get("message")
    return kind(
        message if isinstance(message, str) and message else response.text[:_SHOWN] or response.reason_phrase,
        status=status,
        code=_code(told, f"http_{status}"),
        details=told.get("details"),
        request_id=response.headers.get("x-request-id"),
        retry_after=_seconds(response.headers.get("retry-after")),
    )


def _code(told: Mapping[str, Any], unnamed: str) -> str:
    """The word of an error for programs, whichever dialect tells it."""
    return str(told.get("code") or told.get("type") or told.get("status") or unnamed)


def _told(content: bytes) -> Mapping[str, Any]:
    """The object ``error`` of a body; vendors' routes have it too."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else {}


def _seconds(header: str | None) -> float | None:
    """How long ``Retry-After`` says, in seconds or until a date."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def connection_error(error: httpx.RequestError) -> TavernConnectionError:
    """What the client raises for an error of httpx: what was asked, and what became of it."""
    name = type(error).__name__
    kind = TavernTimeout if isinstance(error, httpx.TimeoutException) else TavernConnectionError
    return kind(f"{_asked(error)}{name}: {error}" if str(error) else f"{_asked(error)}{name}")


def _asked(error: httpx.RequestError) -> str:
    """The request that failed, without what may be secret in its address."""
    try:
        request = error.request
    except RuntimeError:  # the error of none
        return ""
    return f"{request.method} {request.url.copy_with(userinfo=b'', query=None, fragment=None)} failed: "
