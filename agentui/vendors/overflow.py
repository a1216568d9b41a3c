"""The refusal of a conversation that is longer than a model's context, whoever says it, and the words that callers look for.

Agents shorten their history when they hear of it (Claude Code, Codex, and most others), but they know it by the words of their
own dialect alone. Only OpenAI, llama.cpp and a few others have a code for it.

    OpenAI        code context_length_exceeded, "This model's maximum context length is 8192 tokens. However, ..."
    Responses     code context_length_exceeded, "Your input exceeds the context window of this model."
    Claude        "prompt is too long: 210000 tokens > 200000 maximum", "input length and `max_tokens` exceed context limit"
    Gemini        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    llama.cpp     type exceed_context_size_error, "request (9000 tokens) exceeds the available context size (8192 tokens)"
    vLLM, SGLang  "maximum context length is 8192 tokens. However, you requested ...", "longer than the model's context length"
    LM Studio     "Trying to keep the first 9000 tokens when context the overflows", "Context size has been exceeded"
    Mistral       "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length"
    Groq          code context_length_exceeded, "Please reduce the length of the messages or completion"
    xAI, Ollama, Bedrock, OpenRouter, Kimi, MiniMax, TGI: see the patterns
"""

import re
from typing import Final

CODES: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded", "context_window_exceeded"}
)
"""Codes and types that mean it."""

_WORDS: Final = re.compile(
    "|".join(
        (
            r"prompt is too long",
            r"input is too long for requested model",
            r"input length and `?max_tokens`? exceed context limit",
            r"(?:maximum|max) (?:context|prompt|model) length",
            r"exceeds? (?:the |this |its )?(?:model'?s? )?(?:maximum |available |configured |total )?context",
            r"exceeds the maximum number of (?:input )?tokens",
            r"exceeds? (?:the )?(?:model'?s? )?(?:max(?:imum)?|total) (?:allowed )?(?:context|input (?:token|length))",
            r"context(?: length| window| size| limit)? (?:has been |was |is )?(?:exceeded|overflow)",
            r"context the overflows",
            r"(?:longer|greater|larger|bigger) than the (?:model'?s? )?(?:maximum )?context (?:length|window|size)",
            r"too large for model with \d+ maximum context",
            r"reduce the length of (?:the |your )?(?:messages|input|prompt|conversation)",
            r"(?:input|prompt) (?:tokens?|length)[^.]{0,60}exceeds?[^.]{0,40}(?:limit|maximum|context)",
            r"exceeded model token limit",
            r"`?inputs`? tokens \+ `?max_new_tokens`? must be",
            r"tokens? (?:in (?:the )?(?:prompt|request) )?(?:\([\d,]+\) )?exceeds? (?:the )?(?:model'?s? )?context",
        )
    ),
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"per (?:minute|day|hour)|rate limit|\bTPM\b|quota", re.IGNORECASE)
"""Limits of how much may be sent in a time speak of tokens that are too many, too."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+|(?<![\w.])\d+")
_LIMIT: Final = re.compile(
    r"(?:maximum|max|limit|allowed|available|context (?:length|size|window))[^0-9]{0,60}?(\d[\d,]*)"
    r"|> (\d[\d,]*)"
    r"|(?<![\d,])(\d[\d,]*) (?:maximum|limit)",
    re.IGNORECASE,
)
_SUM: Final = re.compile(r"(?<!\d)(\d+) \+ (\d+) > (\d+)")
"""Each begins with a whole number: a row of thousands of digits is looked at once, not from every digit on."""
_LOOKED_AT: Final = 4000


def is_overflow(status: int, message: str, *codes: str | None) -> bool:
    """Whether an error of this status, message and codes says that the conversation is too long for the model."""
    if not CODES.isdisjoint(codes):
        return True
    if status in (401, 402, 403, 404, 429):
        return False
    text = message[:_LOOKED_AT]
    return _WORDS.search(text) is not None and _NOT.search(text) is None


def told_sizes(message: str) -> tuple[int, int] | None:
    """The tokens of the conversation and the most that the model takes, where the message tells both."""
    text = message[:_LOOKED_AT]
    if (with_answer := _SUM.search(text)) is not None:
        return int(with_answer[1]) + int(with_answer[2]), int(with_answer[3])
    found = _LIMIT.search(text)
    if found is None:
        return None
    limit = int((found[1] or found[2] or found[3]).replace(",", ""))
    most = max((int(number.replace(",", "")) for number in _NUMBER.findall(text)), default=0)
    return (most, limit) if most > limit >= 1 else None
