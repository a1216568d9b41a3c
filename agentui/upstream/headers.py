"""Which headers travel: to an upstream (RawForward), back to a caller, and which are no headers at all."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from agentui.errors import BadRequest

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_BREAKS = re.compile(r"[\r\n\0]")
_UNFIT = re.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f\ud800-\udfff]")

FRAMING = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that belong to one connection or one message on it, so that no caller and no node may set them."""

_REQUEST = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "authorization",
        "content-type",
        "http-referer",
        "idempotency-key",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "user-agent",
        "x-api-key",
        "x-client-request-id",
        "x-goog-api-client",
        "x-goog-api-key",
        "x-goog-user-project",
        "x-request-id",
        "x-server-timeout",
        "x-title",
    }
)
_REQUEST_FAMILIES = ("x-stainless-",)

_RESPONSE = frozenset(
    {
        "content-type",
        "openai-model",
        "openai-organization",
        "openai-processing-ms",
        "openai-project",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
_is_connection = re.compile("connection", re.IGNORECASE).fullmatch
_RESPONSE_FAMILIES = ("anthropic-", "ratelimit-", "x-ratelimit-")


def is_token(text: str) -> bool:
    """True for what RFC 9110 lets a method or a header's name be."""
    return _TOKEN.fullmatch(text) is not None


def check_header(name: str, value: str) -> None:
    """Raise BadRequest naming the header (never its value) when the pair cannot stand in a request."""
    if not is_token(name):
        raise BadRequest(f"{name!r:.80} cannot be a header's name: use letters, digits and '-'.", param="headers")
    if _BREAKS.search(value):
        raise BadRequest(f"The value of the header {name!r} contains a line break or a NUL; remove it.", param=name)
    if _UNFIT.search(value):
        raise BadRequest(f"The value of the header {name!r} contains a character that no header may hold.", param=name)


def forwardable_request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers that an upstream may see, names in lower case.

    An allow-list: credentials, versions, betas, idempotency and the SDKs' own description of themselves. Cookies, Host,
    X-Forwarded-*, our own x-agentui-* and whatever ``Connection`` lists stay behind.
    """
    listed = _listed_by_connection(headers)
    return {
        name: value
        for name, value in _lowered(headers)
        if (name in _REQUEST or name.startswith(_REQUEST_FAMILIES)) and name not in listed and not _UNFIT.search(value)
    }


def returnable_response_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The upstream's headers that the caller may see, names in lower case; values that could not be sent on are left out."""
    listed = _listed_by_connection(headers)
    return {
        shown: value
        for name, value in headers.items()
        if (shown := _shown_name(name)) and shown not in listed and not _UNFIT.search(value)
    }


@lru_cache(maxsize=512)  # an upstream says the same names in every answer
def _shown_name(name: str) -> str:
    """A response header's name in lower case; "" where the caller may not see it."""
    lowered = name.lower()
    return lowered if lowered in _RESPONSE or lowered.startswith(_RESPONSE_FAMILIES) else ""


def _lowered(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The pairs with names in lower case."""
    return [(name.lower(), value) for name, value in headers.items()]


def _listed_by_connection(headers: Mapping[str, str]) -> Collection[str]:
    """The names that ``Connection`` declares to be for this hop only (RFC 9110, 7.6.1)."""
    if not any(map(_is_connection, headers)):
        return ()  # as nearly always
    values = [value for name, value in headers.items() if _is_connection(name)]
    return {listed.strip().lower() for value in values for listed in value.split(",")}
