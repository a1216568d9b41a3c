"""Tokens as this API counts them: cached ones are part of the input, reasoning is part of the output."""

from agentui.chat.deltas import Usage
from agentui.jsonio import Json
from agentui.vendors.fields import told_count


def parse_usage(usage: Json) -> Usage | None:
    """``usage`` of a response, None where there is none."""
    if not isinstance(usage, dict):
        return None
    return Usage(
        input=told_count(usage, "input_tokens"),
        output=told_count(usage, "output_tokens"),
        cache_read=told_count(usage.get("input_tokens_details"), "cached_tokens"),
        cache_write=told_count(usage.get("input_tokens_details"), "cache_write_tokens"),
        reasoning=told_count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def render_usage(usage: Usage | None) -> dict[str, Json]:
    """Usage with every number present; clients refuse a finished response without them, so what nobody told is 0."""
    known = usage or Usage()
    return {
        "input_tokens": known.input or 0,
        "input_tokens_details": {"cached_tokens": known.cache_read or 0, "cache_write_tokens": known.cache_write or 0},
        "output_tokens": known.output or 0,
        "output_tokens_details": {"reasoning_tokens": known.reasoning or 0},
        "total_tokens": known.total,
    }
