"""What Gemini tells about an answer beside its content: why it ended, its tokens, its log probabilities."""

from typing import Final

from agentui.chat.deltas import FinishReason, TokenLogprob, Usage
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, integer, items, member, number, obj, text

_FINISH: Final[dict[str, FinishReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "ESCALATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed_call",
    "UNEXPECTED_TOOL_CALL": "malformed_call",
    "CONTINUATION": "pause",
    "FINISH_REASON_UNSPECIFIED": "other",
    "LANGUAGE": "other",
    "OTHER": "other",
    "IMAGE_OTHER": "other",
    "NO_IMAGE": "other",
    "TOO_MANY_TOOL_CALLS": "other",
    "MISSING_THOUGHT_SIGNATURE": "other",
    "MALFORMED_RESPONSE": "other",
    "PUP_LIMITED_DISABLED": "other",
}

_FINISH_NAMES: Final[dict[FinishReason, str]] = {
    "stop": "STOP",
    "stop_sequence": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    "pause": "CONTINUATION",
    "malformed_call": "MALFORMED_FUNCTION_CALL",
    "other": "OTHER",
}


def parse_finish(name: str, *, called: bool) -> FinishReason:
    """Why a candidate ended; Gemini says STOP also when it ``called`` a function. Unknown names are ``other``."""
    reason = _FINISH.get(name, "other")
    return "tool_calls" if reason == "stop" and called else reason


def render_finish(reason: FinishReason | None, *, refused: bool = False) -> str:
    """Gemini's name for it; an upstream that did not say why it ended has stopped. A refusal is SAFETY."""
    if refused and reason in (None, "stop", "stop_sequence"):
        return "SAFETY"
    return "STOP" if reason is None else _FINISH_NAMES[reason]


def parse_usage(usage: dict[str, Json]) -> Usage:
    """``usageMetadata``: prompt and tool-use prompt make the input, candidates and thoughts the output. Raises Malformed."""
    prompt, tools = integer(usage, "promptTokenCount"), integer(usage, "toolUsePromptTokenCount")
    said, thought = integer(usage, "candidatesTokenCount"), integer(usage, "thoughtsTokenCount")
    return Usage(
        _sum(prompt, tools),
        _sum(said, thought),
        integer(usage, "cachedContentTokenCount"),
        None,
        thought,
    )


def _sum(first: int | None, second: int | None) -> int | None:
    """The sum of what is known, None when nothing is."""
    return None if first is None and second is None else (first or 0) + (second or 0)


def render_usage(usage: Usage) -> dict[str, Json]:
    """``usageMetadata``, where candidates exclude thoughts; what is not known is left out."""
    said = None if usage.output is None else max(usage.output - (usage.reasoning or 0), 0)
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": said,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cache_read,
        "totalTokenCount": usage.total,
    }
    return {name: count for name, count in counts.items() if count is not None}


def parse_logprobs(result: dict[str, Json]) -> tuple[TokenLogprob, ...]:
    """``logprobsResult``: each chosen token with its rivals. Proto JSON leaves a probability of exactly 0.0 out.

    Raises Malformed.
    """
    rivals = items(result, "topCandidates")
    tokens = []
    for position, chosen in enumerate(items(result, "chosenCandidates")):
        if not isinstance(chosen, dict):
            raise Malformed("Every chosen candidate must be an object.", "chosenCandidates")
        around = rivals[position] if position < len(rivals) else None
        top = tuple(_token(rival) for rival in items(around, "candidates")) if isinstance(around, dict) else ()
        tokens.append(TokenLogprob(*_token(chosen), top))
    return tuple(tokens)


def _token(candidate: Json) -> tuple[str, float]:
    if not isinstance(candidate, dict):
        raise Malformed("Every candidate token must be an object.", "topCandidates")
    return text(candidate, "token") or "", number(candidate, "logProbability") or 0.0


def render_logprobs(tokens: tuple[TokenLogprob, ...]) -> dict[str, Json]:
    """``logprobsResult`` of these tokens."""
    result: dict[str, Json] = {
        "chosenCandidates": [{"token": token.token, "logProbability": token.logprob} for token in tokens]
    }
    if any(token.top for token in tokens):
        result["topCandidates"] = [
            {"candidates": [{"token": rival, "logProbability": logprob} for rival, logprob in token.top]} for token in tokens
        ]
    return result


def block_reason(body: dict[str, Json]) -> str | None:
    """Why the prompt itself was blocked, None when it was not. Raises Malformed."""
    reason = text(obj(body, "promptFeedback"), "blockReason") if member(body, "promptFeedback") is not None else None
    return reason if reason and not reason.endswith("UNSPECIFIED") else None
