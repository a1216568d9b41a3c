"""Ranking by words: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the usual constants.

It is computed here and not by the engines: FTS5's counts the texts of all accounts together, and PostgreSQL's ``ts_rank`` knows
no rare words. Whoever ranks says how many texts there are and how many hold a word.
"""

from collections.abc import Mapping
from math import log
from typing import Final

SATURATION: Final = 1.2
"""k1: how soon it counts no more that a word stands there again."""
LENGTH: Final = 0.75
"""b: how much a long text is held to say everything."""


def worth(word: str) -> float:
    """What a word is worth as evidence beside its rarity: a single character of a script without spaces is a part of many
    words."""
    return SINGLE if len(word) == 1 and word >= _FIRST_UNSPACED else 1.0


SINGLE: Final = 0.5
_FIRST_UNSPACED: Final = "\u0e00"


def rarity(holding: float, texts: float) -> float:
    """The weight of a word that so many of the texts hold; always above 0 (Lucene's form of the inverse document frequency)."""
    return log(1 + (max(0.0, texts - holding) + 0.5) / (holding + 0.5))


def bm25(wanted: Mapping[str, float], counts: Mapping[str, int], length: int, average: float) -> float:
    """How well a text answers: ``wanted`` are the weights of the words that are looked for, ``counts`` how often the text has
    which of them, ``length`` how many words it has, ``average`` how many texts have on average."""
    norm = SATURATION * (1 - LENGTH + LENGTH * length / average) if average > 0 else SATURATION
    # Summed in one order: the last digits of a sum depend on it, and texts that are alike must come out alike.
    return sum(
        weight * (SATURATION + 1) * counts[word] / (counts[word] + norm) for word, weight in wanted.items() if word in counts
    )
