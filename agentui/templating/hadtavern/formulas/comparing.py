"""The comparisons of conditions: values of different kinds, and missing ones, are never alike, larger, or in each other."""

import operator
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, is_sequence
from agentui.templating.core.values import number, plain
from agentui.templating.core.weight import Scale
from agentui.templating.hadtavern.formulas.values import is_number, kind
from agentui.templating.hadtavern.scope import Frame

_READING: Final = 8
"""Characters of a text that are gone over in the time of one piece of work."""

Compare: TypeAlias = Callable[[Frame, Json, Json], bool]
"""Whether it holds between two values. Raises CannotInsert where one nests too deep, or all is too much work."""


def same(frame: Frame, left: Json, right: Json) -> bool:
    """``==``: of one kind and alike; what is missing is like nothing."""
    if left is MISSING or right is MISSING or kind(left) != kind(right):
        return False
    if isinstance(left, str):
        frame.add_work(len(left) // _READING)
        return bool(left == right)
    if is_sequence(left) or isinstance(left, Mapping):
        scale = Scale()
        frame.add_work(scale.weigh(left) + scale.weigh(right))
        return bool(plain(left) == plain(right))
    return bool(left == right)


def _ordered(order: Callable[[Json, Json], bool]) -> Compare:
    """``<`` and the like: between two numbers or two texts."""

    def compare(frame: Frame, left: Json, right: Json) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            frame.add_work(min(len(left), len(right)) // _READING)
            return order(left, right)
        return is_number(left) and is_number(right) and order(left, right)

    return compare


def contains(frame: Frame, whole: Json, part: Json) -> bool:
    """Whether a text has the other in it, a list an item like it, an object a member of this name."""
    if isinstance(whole, str):
        frame.add_work(len(whole) // _READING)
        return isinstance(part, str) and part in whole
    if isinstance(whole, Mapping):
        return isinstance(part, str) and part in whole
    if not is_sequence(whole):
        return False
    frame.add_work(len(whole))
    return any(same(frame, item, part) for item in whole)


def is_empty(value: Json) -> bool:
    """Whether there is nothing in it: missing, null, and the empty text, list and object."""
    return value is MISSING or value is None or (kind(value) in ("a text", "a list", "an object") and not value)


def as_number(frame: Frame, value: Json) -> Json:
    """``number()``: a number itself, and a text that is one; else missing."""
    if is_number(value):
        return value
    try:
        return number(value.strip()) if isinstance(value, str) else MISSING
    except ValueError:
        return MISSING


def length(frame: Frame, value: Json) -> Json:
    """``len()``: characters, items or members; 0 for null and what is missing, and missing for the rest."""
    if value is MISSING or value is None:
        return 0
    return len(value) if kind(value) in ("a text", "a list", "an object") else MISSING


def _cased(change: Callable[[str], str]) -> Callable[[Frame, Json], Json]:
    """``lower()`` and ``upper()``: of a text; else missing."""

    def make(frame: Frame, value: Json) -> Json:
        if not isinstance(value, str):
            return MISSING
        frame.add_work(len(value))
        return change(value)

    return make


SIGNS: Final[Mapping[str, Compare]] = {
    "==": same,
    "!=": lambda frame, left, right: not same(frame, left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "in": lambda frame, left, right: contains(frame, right, left),
    "not in": lambda frame, left, right: not contains(frame, right, left),
}
WORDS: Final[Mapping[str, Compare]] = {
    "contains": contains,
    "starts with": lambda frame, left, right: isinstance(left, str) and isinstance(right, str) and left.startswith(right),
    "ends with": lambda frame, left, right: isinstance(left, str) and isinstance(right, str) and left.endswith(right),
}
TESTS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "empty": is_empty,
    "missing": lambda value: value is MISSING,
}
CHANGES: Final[Mapping[str, Callable[[Frame, Json], Json]]] = {
    "lower": _cased(str.lower),
    "upper": _cased(str.upper),
    "len": length,
    "number": as_number,
}
