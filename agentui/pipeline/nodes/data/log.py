"""Log: a message for whoever looks at the run."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext

MOST_SHOWN = 2000
"""Characters of a message: as many as an event shows in place, whatever they are."""


class LogParams(NodeParams):
    """What to say."""

    message: str = Field("", description="The message, a template.", json_schema_extra={"ui": "macro"})
    level: Literal["info", "warning"] = Field(
        "info",
        description="How it is shown with the run.",
        json_schema_extra={"enumDescriptions": ["Information", "Warning"]},
    )


@node("Log")
class Log(Node[LogParams]):
    """Writes a message into the run, where the editor and the API show it. The caller does not hear of it.

    Keys are masked in it as everywhere, and ``[[SECRET:..]]`` cannot stand in it. OUT: ``message``, ``level``.
    """

    Params = LogParams
    title = "Log"
    category = "data"
    icon = "note"
    summary = "{message}"

    def prepare(self, build: Build) -> None:
        """Compile the message."""
        self._message = build.text("message", self.params.message)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Say it, cut where it is very long."""
        said = await self.rehearse(ctx)
        ctx.run.emit("node.log", ctx.node_id, said)
        return said

    async def rehearse(self, ctx: NodeContext) -> dict[str, Json]:
        """What it would say."""
        # A key is masked before the cut: of half of one nobody would know what it is.
        text = await ctx.apart(lambda: ctx.run.redactor.redact(ctx.render(self._message)))
        shown = text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
        return {"message": shown, "level": self.params.level}

    async def preview(self, ctx: NodeContext) -> Json:
        """The message as it would be shown."""
        return await self.rehearse(ctx)
