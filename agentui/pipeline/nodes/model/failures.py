"""What kinds of failure there are when one of several targets is asked: those after which the next one may be."""

from collections.abc import Mapping
from typing import Literal

from agentui.errors import (
    AgentUIError,
    Busy,
    ErrorKind,
    Forbidden,
    NodeFailed,
    NotFound,
    Unsupported,
    UnsupportedFeature,
    UpstreamInvalid,
    UpstreamProxyFailed,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamTruncated,
    UpstreamUnavailable,
    UpstreamUnreachable,
)

FailureKind = Literal[
    "rate_limit",
    "server",
    "timeout",
    "unreachable",
    "invalid",
    "key",
    "not_found",
    "unfit",
    "too_large",
    "content_filter",
    "invalid_request",
]
"""The kinds of failure that a node may choose to answer by asking the next target."""
TITLES: Mapping[FailureKind, str] = {
    "rate_limit": "Too many requests, or no quota left",
    "server": "The provider's server fails",
    "timeout": "No word in time",
    "unreachable": "No connection",
    "invalid": "An answer that is none",
    "key": "The key is refused",
    "not_found": "No such model or address",
    "unfit": "It cannot be asked so",
    "too_large": "The request is too large",
    "content_filter": "The provider's filter",
    "invalid_request": "The request is refused",
}
"""What people call them, in the order of ``FailureKind``."""
USUAL: tuple[FailureKind, ...] = ("rate_limit", "server", "timeout", "unreachable", "invalid", "key", "not_found", "unfit")
"""Those that are the target's own: another one may well answer the same request."""
HARMFUL = frozenset({"rate_limit", "server", "timeout", "unreachable", "invalid", "key", "not_found"})
"""Those that count against a target's health (``harms``); the others are the request's."""

_REFUSED: Mapping[ErrorKind, FailureKind] = {
    "invalid_request": "invalid_request",
    "context_overflow": "too_large",
    "authentication": "key",
    "billing": "key",
    "permission": "key",
    "not_found": "not_found",
    "too_large": "too_large",
    "rate_limit": "rate_limit",
    "quota": "rate_limit",
    "overloaded": "server",
    "timeout": "timeout",
    "server": "server",
}
_BY_CODE: Mapping[str, FailureKind] = {
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
}
_BY_TYPE: tuple[tuple[type[AgentUIError], FailureKind], ...] = (
    (UpstreamTimeout, "timeout"),
    (UpstreamUnreachable, "unreachable"),
    (UpstreamProxyFailed, "unreachable"),
    (UpstreamUnavailable, "unreachable"),
    (Busy, "unreachable"),
    (UpstreamInvalid, "invalid"),
    (UpstreamTruncated, "invalid"),
    (UnsupportedFeature, "unfit"),
    (Unsupported, "unfit"),
    (NodeFailed, "unfit"),
    (NotFound, "unfit"),
    (Forbidden, "unfit"),
)


def kind_of(error: AgentUIError) -> FailureKind | None:
    """What kind of failure an error is; None for one that no other target would mend."""
    if isinstance(error, UpstreamRefused):
        return _BY_CODE.get(error.vendor_code or "") or _REFUSED[error.kind]
    return next((kind for type, kind in _BY_TYPE if isinstance(error, type)), None)


def harms(error: AgentUIError) -> bool:
    """Whether a failure counts against its target's health. That there is no place free here says nothing of the target."""
    return kind_of(error) in HARMFUL and not isinstance(error, Busy)


def filtered(vendor: str) -> UpstreamRefused:
    """The error that stands for an answer of which the vendor's filter left nothing."""
    text = "The answer was held back by the provider's content filter."
    return UpstreamRefused(text, status=400, kind="invalid_request", vendor=vendor, vendor_code="content_filter")
