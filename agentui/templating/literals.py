"""Strings and numbers as people write them in templates and expressions."""

import math
import re
from typing import Final

from agentui.jsonio import Json

CONSTANTS: Final[dict[str, Json]] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "none": None,
    "None": None,
}
"""The words that are values."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_MAX_DIGITS = 400


def unescape(body: str) -> str:
    r"""What stands between the quotes, with ``\n``, ``\u00e9`` and the like resolved; an unknown escape stays as it is.

    >>> unescape(r"a\tb \u00e9 \d")
    'a\tb é \\d'
    """
    return body if "\\" not in body else join_surrogates(_ESCAPE.sub(_resolve, body))


def _resolve(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _ESCAPES.get(match[3], match[0])


def join_surrogates(text: str) -> str:
    """The text with pairs of surrogates made into the characters that they mean; lone ones stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def number(text: str) -> int | float:
    """The number that JSON's spelling ``text`` means. Raises ValueError when it is too large for anything."""
    if len(text) > _MAX_DIGITS:
        raise ValueError("The number has too many digits.")
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not math.isfinite(value):
        raise ValueError("The number is too large.")
    return value
