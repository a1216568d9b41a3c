"""How many tokens a prompt is about: the common estimate, corrected by what a model's provider counted before."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from agentui.chat.estimates import LONGEST_TOKEN, message_tokens
from agentui.chat.messages import Message

_WEIGHT = 0.2
"""What one report counts for, against all before it."""
_LEAST, _MOST = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class TokenEstimator:
    """Estimates for one model. ``factor`` is how many tokens its provider counts for one of ours."""

    factor: float = 1.0

    def message(self, message: Message) -> int:
        """About the tokens of a message; of two joined never more than of both apart."""
        return ceil(message_tokens(message) * self.factor)

    def longest(self, tokens: int) -> int:
        """How many characters so many tokens have at most; also where one more report comes before they are counted."""
        return ceil(tokens * LONGEST_TOKEN / max(_LEAST, self.factor * (1 - _WEIGHT)))


LEAST: Final = TokenEstimator(_LEAST)
"""The one that counts least."""
UNCORRECTED: Final = TokenEstimator()
"""For a model of which no provider reported anything."""


def corrected(factor: float, estimated: int, reported: int) -> float:
    """The factor after a report: ``estimated`` is what was estimated with ``factor``, ``reported`` what the provider counted.

    An exponential average, kept between a quarter and four, so that one odd report (a provider that counts tools or cached
    tokens) does little.

    >>> corrected(1.0, 1000, 1500), corrected(1.0, 0, 10), corrected(4.0, 100, 10_000)
    (1.1, 1.0, 4.0)
    """
    if estimated <= 0 or reported <= 0:
        return factor
    told = min(max(reported / estimated * factor, _LEAST), _MOST)
    return min(max(factor + _WEIGHT * (told - factor), _LEAST), _MOST)
