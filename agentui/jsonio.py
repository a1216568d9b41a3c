"""JSON in one spelling: orjson in, orjson out.

``loads`` refuses what no vendor would read the same way: NaN, Infinity, lone surrogates (orjson's own rules)
and documents nested deeper than ``MAX_DEPTH``. Whole numbers beyond 64 bits come in as floats, for orjson keeps none of their
digits; looking for them would cost half as much again as the parsing.
"""

import json
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with str keys."""

MAX_DEPTH = 100
_SHORT = 1024
_LONG = 8 * 1024
_WIDE = 1000


class InvalidJson(ValueError):
    """The bytes are not JSON that we accept; the message says why and where."""


def loads(data: bytes | str) -> Json:
    """Parse JSON text. Raises ``InvalidJson`` with the parser's own position, or when nesting passes MAX_DEPTH."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise InvalidJson(str(error)) from error
    # The parser itself stops at 1,024 levels.
    if len(raw) > 2 * MAX_DEPTH and _is_too_deep(value, raw):
        raise InvalidJson(f"nested deeper than {MAX_DEPTH} levels")
    return value


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


def dumps(value: Json) -> bytes:
    """Write compact JSON bytes. Integers beyond 64 bits are written digit for digit by the slow way round."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return _dumps_slowly(value)


def dumps_text(value: Json) -> str:
    """Write compact JSON as text."""
    return dumps(value).decode()


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
