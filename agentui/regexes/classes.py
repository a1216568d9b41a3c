"""Character classes: what stands between ``[`` and ``]``, also with the operations and texts of the flag ``v``."""

from dataclasses import dataclass
from typing import Final

from agentui.regexes.charsets import CharSet
from agentui.regexes.cursor import Cursor
from agentui.regexes.escapes import Rules, read_character, read_set

_MOST_NESTED: Final = 50
_PUNCTUATION: Final = frozenset("&-!#%,:;<=>@`~")
"""What may be escaped in a class of the flag v, beyond the signs of the syntax."""
_DOUBLED: Final = frozenset("&!#$%*+,.:;<=>?@^`~")
"""What may not stand there twice in a row."""
_SIGNS: Final = frozenset("()[]{}/-|")
"""What may not stand there alone."""


@dataclass(frozen=True, slots=True)
class Class:
    """What a class matches: one character of ``chars``, or one of the ``texts``, each of no character or of several."""

    chars: CharSet
    texts: frozenset[str] = frozenset()


def read_class(cursor: Cursor, rules: Rules, *, any_case: bool) -> tuple[Class, bool]:
    """The class whose ``[`` was passed, and whether it is negated; with ``any_case`` in every variant. Raises RegexError."""
    negated = cursor.skip("^")
    if rules.sets:
        found = _read_sets(cursor, rules, any_case, 0)
        if negated and found.texts:
            raise cursor.error("a negated class has no texts of several characters")
    else:
        found = Class(_read_members(cursor, rules, any_case))
    return (Class(found.chars.any_case(unicode=rules.unicode), found.texts) if any_case else found), negated


def _read_members(cursor: Cursor, rules: Rules, any_case: bool) -> CharSet:
    """Characters, ranges and sets up to the ``]``, which is passed."""
    ranges: list[tuple[int, int]] = []
    sets = CharSet()
    while not cursor.skip("]"):
        start = cursor.at
        low = _read_member(cursor, rules, any_case)
        if not (cursor.starts("-") and not cursor.starts("-]")):
            high = low
        else:
            cursor.take()
            high = _read_member(cursor, rules, any_case)
            if isinstance(low, CharSet) or isinstance(high, CharSet):
                if rules.unicode:
                    raise cursor.error("a range goes from one character to another", start)
                ranges.append((0x2D, 0x2D))
        if isinstance(low, int) and isinstance(high, int):
            if low > high:
                raise cursor.error("the range goes backwards", start)
            ranges.append((low, high))
            continue
        for one in (low, high):
            if isinstance(one, CharSet):
                sets |= one
            else:
                ranges.append((one, one))
    return sets | CharSet.of(*ranges)


def _read_member(cursor: Cursor, rules: Rules, any_case: bool) -> CharSet | int:
    """One character, or what a letter behind a backslash stands for."""
    if not cursor.skip("\\"):
        return ord(cursor.take())
    found = read_set(cursor, rules, any_case=any_case)
    return read_character(cursor, rules, in_class=True) if found is None else found


def _read_sets(cursor: Cursor, rules: Rules, any_case: bool, depth: int) -> Class:
    """A class of the flag v up to its ``]``, which is passed."""
    if depth > _MOST_NESTED:
        raise cursor.error("classes stand too deep in each other")
    if cursor.skip("]"):
        return Class(CharSet())
    found = _read_operand(cursor, rules, any_case, depth)
    operator = next((sign for sign in ("--", "&&") if cursor.starts(sign)), "")
    while not cursor.skip("]"):
        if operator and not cursor.skip(operator):
            raise cursor.error(f"only {operator} may follow in this class")
        other = _read_operand(cursor, rules, any_case, depth)
        match operator:
            case "--":
                found = Class(found.chars - other.chars, found.texts - other.texts)
            case "&&":
                found = Class(found.chars & other.chars, found.texts & other.texts)
            case _:
                found = Class(found.chars | other.chars, found.texts | other.texts)
    return found


def _read_operand(cursor: Cursor, rules: Rules, any_case: bool, depth: int) -> Class:
    """A character, a range, a set, texts or a class within, in every variant where case is ignored."""
    start = cursor.at
    if cursor.skip("["):
        negated = cursor.skip("^")
        inner = _read_sets(cursor, rules, any_case, depth + 1)
        if negated and inner.texts:
            raise cursor.error("a negated class has no texts of several characters", start)
        return Class(inner.chars.complement()) if negated else inner
    if cursor.skip("\\q{"):
        return _read_texts(cursor, rules, any_case)
    low = _read_single(cursor, rules, any_case)
    if isinstance(low, CharSet):
        return Class(low.any_case(unicode=True) if any_case else low)
    high = low
    if cursor.starts("-") and not cursor.starts("--"):
        cursor.take()
        end = _read_single(cursor, rules, any_case)
        if isinstance(end, CharSet) or end < low:
            raise cursor.error("a range goes from one character to a later one", start)
        high = end
    chars = CharSet.of((low, high))
    return Class(chars.any_case(unicode=True) if any_case else chars)


def _read_single(cursor: Cursor, rules: Rules, any_case: bool) -> CharSet | int:
    """One character or one set of the flag v, which needs more backslashes than others."""
    if cursor.skip("\\"):
        if cursor.next() and cursor.next() in _PUNCTUATION:
            return ord(cursor.take())
        found = read_set(cursor, rules, any_case=any_case)
        return read_character(cursor, rules, in_class=True) if found is None else found
    if cursor.next() and cursor.next() in _SIGNS:
        raise cursor.error(f"{cursor.next()!r} needs a backslash in a class of the flag v")
    char = cursor.take()
    if char in _DOUBLED and cursor.next() == char:
        raise cursor.error(f"{char + char!r} needs a backslash in a class of the flag v")
    return ord(char)


def _read_texts(cursor: Cursor, rules: Rules, any_case: bool) -> Class:
    """``\\q{one|other}``, whose start was passed: texts of one character are characters."""
    chars, texts, text = CharSet(), set(), ""
    while True:
        if not cursor.starts("|") and not cursor.starts("}"):
            point = _read_single(cursor, rules, any_case)
            if isinstance(point, CharSet):
                raise cursor.error("\\q{...} holds characters only")
            text += chr(point)
            continue
        if len(text) == 1:
            chars |= CharSet.one(ord(text))
        else:
            texts.add(text)
        text = ""
        if cursor.take() == "}":
            return Class(chars.any_case(unicode=True) if any_case else chars, frozenset(texts))
