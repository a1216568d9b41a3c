"""What a call of this dialect may cost: how much it may say, and where the tokens are told."""

from collections.abc import Sequence
from dataclasses import replace

from agentui.chat.deltas import Usage
from agentui.chat.request import WireRequest
from agentui.errors import LimitLeft
from agentui.jsonio import Json
from agentui.vendors.base import OutputLimit
from agentui.vendors.fields import told_count
from agentui.vendors.openai import billing as openai_billing
from agentui.vendors.openai_responses.usage import parse_usage
from agentui.vendors.sse import SseEvent

price_list = openai_billing.price_list


def output_limit(wire: WireRequest) -> OutputLimit:
    """``max_output_tokens``, which counts the thoughts, too."""
    return OutputLimit(told_count(wire.body, "max_output_tokens"))


def with_output_limit(wire: WireRequest, tokens: int) -> WireRequest:
    """The request with such a limit."""
    return replace(wire, body={**wire.body, "max_output_tokens": tokens})


def limit_headers(limits: Sequence[LimitLeft]) -> dict[str, str]:
    """As OpenAI's other API tells them."""
    return openai_billing.limit_headers(limits)


def usage_of(body: Json) -> Usage | None:
    """``usage``; embeddings have OpenAI's other names."""
    told = body.get("usage") if isinstance(body, dict) else None
    return openai_billing.usage_of(body) if isinstance(told, dict) and "prompt_tokens" in told else parse_usage(told)


def telling_usage(wire: WireRequest) -> WireRequest:
    """Its streams always tell their tokens."""
    return wire


def without_usage(events: Sequence[SseEvent]) -> Sequence[SseEvent]:
    """No event has nothing but tokens."""
    return events
