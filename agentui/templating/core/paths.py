"""Paths into JSON: how ``choices.0.message["a.b"]`` is written, and what it reaches.

A path reaches the keys of objects and the places of lists and nothing else: ``d.items`` and ``d.__class__`` are keys.
A step that is a whole number counts from 0 in a list (from the end when negative) and is a key in an object.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from agentui.jsonio import Json


class _Missing:
    """The type of MISSING."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What a path that leads nowhere reaches; null is a value, this is none."""

MAX_STEPS = 100

_INDEX = re.compile(r"-?[0-9]{1,9}")
_FIRST = re.compile(r"""[^.\[\]|"'\n\r]+""")
_NEXT = re.compile(
    r"""\.(?P<key>[^.\[\]|"'\n\r]+)
      | \[[ ]*(?:(?P<index>-?[0-9]{1,9})|"(?P<double>[^"\n\r]*)"|'(?P<single>[^'\n\r]*)')[ ]*\]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: the key, and the place in a list when the key is a whole number."""

    key: str
    index: int | None


def step(key: str) -> Step:
    """The step that a key makes."""
    return Step(key, int(key) if _INDEX.fullmatch(key) else None)


def is_sequence(value: Json) -> TypeGuard[list[Json] | tuple[Json, ...]]:
    """Whether the value is a list (a frozen result may hold tuples)."""
    return isinstance(value, (list, tuple))


def walk(value: Json, steps: tuple[Step, ...]) -> Json:
    """Follow the steps from ``value``; MISSING when one leads nowhere."""
    for each in steps:
        if type(value) is dict or isinstance(value, Mapping):
            value = value.get(each.key, MISSING)
        elif is_sequence(value):
            index = each.index
            if index is None or not -len(value) <= index < len(value):
                return MISSING
            value = value[index]
        else:
            return MISSING
    return value


def read_path(source: str, start: int) -> tuple[tuple[Step, ...], int]:
    """Read the path at ``start`` as the square forms write it, and where it ends. No steps when there is none.

    Keys may hold anything but ``. [ ] |``, quotes and line ends; ``["a.b"]`` holds the rest. Spaces around are not part.
    """
    match = _FIRST.match(source, start)
    if match is None:
        return (), start
    steps = [step(match.group().strip())]
    end = match.end()
    while match := _NEXT.match(source, end):
        key = next(group for group in match.groups() if group is not None)
        steps.append(step(key.strip() if match["key"] is not None else key))
        end = match.end()
    return tuple(steps), end
