"""References in the arguments of a call: ``$VAR_REF{{name}}``, ``$VAR_REF{{name:start:length}}``, ``$VAR_REF{{name:start}}``.

A reference is replaced by the variable's value, or by ``length`` characters (code points, not UTF-16 units) of it from
``start``, counted from 0. The value's own references are replaced in turn, after it was cut, unless the value is literal: what
came from outside stays text, for whoever wrote it there must not read other variables. What is inserted is never read together
with what stands beside it, so that no reference comes about from pieces.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from agentui.jsonio import Json, dumps_text
from agentui.threads import in_thread
from agentui.tools.vars.errors import BadReference
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.system import VariableSystem

MARK = "$VAR_REF{{"
"""How every reference begins."""
MAX_INSERTED = 1024 * 1024
"""Characters that the texts with references of one call may have once they are resolved."""
MAX_REFERENCES = 10_000
"""References of one call that are followed, those in values among them."""
MAX_DEPTH = 100
"""Values within values: how long a chain of references is followed."""

_REFERENCE = re.compile(r"\$VAR_REF\{\{([^{}:\0\r\n]{1,200})(?::([0-9]{1,15}))?(?::([0-9]{1,15}))?\}\}")
"""The name has at most MAX_NAME characters."""

Found: TypeAlias = tuple[Json, bool]
"""A value, and whether it is literal."""
Lookup: TypeAlias = Callable[[str], Found | None]
"""Finds a variable by its name; None where there is none."""


class References:
    """Resolves the arguments of calls by a system's variables; ``follows_all`` follows references in literal values, too."""

    def __init__(self, system: VariableSystem, *, follows_all: bool = False) -> None:
        self._system = system
        self._follows_all = follows_all

    def resolve(self, arguments: Json) -> Json:
        """The arguments with every reference replaced. Raises BadReference."""
        looked = _Looked(self._system.held(), self._follows_all)
        value = resolve(arguments, looked.find)
        self._system.visit(looked.names)
        return value

    async def resolve_apart(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """The same in a thread, where there is any reference: at the limits it takes some tenths of a second. The variables are
        those of when it began. Raises BadReference."""
        if not _has_mark(arguments):
            return arguments
        looked = _Looked(self._system.held(), self._follows_all)
        resolved: dict[str, Json] = await in_thread(lambda: resolve(arguments, looked.find))
        self._system.visit(looked.names)
        return resolved


class _Looked:
    """Finds variables among those of one moment, and remembers which."""

    def __init__(self, held: Mapping[str, WorkingVariable], follows_all: bool) -> None:
        self.names: list[str] = []
        """What was found, each time that it was."""
        self._held = held
        self._follows_all = follows_all

    def find(self, name: str) -> Found | None:
        """A variable's value, and whether it is literal."""
        variable = self._held.get(name)
        if variable is None:
            return None
        self.names.append(name)
        return variable.value, variable.is_literal and not self._follows_all


def _has_mark(value: Json) -> bool:
    """Whether a reference may stand anywhere in a value."""
    if isinstance(value, str):
        return MARK in value
    if isinstance(value, Mapping):
        return any(map(_has_mark, value.values()))
    return isinstance(value, Sequence) and any(map(_has_mark, value))


def resolve(arguments: Json, lookup: Lookup) -> Json:
    """Arguments (lists and objects at most 100 levels deep) with every reference in their texts replaced; keys stay.

    Raises BadReference for a missing variable, one that leads back to itself, a slice of what is no text, and where the limits
    above are passed.
    """
    return _Resolving(lookup).value(arguments)


class _Resolving:
    """The work on the arguments of one call, which counts what it has done."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._inserted = 0
        self._followed = 0

    def value(self, value: Json) -> Json:
        """A value with its references replaced. Every text is visited on its own."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        return value

    def _text(self, text: str) -> str:
        if MARK not in text:
            return text
        pieces: list[str] = []
        self._collect(text, (), pieces)
        return "".join(pieces)

    def _collect(self, text: str, within: tuple[str, ...], pieces: list[str]) -> None:
        """Add the pieces of a text; ``within`` are the variables in whose values it stands."""
        at = 0
        for match in _REFERENCE.finditer(text):
            self._keep(text[at : match.start()], pieces)
            at = match.end()
            self._follow(match[1], match[2], match[3], within, pieces)
        self._keep(text[at:], pieces)

    def _follow(self, name: str, start: str | None, length: str | None, within: tuple[str, ...], pieces: list[str]) -> None:
        """Add the pieces of what a reference stands for."""
        self._followed += 1
        if self._followed > MAX_REFERENCES:
            raise BadReference(f"The arguments of one call may follow at most {MAX_REFERENCES} references.")
        if name in within:
            raise BadReference(f"Circular variable reference detected: the value of '{name}' leads back to itself")
        if len(within) >= MAX_DEPTH:
            raise BadReference(f"References may stand at most {MAX_DEPTH} values deep.")
        found = self._lookup(name)
        if found is None:
            raise BadReference(f"Variable '{name}' not found")
        value, is_literal = found
        text = _cut(name, value, start, length)
        if is_literal or MARK not in text:
            self._keep(text, pieces)
        else:
            self._collect(text, (*within, name), pieces)

    def _keep(self, text: str, pieces: list[str]) -> None:
        self._inserted += len(text)
        if self._inserted > MAX_INSERTED:
            raise BadReference(f"Resolved arguments may have at most {MAX_INSERTED} characters: refer to slices.")
        pieces.append(text)


def _cut(name: str, value: Json, start: str | None, length: str | None) -> str:
    """A value as a text, or the part of it that is asked for. Raises BadReference where what is to be cut is no text."""
    if start is None:
        return value if isinstance(value, str) else dumps_text(value)
    if not isinstance(value, str):
        raise BadReference(f"Cannot slice non-string variable '{name}'")
    first = int(start)
    return value[first:] if length is None else value[first : first + int(length)]
