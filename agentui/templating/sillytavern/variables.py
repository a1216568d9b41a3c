"""The two views of variables that macros have: local (``.``) and global (``$``), each with what was written over it.

A key is looked up whole first, and as a path when there is none: ``assets.gold``, ``gear["the.sword"]``. A path written
makes the key of its root. Source: seeds 000 and 002. Nothing here changes what a view was made of.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Literal

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING
from agentui.templating.core.values import text_of
from agentui.templating.sillytavern.scope import MacroRefused

Scope = Literal["branch", "global"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<dot>\.)|\[\s*(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')\s*\]|(?P<word>[^.\[\]\s]+))\s*"""
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOST_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Mutation:
    """One write. ``value`` is the root key's whole value after it; MISSING where it is deleted. ``macro`` is the name of who
    wrote."""

    scope: Scope
    key: str
    value: Json
    macro: str

    @property
    def kind(self) -> Literal["set", "delete"]:
        """What the write does."""
        return "delete" if self.value is MISSING else "set"


class VariableView:
    """Variables as a run's macros see them: those that are stored, and what macros wrote meanwhile.

    ``stored`` is never changed. ``written`` holds MISSING for what was deleted.
    """

    def __init__(self, scope: Scope, stored: Mapping[str, Json]) -> None:
        self.scope = scope
        self.stored = stored
        self.written: dict[str, Json] = {}

    def read(self, key: str) -> Json:
        """The value of a key or a path; MISSING where there is none. Raises MacroRefused."""
        value, steps = self._find(key)
        for number, step in enumerate(steps):
            if value is MISSING:
                return MISSING
            if not isinstance(value, Mapping):
                raise _not_an_object(key, steps[:number])
            value = value.get(step, MISSING)
        return value

    def set(self, key: str, value: str, macro: str) -> tuple[Mutation, int]:
        """What writing a text would be, and how many members are copied for it. Raises MacroRefused."""
        root, steps = self._root(key)
        if not steps:
            return Mutation(self.scope, root, value, macro), 0
        whole, copied = _with(self._value(root), steps, value, key)
        return Mutation(self.scope, root, whole, macro), copied

    def delete(self, key: str, macro: str) -> tuple[Mutation | None, int]:
        """What deleting would be, None where a path leads to nothing. Raises MacroRefused."""
        root, steps = self._root(key)
        if not steps:
            return Mutation(self.scope, root, MISSING, macro), 0
        if self.read(key) is MISSING:
            return None, 0
        whole, copied = _with(self._value(root), steps, MISSING, key)
        return Mutation(self.scope, root, whole, macro), copied

    def apply(self, mutation: Mutation) -> Callable[[], None]:
        """Make a write visible; what comes back takes it back."""
        key = mutation.key
        undo = (
            partial(self.written.__setitem__, key, self.written[key]) if key in self.written else partial(self.written.pop, key)
        )
        self.written[key] = mutation.value
        return undo

    def _value(self, root: str) -> Json:
        """The value of a whole key."""
        return self.written[root] if root in self.written else self.stored.get(root, MISSING)

    def _root(self, key: str) -> tuple[str, list[str]]:
        """The key that holds the value, and the steps from there."""
        if self._value(key) is not MISSING or ("." not in key and "[" not in key):
            return key, []
        root, *steps = _steps(key)
        return root, steps

    def _find(self, key: str) -> tuple[Json, list[str]]:
        root, steps = self._root(key)
        return self._value(root), steps


def _steps(key: str) -> list[str]:
    """The steps of a path. Raises MacroRefused."""
    steps: list[str] = []
    position, wants_word = 0, True
    while position < len(key):
        match = _TOKEN.match(key, position)
        if match is None:
            raise _bad_path(f"'{shortened(key)}' is no path: names are joined by dots, all others stand as [\"name\"].")
        if match["dot"]:
            if wants_word:
                raise _bad_path(f"'{shortened(key)}' has an empty step.")
            wants_word = True
        elif match["word"] is not None:
            if not wants_word:
                raise _bad_path(f"'{shortened(key)}' has two names without a dot between them.")
            steps.append(match["word"])
            wants_word = False
        else:
            if not steps or wants_word:
                raise _bad_path(f"'{shortened(key)}' has brackets where a name must stand.")
            steps.append(_ESCAPED.sub(r"\1", match["quoted"][1:-1]))
        position = match.end()
    if wants_word:
        raise _bad_path(f"'{shortened(key)}' ends in an empty step.")
    return steps


def _with(value: Json, steps: list[str], leaf: Json, key: str) -> tuple[Json, int]:
    """A value with another leaf (MISSING takes it out); only the objects on the way are copied, and counted by members."""
    holders: list[dict[str, Json]] = []
    copied = 0
    for number, step in enumerate(steps):
        if value is MISSING:
            holder: dict[str, Json] = {}
        elif isinstance(value, Mapping):
            holder = dict(value)
            copied += len(holder)
        else:
            raise _not_an_object(key, steps[:number])
        holders.append(holder)
        value = holder.get(step, MISSING)
    last = holders.pop()
    if leaf is MISSING:
        last.pop(steps[-1], None)
    else:
        last[steps[-1]] = leaf
    for holder, step in zip(reversed(holders), reversed(steps[:-1]), strict=True):
        holder[step] = last
        last = holder
    return last, copied


def _bad_path(message: str) -> MacroRefused:
    """A key that is written like a path and is none."""
    return MacroRefused("macro_parse_failed", message)


def _not_an_object(key: str, steps: list[str]) -> MacroRefused:
    """A path through a text, a number or a list."""
    place = f" after '{shortened('.'.join(steps))}'" if steps else ""
    return MacroRefused("macro_arg_type_invalid", f"The path '{shortened(key)}' goes on{place} where there is no object.")


def shortened(text: str) -> str:
    """A text as warnings show it."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def shown(value: Json) -> str:
    """A variable's value as macros insert it: text as it is, numbers as JavaScript writes them, objects as JSON."""
    if isinstance(value, float):
        return number_text(value)
    if value is True or value is False:
        return "true" if value else "false"
    return text_of(value)


def to_number(text: str) -> float | None:
    """The finite number that a text is, else None; the empty text is none."""
    text = text.strip()
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def number_text(number: float) -> str:
    """A number as JavaScript writes it.

    >>> number_text(3.0), number_text(0.1 + 0.2), number_text(1e-5), number_text(1e21), number_text(1.5e-7)
    ('3', '0.30000000000000004', '0.00001', '1e+21', '1.5e-7')
    """
    if number == int(number) and abs(number) < 1e21:
        return str(int(number))
    if 1e-6 <= abs(number) < 1e21:
        return format(Decimal(repr(number)), "f")
    mantissa, _, exponent = repr(number).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"
