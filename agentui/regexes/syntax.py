"""
The grammar of JavaScript's regular expressions (ECMA-262, with Annex B), read into what the engine understands.

What differs is spelled out, so that nothing is left to the engine's own rules: every literal is escaped, sets are ranges, and
case is ignored by listing the variants of a character, but where ASCII alone is in question.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import regex

from agentui.regexes.casing import variants
from agentui.regexes.charsets import LINE_ENDS, WORDS, CharSet, escaped
from agentui.regexes.classes import Class, read_class
from agentui.regexes.cursor import Cursor, RegexError
from agentui.regexes.escapes import Rules, read_character, read_set

MAX_PATTERN: Final = 32_768
"""Characters of a pattern."""
_MOST_NESTED: Final = 100
_MOST_WEIGHT: Final = 50_000
"""Characters and classes of a pattern with every repetition written out, which the engine does where a number is required."""
_LISTED: Final = 8
"""Characters of a class's list that weigh as much as one character of a pattern."""
_MOST_REPEATED: Final = 2**31
_ENDLESS: Final = -1
_NEEDS_LISTING: Final = re.compile(r"\\[pP]|\(\?[ims-]")
"""Where it is found, variants are listed: the engine's way to ignore case, and ASCII's words, hold for a whole pattern."""
_REFERS: Final = re.compile(r"\\[1-9k]")
_LINE_END: Final = LINE_ENDS.source()
_NO_LINE_END: Final = LINE_ENDS.source(negated=True)


@dataclass(frozen=True, slots=True)
class Loop:
    """A repetition that has groups in it: the name of the group around each round, how many are required, and its direction."""

    name: str
    least: int
    behind: bool


@dataclass(slots=True)
class Group:
    """A group of the pattern: the repetitions around it, outermost first, and whether it is read backwards."""

    behind: bool
    loops: list[Loop] = field(default_factory=list)
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Translated:
    """A pattern for the engine. Group ``n`` is called ``gn`` there; ``names`` has the groups of each name. ``weight`` counts
    characters and classes, with every repetition written out that the engine writes out. ``choices`` are the places at which a
    search may go on in several ways: repetitions of any number, alternatives, references."""

    source: str
    flags: int
    groups: tuple[Group, ...]
    names: dict[str, tuple[int, ...]]
    weight: int
    choices: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the pattern for the engine; ``weight`` as of _MOST_WEIGHT."""

    source: str
    weight: int = 1
    is_repeatable: bool = True


def translate(pattern: str, flags: frozenset[str]) -> Translated:
    """
    A pattern for the engine; without the flags u and v it is one of UTF-16 units. Raises RegexError for one that JavaScript
    refuses, one that is too large, and one with a property that the engine does not have.
    """
    if len(pattern) > MAX_PATTERN:
        raise RegexError(f"the pattern is longer than {MAX_PATTERN} characters", MAX_PATTERN)
    return _Translator(pattern, flags).translate()


class _Translator:
    def __init__(self, pattern: str, flags: frozenset[str]) -> None:
        self.cursor = Cursor(pattern)
        self.count, self.names = _groups_of(pattern, sets="v" in flags)
        unicode = bool(flags & {"u", "v"})
        self.rules = Rules(unicode, "v" in flags, bool(self.names) or unicode)
        self.modes = flags & {"i", "m", "s"}
        self.lists = bool(_NEEDS_LISTING.search(pattern)) or ("i" in flags and (unicode or bool(_REFERS.search(pattern))))
        self.behind = False
        self.depth = 0
        self.groups: list[Group] = []
        self.taken: set[str] = set()
        self.loops = 0
        self.choices = 0

    def translate(self) -> Translated:
        """The whole pattern."""
        piece = self.disjunction()
        if self.cursor.more():
            raise self.cursor.error("this ) closes nothing")
        engine_flags = regex.V0
        if not self.lists:
            engine_flags |= regex.ASCII | (regex.IGNORECASE if "i" in self.modes else 0)
        names = {name: tuple(numbers) for name, numbers in self.names.items()}
        return Translated(piece.source, engine_flags, tuple(self.groups), names, piece.weight, self.choices)

    def disjunction(self) -> _Piece:
        """Alternatives up to a ``)`` or the end, which is not passed."""
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise self.cursor.error("groups stand too deep in each other")
        before, all_names = set(self.taken), set(self.taken)
        sources, weight = [], 0
        while True:
            self.taken = set(before)
            piece = self.alternative()
            sources.append(piece.source)
            weight += piece.weight
            all_names |= self.taken
            if not self.cursor.skip("|"):
                break
            self.choices += len(sources) == 1
        self.taken = all_names
        self.depth -= 1
        return _Piece("|".join(sources), weight)

    def alternative(self) -> _Piece:
        """Terms one after another."""
        sources, weight = [], 0
        while self.cursor.more() and self.cursor.next() not in "|)":
            first = len(self.groups)
            start = self.cursor.at
            piece = self.repeated(self.atom(), first, start)
            sources.append(piece.source)
            weight += piece.weight
            if weight > _MOST_WEIGHT:
                raise self.cursor.error("with its repetitions the pattern is too large", start)
        return _Piece("".join(sources), weight)

    def repeated(self, atom: _Piece, first: int, start: int) -> _Piece:
        """The atom with the quantifier that follows it, if one does; the groups from ``first`` on are in it."""
        found = self.quantifier()
        if found is None:
            return atom
        least, most = found
        self.choices += least != most
        if not atom.is_repeatable:
            raise self.cursor.error("this cannot be repeated", start)
        lazy = "?" if self.cursor.skip("?") else ""
        source = atom.source
        if first < len(self.groups) and most not in (0, 1):
            loop = Loop(f"q{self.loops}", least, self.behind)
            self.loops += 1
            source = f"(?P<{loop.name}>{source})"
            for group in self.groups[first:]:
                group.loops.insert(0, loop)
        bounds = f"{{{min(least, _MOST_REPEATED)},{'' if most == _ENDLESS else min(most, _MOST_REPEATED)}}}"
        return _Piece(f"{source}{bounds}{lazy}", atom.weight * max(least, 1) + 1)

    def quantifier(self) -> tuple[int, int] | None:
        """The bounds of the quantifier that is next and is passed; the upper one is -1 for none. None where none is next."""
        for sign, bounds in (("*", (0, _ENDLESS)), ("+", (1, _ENDLESS)), ("?", (0, 1))):
            if self.cursor.skip(sign):
                return bounds
        start = self.cursor.at
        if self.cursor.skip("{"):
            least = self.cursor.digits()
            most = least if not self.cursor.skip(",") else self.cursor.digits() or str(_ENDLESS)
            if least and self.cursor.skip("}"):
                low, high = _number(least), _number(most)
                if high != _ENDLESS and low > high:
                    raise self.cursor.error("the numbers of the repetition are in the wrong order", start)
                return low, high
            self.cursor.at = start
        return None

    def atom(self) -> _Piece:
        """One assertion, character, class, group or reference."""
        start = self.cursor.at
        if self.quantifier() is not None:
            raise self.cursor.error("there is nothing to repeat", start)
        char = self.cursor.take()
        match char:
            case "^":
                return _Piece(f"(?<!{_NO_LINE_END})" if "m" in self.modes else r"\A", is_repeatable=False)
            case "$":
                return _Piece(f"(?!{_NO_LINE_END})" if "m" in self.modes else r"\Z", is_repeatable=False)
            case ".":
                return _Piece(CharSet().source(negated=True) if "s" in self.modes else _NO_LINE_END)
            case "[":
                return self.char_class()
            case "(":
                return self.group(start)
            case "\\":
                return self.escape()
        if self.rules.unicode and char in "{}]":
            raise self.cursor.error(f"{char!r} needs a backslash with the flag u or v", start)
        return self.literal(ord(char))

    def literal(self, point: int) -> _Piece:
        """One character."""
        if "i" not in self.modes:
            return _Piece(escaped(point))
        same = variants(point, unicode=self.rules.unicode)
        if not self.lists and all(each < 128 for each in same):
            return _Piece(escaped(point))
        return _Piece(CharSet.of(*((each, each) for each in same)).source())

    def char_class(self) -> _Piece:
        """The class whose bracket was passed."""
        found, negated = read_class(self.cursor, self.rules, any_case="i" in self.modes)
        if not found.texts:
            return self.char_set(found.chars, negated=negated)
        return self.texts(found)

    def char_set(self, chars: CharSet, *, negated: bool = False) -> _Piece:
        """A set of characters; one that has to be listed weighs by its length."""
        source = chars.source(negated=negated)
        return _Piece(source, 1 + len(source) // _LISTED)

    def texts(self, found: Class) -> _Piece:
        """A class with texts: the longest that matches counts."""
        pieces = [(len(text), "".join(self.literal(ord(char)).source for char in text)) for text in sorted(found.texts)]
        pieces.append((1, found.chars.source()))
        ordered = [source for _length, source in sorted(pieces, key=lambda piece: -piece[0])]
        return _Piece(f"(?:{'|'.join(ordered)})", sum(length for length, _source in pieces) + 1)

    def escape(self) -> _Piece:
        """What stands behind the backslash that was passed."""
        start = self.cursor.at - 1
        letter = self.cursor.next()
        if letter in ("b", "B"):
            self.cursor.take()
            return _Piece(self.boundary(negated=letter == "B"), is_repeatable=False)
        if letter == "k" and self.rules.named:
            self.cursor.take()
            if not self.cursor.skip("<"):
                raise self.cursor.error("\\k names a group, like \\k<name>", start)
            name = _name(self.cursor)
            if name not in self.names:
                raise self.cursor.error(f"there is no group called {name!r}", start)
            return self.reference(self.names[name])
        if letter and letter in "123456789":
            place = self.cursor.at
            number = _number(self.cursor.digits())
            if number <= self.count:
                return self.reference([number])
            if self.rules.unicode:
                raise self.cursor.error(f"there is no group {number}", start)
            self.cursor.at = place
        found = read_set(self.cursor, self.rules, any_case="i" in self.modes)
        if found is None:
            return self.literal(read_character(self.cursor, self.rules, in_class=False))
        return self.char_set(found.any_case(unicode=self.rules.unicode) if "i" in self.modes else found)

    def boundary(self, *, negated: bool) -> str:
        """Where a word begins or ends, or where none does."""
        if not self.lists:
            return r"\B" if negated else r"\b"
        words = WORDS.any_case(unicode=True) if "i" in self.modes and self.rules.unicode else WORDS
        word = words.source()
        if negated:
            return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"
        return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"

    def reference(self, numbers: list[int]) -> _Piece:
        """What the group of these numbers that took part has matched; nothing where none did."""
        self.choices += 1
        source = ""
        for number in reversed(numbers):
            is_opened = number <= len(self.groups)
            # Read forwards, a group that comes later has no match yet, and one that is open has none of this round.
            if not self.groups[number - 1].is_open if is_opened else self.behind:
                again = f"(?i:(?P=g{number}))" if "i" in self.modes else f"(?P=g{number})"
                source = f"(?(g{number}){again}|{source})"
        return _Piece(source or "(?:)")

    def group(self, start: int) -> _Piece:
        """The group whose parenthesis was passed."""
        cursor = self.cursor
        if not cursor.skip("?"):
            return self.capturing(None)
        for sign, behind in (("<=", True), ("<!", True), ("=", False), ("!", False)):
            if cursor.skip(sign):
                return self.look(sign, behind)
        if cursor.skip("<"):
            return self.capturing(_name(cursor))
        return self.modified(start)

    def capturing(self, name: str | None) -> _Piece:
        """A group that keeps what it matched."""
        group = Group(self.behind)
        self.groups.append(group)
        number = len(self.groups)
        if name is not None:
            if name in self.taken:
                raise self.cursor.error(f"there are two groups called {name!r}")
            self.taken.add(name)
        inner = self.disjunction()
        self.close()
        group.is_open = False
        return _Piece(f"(?P<g{number}>{inner.source})", inner.weight + 1)

    def look(self, sign: str, behind: bool) -> _Piece:
        """A group that only looks ahead or behind."""
        outer, self.behind = self.behind, behind
        inner = self.disjunction()
        self.behind = outer
        self.close()
        source = f"(?{sign}{inner.source})"
        if behind or self.rules.unicode:
            return _Piece(source, inner.weight + 1, is_repeatable=False)
        return _Piece(f"(?:{source})", inner.weight + 1)

    def modified(self, start: int) -> _Piece:
        """A group that keeps nothing, with the flags that hold in it."""
        added, minus, removed = self.cursor.until(":").partition("-")
        both = added + removed
        if not set(both) <= set("ims") or len(set(both)) < len(both) or (minus and not both):
            raise self.cursor.error("a group starts with (, (?:, (?=, (?!, (?<=, (?<!, (?<name> or flags like (?i:", start)
        outer, self.modes = self.modes, (self.modes | set(added)) - set(removed)
        inner = self.disjunction()
        self.modes = outer
        self.close()
        return _Piece(f"(?:{inner.source})", inner.weight + 1)

    def close(self) -> None:
        """Pass the end of a group."""
        if not self.cursor.skip(")"):
            raise self.cursor.error("a ) is missing")


def _number(digits: str) -> int:
    """A decimal number, at most _MOST_REPEATED."""
    return _MOST_REPEATED if len(digits) > 10 else min(int(digits), _MOST_REPEATED)


def _name(cursor: Cursor) -> str:
    """The name of a group, whose ``<`` was passed."""
    start = cursor.at
    name = re.sub(
        r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))",
        lambda found: chr(int(found[1] or found[2], 16) % 0x110000),
        cursor.until(">"),
    )
    if not name.replace("$", "_").isidentifier():
        raise cursor.error(f"{name!r:.60} is no name of a group", start)
    return name


def _groups_of(pattern: str, *, sets: bool) -> tuple[int, dict[str, list[int]]]:
    """How many groups a pattern has, and the numbers of those with names; what is wrong with it is found later."""
    cursor, count, depth = Cursor(pattern), 0, 0
    names: dict[str, list[int]] = {}
    while cursor.more():
        char = cursor.take()
        if char == "\\" and cursor.more():
            cursor.take()
        elif char == "[" and (sets or not depth):
            depth += 1
        elif char == "]":
            depth = max(depth - 1, 0)
        elif char == "(" and not depth:
            named = cursor.starts("?<") and not cursor.starts("?<=") and not cursor.starts("?<!")
            if named or not cursor.starts("?"):
                count += 1
            if named:
                cursor.skip("?<")
                names.setdefault(_name(cursor), []).append(count)
    return count, names
