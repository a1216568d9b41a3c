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
from agentui.templating.core.paths import MISSING, Step, walk
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.values import best_text
from agentui.templating.core.weight import Scale

TIERS: Final = frozenset({"global", "chat", "branch", "floor", "page", "run"})

MAX_OUTPUT = 8 * 1024 * 1024
"""Characters of text that one rendering may build."""

MAX_REPEATED = 2 * MAX_OUTPUT
"""Characters that one result may hold more than once: what its values would take when written, beyond what they take."""

_MAX_WORK = 4 * MAX_OUTPUT
_LONG_STRING = 1024


def _silence(*_: object) -> None:
    """Nobody listens."""


def _as_written(source: str) -> str:
    """No other language is at hand."""
    return source


@dataclass(slots=True)
class Scope:
    """Everything one rendering may read. Values are JSON; nothing here is changed by a template.

    ``variables`` is the tiers merged, the nearest winning; ``tiers`` the same by tier. ``context`` may be lazy: only keys
    that the template names are asked for. ``own`` holds the node's names (``pm``), ``prompt`` the members that
    ``[[PROMPT]]`` stands for. ``secret`` gives a secret by its name; ``warn`` hears what a person should know;
    ``made`` hears of every text that a filter made: the text, what it was made of, and what makes more of the kind;
    ``expand`` replaces SillyTavern's macros, for fields that are written in them.
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
    made: Callable[[str, str, Callable[[str], str]], None] = _silence
    expand: Callable[[str], str] = _as_written


class Frame:
    """One rendering under way: the scope, and how much it may still produce.

    Text is counted as it is built. A JSON value costs nothing to insert once, however large it is, for a chat may hold
    pictures; what it repeats counts as often as it would be written, or a few templates could multiply a value without end.
    """

    __slots__ = ("_best", "_output", "_scale", "_weight", "_work", "is_preview", "scope")

    def __init__(self, scope: Scope, *, is_preview: bool = False) -> None:
        """``is_preview`` keeps secrets unread: a trace is shown to people."""
        self.scope = scope
        self.is_preview = is_preview
        self._output = MAX_OUTPUT
        self._work = _MAX_WORK
        self._scale: Scale | None = None
        self._weight = 0
        self._best: dict[str, Json] | None = None

    def add_output(self, text: str) -> str:
        """Count a piece of the result and return it. Raises CannotInsert beyond MAX_OUTPUT."""
        self._output -= len(text)
        if self._output < 0:
            raise CannotInsert(f"The result is longer than {MAX_OUTPUT} characters. Insert less.")
        return text

    def add_work(self, size: int) -> None:
        """Count the characters that a filter reads or produces. Raises CannotInsert when all of them together are too many."""
        self._work -= size
        if self._work < 0:
            raise CannotInsert(f"The filters of this template take more than {_MAX_WORK} characters. Insert less.")

    def add_value(self, value: Json) -> None:
        """Count a JSON value that is inserted whole. Raises CannotInsert when the result would repeat too much."""
        is_small = len(value) < _LONG_STRING if isinstance(value, str) else not isinstance(value, (list, tuple, Mapping))
        if is_small:
            return
        if self._scale is None:
            self._scale = Scale()
        self._weight += self._scale.weigh(value)
        if self._weight - self._scale.distinct > MAX_REPEATED:
            raise CannotInsert(f"The result would repeat more than {MAX_REPEATED} characters of its values. Insert less.")

    def check_text(self, value: Json) -> None:
        """Check that a value may be written as text, before it is. Raises CannotInsert where the text would be too long."""
        if isinstance(value, (list, tuple, Mapping)) and Scale().weigh(value) > _MAX_WORK:
            raise CannotInsert(f"The value is longer than {MAX_OUTPUT} characters. Insert a part of it.")

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
    """Read from the results of the nodes before; the first step is a node's id. All of them are those that are there now."""
    return (lambda frame: walk(frame.scope.out, steps)) if steps else (lambda frame: dict(frame.scope.out))


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
