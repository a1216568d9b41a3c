"""Loop: runs the nodes that stand in it again and again."""

from collections.abc import Mapping
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.errors import NodeFailed
from agentui.jsonio import InvalidJson, Json, loads
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.flow.iterations import Iterations, Rules, loop_names
from agentui.templating.core.paths import is_sequence
from agentui.templating.core.values import json_text
from agentui.templating.core.weight import beginning
from agentui.templating.hadtavern.formulas.values import kind

MAX_ITERATIONS = 10_000
SHOWN = 80
"""Characters of a value that an error shows."""


class LoopParams(NodeParams):
    """What is repeated, and how long."""

    mode: Literal["each", "while", "until"] = Field(
        "each",
        description="each: once for every item; while: as long as the condition holds; until: until it does.",
        json_schema_extra={"enumDescriptions": ["For each item", "While", "Until"]},
    )
    items: str = Field(
        "",
        max_length=100_000,
        description="each: a list, as a path (OUT.n1.list), a formula, or JSON with macros. A text gives its lines, a number "
        "counts from 1.",
        json_schema_extra={"when": {"mode": ["each"]}, "ui": "condition"},
    )
    at_once: int = Field(
        1,
        ge=1,
        le=20,
        description="each: how many iterations run at once. Results keep their order.",
        json_schema_extra={"when": {"mode": ["each"]}},
    )
    condition: str = Field(
        "",
        description="while, until: what decides. It sees loop.index, loop.last, variables, and OUT of the iteration before.",
        json_schema_extra={"when": {"mode": ["while", "until"]}, "ui": "condition"},
    )
    max_iterations: int = Field(100, ge=1, le=MAX_ITERATIONS, description="After how many iterations it ends in any case.")
    result: str = Field("", max_length=200, description="The node in it whose OUT is collected; empty: the last one.")
    deadline_s: float | None = Field(
        None, gt=0, le=86_400, description="Seconds after which the loop ends, all iterations together."
    )
    max_calls: int | None = Field(
        None, ge=1, le=1_000_000, description="How many calls to models the iterations may make together."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=10**12, description="How many tokens, in and out, those calls may take together until no other begins."
    )
    on_limit: Literal["end", "fail"] = Field(
        "end",
        description="What happens when iterations, seconds, calls or tokens are used up before the end.",
        json_schema_extra={"enumDescriptions": ["It ends with the results so far", "It fails"]},
    )
    on_failure: Literal["fail", "skip", "keep"] = Field(
        "fail",
        description="each: what an item does whose iteration fails.",
        json_schema_extra={
            "when": {"mode": ["each"]},
            "enumDescriptions": ["The loop fails", "It is left out", "Its error is its result"],
        },
    )
    join: str = Field("\n\n", max_length=1000, description="What stands between the texts of the results.")


@node("Loop")
class Loop(Node[LoopParams]):
    """Runs the nodes in it once for each item of a list, or while or until a condition holds.

    In them ``{{ loop.item }}`` is the item, ``{{ loop.index }}`` the number of the iteration (from 1), ``{{ loop.count }}``
    how many items there are, ``{{ loop.last }}`` the result of the iteration before, and ``{{ loop.outer }}`` the same of the
    loop around. They read OUT of the nodes before the loop and of each other; wires do not cross its border. Variables that
    are set in an iteration are seen by the next one and after the loop, unless several run at once. OUT: ``results``,
    ``texts``, ``text``, ``count``, ``ended`` (done, break, limit, deadline or budget), ``errors``, ``last``.
    """

    Params = LoopParams
    title = "Loop"
    category = "control"
    icon = "repeat"
    summary = "{mode} {items}{condition}"
    holds_body = True

    def prepare(self, build: Build) -> None:
        """Compile the list or the condition, and find the node that gives the results."""
        params = self.params
        self.items: TemplateField[Json] | None = None
        self.condition: TemplateField[bool] | None = None
        if params.mode != "each":
            self.condition = build.condition("condition", params.condition)
            if params.at_once > 1:
                build.warning("loop.at_once", "Iterations follow each other here: at_once works for each item only.", "at_once")
            if params.on_failure != "fail":
                text = "Without a list an iteration that fails fails the loop: on_failure works for each item only."
                build.warning("loop.on_failure", text, "on_failure")
        elif not params.items.strip():
            build.problem("loop.items", "There is no list: name one, such as OUT.n1.list or [1, 2, 3].", "items")
        elif params.items.lstrip().startswith(("[", "{")):
            self.items = build.json("items", params.items)
        else:
            self.items = build.value("items", params.items)
        if not build.body:
            build.problem("loop.empty", "Nothing stands in the loop: put the nodes into it that it repeats.")
        elif params.result and params.result not in build.body:
            text = f"No node {params.result!r} stands in the loop: name one that does."
            build.problem("loop.result", text, "result", facts={"name": params.result})

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Run the iterations. Raises NodeFailed for what is no list, for results that are too large, and where a limit is to
        fail it; and the error of an iteration that fails, where that is to fail the loop."""
        params = self.params
        on_failure = params.on_failure if self.items is not None else "fail"
        rules = Rules(params.result, params.deadline_s, params.max_calls, params.max_tokens, on_failure)
        iterations = Iterations(ctx, rules)
        most = params.max_iterations
        if self.items is not None:
            items = await self.listed(ctx, self.items)
            await iterations.each(items[:most], params.at_once)
            iterations.note_limit(len(items) > most)
        elif self.condition is not None:
            await iterations.repeat(self.condition, most, checks_first=params.mode == "while")
        if params.on_limit == "fail":
            iterations.check_end()
        return iterations.out(params.join)

    async def first_iteration(self, ctx: NodeContext) -> Mapping[str, Json]:
        """The names of the loop for its first item."""
        items = [] if self.items is None else await self.listed(ctx, self.items)
        count = None if self.items is None else min(len(items), self.params.max_iterations)
        return loop_names(ctx.frame, 1, items[0] if items else None, count, None)

    async def preview(self, ctx: NodeContext) -> Json:
        """The items, or whether the condition holds now; nothing runs."""
        if self.items is not None:
            items = await self.listed(ctx, self.items)
            return {"items": items[: self.params.max_iterations], "count": len(items)}
        scope = ctx.scope({"loop": loop_names(ctx.frame, 1, None, None, None)})
        return {"condition": await ctx.compute(self.condition, scope)} if self.condition is not None else None

    async def listed(self, ctx: NodeContext, field: TemplateField[Json]) -> list[Json]:
        """The items. Raises NodeFailed for a value that is no list."""
        value = await ctx.compute(field)
        if isinstance(value, str):
            value = await ctx.apart(partial(_items_of_text, value), len(value))
        if type(value) is int and value >= 0:
            return list(range(1, min(value, MAX_ITERATIONS + 1) + 1))
        if value is None:
            return []
        if not is_sequence(value):
            raise NodeFailed(f"items gives {kind(value)} and no list: {json_text(beginning(value, SHOWN))}", field="items")
        return list(value)


def _items_of_text(text: str) -> Json:
    """A list that a text holds as JSON, else its lines without those that are empty."""
    if text.lstrip().startswith("["):
        try:
            return loads(text)
        except InvalidJson:
            pass
    return [line.strip() for line in text.splitlines() if line.strip()]
