"""Parse: reads the JSON that a model wrote."""

from collections.abc import Mapping
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.schema_field import SchemaField, complaint
from agentui.pipeline.nodes.data.set_vars import check_variable
from agentui.pipeline.nodes.text.model_json import Found, NoJson, find_json
from agentui.templating.core.values import json_text
from agentui.threads import apart
from agentui.tools.schemas import BadSchema

_WEIGHT = 8
"""How many bytes of JSON take as long to read as a character here takes at worst."""


class ParseParams(NodeParams):
    """A text, and what is expected of the JSON in it."""

    text: str = Field("", description="The text: {{ OUT.n1.response_text }}.", json_schema_extra={"ui": "macro"})
    repair: bool = Field(True, description="Mend small mistakes: commas, quotes, comments, an end that is missing.")
    json_schema: str = Field(
        "",
        description="A JSON Schema that the value must follow; empty: any value.",
        json_schema_extra={"ui": "json"},
    )
    on_failure: Literal["error", "default"] = Field(
        "error",
        description="What follows where there is no JSON, or not the expected one.",
        json_schema_extra={"enumDescriptions": ["The node fails", "The default takes its place"]},
    )
    default: str = Field(
        "",
        description="JSON that takes its place; empty: null.",
        json_schema_extra={"when": {"on_failure": ["default"]}, "ui": "json"},
    )
    variable: str = Field("", description="A variable of the run that gets the value; empty: none.", max_length=200)


@node("Parse")
class Parse(Node[ParseParams]):
    """Reads the JSON in a model's answer, also between other words, in a fence, or with small mistakes.

    OUT: ``result`` (the value), ``text`` (the same, written without mistakes), ``ok``, ``repaired``, ``error`` (what was wrong,
    else null), and ``vars`` where it names a variable.
    """

    Params = ParseParams
    title = "Parse JSON"
    category = "text"
    icon = "code"
    summary = "{text}"

    def prepare(self, build: Build) -> None:
        """Compile the text, the schema and the default."""
        params = self.params
        self._text = build.text("text", params.text)
        self._schema = SchemaField(build, "json_schema", params.json_schema)
        self._default = build.json("default", params.default) if params.default.strip() else None
        if params.variable:
            check_variable(params.variable, build, "variable")

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT as the class says. Raises NodeFailed where there is no such JSON and nothing takes its place."""
        text = await ctx.apart(partial(ctx.render, self._text))
        found = await self._found(text)
        if isinstance(found, Found):
            return await apart(len(text), partial(self._out, found.value, found.is_repaired, None))
        if self.params.on_failure == "error":
            raise NodeFailed(f"The text cannot be used: {found}.", field="text")
        return await ctx.apart(lambda: self._out(None if self._default is None else ctx.render(self._default), False, found))

    async def preview(self, ctx: NodeContext) -> Json:
        """The value as it is now."""
        return dict(await self.run(ctx))

    async def _found(self, text: str) -> Found | str:
        """The JSON of the text, or why there is none that fits."""
        try:
            found = await apart(_WEIGHT * len(text), partial(find_json, text, repair=self.params.repair))
            misfits = await self._schema.misfits(found.value)
        except (NoJson, BadSchema) as error:
            return str(error)
        return f"its JSON does not follow the schema: {complaint(misfits)}" if misfits else found

    def _out(self, value: Json, is_repaired: bool, error: str | None) -> dict[str, Json]:
        named = {"vars": {self.params.variable: value}} if self.params.variable else {}
        return {
            "result": value, "text": json_text(value), "ok": error is None, "repaired": is_repaired, "error": error, **named
        }  # fmt: skip
