"""Which headers travel: to an upstream (RawForward), and back to a caller."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from agentui.upstream.http.request import UNFIT

HOPS = "x-agentui-hops"
"""The header that counts the servers of agentui that a request has passed."""

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
        "content-disposition",
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
_HARMLESS = re.compile(
    r"(?:application/(?:json|[a-z0-9.+-]+\+json|json-seq|x-jsonl|jsonl|x-ndjson|octet-stream|pdf|msgpack|x-protobuf|zip|gzip)"
    r"|text/(?:plain|event-stream|csv|markdown)|image/(?:png|jpeg|gif|webp|avif)|(?:audio|video)/[a-z0-9.+-]+)"
    r"(?:\s*;\s*[a-z0-9!#$%&'*+.^_`|~-]+=(?:[a-z0-9!#$%&'*+.^_`|~-]+|\"[^\"\\,]*\"))*(?:\s*;)?\s*",
    re.IGNORECASE,
)
_TEXTUAL = re.compile("text/|html|xml|script", re.IGNORECASE)
_is_connection = re.compile("connection", re.IGNORECASE).fullmatch
_RESPONSE_FAMILIES = ("anthropic-", "ratelimit-", "x-ratelimit-")


def hops_of(headers: Mapping[str, str]) -> int:
    """How many servers of agentui a request with these headers (names in lower case) has passed; what is no number counts as
    many."""
    text = headers.get(HOPS, "0").strip()
    return int(text) if len(text) < 4 and text.isascii() and text.isdigit() else 1000


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
    # Most of what an upstream sends is not for the caller: of the few that are, the rest is asked.
    shown = {lowered: value for name, value in headers.items() if (lowered := _shown_name(name)) and not UNFIT.search(value)}
    for name in _listed_by_connection(headers):
        shown.pop(name, None)
    if "content-disposition" in shown:
        kind = headers.get("content-type", "").lower()
        if kind.startswith(("application/json", "text/event-stream")):
            del shown["content-disposition"]
    if "content-type" in shown:
        shown["content-type"] = harmless_content_type(shown["content-type"])
    return shown


@lru_cache(maxsize=256)
def harmless_content_type(value: str) -> str:
    """An upstream's content type as it may stand in an answer of ours: plain text, or bytes, for what a browser would draw or
    run in our name (pages, scripts, styles), for what is not known, and for several types at once."""
    if not value.strip() or _HARMLESS.fullmatch(value.strip()):
        return value
    return "text/plain; charset=utf-8" if _TEXTUAL.search(value) else "application/octet-stream"


def is_for_browsers(value: str) -> bool:
    """True for the content type of a page, a style or a script: no model's API answers so."""
    return harmless_content_type(value) != value and _TEXTUAL.search(value) is not None


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
