"""Stop strings for upstreams that have none, or not these: the answer is cut here, where they would have cut it.

A stop string ends the text of its choice where the first of them is complete, however the text came in pieces; of several
that end at one place the longest counts. Thoughts, refusals and arguments are not looked at.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from agentui.chat.deltas import Delta, End, Finish, TextDelta
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import Cut
from agentui.errors import UnsupportedFeature

MAX_STOPS = 64
"""Stop strings that are looked for in one answer."""
MAX_LENGTH = 1000
"""Characters of one: with both bounds a piece of an answer takes some milliseconds at most."""


def cut_of(stops: Sequence[str], choices: int = 1) -> Cut | None:
    """How an answer is cut at these strings; None where there are none. Raises UnsupportedFeature for too many or too
    long ones."""
    told = tuple(dict.fromkeys(stop for stop in stops if stop))
    if len(told) > MAX_STOPS:
        raise UnsupportedFeature(f"At most {MAX_STOPS} stop strings are looked for here, not {len(told)}.", param="stop")
    if any(len(stop) > MAX_LENGTH for stop in told):
        raise UnsupportedFeature(f"A stop string that is looked for here has at most {MAX_LENGTH} characters.", param="stop")
    return Cut(told, choices) if told else None


class StopFilter:
    """Cuts one answer. Its work is one step for each character and stop string."""

    def __init__(self, cut: Cut) -> None:
        self._stops = cut.stops
        self._left = cut.choices
        self._choices: dict[int, _Search] = {}
        self.is_over = False
        """Whether every choice was stopped: nothing that the upstream may still say is part of the answer."""

    def feed(self, deltas: Iterable[Delta]) -> list[Delta]:
        """The deltas without what stands behind a stop string; ``End`` as soon as every choice was stopped."""
        kept: list[Delta] = []
        for delta in deltas:
            if self.is_over:
                break
            if isinstance(delta, End):
                kept += self._release_all()
            if (number := getattr(delta, "choice", None)) is None:
                kept.append(delta)
                continue
            search = self._choices.get(number)
            if search is None:
                search = self._choices[number] = _Search(self._stops)
            if search.found is not None:
                continue
            if isinstance(delta, TextDelta):
                kept += self._read(search, delta)
            else:
                if held := search.release():
                    kept.append(TextDelta(held, number))
                kept.append(delta)
        return kept

    def _release_all(self) -> Iterator[Delta]:
        """What was held back of choices that never said why they ended."""
        for number, search in self._choices.items():
            if search.found is None and (held := search.release()):
                yield TextDelta(held, number)

    def _read(self, search: "_Search", delta: TextDelta) -> Iterator[Delta]:
        """More text of a choice, up to a stop string."""
        if text := search.feed(delta.text):
            yield TextDelta(text, delta.choice)
        if search.found is None:
            return
        yield Finish("stop_sequence", search.found, delta.choice)
        self._left -= 1
        if self._left == 0:
            self.is_over = True
            yield End()

    def cut(self, reply: Reply) -> Reply:
        """A whole answer without what stands behind a stop string; it keeps what the upstream itself wrote as ``raw``."""
        builder = ReplyBuilder()
        for delta in reply.deltas():
            builder.feed(self.feed((delta,)))
        cut = builder.reply()
        return Reply(cut.choices, cut.id, cut.model, cut.created, reply.usage, reply.raw, reply.raw_vendor)


class _Search:
    """Looks for stop strings in a text that comes in pieces (Knuth, Morris and Pratt, an automaton for each string).

    What may be the beginning of a string is held back; as that string is known, nothing else is kept of it.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._automata = [(stop, _borders(stop)) for stop in stops]
        self._first = re.compile("[" + re.escape("".join({stop[0] for stop in stops})) + "]")
        self._matched = [0] * len(stops)
        self._longest = max(map(len, stops))
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """The text that may be told by now, given more of it."""
        return self._leap(text) if len(text) > self._longest else self._walk(text)

    def _leap(self, text: str) -> str:
        """The same for a piece that is longer than every string: only its end may begin one that it does not hold."""
        whole = self.release() + text
        places = [(place + len(stop), -len(stop), stop) for stop, _ in self._automata if (place := whole.find(stop)) >= 0]
        if places:
            end, _, self.found = min(places)
            return whole[: end - len(self.found)]
        self._walk(text[len(text) - self._longest + 1 :])
        return whole[: len(whole) - max(self._matched)]

    def _walk(self, text: str) -> str:
        """The same, character by character."""
        stop, held = self._held
        place = 0
        while place < len(text):
            if not any(self._matched):
                begun = self._first.search(text, place)
                if begun is None:
                    break
                place = begun.start()
            self._step(text[place])
            place += 1
            if self.found is not None:
                return _head(stop, held, text, held + place - len(self.found))
        return _head(stop, held, text, held + len(text) - max(self._matched))

    def release(self) -> str:
        """What was held back, which turned out to be text."""
        stop, held = self._held
        self._matched = [0] * len(self._matched)
        return stop[:held]

    @property
    def _held(self) -> tuple[str, int]:
        """What is held back: the string that it begins, and how many of its characters."""
        longest = max(self._matched)
        return self._automata[self._matched.index(longest)][0], longest

    def _step(self, character: str) -> None:
        """One more character; ``found`` is the longest string that it completes."""
        for number, (stop, borders) in enumerate(self._automata):
            matched = self._matched[number]
            while matched and stop[matched] != character:
                matched = borders[matched - 1]
            matched += stop[matched] == character
            self._matched[number] = matched
            if matched == len(stop) > len(self.found or ""):
                self.found = stop


def _borders(stop: str) -> list[int]:
    """For each beginning of a string the length of its longest end that is a shorter beginning."""
    borders = [0]
    for character in stop[1:]:
        border = borders[-1]
        while border and stop[border] != character:
            border = borders[border - 1]
        borders.append(border + (stop[border] == character))
    return borders


def _head(stop: str, held: int, text: str, length: int) -> str:
    """The first characters of what was held back of a string and of the text behind it."""
    return stop[:length] if length <= held else stop[:held] + text[: length - held]
