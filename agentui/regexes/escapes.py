"""What stands behind a backslash: one character, or a set that has a letter (ECMA-262, CharacterEscape and Annex B)."""

from dataclasses import dataclass
from typing import Final

from agentui.regexes.charsets import DIGITS, SPACES, WORDS, CharSet, of_property
from agentui.regexes.cursor import Cursor

_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")


@dataclass(frozen=True, slots=True)
class Rules:
    """How a pattern is read: ``unicode`` with the flags ``u`` and ``v``, ``sets`` with ``v``, ``named`` with named groups."""

    unicode: bool
    sets: bool
    named: bool


def read_set(cursor: Cursor, rules: Rules, *, any_case: bool) -> CharSet | None:
    """The set behind a backslash (``\\d``, ``\\p{L}``), which the cursor passes; None where there is none."""
    letter = cursor.next()
    if letter in ("p", "P") and rules.unicode:
        return _read_property(cursor, any_case=any_case and rules.sets)
    known = {"d": DIGITS, "s": SPACES, "w": WORDS}.get(letter.lower())
    if known is None:
        return None
    cursor.take()
    if letter in "wW" and any_case and rules.unicode:
        known = known.any_case(unicode=True)
    return known.complement() if letter.isupper() else known


def _read_property(cursor: Cursor, *, any_case: bool) -> CharSet:
    """``p{Name}`` or ``P{Name}``; with ``any_case`` a complement is of all variants, as the flag ``v`` has it."""
    start = cursor.at
    negated = cursor.take() == "P"
    if not cursor.skip("{"):
        raise cursor.error("a property stands in braces, like \\p{L}")
    found = of_property(cursor.until("}"))
    if found is None:
        raise cursor.error("there is no such property of Unicode", start)
    if not negated:
        return found
    if any_case:
        return found.any_case(unicode=True).complement()
    if found.ranges:
        return found.complement()
    return CharSet((), tuple(f"\\{'p' if name[1] == 'P' else 'P'}{name[2:]}" for name in found.properties))


def read_character(cursor: Cursor, rules: Rules, *, in_class: bool) -> int:
    """The character behind a backslash, which the cursor passes. Raises RegexError for what is no escape."""
    letter = cursor.take()
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    match letter:
        case "b" if in_class:
            return 0x08
        case "-" if in_class and rules.unicode:
            return 0x2D
        case "c":
            return _read_control(cursor, rules, in_class=in_class)
        case "x":
            return _read_hexadecimal(cursor, rules, 2, "x")
        case "u":
            return _read_unicode(cursor, rules)
    if letter in "0123456789":
        return _read_digits(cursor, rules, letter)
    if rules.unicode and letter not in _SYNTAX:
        raise cursor.error(f"\\{letter} is no escape with the flag u or v", cursor.at - 2)
    if letter == "k" and rules.named:
        raise cursor.error("\\k names a group, like \\k<name>", cursor.at - 2)
    return ord(letter)


def _read_control(cursor: Cursor, rules: Rules, *, in_class: bool) -> int:
    """``\\cX``; a backslash alone where no letter follows, and then the ``c`` is read again."""
    letter = cursor.next()
    if (
        letter
        and letter.isascii()
        and (letter.isalpha() or (in_class and not rules.unicode and (letter.isdigit() or letter == "_")))
    ):
        return ord(cursor.take()) % 32
    if rules.unicode:
        raise cursor.error("\\c needs a letter")
    cursor.at -= 1
    return 0x5C


def _read_hexadecimal(cursor: Cursor, rules: Rules, length: int, letter: str) -> int:
    found = cursor.hexadecimal(length)
    if found is None and rules.unicode:
        raise cursor.error(f"\\{letter} needs {length} hexadecimal digits")
    return ord(letter) if found is None else found


def _read_unicode(cursor: Cursor, rules: Rules) -> int:
    """``\\uXXXX``; with the flag u also ``\\u{...}`` and two halves of one character."""
    if not rules.unicode:
        return _read_hexadecimal(cursor, rules, 4, "u")
    if cursor.skip("{"):
        digits = cursor.until("}")
        if not digits or not set(digits) <= set("0123456789abcdefABCDEF") or int(digits, 16) > 0x10FFFF:
            raise cursor.error("\\u{...} needs a hexadecimal number up to 10FFFF")
        return int(digits, 16)
    first = _read_hexadecimal(cursor, rules, 4, "u")
    start = cursor.at
    if 0xD800 <= first <= 0xDBFF and cursor.skip("\\u"):
        second = cursor.hexadecimal(4)
        if second is not None and 0xDC00 <= second <= 0xDFFF:
            return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        cursor.at = start
    return first


def _read_digits(cursor: Cursor, rules: Rules, first: str) -> int:
    """``\\0``, or an octal number where the flags allow one; 8 and 9 are themselves."""
    if rules.unicode:
        if first != "0" or (cursor.next() and cursor.next() in "0123456789"):
            raise cursor.error("with the flag u or v a number behind a backslash is a group, or 0", cursor.at - 2)
        return 0
    if first in "89":
        return ord(first)
    number = first
    while cursor.next() and cursor.next() in "01234567" and int(number + cursor.next(), 8) <= 0xFF:
        number += cursor.take()
    return int(number, 8)
