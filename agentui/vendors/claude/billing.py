"""What a call of this dialect may cost: how much it may say, and where the tokens are told."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from agentui.chat.deltas import Usage
from agentui.chat.request import WireRequest
from agentui.errors import LimitLeft
from agentui.jsonio import Json
from agentui.vendors.base import OutputLimit
from agentui.vendors.claude.reply import parse_usage
from agentui.vendors.fields import told_count
from agentui.vendors.sse import SseEvent

price_list = "anthropic"


def output_limit(wire: WireRequest) -> OutputLimit:
    """``max_tokens``, which the API requires and which counts the thoughts, too."""
    return OutputLimit(told_count(wire.body, "max_tokens"))


def with_output_limit(wire: WireRequest, tokens: int) -> WireRequest:
    """The request with such a limit."""
    return replace(wire, body={**wire.body, "max_tokens": tokens})


def limit_headers(limits: Sequence[LimitLeft]) -> dict[str, str]:
    """``anthropic-ratelimit-*``; Claude writes times as RFC 3339 has them."""
    told: dict[str, str] = {}
    for left in limits:
        told[f"anthropic-ratelimit-{left.unit}-limit"] = str(left.limit)
        told[f"anthropic-ratelimit-{left.unit}-remaining"] = str(left.remaining)
        told[f"anthropic-ratelimit-{left.unit}-reset"] = f"{datetime.fromtimestamp(left.reset / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return told


def usage_of(body: Json) -> Usage | None:
    """``usage``."""
    return parse_usage(body.get("usage")) if isinstance(body, dict) else None


def telling_usage(wire: WireRequest) -> WireRequest:
    """Its streams always tell their tokens."""
    return wire


def without_usage(events: Sequence[SseEvent]) -> Sequence[SseEvent]:
    """No event has nothing but tokens."""
    return events
