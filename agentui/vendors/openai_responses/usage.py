"""Tokens as this API counts them: cached ones are part of the input, reasoning is part of the output."""

from agentui.chat.deltas import TokenLogprob, Usage
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


def parse_logprobs(tokens: Json) -> tuple[TokenLogprob, ...]:
    """``logprobs`` of a text; entries without a token or a number are left out."""
    if not isinstance(tokens, list):
        return ()
    return tuple(
        TokenLogprob(token["token"], float(token["logprob"]), tuple(_rivals(token.get("top_logprobs"))))
        for token in tokens
        if _is_logprob(token)
    )


def _rivals(tokens: Json) -> list[tuple[str, float]]:
    """``top_logprobs`` as pairs."""
    if not isinstance(tokens, list):
        return []
    return [(token["token"], float(token["logprob"])) for token in tokens if _is_logprob(token)]


def _is_logprob(token: Json) -> bool:
    """An object with a token and its logarithm."""
    return isinstance(token, dict) and isinstance(token.get("token"), str) and isinstance(token.get("logprob"), int | float)


def render_logprobs(tokens: tuple[TokenLogprob, ...]) -> list[Json]:
    """``logprobs`` as an event or a text carries them; ``bytes`` is the token in UTF-8."""
    return [
        {**_logprob(token.token, token.logprob), "top_logprobs": [_logprob(rival, value) for rival, value in token.top]}
        for token in tokens
    ]


def _logprob(token: str, logprob: float) -> dict[str, Json]:
    """One token with its logarithm."""
    return {"token": token, "logprob": logprob, "bytes": list(token.encode("utf-8", "surrogatepass"))}
