"""Many words looked for in one pass over a text (Aho and Corasick, 1975). Words and texts are sequences of
characters, or of other signs."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


class Automaton:
    """Finds words, also where one lies in another. Its work is linear in the text, however many words there are."""

    __slots__ = ("_ended", "_fallbacks", "_places", "_steps")

    def __init__(self, words: Sequence[Sequence[str]]) -> None:
        """``words`` are distinct and not empty; they are told by their places in the list."""
        self._steps: list[dict[str, int]] = [{}]
        self._places = {self._add(word): place for place, word in enumerate(words)}
        self._fallbacks = [0] * len(self._steps)
        self._ended = [state if state in self._places else 0 for state in range(len(self._steps))]
        self._connect()

    def _add(self, word: Sequence[str]) -> int:
        """The state in which a word has been read."""
        state = 0
        for character in word:
            following = self._steps[state].get(character)
            if following is None:
                following = self._steps[state][character] = len(self._steps)
                self._steps.append({})
            state = following
        return state

    def _connect(self) -> None:
        """Give every state its fallback, the longest other beginning of a word that its text ends with, and the state of the
        longest whole word that it ends with; 0 for none."""
        waiting = deque(self._steps[0].values())
        while waiting:
            state = waiting.popleft()
            for character, following in self._steps[state].items():
                shorter = self._fallbacks[state]
                while shorter and character not in self._steps[shorter]:
                    shorter = self._fallbacks[shorter]
                fallback = self._fallbacks[following] = self._steps[shorter].get(character, 0)
                self._ended[following] = self._ended[following] or self._ended[fallback]
                waiting.append(following)

    def find(self, texts: Iterable[tuple[Sequence[str], T]]) -> Iterator[tuple[int, T]]:
        """The words in each of the texts, each word once for each text: its place, and what stands beside the text."""
        steps, fallbacks, places, longest = self._steps, self._fallbacks, self._places, self._ended
        for text, beside in texts:
            state = 0
            told: set[int] = set()
            for character in text:
                while (following := steps[state].get(character)) is None and state:
                    state = fallbacks[state]
                state = following or 0
                ended = longest[state]
                # Where a word was told, so were those that it ends with.
                while ended and ended not in told:
                    told.add(ended)
                    yield places[ended], beside
                    ended = longest[fallbacks[ended]]
