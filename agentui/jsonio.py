"""JSON in one spelling: orjson in, orjson out.

``loads`` refuses what no vendor would read the same way: NaN, Infinity, lone surrogates (orjson's own rules)
and documents nested deeper than ``MAX_DEPTH`` (checked on the bytes, before anything recurses).
"""

import json
import re
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with str keys."""

MAX_DEPTH = 100

_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


class InvalidJson(ValueError):
    """The bytes are not JSON that we accept; the message says why and where."""


def loads(data: bytes | str) -> Json:
    """Parse JSON text. Raises ``InvalidJson`` with the parser's own position, or when nesting passes MAX_DEPTH."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    # Counting brackets costs a pass; it is only needed where there are enough of them to nest too deep.
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _check_depth(raw)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise InvalidJson(str(error)) from error


def _check_depth(raw: bytes) -> None:
    """Raise InvalidJson when the brackets outside strings nest deeper than MAX_DEPTH."""
    depth = 0
    for match in _STRUCTURE.finditer(raw):
        mark = raw[match.start()]
        if mark in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidJson(f"nested deeper than {MAX_DEPTH} levels at byte {match.start()}")
        elif mark in b"]}":
            depth -= 1


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
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
