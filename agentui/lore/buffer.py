"""The texts that keys are looked for in: messages, what an entry names beside them, injections, and what recursion adds.

SillyTavern joins them to one text in which each begins with U+0001 on a line of its own. A plain key lies within one of them; a
regular expression sees the whole.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Final, Literal, TypeAlias

from agentui.assets.lorebook import LoreSource
from agentui.lore.compiled import CompiledLore
from agentui.lore.given import MAX_SCAN_DEPTH, LoreInput, LoreMessage
from agentui.lore.keys import Key
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import compile_js, reading_seconds
from agentui.regexes.search_time import CHARACTER_SECONDS, TEXT_SECONDS, SearchTime

SourceKind: TypeAlias = Literal["message", "injection", "recursion_buffer"] | LoreSource
"""What kind of text a key was found in."""

PATTERN_SECONDS: Final = 0.5
"""What all regular expressions of one activation may count for together, and what they may take beyond (``SearchTime``)."""
MOST_PASSED: Final = 500_000_000
"""Characters that may be passed, in one activation, to find the places of plain keys that were found: half a second's work."""
_COUNTED: Final = 100
"""Characters that are passed in the time in which one is counted."""
_KEPT: Final = 8
"""Windows of which the joined text is kept."""
_MARK: Final = "\x01"
_BETWEEN: Final = "\n"


@dataclass(frozen=True, slots=True)
class Segment:
    """One text, as it is looked through: marked, trimmed, and with the name of who said it. ``shift`` is what stands before
    the text itself, ``number`` counts messages from the newest, and others of their kind from the first."""

    kind: SourceKind
    number: int
    text: str
    shift: int

    @classmethod
    def of(cls, kind: SourceKind, number: int, text: str, before: str = "") -> "Segment":
        """The segment of a text with something before it."""
        whole = before + text
        trimmed = whole.strip()
        return cls(kind, number, _MARK + trimmed, 1 + len(before) - (len(whole) - len(whole.lstrip())))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key was found: a piece of a segment's text."""

    segment: Segment
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    """What an entry looks through: so many messages, some sources, injections, and perhaps what recursion added."""

    depth: int
    sources: tuple[LoreSource, ...]
    has_recursion: bool


class ScanBuffer:
    """All texts of one activation, and the keys found in them. Texts are looked through once, when they come."""

    def __init__(self, given: LoreInput, lore: CompiledLore) -> None:
        self._lore = lore
        self._waiting = [_message_segment(number, message, given) for number, message in _newest(given.messages)]
        self._messages: list[Segment] = []
        self._sources = {
            kind: segment for kind, text in given.sources.items() if len((segment := Segment.of(kind, 0, text)).text) > 1
        }
        self._injections = [Segment.of("injection", number, text) for number, text in enumerate(given.injections) if text]
        self._recursion: list[Segment] = []
        self._in_messages: dict[int, int] = {}
        self._in_sources: dict[SourceKind, dict[int, int]] = {}
        self._in_injections: dict[int, int] = {}
        self._in_recursion: dict[int, int] = {}
        self._haystacks: dict[tuple[Window, int], _Haystack] = {}
        self._passed = 0
        self._folded: dict[tuple[SourceKind, int], str] = {}
        self._time = SearchTime(in_all=PATTERN_SECONDS, beyond=PATTERN_SECONDS)
        self._searched: dict[tuple[str, Window, int], Place | None] = {}
        self.left_out = dict.fromkeys(lore.left_out)
        """Regular expressions that were not looked for everywhere: they take too long, or are too many."""

    def read_messages(self, depth: int) -> set[int]:
        """Look through so many messages, and give the needles that are new. Those that were read already are not read again."""
        count = len(self._messages)
        added = self._waiting[count:depth]
        self._messages += added
        found = self._found_in(added)
        for needle, at in found.items():
            self._in_messages.setdefault(needle, count + at)
        return set(found)

    def read_others(self, kinds: Iterable[LoreSource]) -> set[int]:
        """Look through the sources of these kinds and the injections."""
        for kind in kinds:
            if kind in self._sources:
                self._in_sources[kind] = self._found_in([self._sources[kind]])
        self._in_injections = self._found_in(self._injections)
        return {needle for found in (*self._in_sources.values(), self._in_injections) for needle in found}

    def add_recursion(self, text: str) -> set[int]:
        """Add what joined, and give the needles that were in nothing that joined before."""
        segment = Segment.of("recursion_buffer", len(self._recursion), text)
        self._recursion.append(segment)
        added = self._found_in([segment]).keys() - self._in_recursion.keys()
        self._in_recursion |= dict.fromkeys(added, segment.number)
        return added

    @property
    def has_recursion(self) -> bool:
        """True when something was added."""
        return bool(self._recursion)

    def holds(self, key: Key, window: Window) -> bool:
        """True when a key is somewhere in a window."""
        if key.needle is not None:
            return self._segment_of(key.needle, window) is not None
        return self._pattern_place(key, window) is not None

    def place(self, key: Key, window: Window) -> Place | None:
        """Where a key is first; None where it is not, and where finding the places has taken too long already."""
        if key.needle is None:
            return self._pattern_place(key, window)
        segment = self._segment_of(key.needle, window)
        if segment is None:
            return None
        needle = self._lore.needles[key.needle]
        if self._passed > MOST_PASSED:
            return None
        text = segment.text if needle.is_cased else self._folded_of(segment)
        start = needle.start_in(text, MOST_PASSED - self._passed)
        if start < 0:
            self._passed = MOST_PASSED + 1
            return None
        if needle.is_cased:
            self._passed += start
            return Place(segment, start, start + len(needle.text))
        # Where lower case is longer, places are counted character by character.
        self._passed += start if len(text) == len(segment.text) else _COUNTED * len(text)
        return Place(segment, _unfolded(segment.text, text, start), _unfolded(segment.text, text, start + len(needle.text)))

    def _folded_of(self, segment: Segment) -> str:
        """A segment's text in lower case, made once: thousands of keys may lie in one huge text."""
        named = (segment.kind, segment.number)
        folded = self._folded.get(named)
        if folded is None:
            folded = self._folded[named] = segment.text.lower()
        return folded

    def _segment_of(self, needle: int, window: Window) -> Segment | None:
        """The first segment of a window that holds a needle."""
        if window.depth <= 0:
            return None
        at = self._in_messages.get(needle)
        if at is not None and at < window.depth:
            return self._messages[at]
        for kind in window.sources:
            if needle in self._in_sources.get(kind, ()):
                return self._sources[kind]
        at = self._in_injections.get(needle)
        if at is not None:
            return self._injections[at]
        at = self._in_recursion.get(needle) if window.has_recursion else None
        return None if at is None else self._recursion[at]

    def _found_in(self, segments: Sequence[Segment]) -> dict[int, int]:
        """For each needle that is found the first segment that holds it."""
        if not segments:
            return {}
        texts = [segment.text for segment in segments]
        folded = [text.lower() for text in texts]
        found: dict[int, int] = {}
        for table in self._lore.tables:
            found |= table.places(texts, folded)
        return found

    def _pattern_place(self, key: Key, window: Window) -> Place | None:
        """Where a regular expression matches first. One that takes too long, or finds no time left, matches nothing."""
        if key.pattern is None or window.depth <= 0:
            return None
        named = key.text, window, len(self._recursion) if window.has_recursion else 0
        if named not in self._searched:
            self._searched[named] = self._search(key.text, *key.pattern, window)
        return self._searched[named]

    def _search(self, key: str, source: str, flags: str, window: Window) -> Place | None:
        """The same, looked for."""
        time = self._time
        if time.is_over:
            self.left_out.setdefault(key)
            return None
        began = thread_time()
        try:
            pattern = compile_js(source, flags)
        except RegexError:
            time.compile(key, reading_seconds(source), thread_time() - began)
            return None
        time.compile(key, pattern.compile_seconds, thread_time() - began)
        if time.gave_up(pattern):
            return None
        began = thread_time()
        haystack = self._haystack(window)
        counted = TEXT_SECONDS + CHARACTER_SECONDS * len(haystack.text)
        try:
            match = pattern.search(haystack.text, time.limit)
            return None if match is None else haystack.place(*match.span())
        except (TimeoutError, RegexError):
            counted += 2 * time.limit
            time.give_up(pattern)
            self.left_out.setdefault(key)
            return None
        finally:
            time.spend(counted, thread_time() - began)

    def _haystack(self, window: Window) -> "_Haystack":
        """The window as one text; made once, until recursion adds to it."""
        named = (window, len(self._recursion) if window.has_recursion else 0)
        made = self._haystacks.get(named)
        if made is None:
            sources = [self._sources[kind] for kind in window.sources if kind in self._sources]
            recursion = self._recursion if window.has_recursion else []
            made = _Haystack([*self._messages[: window.depth], *sources, *self._injections, *recursion])
            if len(self._haystacks) == _KEPT:
                self._haystacks.clear()
            self._haystacks[named] = made
        return made


class _Haystack:
    """Segments as one text."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.text = _BETWEEN.join(segment.text for segment in segments) if segments else _MARK
        self._segments = segments
        self._starts = [0]
        for segment in segments:
            self._starts.append(self._starts[-1] + len(segment.text) + len(_BETWEEN))

    def place(self, start: int, end: int) -> Place:
        """The place of a piece of the text: in the segment in which it begins, and at most to its end."""
        if not self._segments:
            return Place(Segment.of("message", 0, ""), 0, 0)
        at = min(bisect_right(self._starts, start), len(self._segments)) - 1
        segment, before = self._segments[at], self._starts[at]
        return Place(segment, start - before, min(end - before, len(segment.text)))


def _newest(messages: Sequence[LoreMessage]) -> Iterable[tuple[int, LoreMessage]]:
    """The messages that may be looked through, newest first, counted."""
    return enumerate(messages[-1 : -MAX_SCAN_DEPTH - 1 : -1])


def _message_segment(number: int, message: LoreMessage, given: LoreInput) -> Segment:
    before = f"{message.name}: " if given.settings.is_naming else ""
    return Segment.of("message", number, message.text, before)


def _unfolded(text: str, folded: str, at: int) -> int:
    """The place in a text of a place in its lower case, which a few letters make longer."""
    if len(text) == len(folded):
        return at
    passed = 0
    for place, character in enumerate(text):
        if passed >= at:
            return place
        passed += len(character.lower())
    return len(text)
