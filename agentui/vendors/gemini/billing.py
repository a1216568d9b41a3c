"""What a call of this dialect may cost: how much it may say, and where the tokens are told."""

from collections.abc import Sequence
from dataclasses import replace

from agentui.chat.deltas import Usage
from agentui.chat.request import WireRequest
from agentui.errors import LimitLeft
from agentui.jsonio import Json
from agentui.vendors.base import OutputLimit
from agentui.vendors.gemini.metadata import parse_usage
from agentui.vendors.gemini.protojson import Malformed, integer, obj
from agentui.vendors.sse import SseEvent

price_list = "google"


def output_limit(wire: WireRequest) -> OutputLimit:
    """``maxOutputTokens`` of each of ``candidateCount`` answers; what Gemini could not read either is none."""
    try:
        config = obj(wire.body, "generationConfig")
        return OutputLimit(integer(config, "maxOutputTokens"), max(integer(config, "candidateCount") or 1, 1))
    except Malformed:
        return OutputLimit(None)


def with_output_limit(wire: WireRequest, tokens: int) -> WireRequest:
    """The request with such a limit."""
    name = "generation_config" if "generation_config" in wire.body else "generationConfig"
    config = wire.body.get(name)
    limited = {**(config if isinstance(config, dict) else {}), "maxOutputTokens": tokens}
    return replace(wire, body={**wire.body, name: limited})


def limit_headers(limits: Sequence[LimitLeft]) -> dict[str, str]:
    """Gemini's answers do not tell."""
    return {}


def usage_of(body: Json) -> Usage | None:
    """``usageMetadata``."""
    try:
        told = obj(body, "usageMetadata") if isinstance(body, dict) else {}
        return parse_usage(told) if told else None
    except Malformed:
        return None


def telling_usage(wire: WireRequest) -> WireRequest:
    """Its streams always tell their tokens."""
    return wire


def without_usage(events: Sequence[SseEvent]) -> Sequence[SseEvent]:
    """No event has nothing but tokens."""
    return events
