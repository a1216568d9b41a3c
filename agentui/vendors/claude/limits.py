"""How long an answer may be where the caller did not say: Claude requires ``max_tokens``, and no other dialect does."""

import re

_LIMITS = (
    (re.compile(r"claude-(?:3-(?:haiku|opus|sonnet)|2|instant)"), 4096),
    (re.compile(r"claude-3-5-"), 8192),
    (re.compile(r"claude-3-7-"), 64_000),
    (re.compile(r"claude-opus-4(?:-0|-1)?(?:-20\d{6})?(?!-?\d)"), 32_000),
    (re.compile(r"claude-(?:[a-z]+-)?(?:4|[5-9]|\d\d)"), 64_000),
)
"""The most that each family writes (docs.claude.com, models); of newer ones what all of them do."""
UNKNOWN_LIMIT = 8192
"""For the models of compatible servers, which refuse more than they can."""


def known_limit(model: str) -> int | None:
    """The most tokens that a model writes, thoughts included; None where its name does not tell."""
    return next((limit for family, limit in _LIMITS if family.search(model)), None)
