"""Many words looked for in one pass over a text (Aho and Corasick, 1975)."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def _is_word(character: str) -> bool:
    """Whether no whole word ends before this character, by JavaScript's rules."""
    return character == "_" or (character.isascii() and character.isalnum())


class Automaton:
    """Finds words, also where one lies in another. Its work is linear in the text, however many words there are."""

    __slots__ = ("_fallbacks", "_found", "_steps")

    def __init__(self, words: Sequence[str]) -> None:
        """``words`` are distinct and not empty; they are told by their places in the list."""
        self._steps: list[dict[str, int]] = [{}]
        self._found: list[tuple[int, ...]] = [()]
        for place, word in enumerate(words):
            self._found[self._add(word)] = (place,)
        self._fallbacks = [0] * len(self._steps)
        self._connect()

    def _add(self, word: str) -> int:
        """The state in which a word has been read."""
        state = 0
        for character in word:
            following = self._steps[state].get(character)
            if following is None:
                following = self._steps[state][character] = len(self._steps)
                self._steps.append({})
                self._found.append(())
            state = following
        return state

    def _connect(self) -> None:
        """Give every state its fallback: the longest other beginning of a word that its text ends with."""
        waiting = deque(self._steps[0].values())
        while waiting:
            state = waiting.popleft()
            for character, following in self._steps[state].items():
                shorter = self._fallbacks[state]
                while shorter and character not in self._steps[shorter]:
                    shorter = self._fallbacks[shorter]
                self._fallbacks[following] = self._steps[shorter].get(character, 0)
                self._found[following] += self._found[self._fallbacks[following]]
                waiting.append(following)

    def find(self, texts: Iterable[tuple[str, T]]) -> Iterator[tuple[int, int, str, T]]:
        """The words in each of the texts: a word's place, where it ends, the text, and what stands beside that. Words that end
        within a longer one are told once for each text: keys like a, aa, aaa lie at every place of a text of one letter."""
        steps, fallbacks, found = self._steps, self._fallbacks, self._found
        for text, beside in texts:
            state, told, end = 0, set[int](), len(text) - 1
            for at, character in enumerate(text):
                following = steps[state].get(character)
                while following is None and state:
                    state = fallbacks[state]
                    following = steps[state].get(character)
                state = following or 0
                if found[state] and (state not in told or at == end or not _is_word(text[at + 1])):
                    told.add(state)
                    for word in found[state]:
                        yield word, at + 1, text, beside
