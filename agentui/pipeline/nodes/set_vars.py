"""SetVars: names for values, for the nodes that follow (seed 003, the part on SetVars)."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.nodecontext import NodeContext
from agentui.templating.expressions import Expression, ExpressionError

RESERVED = frozenset({"incoming", "OUT", "PROMPT", "VAR", "SECRET", "pm", "vars"})
"""Names that templates give a meaning of their own; ``OUT1``, ``OUT2`` ... are refused too."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OUT_SHORT = re.compile(r"OUT[0-9]+")


class Row(BaseModel):
    """One variable."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str = Field(description="Letters, digits and _; not a digit first.", max_length=200)
    mode: Literal["string", "expr"] = Field("string", description="string: a template; expr: a formula without macros.")
    value: str = Field("", json_schema_extra={"ui": "macro"}, description="The template or the formula.")


class SetVarsParams(NodeParams):
    """Rows are computed in their order; rows of one node do not see each other."""

    variables: list[Row] = Field(default_factory=list, max_length=1000, description="The variables to set.")


@node("SetVars")
class SetVars(Node[SetVarsParams]):
    """Sets variables that later nodes read as ``[[NAME]]`` or ``{{ NAME }}``.

    A value is a template (mode string) or a formula (mode expr: numbers, text, lists, JSON, rand(), randint(a, b),
    choice(list)). Values of one node do not see each other; a later SetVars sees an earlier one.
    """

    Params = SetVarsParams
    title = "Set variables"
    category = "data"
    icon = "variable"
    summary = "{variables}"

    def prepare(self, build: Build) -> None:
        """Compile every row and refuse names that cannot be variables."""
        self._rows: list[tuple[str, Callable[[NodeContext], Json]]] = []
        self._random = random.SystemRandom()
        for number, row in enumerate(self.params.variables):
            where = f"variables.{number}"
            self._check_name(row.name, build, f"{where}.name")
            if row.mode == "string":
                text = build.text(f"{where}.value", row.value, prompt=True)
                self._rows.append((row.name, lambda ctx, text=text: ctx.render(text)))  # type: ignore[misc]
            else:
                expression = build.expression(f"{where}.value", row.value)
                if expression is not None:
                    self._rows.append((row.name, self._evaluator(row.name, f"{where}.value", expression)))

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``{"vars": {name: value}}``."""
        return {"vars": {name: value(ctx) for name, value in self._rows}}

    async def preview(self, ctx: NodeContext) -> Json:
        """The values as they would be set now; random ones vary."""
        return dict(await self.run(ctx))

    def _check_name(self, name: str, build: Build, field: str) -> None:
        if not _NAME.fullmatch(name):
            text = f"{name!r} cannot be a variable's name: use letters, digits and _, and no digit first."
            build.problem("setvars.name", text, field)
        elif name in RESERVED or _OUT_SHORT.fullmatch(name):
            build.problem("setvars.reserved", f"{name!r} has a meaning of its own in templates; choose another name.", field)

    def _evaluator(self, name: str, field: str, expression: Expression) -> Callable[[NodeContext], Json]:
        def evaluate(ctx: NodeContext) -> Json:
            try:
                return expression.evaluate(self._random)
            except ExpressionError as error:
                raise NodeFailed(
                    f"Variable {name!r}: {error}", field=field, line=error.line, column=error.column, variable=name
                ) from error

        return evaluate
