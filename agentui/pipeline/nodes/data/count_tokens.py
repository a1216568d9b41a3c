"""CountTokens: about how many tokens a text or the conversation has."""

from collections.abc import Mapping

from pydantic import Field

from agentui.chat.estimates import text_tokens
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.tokens import estimate_tokens


class CountTokensParams(NodeParams):
    """What is counted."""

    content: str = Field(
        "",
        description="The text, a template; empty: the caller's conversation with its tools.",
        json_schema_extra={"ui": "macro"},
    )


@node("CountTokens")
class CountTokens(Node[CountTokensParams]):
    """Estimates how many tokens a text, or the caller's whole conversation, has. No provider is asked.

    Right within some tens of percent. OUT: ``tokens`` (a number), ``text`` (the same as a text).
    """

    Params = CountTokensParams
    title = "Count tokens"
    category = "text"
    icon = "code"
    summary = "{content}"

    def prepare(self, build: Build) -> None:
        """Compile the text, where there is one."""
        self._content = build.text("content", self.params.content) if self.params.content else None

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Count. Raises BadRequest where the conversation is meant and the request holds none that can be read."""
        tokens = await self._count(ctx)
        return {"tokens": tokens, "text": str(tokens)}

    async def preview(self, ctx: NodeContext) -> Json:
        """The number as it would be now."""
        return dict(await self.run(ctx))

    async def _count(self, ctx: NodeContext) -> int:
        content = self._content
        if content is None:
            return await ctx.incoming.worked_out(lambda: estimate_tokens(ctx.incoming.chat))
        return await ctx.apart(lambda: text_tokens(ctx.render(content)))
