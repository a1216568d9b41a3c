"""Plain keys, as one table that is looked up in many texts at once.

A key without a blank lies within one word of a text, so each different word is looked at once. A key that has to be a whole
word is looked for with signs for the bounds of words, in the key as in the text, so that it is found at its bounds only. A key
with blanks is looked for where its longest word is.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from agentui.lore.automaton import Automaton

_MOST_LOOKS: Final = 50_000
"""Looks for keys with blanks, each at one text; more than that share one slow pass."""
_MOST_SEEN: Final = 20_000
"""Different words of texts of which a table remembers what lies in them."""
_LONGEST_SEEN: Final = 64
"""Characters of a word of a text that is remembered, and words of needles in it: what is remembered stays small."""
_START: Final = "^^"
_END: Final = "$$"
_WORD: Final = re.compile(r"\w", re.ASCII)
"""JavaScript's word characters: a boundary of whole words is anything else, such as a Cyrillic letter."""


@dataclass(frozen=True, slots=True)
class Needle:
    """A plain key: in lower case unless ``is_cased``. ``is_whole``: nothing of a word may stand beside it."""

    text: str
    is_cased: bool
    is_whole: bool

    @classmethod
    def of(cls, key: str, *, is_cased: bool, is_whole: bool) -> "Needle":
        """The needle of a key. One of several words is found within words, too."""
        return cls(key if is_cased else key.lower(), is_cased, is_whole and len(key.split()) == 1)

    def start_in(self, text: str, most: float = inf) -> int:
        """Where it first stands in a text that is in its case; -1 where it does not, and where finding that out passes more
        than ``most`` characters."""
        at = text.find(self.text)
        looks = 1
        while at >= 0 and self.is_whole and not _is_bounded(text, at, at + len(self.text)):
            looks += 1
            if looks * len(self.text) > most:
                return -1
            at = text.find(self.text, at + 1)
        return at


def _marked(text: str) -> list[str]:
    """The characters of a text, with a sign before each that has no word character before it, and after each that has none
    behind it."""
    signs: list[str] = []
    is_word = False
    for character in text:
        was_word, is_word = is_word, _WORD.match(character) is not None
        if signs and not is_word:
            signs.append(_END)
        if not was_word:
            signs.append(_START)
        signs.append(character)
    signs.append(_END)
    return signs


def _is_bounded(text: str, start: int, end: int) -> bool:
    """True where no word character stands beside a piece of the text."""
    return not (start and _WORD.match(text, start - 1)) and not _WORD.match(text, end)


class NeedleTable:
    """Needles, told by their numbers: ``first`` and those that follow."""

    __slots__ = ("_cased", "_folded")

    def __init__(self, needles: Sequence[Needle], first: int = 0) -> None:
        numbered = list(enumerate(needles, first))
        self._cased = _Matcher([(number, needle) for number, needle in numbered if needle.is_cased])
        self._folded = _Matcher([(number, needle) for number, needle in numbered if not needle.is_cased])

    def places(self, texts: Sequence[str], folded: Sequence[str]) -> dict[int, int]:
        """For each needle that is found the first text that holds it. ``folded`` are the texts in lower case."""
        return self._cased.places(texts) | self._folded.places(folded)


class _Matcher:
    """Needles that look at the same spelling of a text."""

    __slots__ = ("_anchored", "_automaton", "_numbers", "_seen", "_spaced", "_whole", "_whole_automaton")

    def __init__(self, needles: Sequence[tuple[int, Needle]]) -> None:
        self._spaced = [(number, needle.text) for number, needle in needles if needle.text.split() != [needle.text]]
        single = [(number, needle) for number, needle in needles if needle.text.split() == [needle.text]]
        plain = {needle.text: number for number, needle in single if not needle.is_whole}
        whole = {needle.text: number for number, needle in single if needle.is_whole}
        anchored: dict[str, list[int]] = {}
        for place, (_, text) in enumerate(self._spaced):
            anchored.setdefault(max(text.split(), key=len), []).append(place)
        words = list(dict.fromkeys([*plain, *anchored]))
        self._numbers = [plain.get(word) for word in words]
        self._anchored = [anchored.get(word, []) for word in words]
        self._automaton = Automaton(words)
        self._seen: dict[str, Sequence[int]] = {}
        self._whole = list(whole.values())
        self._whole_automaton = Automaton([_marked(word) for word in whole])

    def places(self, texts: Sequence[str]) -> dict[int, int]:
        """For each needle that is found the first text that holds it."""
        if not self._numbers and not self._whole:
            return {}
        tokens = [text.split() for text in texts]
        words: dict[str, int] = {}
        for at in range(len(texts) - 1, -1, -1):
            words.update(dict.fromkeys(tokens[at], at))
        places: dict[int, int] = {}
        by_token: dict[str, list[int]] = {}
        for token, found in self._known(words).items():
            at = words[token]
            for word in found:
                number = self._numbers[word]
                if number is not None and at < places.get(number, len(texts)):
                    places[number] = at
                if self._anchored[word]:
                    by_token.setdefault(token, []).extend(self._anchored[word])
        if self._whole:
            for word, at in self._whole_automaton.find((_marked(token), at) for token, at in words.items()):
                number = self._whole[word]
                places[number] = min(at, places.get(number, at))
        return places | self._spaced_places(texts, tokens, by_token)

    def _known(self, tokens: Collection[str]) -> dict[str, Sequence[int]]:
        """The needles' words that lie in each of these words of texts, where any does. What was found is remembered, for most
        words of a chat's texts are those of its turn before; never changed, but replaced, as several threads may look."""
        known = self._seen
        new = [token for token in tokens if token not in known]
        found: dict[str, list[int]] = {}
        for word, token in self._automaton.find(zip(new, new, strict=True)):
            found.setdefault(token, []).append(word)
        kept: dict[str, Sequence[int]] = {
            token: words for token in new if max(len(token), len(words := found.get(token, ()))) <= _LONGEST_SEEN
        }
        if kept:
            is_room = len(known) + len(kept) <= _MOST_SEEN
            self._seen = {**known, **kept} if is_room else kept if len(kept) <= _MOST_SEEN else {}
        return {token: held for token in tokens if (held := found.get(token) or known.get(token))}

    def _spaced_places(
        self, texts: Sequence[str], tokens: Sequence[list[str]], by_token: dict[str, list[int]]
    ) -> dict[int, int]:
        """The same for needles with blanks. ``by_token`` has those whose longest word lies in one of the texts, by that one."""
        places: dict[int, int] = {}
        looks = 0
        for at, text in enumerate(texts):
            for token in by_token.keys() & tokens[at]:
                looks += len(by_token[token])
                for place in by_token[token]:
                    number, needle = self._spaced[place]
                    if number not in places and needle in text:
                        places[number] = at
            if looks > _MOST_LOOKS:
                return self._spaced_in_one_pass(texts)
        return places

    def _spaced_in_one_pass(self, texts: Sequence[str]) -> dict[int, int]:
        """The same, however often their words are said."""
        found: dict[int, int] = {}
        numbers = [number for number, _ in self._spaced]
        automaton = Automaton([needle for _, needle in self._spaced])
        for place, at in automaton.find((text, at) for at, text in enumerate(texts)):
            found.setdefault(numbers[place], at)
        return found
