"""A variable's value as JSON text: exact, at most 1 MiB, at most 100 levels deep.

Whole numbers keep every digit. orjson reads those beyond 64 bits as floats, so texts that hold a long number are read
once more by the standard library.
"""

import json
import re
from typing import Final

from agentui.jsonio import InvalidJson, Json, dumps_text, loads
from agentui.variables.errors import InvalidWrite, ValueTooLarge

MAX_VALUE_BYTES: Final = 1024 * 1024

MAX_KEY_BYTES: Final = 2000
"""A key is part of an index, whose entries PostgreSQL limits to 2,704 bytes."""

_LONG_NUMBER = re.compile(r"[0-9]{19}")
_LONG_NUMBER_BYTES = re.compile(rb"[0-9]{19}")
_MANY_BRACKETS = 100


def parse(text: str | bytes) -> Json:
    """Read JSON text, whole numbers exactly. Raises InvalidJson as ``jsonio.loads`` does."""
    value = loads(text)
    # orjson has judged the text by now: no NaN, no infinity, and so no number of more than 309 digits.
    has_long = _LONG_NUMBER.search(text) if isinstance(text, str) else _LONG_NUMBER_BYTES.search(text)
    return json.loads(text) if has_long else value


def render(value: Json, path: str = "/value") -> str:
    """The text to keep for a value; ``path`` names it in errors. Raises ValueTooLarge and InvalidWrite."""
    try:
        text = dumps_text(value)
        if text.count("[") + text.count("{") >= _MANY_BRACKETS:
            loads(f"[{text}]")
        elif _LONG_NUMBER.search(text):
            loads(text)  # a number that no database reads back
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, InvalidJson) else "only JSON can be kept"
        raise InvalidWrite(path, f"The value cannot be kept: {reason}.") from error
    # A character is at most four bytes long in UTF-8, so most texts need no counting.
    if len(text) > MAX_VALUE_BYTES // 4 and len(text.encode()) > MAX_VALUE_BYTES:
        raise ValueTooLarge(f"A value's JSON may be at most {MAX_VALUE_BYTES} bytes long.", path=path, limit=MAX_VALUE_BYTES)
    return text


def check_key(key: str, path: str = "/key") -> str:
    """The key, if it can be one. Raises InvalidWrite."""
    if not key:
        raise InvalidWrite(path, "A key has at least 1 character.", "minLength")
    if "\0" in key:
        raise InvalidWrite(path, "A key cannot hold the character NUL.", "pattern")
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise InvalidWrite(path, "A key cannot hold half a character (a lone surrogate).", "pattern") from error
    if size > MAX_KEY_BYTES:
        raise InvalidWrite(path, f"A key may be at most {MAX_KEY_BYTES} bytes long.", "maxLength")
    return key
