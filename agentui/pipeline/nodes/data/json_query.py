"""Json: picks values out of JSON, and makes new JSON of them."""

from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.data.queries import Query, QueryError, QueryLanguage, compile_query
from agentui.pipeline.nodes.data.set_vars import check_variable
from agentui.templating.core.paths import MISSING
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.values import text_of
from agentui.threads import in_search_thread


class Output(BaseModel):
    """A value with a name."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str = Field(description="The variable of the run that gets the value.", max_length=200)
    expression: str = Field(description="The question that gives it.", json_schema_extra={"ui": "code"})
    default: str = Field("", description="JSON in place of what is not there; empty: null.", json_schema_extra={"ui": "json"})


class JsonParams(NodeParams):
    """A value, and what is asked of it."""

    source: str = Field(
        "{{ chat.messages }}",
        description="The value, as JSON with macros: {{ OUT.n1.result }}.",
        json_schema_extra={"ui": "json"},
    )
    language: QueryLanguage = Field(
        "jmespath",
        description="What the questions are written in. A JSONPath may leave out the $ and write choices.0.message.",
        json_schema_extra={"enumDescriptions": ["JMESPath", "JSONPath"]},
    )
    expression: str = Field("", description="The question; empty: the whole value.", json_schema_extra={"ui": "code"})
    default: str = Field("", description="JSON in place of what is not there; empty: null.", json_schema_extra={"ui": "json"})
    outputs: list[Output] = Field(
        default_factory=list, max_length=200, description="More questions, whose answers become variables of the run."
    )


class _Question:
    """A question with what stands for an answer that is not there. ``query`` is None for the whole value."""

    def __init__(self, query: Query | None, default: TemplateField[Json] | None, field: str) -> None:
        self._query = query
        self._default = default
        self._field = field

    def ask(self, value: Json) -> Json:
        """What the value has; MISSING where it has nothing. Raises NodeFailed."""
        try:
            return value if self._query is None else self._query.find(value)
        except QueryError as error:
            raise NodeFailed(f"The expression cannot be answered: {error}.", field=self._field) from error

    def answer(self, ctx: NodeContext, found: Json) -> Json:
        """What was found, or what stands in its place."""
        if found is MISSING or found is None:
            return None if self._default is None else ctx.render(self._default)
        return found


@node("Json")
class JsonNode(Node[JsonParams]):
    """Picks values out of JSON, and makes new JSON of them, by JMESPath or JSONPath.

    OUT: ``result`` (the answer), ``text`` (the same as a text) and ``vars`` (the answers of ``outputs``). A text that holds
    JSON is read by the node Parse.
    """

    Params = JsonParams
    title = "JSON"
    category = "data"
    icon = "code"
    summary = "{expression}"

    def prepare(self, build: Build) -> None:
        """Compile the source and every question."""
        params = self.params
        self._source = build.json("source", params.source)
        self._result = self._question(build, "", params.expression, params.default)
        self._outputs: dict[str, _Question] = {}
        for number, output in enumerate(params.outputs):
            where = f"outputs.{number}."
            check_variable(output.name, build, f"{where}name")
            self._outputs[output.name] = self._question(build, where, output.expression, output.default)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``result``, ``text``, ``vars``. Raises NodeFailed for a question that cannot be answered of this value."""
        value = await ctx.apart(partial(ctx.render, self._source))
        found = await in_search_thread(lambda: [question.ask(value) for question in (self._result, *self._outputs.values())])
        return await ctx.apart(partial(self._out, ctx, found))

    async def preview(self, ctx: NodeContext) -> Json:
        """The answers as they are now."""
        return dict(await self.run(ctx))

    def _question(self, build: Build, where: str, expression: str, default: str) -> _Question:
        query = None
        try:
            query = compile_query(self.params.language, expression) if expression.strip() else None
        except QueryError as error:
            build.problem(
                "query.syntax",
                f"This is no {self.params.language}: {error}.",
                f"{where}expression",
                facts={"language": self.params.language},
            )
        missing = build.json(f"{where}default", default) if default.strip() else None
        return _Question(query, missing, f"{where}expression")

    def _out(self, ctx: NodeContext, found: Sequence[Json]) -> dict[str, Json]:
        result = self._result.answer(ctx, found[0])
        try:
            text = text_of(result)
        except CannotInsert as error:
            raise NodeFailed(f"What comes of the expression cannot be written: {error}", field="expression") from error
        named = {
            name: question.answer(ctx, each) for (name, question), each in zip(self._outputs.items(), found[1:], strict=True)
        }
        return {"result": result, "text": text, **({"vars": named} if named else {})}
