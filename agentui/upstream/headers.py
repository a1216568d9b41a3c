"""Which headers travel: to an upstream (RawForward), and back to a caller."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from agentui.upstream.http.request import UNFIT

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


def forwardable_request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers that an upstream may see, names in lower case.

    An allow-list: credentials, versions, betas, idempotency and the SDKs' own description of themselves. Cookies, Host,
    X-Forwarded-*, our own x-agentui-* and whatever ``Connection`` lists stay behind.
    """
    listed = _listed_by_connection(headers)
    return {
        name: value
        for name, value in _lowered(headers)
        if (name in _REQUEST or name.startswith(_REQUEST_FAMILIES)) and name not in listed and not UNFIT.search(value)
    }


def returnable_response_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The upstream's headers that the caller may see, names in lower case; values that could not be sent on are left out."""
    listed = _listed_by_connection(headers)
    return {
        shown: value
        for name, value in headers.items()
        if (shown := _shown_name(name)) and shown not in listed and not UNFIT.search(value)
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
