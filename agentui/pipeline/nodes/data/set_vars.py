"""SetVars: names for values, for the nodes that follow (seed 003, the part on SetVars)."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.memory import Tier
from agentui.pipeline.node import LANGUAGE, Build, Node, NodeParams, TextLanguageName, node
from agentui.pipeline.node_context import NodeContext
from agentui.templating.core.values import CONSTANTS
from agentui.templating.hadtavern.expressions import Expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from agentui.variables.paths import parse_path

RESERVED = frozenset({"incoming", "OUT", "PROMPT", "VAR", "SECRET", "pm", "vars", *CONSTANTS})
"""Names that templates give a meaning of their own; ``OUT1``, ``OUT2`` ... are refused too."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OUT_SHORT = re.compile(r"OUT[0-9]+")
_RESERVED_TEXT = "{!r} has a meaning of its own in templates; choose another name."


class Row(BaseModel):
    """One variable."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str = Field(description="Letters, digits and _; not a digit first. In a stored tier any key or path.", max_length=200)
    mode: Literal["string", "expr", "json"] = Field(
        "string",
        description="string: a template; expr: a formula without macros; json: a template that gives JSON.",
        json_schema_extra={"enumDescriptions": ["Text with macros", "Formula", "JSON with macros"]},
    )
    tier: Tier = Field(
        "run",
        description="run: for this run only; page, floor, branch, chat, global: stored when the turn commits.",
        json_schema_extra={
            "enumDescriptions": [
                "This run only",
                "This answer (page)",
                "This turn (floor)",
                "This branch",
                "This chat",
                "All chats",
            ]
        },
    )
    language: TextLanguageName = LANGUAGE
    value: str = Field("", json_schema_extra={"ui": "macro"}, description="The template or the formula.")


@dataclass(frozen=True, slots=True)
class _Constant:
    """A row whose value is the same in every run."""

    value: Json

    def __call__(self, ctx: NodeContext) -> Json:
        return self.value


class SetVarsParams(NodeParams):
    """Rows are computed in their order; rows of one node do not see each other."""

    variables: list[Row] = Field(default_factory=list, max_length=1000, description="The variables to set.")


@node("SetVars")
class SetVars(Node[SetVarsParams]):
    """Sets variables that later nodes read as ``[[NAME]]`` or ``{{ NAME }}``.

    A value is a template (mode string), a formula (mode expr: numbers, text, lists, JSON, rand(), randint(a, b),
    choice(list)) or a JSON template (mode json: ``{{ gold|default(0)|add(1) }}`` stays a number). Values of one node do not
    see each other; a later SetVars sees an earlier one. A row with a tier is stored: in the chat that the request belongs
    to, or (global) for all of them; its name may be a path such as ``assets.gold``.
    """

    Params = SetVarsParams
    title = "Set variables"
    category = "data"
    icon = "variable"
    summary = "{variables}"

    def prepare(self, build: Build) -> None:
        """Compile every row and refuse names that cannot be variables."""
        self._rows: list[tuple[Tier, str, Callable[[NodeContext], Json]]] = []
        self._random = random.SystemRandom()
        for number, row in enumerate(self.params.variables):
            where = f"variables.{number}"
            self._check_name(row, build, f"{where}.name")
            value = self._value(row, build, f"{where}.value", f"Variable {row.name!r} (row {number + 1})")
            if value is not None:
                self._rows.append((row.tier, row.name, value))
        self._is_constant = all(isinstance(value, _Constant) for _, _, value in self._rows)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``{"vars": {name: value}}``, and ``stored``: ``{tier: {name: value}}`` where rows name a tier.

        Raises CannotStage for a tier that this request has not (it names no chat).
        """
        # Constants read nothing, so that nothing of what templates see has to be made or weighed for them.
        values = self._values(ctx) if self._is_constant else await ctx.apart(partial(self._values, ctx))
        for tier, name, value in values:
            if tier != "run":
                ctx.stage(tier, name, value)
        return _out(values)

    async def preview(self, ctx: NodeContext) -> Json:
        """The values as they would be set now, with nothing stored; random ones vary."""
        return _out(await ctx.apart(partial(self._values, ctx)))

    def _values(self, ctx: NodeContext) -> list[tuple[Tier, str, Json]]:
        """All values, computed before any of them can be seen."""
        return [(tier, name, value(ctx)) for tier, name, value in self._rows]

    def _value(self, row: Row, build: Build, field: str, subject: str) -> Callable[[NodeContext], Json] | None:
        """What computes a row; None when it does not compile."""
        match row.mode:
            case "string":
                text = build.text(field, row.value, prompt=True, language=row.language)
                return (lambda ctx: ctx.render(text)) if text.constant is None else _Constant(text.constant)
            case "json":
                document = build.json(field, row.value)
                return lambda ctx: ctx.render(document)
            case "expr":
                expression = build.expression(field, row.value, subject)
                if expression is None:
                    return None
                return self._constant(expression) or self._evaluator(row.name, field, subject, expression)

    def _check_name(self, row: Row, build: Build, field: str) -> None:
        name = row.name
        if row.tier != "run":
            build.store(name)
            if not name.strip():
                build.problem("setvars.name", "A stored variable needs a name.", field, facts={"reason": "empty"})
            else:
                check_stored(name, build, field)
            return
        check_variable(name, build, field)

    def _evaluator(self, name: str, field: str, subject: str, expression: Expression) -> Callable[[NodeContext], Json]:
        def evaluate(ctx: NodeContext) -> Json:
            try:
                return expression.evaluate(self._random)
            except ExpressionError as error:
                raise NodeFailed(
                    f"{subject}: {error}", field=field, line=error.line, column=error.column, variable=name
                ) from error

        return evaluate

    def _constant(self, expression: Expression) -> _Constant | None:
        """A formula's value, where that is one number, text or truth value in every run.

        A formula that fails is left to fail in each run, which names the variable.
        """
        if not expression.is_constant:
            return None
        try:
            value = expression.evaluate(self._random)
        except ExpressionError:
            return None
        return None if isinstance(value, list | dict) else _Constant(value)


def check_variable(name: str, build: Build, field: str) -> None:
    """Note that the node sets the run's variable of this name; one that cannot be its name is a problem of the node."""
    build.sets.add(name)
    if not _NAME.fullmatch(name):
        subject = f"{name!r} cannot be a variable's name" if name else "A variable needs a name"
        text = f"{subject}: use letters, digits and _, and no digit first."
        facts: dict[str, Json] = {"name": name, "reason": "letters" if name else "empty"}
        build.problem("setvars.name", text, field, facts=facts)
    elif _is_reserved(name):
        build.problem("setvars.reserved", _RESERVED_TEXT.format(name), field, facts={"name": name})


def check_stored(path: str, build: Build, field: str) -> None:
    """Refuse a path of a stored variable that begins with a name of templates' own."""
    if _is_reserved(root := parse_path(path)[0].key):
        build.problem("setvars.reserved", _RESERVED_TEXT.format(root), field, facts={"name": root})


def _is_reserved(name: str) -> bool:
    """Whether templates give the name a meaning of their own."""
    return name in RESERVED or _OUT_SHORT.fullmatch(name) is not None


def _out(values: Sequence[tuple[Tier, str, Json]]) -> dict[str, Json]:
    """Values as OUT: the run's variables, and the stored ones by tier."""
    out: dict[str, Json] = {"vars": {name: value for tier, name, value in values if tier == "run"}}
    for tier, name, value in values:
        if tier != "run":
            out.setdefault("stored", {}).setdefault(tier, {})[name] = value
    return out
