"""RandomChoice: one of several values, by chance."""

import math
import random
from collections.abc import Mapping
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.set_vars import check_variable
from agentui.pipeline.plans.plan import ERROR_PORT
from agentui.templating.core.paths import is_sequence
from agentui.templating.core.values import text_of

DONE = "done"
"""The port of values that name none."""


class Choice(BaseModel):
    """One of the values."""

    model_config = ConfigDict(extra="allow", strict=True)

    value: str = Field("", description="The value, as a text.", json_schema_extra={"ui": "macro"})
    weight: float = Field(1.0, ge=0, le=1e9, description="How likely it is beside the others; 0: never.")
    port: str = Field("", description="The port that the node then leaves by; empty: done.", max_length=60)


class RandomChoiceParams(NodeParams):
    """What is chosen of, and what chance is made of."""

    items: list[Choice] = Field(default_factory=list, max_length=1000, description="The values to choose from.")
    values: str = Field(
        "", description="In place of these: a JSON list, each value as likely as the others.", json_schema_extra={"ui": "json"}
    )
    variable: str = Field("", description="A variable of the run that gets the value; empty: none.", max_length=200)
    seed: str = Field(
        "",
        description="The same text chooses the same value of the same list each time; empty: every run anew.",
        json_schema_extra={"ui": "macro"},
    )


@node("RandomChoice")
class RandomChoice(Node[RandomChoiceParams]):
    """Chooses one of several values by chance, some more likely than others; the value may decide the way on, too.

    OUT: ``value``, ``index`` (from 0), ``text`` (the value as a text), and ``vars`` where it names a variable.
    """

    Params = RandomChoiceParams
    title = "Random choice"
    category = "data"
    icon = "branch"
    ports: tuple[str, ...] = (DONE,)
    ports_from = "items.*.port"
    summary = "{items}"

    def prepare(self, build: Build) -> None:
        """Compile the values, the list and the seed."""
        params = self.params
        self._items = [build.text(f"items.{number}.value", item.value) for number, item in enumerate(params.items)]
        self._values = build.json("values", params.values) if params.values.strip() else None
        self._seed = build.text("seed", params.seed)
        self._weights = [item.weight for item in params.items]
        self.ports = (*dict.fromkeys(item.port for item in params.items if item.port not in ("", DONE)), DONE)
        if params.items and all(item.port not in ("", DONE) for item in params.items):
            self.idle_ports = frozenset({DONE})
        for number, item in enumerate(params.items):
            if item.port == ERROR_PORT:
                text = f"The port {ERROR_PORT!r} is for failures: name this one otherwise."
                build.problem("switch.name", text, f"items.{number}.port", facts={"port": ERROR_PORT})
        if params.variable:
            check_variable(params.variable, build, "variable")
        if (self._values is None) == (not self._items):
            build.problem(
                "random.nothing", "Choose from items or from values: one of the two.", "items", facts={"reason": "which"}
            )
        elif self._items and not math.fsum(self._weights):
            build.problem(
                "random.nothing", "Every item has the weight 0, so none can be chosen.", "items", facts={"reason": "weights"}
            )

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``value``, ``index``, ``text``, ``vars``. Raises NodeFailed for a list that is none or empty."""
        out = await ctx.apart(partial(self._chosen, ctx))
        if self._values is None:
            ctx.leave_by(self.params.items[out["index"]].port or DONE)
        return out

    async def preview(self, ctx: NodeContext) -> Json:
        """A choice as it could be now."""
        return await ctx.apart(partial(self._chosen, ctx))

    def _chosen(self, ctx: NodeContext) -> dict[str, Json]:
        seed = ctx.render(self._seed)
        chance: random.Random = random.Random(seed) if seed else random.SystemRandom()
        if self._values is not None:
            values = ctx.render(self._values)
            if not is_sequence(values) or not values:
                raise NodeFailed("values must render to a JSON list with at least one value.", field="values")
            index = int(chance.random() * len(values))
            value = values[index]
        else:
            index = chance.choices(range(len(self._items)), self._weights)[0]
            value = ctx.render(self._items[index])
        named = {"vars": {self.params.variable: value}} if self.params.variable else {}
        return {"value": value, "index": index, "text": text_of(value), **named}
