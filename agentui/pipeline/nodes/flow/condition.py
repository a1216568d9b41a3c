"""If: two ways on."""

from collections.abc import Mapping

from pydantic import Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext


class IfParams(NodeParams):
    """What decides."""

    condition: str = Field(
        "",
        max_length=65536,
        description='What decides, e.g. chat.last_user contains "code".',
        json_schema_extra={"ui": "condition"},
    )


@node("If")
class If(Node[IfParams]):
    """Goes on by ``then`` where its condition holds, else by ``else``.

    A name that is missing is no error: comparing it is false. OUT: ``port``, the way it took, ``result``, true or false,
    and ``operands``, what the names in the condition were.
    """

    Params = IfParams
    title = "If"
    category = "control"
    icon = "branch"
    ports = ("then", "else")
    summary = "{condition}"

    def prepare(self, build: Build) -> None:
        """Compile the condition."""
        self._condition = build.condition("condition", self.params.condition)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``port``, ``result`` and ``operands``. Raises TemplateProblem where the condition cannot be computed."""
        holds = await ctx.compute(self._condition)
        port = "then" if holds else "else"
        ctx.leave_by(port)
        return {"port": port, "result": holds, "operands": await ctx.operands(self._condition)}

    async def preview(self, ctx: NodeContext) -> Json:
        """The way it would take now."""
        return dict(await self.run(ctx))
