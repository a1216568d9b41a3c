"""What a template sees, and how a name in it is found.

    [[VAR:name]]        context, then the node's own names, the run's variables, the tiers
    {{ name }} [[NAME]] the node's own names, the run's variables, the tiers, then context
    OUT.n1              the result of node n1
    vars.floor.gold     one tier by its name; any other vars.NAME is a variable of this run

Seed 003: the context's names are part 1, OUT part 2, ``pm`` part 4; ``vars`` is SetVars' "context.vars".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, Step, is_sequence, walk
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.values import best_text

TIERS: Final = frozenset({"global", "chat", "branch", "floor", "page", "run"})

MAX_OUTPUT = 8 * 1024 * 1024
"""Characters of text that one rendering may build."""

_MAX_WORK = 4 * MAX_OUTPUT
_FREE_VALUES = 16
_LONG_STRING = 1024
_NODE_SIZE = 8


def _silence(message: str) -> None:
    """Nobody listens."""


@dataclass(slots=True)
class Scope:
    """Everything one rendering may read. Values are JSON; nothing here is changed by a template.

    ``variables`` is the tiers merged, the nearest winning; ``tiers`` the same by tier. ``context`` may be lazy: only keys
    that the template names are asked for. ``own`` holds the node's names (``pm``), ``prompt`` the members that
    ``[[PROMPT]]`` stands for. ``secret`` gives a secret by its name; ``warn`` hears what a person should know.
    """

    run_vars: Mapping[str, Json] = field(default_factory=dict)
    variables: Mapping[str, Json] = field(default_factory=dict)
    tiers: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    context: Mapping[str, Json] = field(default_factory=dict)
    out: Mapping[str, Json] = field(default_factory=dict)
    own: Mapping[str, Json] = field(default_factory=dict)
    prompt: Mapping[str, Json] | None = None
    secret: Callable[[str], str] | None = None
    warn: Callable[[str], None] = _silence


class Frame:
    """One rendering under way: the scope, and how much it may still produce.

    Text is counted as it is built. Whole JSON values cost nothing to insert, and a chat with pictures may be large, so the
    first 16 large ones are free; after that their sizes count, or a small template could multiply a large value.
    """

    __slots__ = ("_best", "_free", "_output", "_room", "_work", "is_preview", "scope")

    def __init__(self, scope: Scope, *, is_preview: bool = False) -> None:
        """``is_preview`` keeps secrets unread: a trace is shown to people."""
        self.scope = scope
        self.is_preview = is_preview
        self._output = self._room = MAX_OUTPUT
        self._work = _MAX_WORK
        self._free = _FREE_VALUES
        self._best: dict[str, Json] | None = None

    def add_output(self, text: str) -> str:
        """Count a piece of the result and return it. Raises CannotInsert beyond MAX_OUTPUT."""
        self._output -= len(text)
        if self._output < 0:
            raise CannotInsert(f"The result is longer than {MAX_OUTPUT} characters. Insert less.")
        return text

    def add_work(self, text: str) -> None:
        """Count what a filter produced. Raises CannotInsert when all filters together did too much."""
        self._work -= len(text)
        if self._work < 0:
            raise CannotInsert(f"The filters of this template produced more than {_MAX_WORK} characters. Insert less.")

    def add_value(self, value: Json) -> None:
        """Count a JSON value inserted whole. Raises CannotInsert when large values are inserted too often."""
        is_small = len(value) < _LONG_STRING if isinstance(value, str) else not isinstance(value, (list, Mapping))
        if is_small:
            return
        if self._free:
            self._free -= 1
            return
        self._room -= _size(value, self._room)
        if self._room < 0:
            raise CannotInsert(f"The template inserts more than {MAX_OUTPUT} characters of values. Insert less.")

    def best_text_of(self, number: str) -> Json:
        """What ``[[OUT1]]`` is for "1": the best text of node n1, else of node 1; MISSING when neither ran."""
        if self._best is None:
            self._best = {}
        elif number in self._best:
            return self._best[number]
        out = self.scope.out
        result = out.get("n" + number, MISSING)
        if result is MISSING:
            result = out.get(number, MISSING)
        text = self._best[number] = MISSING if result is MISSING else best_text(result)
        return text


Read = Callable[[Frame], Json]
"""A compiled piece of a template: the value it has now, or MISSING."""


def read_nothing(frame: Frame) -> Json:
    """Stands where a mistake was; never runs, for the template does not compile."""
    return MISSING


def _size(value: Json, enough: int) -> int:
    """Roughly the characters of the value as JSON; stops counting beyond ``enough``."""
    total = 0
    waiting = [value]
    while waiting and total <= enough:
        item = waiting.pop()
        total += _NODE_SIZE
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            total += sum(map(len, item))
            waiting.extend(item.values())
        elif is_sequence(item):
            waiting.extend(item)
    return total


def _nearest(scope: Scope, name: str) -> Json:
    """What the node, the run or a tier calls ``name``."""
    value = scope.own.get(name, MISSING)
    if value is MISSING:
        value = scope.run_vars.get(name, MISSING)
        if value is MISSING:
            value = scope.variables.get(name, MISSING)
    return value


def read_name(name: str, steps: tuple[Step, ...]) -> Read:
    """Read ``name`` as the bare forms do, then follow ``steps``.

    A stored variable may be called ``assets.gold``: before the path is followed into ``assets``, the whole name is tried
    (seed 000), unless the node or the run itself has something called ``assets``.
    """
    flat = ".".join((name, *(step.key for step in steps))) if steps else None

    def read(frame: Frame) -> Json:
        if flat is not None and (whole := _whole_name(frame.scope, name, flat)) is not MISSING:
            return whole
        value = _nearest(frame.scope, name)
        if value is MISSING:
            value = frame.scope.context.get(name, MISSING)
        return walk(value, steps) if steps else value

    return read


def _whole_name(scope: Scope, name: str, flat: str) -> Json:
    """The stored variable that is called ``flat``, or MISSING."""
    if name in scope.own or name in scope.run_vars:
        return MISSING
    return scope.variables.get(flat, MISSING)


def read_context(name: str, steps: tuple[Step, ...]) -> Read:
    """Read ``name`` as ``[[VAR:..]]`` does, then follow ``steps``."""

    def read(frame: Frame) -> Json:
        value = frame.scope.context.get(name, MISSING)
        if value is MISSING:
            value = _nearest(frame.scope, name)
        return walk(value, steps)

    return read


def read_out(steps: tuple[Step, ...]) -> Read:
    """Read from the results of the nodes before; the first step is a node's id."""
    return lambda frame: walk(frame.scope.out, steps)


def read_best_text(number: str) -> Read:
    """Read ``OUT1`` for "1"."""
    return lambda frame: frame.best_text_of(number)


def read_vars(steps: tuple[Step, ...]) -> Read:
    """Read ``vars.tier.name``, ``vars.NAME`` or all variables of the run.

    A run's variable may be called like a tier (``chat``); the tier's own value wins where there is one.
    """
    if not steps or steps[0].key not in TIERS:
        return lambda frame: walk(frame.scope.run_vars, steps)
    tier, rest = steps[0].key, steps[1:]

    def read(frame: Frame) -> Json:
        scope = frame.scope
        found = walk(scope.tiers.get(tier, scope.run_vars if tier == "run" else MISSING), rest)
        if rest and found is not MISSING:
            return found
        variable = walk(scope.run_vars, steps)
        return found if variable is MISSING else variable

    return read
