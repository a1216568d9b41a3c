"""
JavaScript's regular expressions: compiled, searched with a time limit, and replaced by.

Time is what the searching thread computes, not what passes: a search beside others, or on a busy machine, finds the same.

Without the flags ``u`` and ``v`` JavaScript matches UTF-16 units, so a character beyond U+FFFF is two there. Such a text is
split into its halves for the search and put together again afterwards; half a character that stays alone becomes U+FFFD.

Two things differ from JavaScript, both in repetitions: a round that matches nothing ends them (``(?:a*?)*`` there goes on
looking for one that matches something), and a reference to a group sees what the group matched in an earlier round.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from time import thread_time
from typing import Final

import regex

from agentui.regexes.cursor import RegexError
from agentui.regexes.syntax import Loop, Translated, translate

SEARCH_SECONDS: Final = 0.05
"""How long one search of a text may take."""
SEARCHES: Final = 20
"""How many times that all searches of one text may take together."""
MAX_TEXT: Final = 1024 * 1024
"""Characters of a text that is searched, and of one that replacing makes."""
_LONG: Final = 4096
"""Characters from which on a search lets other threads run."""
BRIEF: Final = 2048
"""Characters of a text in which a search by a brief pattern takes no more than some twenty milliseconds."""
_BRIEF_WEIGHT: Final = 1000
"""What a brief pattern weighs at most."""
MATCH_SECONDS: Final = 5e-6
"""What a match that is replaced is counted for."""
_PATTERN_UNIT, _SOURCE_UNIT = 5e-6, 2e-6
"""Seconds in which a character of a pattern is read, and one of what the engine is told is compiled."""
MOST_KEPT: Final = 64 * 1024 * 1024
"""About how many bytes compiled expressions may hold that are kept for the next time."""
_UNIT_BYTES: Final = 128
"""What the engine holds for each character of a pattern, and for each part of its weight."""
_ENTRY_BYTES: Final = 1024
_NEARLY: Final = 0.9
"""How much of its time a search must have had that is given up: the two clocks do not tick alike."""
_BEYOND: Final = re.compile("[\U00010000-\U0010ffff]")
_FLAGS: Final = frozenset("dgimsuvy")


@dataclass(frozen=True, slots=True)
class JsMatch:
    """One match. Texts of it are in the units of its pattern, as ``JsPattern.units`` gives them."""

    found: "regex.Match[str]"
    pattern: "JsPattern"

    def span(self) -> tuple[int, int]:
        """Where it is in the text that was searched, in characters; linear in what stands before."""
        start, end = self.found.span()
        if self.pattern.is_unicode:
            return start, end
        before, text = joined(self.found.string[:start]), joined(self.found.string[:end])
        return len(before), len(text)

    def group(self, number: int) -> str | None:
        """What a group matched, 0 for all; None for one that took no part and for a number that no group has."""
        if not 0 < number <= len(self.pattern.translated.groups):
            return self.found.group() if number == 0 else None
        loops = self.pattern.translated.groups[number - 1].loops
        if not loops:
            return self.found.group(f"g{number}")
        return self._last_round(number, loops)

    def named(self, name: str) -> str | None:
        """What the group of this name matched; of several the one that took part."""
        numbers = self.pattern.translated.names.get(name, ())
        return next((text for number in numbers if (text := self.group(number)) is not None), None)

    def _last_round(self, number: int, loops: list[Loop]) -> str | None:
        """What a group in repetitions matched in the last round of each: JavaScript forgets what it matched in earlier ones."""
        spans = self.found.spans(f"g{number}")
        behind = self.pattern.translated.groups[number - 1].behind
        for loop, inner in zip(loops, (*(loop.behind for loop in loops[1:]), behind), strict=True):
            rounds = self.found.spans(loop.name)
            # A round beyond those required that matched nothing does not count there.
            if len(rounds) > loop.least and rounds[-1][0] == rounds[-1][1] and rounds.pop() in spans[-1:]:
                spans.pop()
            if not rounds:
                return None
            if loop.behind == inner == behind:
                start, end = rounds[-1]
                spans = [span for span in spans if (span[1] <= end if behind else span[0] >= start)]
        return self.found.string[slice(*spans[-1])] if spans else None


@dataclass(frozen=True, slots=True)
class JsPattern:
    """
    A compiled regular expression. It keeps no ``lastIndex``: every search starts anew.

    Searches raise TimeoutError when they take too long, and for a text of more than MAX_TEXT characters RegexError.
    """

    source: str
    flags: str
    translated: Translated
    compiled: "regex.Pattern[str]"

    @property
    def is_unicode(self) -> bool:
        """Whether it matches whole characters."""
        return "u" in self.flags or "v" in self.flags

    @property
    def compile_seconds(self) -> float:
        """About how long it takes at most to compile it."""
        return reading_seconds(self.source) + _SOURCE_UNIT * len(self.translated.source)

    def units(self, text: str) -> str:
        """The text as this pattern sees it: the same, or with two halves for each character beyond U+FFFF."""
        return text if self.is_unicode else halved(text)

    @property
    def is_brief(self) -> bool:
        """Whether a search in a text of BRIEF characters needs no clock: from each place it can go on in hardly more than one
        way, so that it is done in the square of the text's length at most. The engine's clock costs as much as a search."""
        return self.translated.choices <= 1 and self.translated.weight <= _BRIEF_WEIGHT

    @property
    def find(self) -> "Callable[..., regex.Match[str] | None]":
        """What finds the first match in a text of this pattern's ``units``, without a time limit."""
        return self.compiled.match if "y" in self.flags else self.compiled.search

    def first(self, units: str, limit: float = SEARCH_SECONDS) -> "regex.Match[str] | None":
        """The first match in a text of this pattern's ``units``."""
        try:
            return self.find(units, timeout=limit, concurrent=len(units) > _LONG)
        except TimeoutError:
            return _found(self.find, units, 0, limit)

    def search(self, text: str, limit: float = SEARCH_SECONDS) -> JsMatch | None:
        """The first match in a text; ``limit`` in seconds."""
        return next(self._matches(self.units(text), limit, once=True), None)

    def matches(self, text: str, limit: float = SEARCH_SECONDS) -> Iterator[JsMatch]:
        """The matches that JavaScript would replace: all of them with the flag g, else the first."""
        return self._matches(self.units(text), limit, once="g" not in self.flags)

    def replace(self, text: str, by: Callable[[JsMatch], str], limit: float = SEARCH_SECONDS, in_all: float = math.inf) -> str:
        """
        The text with its matches replaced, as ``String.replace`` does it with a function. ``limit`` is what one search may
        take, and all of them SEARCHES times that; ``in_all`` what the matches may count for, MATCH_SECONDS each.

        Raises TimeoutError, and RegexError where more than MAX_TEXT characters come out.
        """
        units = self.units(text)
        pieces: list[str] = []
        at = size = 0
        for match in self._matches(units, limit, in_all, once="g" not in self.flags):
            start, end = match.found.span()
            pieces += (units[at:start], by(match))
            size += start - at + len(pieces[-1])
            at = end
            if size > MAX_TEXT:
                raise RegexError(f"more than {MAX_TEXT} characters come of it", 0)
        if not pieces:
            return text
        pieces.append(units[at:])
        replaced = "".join(pieces)
        return replaced if units is text and self.is_unicode else joined(replaced)

    def _matches(self, units: str, limit: float, in_all: float = math.inf, *, once: bool) -> Iterator[JsMatch]:
        if len(units) > 2 * MAX_TEXT:
            raise RegexError(f"the text is longer than {MAX_TEXT} characters", 0)
        find = self.find
        most = in_all / MATCH_SECONDS
        latest = thread_time() + limit * SEARCHES
        at = count = 0
        while at <= len(units):
            found = _found(find, units, at, limit)
            if found is None:
                return
            yield JsMatch(found, self)
            if once:
                return
            at = found.end() + (found.start() == found.end())
            count += 1
            if count > most or thread_time() > latest:
                raise TimeoutError


def _found(find: "Callable[..., regex.Match[str] | None]", units: str, at: int, limit: float) -> "regex.Match[str] | None":
    """The match from ``at`` on. Raises TimeoutError once this thread has computed for ``limit`` seconds."""
    aside = len(units) > _LONG
    patience = limit
    while True:
        began = thread_time()
        try:
            return find(units, at, timeout=patience, concurrent=aside)
        except TimeoutError:
            # The engine's clock is that of the whole process, in which others compute as well.
            if thread_time() - began >= limit * _NEARLY:
                raise
            patience *= 2


def reading_seconds(pattern: str) -> float:
    """About how long it takes at most to read a pattern."""
    return _PATTERN_UNIT * len(pattern)


def compile_js(pattern: str, flags: str = "") -> JsPattern:
    """
    A regular expression as ``new RegExp(pattern, flags)`` makes it.

    Raises RegexError for what JavaScript refuses, and for the few things that cannot be had here: properties of texts
    (``\\p{RGI_Emoji}``), and patterns that are too long or repeat too much. Either is kept for the next time.
    """
    made = _KEPT.made(pattern, flags)
    if isinstance(made, RegexError):
        raise RegexError(made.reason, made.at)
    return made


def check_js(pattern: str, flags: str = "") -> None:
    """Raise RegexError for what ``compile_js`` refuses, without compiling it: some few things that cannot be had here are known
    only then."""
    if not _KEPT.has(pattern, flags):
        _translated(pattern, flags)


class KeptPatterns:
    """Expressions that were compiled, and what is wrong with those that were refused: a script that is wrong is asked for with
    every message of a chat. Those are forgotten that were not used for longest, where all hold more than ``most`` bytes."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[JsPattern | RegexError, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def has(self, pattern: str, flags: str) -> bool:
        """Whether this expression is kept."""
        kept = self._kept.get((pattern, flags))
        return kept is not None and isinstance(kept[0], JsPattern)

    def made(self, pattern: str, flags: str) -> JsPattern | RegexError:
        """The expression, or what is wrong with it."""
        key = pattern, flags
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        made: JsPattern | RegexError
        try:
            made = _compiled(pattern, flags)
        except RegexError as error:
            made = RegexError(error.reason, error.at)
        self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, str], made: JsPattern | RegexError) -> None:
        size = _ENTRY_BYTES + 2 * len(key[0])
        if isinstance(made, JsPattern):
            size += _UNIT_BYTES * (len(made.translated.source) + made.translated.weight)
        with self._lock:
            if key in self._kept:  # another thread was as fast
                return
            self._kept[key] = made, size
            self.size += size
            while self.size > self._most:
                _, (_, freed) = self._kept.popitem(last=False)
                self.size -= freed


_KEPT: Final = KeptPatterns()


def _translated(pattern: str, flags: str) -> Translated:
    known = frozenset(flags)
    if len(known) < len(flags) or not known <= _FLAGS or {"u", "v"} <= known:
        raise RegexError(f"there are no such flags: {flags!r:.40}", 0)
    is_unicode = bool(known & {"u", "v"})
    return translate(joined(pattern) if is_unicode else halved(pattern), known)


def _compiled(pattern: str, flags: str) -> JsPattern:
    translated = _translated(pattern, flags)
    try:
        compiled = regex.compile(translated.source, translated.flags, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError) as error:
        raise RegexError(f"the pattern has no counterpart here ({error})", 0) from None
    return JsPattern(pattern, flags, translated, compiled)


def halved(text: str) -> str:
    """A text with the two UTF-16 units of each character beyond U+FFFF in its place."""
    return text if text.isascii() else _BEYOND.sub(_halves, text)


def joined(units: str) -> str:
    """A text of UTF-16 units as one of characters; half a character alone becomes U+FFFD."""
    return units if units.isascii() else units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _halves(found: "re.Match[str]") -> str:
    """The two UTF-16 units of a character beyond U+FFFF."""
    beyond = ord(found[0]) - 0x10000
    return chr(0xD800 + (beyond >> 10)) + chr(0xDC00 + (beyond & 0x3FF))
