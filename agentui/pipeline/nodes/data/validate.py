"""Validate: decides by a value whether a pipeline goes on one way or the other."""

from collections.abc import Mapping
from functools import partial

from pydantic import Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.schema_field import SchemaField, complaint
from agentui.templating.core.values import text_of
from agentui.tools.schemas import BadSchema, Misfit

OWN = frozenset({"value"})
"""The name that the condition sees beside all others."""


class ValidateParams(NodeParams):
    """A value, and what must be true of it."""

    value: str = Field("", description="The value, as JSON with macros: {{ OUT.n1.result }}.", json_schema_extra={"ui": "json"})
    json_schema: str = Field(
        "",
        description="A JSON Schema that it must follow; empty: none.",
        json_schema_extra={"ui": "json"},
    )
    condition: str = Field(
        "", description="What must hold of it besides: value.age >= 18. Empty: nothing.", json_schema_extra={"ui": "condition"}
    )
    message: str = Field(
        "", description="What is told where the condition does not hold.", json_schema_extra={"ui": "macro"}, max_length=10_000
    )


@node("Validate")
class Validate(Node[ValidateParams]):
    """Holds a value against a JSON Schema and a condition, and leaves by ``valid`` or ``invalid``.

    OUT: ``valid``, ``errors`` (a list of ``path`` and ``message``), ``complaint`` (the same as a text, to tell a model),
    ``value``, and ``text`` (the value as a text).
    """

    Params = ValidateParams
    title = "Validate"
    category = "control"
    icon = "check"
    ports = ("valid", "invalid")
    summary = "{condition}"

    def prepare(self, build: Build) -> None:
        """Compile the value, the schema and the condition."""
        params = self.params
        self._value = build.json("value", params.value or "null")
        self._schema = SchemaField(build, "json_schema", params.json_schema)
        self._condition = build.condition("condition", params.condition, own=OWN) if params.condition.strip() else None
        self._message = build.text("message", params.message)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT as the class says. Raises NodeFailed where the schema cannot be applied to this value."""
        out = await self._out(ctx)
        ctx.leave_by("valid" if out["valid"] else "invalid")
        return out

    async def preview(self, ctx: NodeContext) -> Json:
        """How the value does now."""
        return await self._out(ctx)

    async def _out(self, ctx: NodeContext) -> dict[str, Json]:
        value = await ctx.apart(partial(ctx.render, self._value))
        try:
            misfits = list(await self._schema.misfits(value))
        except BadSchema as error:
            raise NodeFailed(str(error), field="json_schema") from error
        if not misfits:
            misfits = await ctx.apart(partial(self._doubts, ctx, value))
        return {
            "valid": not misfits,
            "errors": [{"path": misfit.path, "message": misfit.message} for misfit in misfits],
            "complaint": complaint(misfits),
            "value": value,
            "text": text_of(value),
        }

    def _doubts(self, ctx: NodeContext, value: Json) -> list[Misfit]:
        """What the condition has against the value."""
        if self._condition is None or ctx.render(self._condition, ctx.scope({"value": value})):
            return []
        return [Misfit("", ctx.render(self._message) or f"This does not hold: {self.params.condition}")]
