"""Finding any of many words in a text, whole and whatever their case, in steps between which others get their turn."""

import heapq
import time
from collections.abc import Iterator, Sequence
from typing import Final

_WITHOUT_SPACES: Final = "\u2e80"
"""From this character on words stand without spaces between them."""


def small(text: str) -> str:
    """A text in small letters, each in its place: one that would become several (ß) stays one.

    >>> small("GROẞ und weit")
    'groß und weit'
    """
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    letters = {letter: _one(letter) for letter in set(text)}
    return "".join(map(letters.__getitem__, text))


def _one(letter: str) -> str:
    folded = letter.casefold()
    return folded if len(folded) == 1 else letter.lower()[0]


def places(words: Sequence[str], text: str, until: float) -> Iterator[tuple[int, int]]:
    """Where words stand as whole ones, from the left, as begin and end: of several at one place the longest, none within
    another. Words and text are ``small``. Raises TimeoutError once ``until`` has come on the monotonic clock."""
    nexts = [(begin, -len(word), word) for word in words if (begin := _next(word, text, 0, until)) >= 0]
    heapq.heapify(nexts)
    at = 0
    while nexts:
        begin, minus, word = nexts[0]
        if begin >= at:
            at = begin - minus
            yield begin, at
        later = _next(word, text, at, until)
        if later < 0:
            heapq.heappop(nexts)
        else:
            heapq.heapreplace(nexts, (later, minus, word))


def _next(word: str, text: str, at: int, until: float) -> int:
    """Where a word stands next, and is no part of a longer one; -1 where it does not."""
    while True:
        if time.monotonic() > until:
            raise TimeoutError
        begin = text.find(word, at)
        if begin < 0:
            return -1
        end = begin + len(word)
        if not (begin and _joined(text[begin - 1], word[0])) and not (end < len(text) and _joined(text[end], word[-1])):
            return begin
        at = begin + 1


def _joined(beside: str, edge: str) -> bool:
    """Whether a character makes one longer word with the letter of a word that it stands beside."""
    return edge.isalnum() and edge < _WITHOUT_SPACES and (beside.isalnum() or beside == "_") and beside < _WITHOUT_SPACES
