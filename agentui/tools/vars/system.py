"""The working variables of one run: at most so many, and the one that was read longest ago makes room (seed 004).

    system = VariableSystem(stored, now=clock.now_ms)
    system.add("plan", "1. look\\n2. leap", "LLMAdd")
    system.get("plan").value                              # counts as a read
    system.changes()                                      # what has to be stored

Variables with ``keep`` never make room. Where nothing else is there, the system grows beyond its capacity.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentui.jsonio import Json
from agentui.tools.vars.errors import InvalidVariable, NoSuchVariable, RuleIsFixed, VariableTooLarge
from agentui.tools.vars.record import (
    LITERAL_TYPES,
    RULE_PREFIX,
    VarType,
    WorkingVariable,
    check_desc,
    check_name,
    check_tags,
    text_of,
)

log = logging.getLogger("agentui.tools")

CAPACITY = 1000
"""Variables of one system, unless all of them are kept."""
MAX_TOTAL = 8 * 1024 * 1024
"""Characters of all values together but the rules'."""


@dataclass(frozen=True, slots=True)
class VarFilter:
    """What a list is to hold: one type, one tag, and names or descriptions that contain a text in any case."""

    type: VarType | None = None
    tag: str | None = None
    search: str | None = None

    def takes(self, variable: WorkingVariable) -> bool:
        """Whether a variable is one of those."""
        text = (self.search or "").casefold()
        return (
            self.type in (None, variable.type)
            and (self.tag is None or self.tag in variable.tags)
            and (not text or text in variable.name.casefold() or text in variable.desc.casefold())
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that differs from what was stored; ``after`` is None where it is gone. ``has_new_value`` is False where it
    was only read, or only described otherwise."""

    name: str
    after: WorkingVariable | None
    has_new_value: bool


class VariableSystem:
    """Holds variables by name. ``stored`` are those of before; ``now`` gives milliseconds since 1970."""

    def __init__(
        self,
        stored: Iterable[WorkingVariable] = (),
        *,
        now: Callable[[], int],
        capacity: int = CAPACITY,
        total: int = MAX_TOTAL,
    ) -> None:
        self._before = {variable.name: variable for variable in stored}
        self._variables = dict(self._before)
        self._size = sum(map(_weight, self._variables.values()))
        self._now = now
        self._capacity = capacity
        self._total = total
        self._make_room("")

    def add(
        self,
        name: str,
        value: Json,
        type: VarType,
        desc: str | None = None,
        tags: Sequence[str] | None = None,
        *,
        keep: bool | None = None,
        is_literal: bool = False,
    ) -> WorkingVariable:
        """Write a variable, new or not; ``desc`` and ``tags`` stay as they are where they are None. Raises as ``update``."""
        return self.update(name, value=value, type=type, desc=desc, tags=tags, keep=keep, is_literal=is_literal)

    def update(
        self,
        name: str,
        *,
        value: Json = None,
        type: VarType | None = None,
        desc: str | None = None,
        tags: Sequence[str] | None = None,
        keep: bool | None = None,
        is_literal: bool = False,
    ) -> WorkingVariable:
        """Change what is given of a variable, or make one, which needs ``value`` and ``type``. What is no text is kept as JSON.

        Raises InvalidVariable for what is missing or of the wrong form, VariableTooLarge, and RuleIsFixed for a name that only
        rules have.
        """
        old = self._variables.get(name)
        _check_rule(name, old, type)
        if old is None:
            if value is None or type is None:
                raise InvalidVariable("/value", f"The variable {name!r:.210} does not exist yet: it needs a value.", "required")
            check_name(name)
        now = self._now()
        kind: VarType = type or (old.type if old is not None else "LLMAdd")
        before = old or WorkingVariable(name, "", kind, now, now, now)
        new = replace(
            before,
            type=kind,
            value=before.value if value is None else text_of(value),
            desc=before.desc if desc is None else check_desc(desc),
            tags=before.tags if tags is None else check_tags(tags),
            keep=before.keep if keep is None else keep,
            is_literal=kind in LITERAL_TYPES or (before.is_literal if value is None else is_literal),
            updated=now,
            last_visited=now,
        )
        self._check_fits(new)
        self._set(new)
        self._make_room(name)
        return new

    def add_rules(self, rules: Iterable[WorkingVariable]) -> None:
        """Hold rules that were declared later; one whose name is there already is left out."""
        for rule in rules:
            if rule.name not in self._variables:
                self._before[rule.name] = rule
                self._set(rule)

    def get(self, name: str) -> WorkingVariable | None:
        """A variable that is read now: it is the last one to make room. None where there is none."""
        variable = self._variables.get(name)
        if variable is None:
            return None
        visited = replace(variable, last_visited=self._now(), reference_count=variable.reference_count + 1)
        self._variables[name] = visited
        return visited

    def held(self) -> Mapping[str, WorkingVariable]:
        """Every variable by its name, as it is now: later changes do not show. None counts as read."""
        return dict(self._variables)

    def visit(self, names: Iterable[str]) -> None:
        """Count variables as read, each as often as it is named; those that are gone by now are left out."""
        for name in names:
            self.get(name)

    def peek(self, name: str) -> WorkingVariable | None:
        """A variable as it is; it does not count as read."""
        return self._variables.get(name)

    def listed(self, filter: VarFilter | None = None) -> list[WorkingVariable]:
        """The variables in the order of their names; none counts as read."""
        chosen = filter or VarFilter()
        return sorted(filter_of(self._variables.values(), chosen), key=lambda variable: variable.name)

    def remove(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Remove variables; the names of those that were there, and of those that were not or are rules."""
        removed, failed = [], []
        for name in dict.fromkeys(names):
            variable = self._variables.get(name)
            if variable is None or variable.type == "RULE":
                failed.append(name)
            else:
                self._drop(variable)
                removed.append(name)
        return removed, failed

    def drop(self, name: str) -> None:
        """Remove one variable. Raises NoSuchVariable and RuleIsFixed."""
        variable = self._variables.get(name)
        if variable is None:
            raise NoSuchVariable(f"Variable '{name}' not found")
        _check_rule(name, variable, None)
        self._drop(variable)

    def changes(self) -> tuple[Change, ...]:
        """What differs from what was stored, but for rules, which are not stored."""
        found = []
        for name in dict.fromkeys((*self._before, *self._variables)):
            before, after = self._before.get(name), self._variables.get(name)
            if before == after or "RULE" in {variable.type for variable in (before, after) if variable is not None}:
                continue
            is_new = after is not None and (before is None or before.value != after.value)
            found.append(Change(name, after, is_new))
        return tuple(found)

    def _check_fits(self, new: WorkingVariable) -> None:
        """Raises VariableTooLarge where the variables that never make room leave none for this one."""
        kept = sum(_weight(variable) for variable in self._variables.values() if variable.keep and variable.name != new.name)
        if kept + _weight(new) > self._total:
            raise VariableTooLarge(
                f"The variables that are kept for ever and this one would have more than {self._total} characters.",
                path="/value",
            )

    def _set(self, variable: WorkingVariable) -> None:
        old = self._variables.get(variable.name)
        self._size += _weight(variable) - (_weight(old) if old is not None else 0)
        self._variables[variable.name] = variable

    def _drop(self, variable: WorkingVariable) -> None:
        del self._variables[variable.name]
        self._size -= _weight(variable)

    def _make_room(self, newest: str) -> None:
        """Drop what was read longest ago until the rest fits; neither what is kept nor what was written just now."""
        while len(self._variables) > self._capacity or self._size > self._total:
            droppable = [item for item in self._variables.values() if not item.keep and item.name != newest]
            if not droppable:
                log.warning(
                    "%d working variables are kept for ever, more than the capacity of %d.",
                    len(self._variables),
                    self._capacity,
                )
                return
            self._drop(min(droppable, key=lambda variable: variable.age))


def filter_of(variables: Iterable[WorkingVariable], chosen: VarFilter) -> Iterable[WorkingVariable]:
    """The variables that a filter takes."""
    return (variable for variable in variables if chosen.takes(variable))


def _weight(variable: WorkingVariable) -> int:
    """The characters that a variable counts; rules belong to the server, not to what a run may hold."""
    return 0 if variable.type == "RULE" else len(variable.value)


def _check_rule(name: str, old: WorkingVariable | None, type: VarType | None) -> None:
    """Raises RuleIsFixed where a write of another type would make or change what looks like a rule."""
    if type != "RULE" and (name.startswith(RULE_PREFIX) or (old is not None and old.type == "RULE")):
        raise RuleIsFixed(f"{name!r:.210} is the name of a skill rule, which is not written or removed as a variable.")
