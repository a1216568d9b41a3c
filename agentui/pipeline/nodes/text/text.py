"""Text: changes a text by operations, one after the other."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pydantic import Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.text.operations import (
    SIMPLE,
    Operation,
    checked,
    each,
    join,
    lines,
    picked,
    replace,
    split,
    truncated,
)
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import JsPattern, compile_js
from agentui.templating.core.values import unescape
from agentui.threads import in_search_thread

OWN = frozenset({"text", "texts", "index"})
"""The names that an operation's template sees beside all others."""
_WEIGHT = 64
"""What each text counts beside its characters, where it is decided whether to work in a thread."""

_Step = Callable[[NodeContext, list[str]], Awaitable[list[str]]]


class TextParams(NodeParams):
    """A text, and what is done to it."""

    text: str = Field("", description="The text to begin with.", json_schema_extra={"ui": "macro"})
    operations: list[Operation] = Field(default_factory=list, max_length=100, description="What is done to it, in this order.")


@node("Text")
class Text(Node[TextParams]):
    """Changes a text: splits, joins, replaces, trims, picks lines, truncates.

    Operations work in their order on a list of texts, which begins with one: split makes several of each, join one of all,
    pick keeps some of them, and every other operation changes each. OUT: ``texts`` (the list) and ``text`` (the only one, or
    all of them as lines).
    """

    Params = TextParams
    title = "Text"
    category = "text"
    icon = "edit"
    summary = "{text}"

    def prepare(self, build: Build) -> None:
        """Compile the text and every operation."""
        self._text = build.text("text", self.params.text)
        self._steps = [
            step
            for number, operation in enumerate(self.params.operations)
            if (step := _step(operation, build, f"operations.{number}")) is not None
        ]

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``text`` and ``texts``. Raises NodeFailed where an operation makes too much or takes too long."""
        texts = checked([await ctx.apart(partial(ctx.render, self._text))], "text")
        for step in self._steps:
            texts = await step(ctx, texts)
        return {"text": "\n".join(texts), "texts": texts}

    async def preview(self, ctx: NodeContext) -> Json:
        """The text as it would become now."""
        return dict(await self.run(ctx))


def _step(operation: Operation, build: Build, where: str) -> _Step | None:
    """What does one operation; None where it does not compile."""
    match operation.op:
        case "template":
            return _templates(build.text(f"{where}.text", operation.text, own=OWN), where)
        case "split" | "join" | "truncate":
            return _with_text(operation, build.text(f"{where}.text", unescape(operation.text)), where)
        case "replace":
            return _replacing(operation, build, where)
        case "lines":
            change = partial(lines, first=operation.first, last=operation.last)
            return _changing(lambda texts: each(texts, lambda _, text: change(text), where))
        case "pick":
            return _changing(lambda texts: picked(texts, operation.first, operation.last))
        case "trim" | "dedent" | "upper" | "lower":
            simple = SIMPLE[operation.op]
            return _changing(lambda texts: each(texts, lambda _, text: simple(text), where))


def _size(texts: list[str]) -> int:
    return sum(map(len, texts)) + _WEIGHT * len(texts)


def _changing(change: Callable[[list[str]], list[str]]) -> _Step:
    """A step that needs nothing but the texts."""

    async def step(ctx: NodeContext, texts: list[str]) -> list[str]:
        return await ctx.apart(partial(change, texts), _size(texts))

    return step


def _templates(template: TemplateField[str], where: str) -> _Step:
    """A step that makes each text anew, from a template."""

    def rendered(ctx: NodeContext, texts: list[str]) -> list[str]:
        def render(index: int, text: str) -> str:
            return ctx.render(template, ctx.scope({"text": text, "texts": texts, "index": index}))

        return each(texts, render, where)

    async def step(ctx: NodeContext, texts: list[str]) -> list[str]:
        return await ctx.apart(partial(rendered, ctx, texts), _size(texts) + _WEIGHT * len(texts))

    return step


def _with_text(operation: Operation, template: TemplateField[str], where: str) -> _Step:
    """A step with a separator, or with a mark for the cut."""

    def work(ctx: NodeContext, texts: list[str]) -> list[str]:
        written = ctx.render(template)
        if operation.op == "split":
            return split(texts, written, operation.limit, where)
        if operation.op == "join":
            return join(texts, written, where)
        limit = operation.limit
        if limit is None:
            return texts
        return each(texts, lambda _, text: truncated(text, limit, operation.unit, operation.keep, written), where)

    async def step(ctx: NodeContext, texts: list[str]) -> list[str]:
        return await ctx.apart(partial(work, ctx, texts), _size(texts))

    return step


def _replacing(operation: Operation, build: Build, where: str) -> _Step | None:
    """A step that replaces by a regular expression."""
    template = build.text(f"{where}.text", unescape(operation.text))
    pattern = compiled(operation.pattern, operation.flags, build, where)
    if pattern is None:
        return None

    async def step(ctx: NodeContext, texts: list[str]) -> list[str]:
        replacement = await ctx.apart(partial(ctx.render, template))
        return await in_search_thread(partial(replace, texts, pattern, replacement, where))

    return step


def compiled(pattern: str, flags: str, build: Build, where: str) -> JsPattern | None:
    """A regular expression of a configuration; None (and a problem) where there is none."""
    try:
        if not pattern:
            raise RegexError("there is no pattern", 0)
        return compile_js(pattern, flags)
    except RegexError as error:
        build.problem("regex.syntax", f"The regular expression cannot be used, {error}.", f"{where}.pattern")
        return None
