"""What a call of this dialect may cost: how much it may say, and where the tokens are told."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agentui.chat.deltas import Usage
from agentui.chat.request import WireRequest
from agentui.errors import LimitLeft
from agentui.jsonio import InvalidJson, Json, loads
from agentui.vendors.base import OutputLimit
from agentui.vendors.capabilities import known_capabilities
from agentui.vendors.fields import told_count
from agentui.vendors.openai.reply import parse_usage
from agentui.vendors.sse import SseEvent

_LIMITS: Final = ("max_completion_tokens", "max_tokens")

price_list = "openai"


def output_limit(wire: WireRequest) -> OutputLimit:
    """``max_completion_tokens`` or ``max_tokens`` of each of ``n`` answers; the larger of both, for servers differ in which of
    them they know."""
    told = [limit for name in _LIMITS if (limit := told_count(wire.body, name)) is not None]
    return OutputLimit(max(told) if told else None, max(told_count(wire.body, "n") or 1, 1))


def with_output_limit(wire: WireRequest, tokens: int) -> WireRequest:
    """The request with such a limit."""
    return replace(wire, body={**wire.body, known_capabilities(wire.vendor, wire.model).limit_name: tokens})


def limit_headers(limits: Sequence[LimitLeft]) -> dict[str, str]:
    """``x-ratelimit-*``; OpenAI writes waits such as ``59.5s``."""
    told: dict[str, str] = {}
    for left in limits:
        told[f"x-ratelimit-limit-{left.unit}"] = str(left.limit)
        told[f"x-ratelimit-remaining-{left.unit}"] = str(left.remaining)
        told[f"x-ratelimit-reset-{left.unit}"] = f"{left.wait:g}s"
    return told


def usage_of(body: Json) -> Usage | None:
    """``usage``; pictures and sound have its members under the names of the API for responses."""
    told = body.get("usage") if isinstance(body, dict) else None
    if isinstance(told, dict) and "prompt_tokens" not in told:
        return Usage(told_count(told, "input_tokens"), told_count(told, "output_tokens")) if "input_tokens" in told else None
    return parse_usage(told)


def telling_usage(wire: WireRequest) -> WireRequest:
    """A stream tells its tokens where ``stream_options.include_usage`` asks for them, and not otherwise."""
    options = wire.body.get("stream_options")
    if wire.operation != "chat" or not wire.stream or (isinstance(options, dict) and options.get("include_usage") is not None):
        return wire
    asked = {**(options if isinstance(options, dict) else {}), "include_usage": True}
    return replace(wire, body={**wire.body, "stream_options": asked})


def without_usage(events: Sequence[SseEvent]) -> Sequence[SseEvent]:
    """The events but for the one that has nothing but the tokens: a client that did not ask for it may look for the first of
    its choices."""
    return [event for event in events if b'"usage"' not in event.data or not _is_report(event.data)]


def _is_report(data: bytes) -> bool:
    try:
        chunk = loads(data)
    except InvalidJson:
        return False
    return isinstance(chunk, dict) and not chunk.get("choices") and bool(chunk.get("usage"))
