"""JSON in one spelling: orjson in, orjson out.

``loads`` refuses what no vendor would read the same way: NaN, Infinity (orjson's own rules) and documents nested deeper than
``MAX_DEPTH``. Half a character (a lone surrogate, where somebody cut a text between the two) is read as U+FFFD. Whole numbers
beyond 64 bits come in as floats, for orjson keeps none of their digits; looking for them would cost half as much again as the
parsing.
"""

import json
import re
from dataclasses import fields, is_dataclass
from random import random
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with str keys."""

MAX_DEPTH = 100
MAX_OPENED = 250_000
"""Objects and lists in a text: more hold up everybody while they are made, and no model reads them."""
_COUNTED_AT_ONCE = 256 * 1024
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))
"""Half a character, where all backslashes begin escapes."""
_SHORT = 1024
_LONG = 8 * 1024
_WIDE = 1000
_LOOKED_AT = 4 * 1024
_PIECE = 128
_OBJECT = 192
"""Bytes of an object or a list with a member or two; one without any takes 64."""
_VALUE = 56
"""Bytes of a short text or a number, and of its place."""


class InvalidJson(ValueError):
    """The bytes are not JSON that we accept; the message says why and where."""


def loads(data: bytes | str) -> Json:
    """Parse JSON text. Raises ``InvalidJson`` with the parser's own position, or when nesting passes MAX_DEPTH or there are
    more than MAX_OPENED objects and lists."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_OPENED and raw.count(b"{") + raw.count(b"[") > MAX_OPENED and _opens_too_many(raw):
        raise InvalidJson(f"more than {MAX_OPENED} objects and lists")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        mended = _with_whole_characters(raw) if b"\\ud" in raw or b"\\uD" in raw else raw
        if mended == raw:
            raise InvalidJson(str(error)) from error
        return loads(mended)
    # The parser itself stops at 1,024 levels.
    if len(raw) > 2 * MAX_DEPTH and _is_too_deep(value, raw):
        raise InvalidJson(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _opens_too_many(raw: bytes) -> bool:
    """True when more than MAX_OPENED brackets open outside of texts: a prompt may quote as many as it likes. Piece by piece, so
    that other threads get their turn; no piece ends within an escape."""
    opened, at, is_text = 0, 0, False
    while at < len(raw):
        piece = raw[at : at + _COUNTED_AT_ONCE]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
            piece += raw[at + len(piece) : at + len(piece) + 1]
        at += len(piece)
        between = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(between[is_text::2])
        opened += outside.count(b"{") + outside.count(b"[")
        if opened > MAX_OPENED:
            return True
        is_text ^= len(between) % 2 == 0
    return False


def _with_whole_characters(raw: bytes) -> bytes:
    """JSON text with U+FFFD for every half of a character; as it is where it holds a control character, which no JSON does."""
    if b"\x01" in raw:
        return raw
    # Escaped backslashes out of the way, for they begin no escape; all of it in C, as a text may be one escape after another.
    return _LONE.sub(rb"\\ufffd", raw.replace(rb"\\", b"\x01\x01")).replace(b"\x01\x01", rb"\\")


def _has_many_brackets(raw: bytes) -> bool:
    """True when more than MAX_DEPTH brackets open. ``find`` leaps from one to the next, where ``count`` looks at every byte;
    in a short text that is sooner done than the calls."""
    if len(raw) < _SHORT:
        return raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
    opened = 0
    for bracket in (b"{", b"["):
        at = raw.find(bracket)
        while at >= 0:
            opened += 1
            if opened > MAX_DEPTH:
                return True
            at = raw.find(bracket, at + 1)
    return False


def _is_too_deep(value: Json, raw: bytes) -> bool:
    """True when lists and objects stand inside each other more than MAX_DEPTH times; level by level, without recursion.

    Few brackets cannot nest deep. Where the text is short they are sooner counted than the tree is walked; where it is
    long, as a conversation's, the tree is mostly small. A wide one is not walked before the brackets have been counted.
    """
    is_counted = len(raw) < _LONG
    if is_counted and not _has_many_brackets(raw):
        return False
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not is_counted and sum(map(len, level)) > _WIDE:
            if not _has_many_brackets(raw):
                return False
            is_counted = True
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def held_when_parsed(raw: bytes | bytearray) -> int:
    """About the bytes of memory that JSON takes once it is parsed, told from its text, and rather too many than too few.

    Of a long text some pieces are looked at, at places that nobody can know before.
    """
    size = len(raw)
    if size <= _LOOKED_AT:
        return size + _marks(raw)
    starts = [int(random() * (size - _PIECE)) for _ in range(_LOOKED_AT // _PIECE)]
    return size + _marks(b"".join([raw[start : start + _PIECE] for start in starts])) * size // _LOOKED_AT


def _marks(raw: bytes | bytearray) -> int:
    """The bytes of memory of the values in a piece of JSON, beside their characters."""
    objects, values = raw.count(b"{") + raw.count(b"["), raw.count(b",") + raw.count(b":")
    return _OBJECT * objects + _VALUE * values


def dumps(value: Json) -> bytes:
    """Write compact JSON bytes. Integers beyond 64 bits are written digit for digit by the slow way round."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return _dumps_slowly(value)


def dumps_text(value: Json) -> str:
    """Write compact JSON as text."""
    return dumps(value).decode()


def members(value: Any) -> dict[str, Json]:
    """The fields of a dataclass by their names, as they are. (``dataclasses.asdict`` copies all that is below them, too.)"""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def dumps_pretty(value: Json) -> bytes:
    """Write JSON for people: two spaces a level and a newline at the end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _dumps_slowly(value: Json) -> bytes:
    """orjson refuses integers of more than 64 bits and lone surrogates (which arrive in header values, never in JSON)."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_members)
    return text.encode("utf-8", "replace")


def _members(value: object) -> dict[str, Json]:
    """A dataclass as an object, as orjson writes it. Raises TypeError for what is no JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is not JSON")
