"""Values while a formula is computed: their kinds in the user's words, and the bounds of what may come out."""

import json
import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, is_sequence
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from agentui.templating.hadtavern.scope import Frame

MAX_INTEGER: Final = 2**256
MAX_RESULT: Final = 64 * 1024
"""Characters of text, or of the result as JSON."""

_KINDS: Final[Mapping[type, str]] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
    type(MISSING): "missing",
}


class Moment(NamedTuple):
    """What one computing sees: chance, and the names."""

    random: Random
    frame: Frame


Evaluate: TypeAlias = Callable[[Moment], Json]
"""A compiled piece of a formula: its value now. Raises ExpressionError, and CannotInsert where it takes too much."""


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether the value is a number; truth values are none."""
    return type(value) in (int, float)


def kind(value: Json) -> str:
    """The value's type in the user's words."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if is_sequence(value) else "a value"


def truth(value: Json) -> bool:
    """What the value counts for in ``and``, ``or`` and ``not``: as in Python, and what is missing is false."""
    return value is not MISSING and bool(value)


def present(value: Json) -> Json:
    """The value in a list or an object, where what is missing is null."""
    return None if value is MISSING else value


def fault_of_number(value: Json) -> str | None:
    """Why a number that was written or computed cannot be; None where it can."""
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return "The number is larger than 2^256."
    if isinstance(value, float) and not math.isfinite(value):
        return "The number is not finite."
    return None


def check_result(value: Json) -> None:
    """Refuse texts, lists and objects that are too large, and half characters. Numbers were checked when they were made."""
    if value is None or isinstance(value, (int, float)):
        return
    try:
        size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    except UnicodeEncodeError as error:
        raise ExpressionError("The text holds half a character (a lone surrogate). Remove it.") from error
    if size > MAX_RESULT:
        raise ExpressionError(f"The result is larger than {MAX_RESULT} bytes. Make it smaller.")
