"""Switch: one of several ways on."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext, TemplateField

DEFAULT = "default"
_TAKEN = frozenset({DEFAULT, "error"})


class Case(BaseModel):
    """One way on."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str = Field(description="Its name, and the name of its port.", min_length=1, max_length=60)
    condition: str = Field(
        "",
        max_length=65536,
        description="When it is taken. Empty: when the value is the text below.",
        json_schema_extra={"ui": "condition"},
    )
    equals: str = Field("", description="The value that it is taken at, letter case and outer space aside.", max_length=1000)


class SwitchParams(NodeParams):
    """The ways, in their order."""

    value: str = Field("", description="What cases without a condition are compared with.", json_schema_extra={"ui": "macro"})
    cases: list[Case] = Field(default_factory=list, max_length=100, description="The first that fits is taken.")


class _Way(NamedTuple):
    """A case, compiled; ``equals`` counts where there is no condition."""

    name: str
    condition: TemplateField[bool] | None
    equals: str


@node("Switch")
class Switch(Node[SwitchParams]):
    """Goes on by the first of its cases that fits, else by ``default``.

    A case fits where its condition holds or, where it has none, where the value is its text. OUT: ``port``, the name of the
    case, ``index``, its place from 0 (null for ``default``), ``value``, and ``operands``, what the
    names in the conditions were that were asked.
    """

    Params = SwitchParams
    title = "Switch"
    category = "control"
    icon = "branch"
    ports: tuple[str, ...] = (DEFAULT,)
    ports_from = "cases.*.name"
    summary = "{value}"

    def prepare(self, build: Build) -> None:
        """Compile the cases, whose names are ports."""
        self._value = build.text("value", self.params.value)
        self._ways: list[_Way] = []
        for number, case in enumerate(self.params.cases):
            where = f"cases.{number}"
            if case.name in _TAKEN or any(way.name == case.name for way in self._ways):
                text = f"A port is called {case.name!r} already: name this case otherwise."
                build.problem("switch.name", text, f"{where}.name", facts={"port": case.name})
            condition = build.condition(f"{where}.condition", case.condition) if case.condition.strip() else None
            if condition is None and not self.params.value.strip():
                text = "This case has no condition, and there is no value to compare: write one of the two."
                build.problem("switch.case", text, f"{where}.condition")
            self._ways.append(_Way(case.name, condition, _folded(case.equals)))
        self.ports = (*dict.fromkeys(way.name for way in self._ways), DEFAULT)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``port``, ``index``, ``value`` and ``operands``. Raises TemplateProblem where a condition cannot be computed."""
        value = await ctx.compute(self._value)
        said = _folded(value)
        operands: dict[str, Json] = {}
        """Of all conditions that were asked, each once."""
        for index, way in enumerate(self._ways):
            if way.condition is not None:
                operands |= {operand["name"]: operand for operand in await ctx.operands(way.condition)}
            if said == way.equals if way.condition is None else await ctx.compute(way.condition):
                ctx.leave_by(way.name)
                return {"port": way.name, "index": index, "value": value, "operands": list(operands.values())}
        ctx.leave_by(DEFAULT)
        return {"port": DEFAULT, "index": None, "value": value, "operands": list(operands.values())}

    async def preview(self, ctx: NodeContext) -> Json:
        """The way it would take now."""
        return dict(await self.run(ctx))


def _folded(text: str) -> str:
    """A text as it is compared."""
    return text.strip().casefold()
