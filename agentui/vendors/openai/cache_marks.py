"""Marks of a prompt cache on content parts of OpenAI's two APIs.

    "prompt_cache_breakpoint": {"mode": "explicit"}      OpenAI's own, since gpt-5.6 (guide to prompt caching)
    "cache_control": {"type": "ephemeral", "ttl"}        Claude's, which clients of LiteLLM and OpenRouter write

Both say that all up to the part is to be cached. Of the dialects only Claude's needs to be told; ``prompt_cache_options`` has
lifetimes of its own, so a breakpoint becomes a mark of Claude's usual one.
"""

from collections.abc import Mapping
from typing import Final

from agentui.chat.messages import CACHE_MARK, Opaque
from agentui.jsonio import Json

BREAKPOINT: Final = "prompt_cache_breakpoint"


def has_mark(part: Json) -> bool:
    """Whether a content part is marked."""
    return isinstance(part, Mapping) and (CACHE_MARK in part or BREAKPOINT in part)


def marks_of(part: Json) -> tuple[Opaque, ...]:
    """The mark of a content part, to stand behind it; none for most."""
    if not has_mark(part):
        return ()
    mark = part.get(CACHE_MARK)
    if not isinstance(mark, dict):
        mark = {"type": "ephemeral"} if isinstance(part.get(BREAKPOINT), dict) else None
    return () if mark is None else (Opaque(CACHE_MARK, CACHE_MARK, {CACHE_MARK: mark}),)
