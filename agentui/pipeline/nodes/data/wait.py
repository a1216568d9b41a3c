"""Wait: time between two nodes."""

import asyncio
import math
import time
from collections.abc import Mapping

from pydantic import Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext

LONGEST = 3_600_000
"""Milliseconds of one wait."""


class WaitParams(NodeParams):
    """How long."""

    milliseconds: str = Field(
        "1000",
        max_length=1000,
        description="How long: a number, or a template that gives one; 0 to 3,600,000.",
        json_schema_extra={"ui": "macro"},
    )


@node("Wait")
class Wait(Node[WaitParams]):
    """Waits before the nodes that follow.

    A wait that would last longer than the run has left fails at once, and one that is cut short with its run leaves nothing
    behind. A preview does not wait. OUT: ``waited_ms``.
    """

    Params = WaitParams
    title = "Wait"
    category = "control"
    icon = "pause"
    summary = "{milliseconds} ms"

    def prepare(self, build: Build) -> None:
        """Compile the number; one that is none is told of when the pipeline is saved."""
        self._milliseconds = build.text("milliseconds", self.params.milliseconds)
        if not self._milliseconds.template.macros and _number(self.params.milliseconds) is None:
            facts: dict[str, Json] = {"value": self.params.milliseconds.strip()[:80], "limit": LONGEST}
            build.problem("wait.milliseconds", _wrong(self.params.milliseconds), "milliseconds", facts=facts)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Wait. Raises NodeFailed for what is no such number, and for more than the run has left."""
        milliseconds = await self._wanted(ctx)
        left = (ctx.deadline - time.monotonic()) * 1000
        if milliseconds > left:
            raise NodeFailed(
                f"It would wait {milliseconds:.0f} ms, but the run must be over in {max(left, 0):.0f} ms: wait for less, or "
                "give runs more time (AGENTUI_RUN_TIMEOUT).",
                field="milliseconds",
            )
        await asyncio.sleep(milliseconds / 1000)
        return {"waited_ms": milliseconds}

    async def rehearse(self, ctx: NodeContext) -> Mapping[str, Json]:
        """The same without waiting."""
        return {"waited_ms": await self._wanted(ctx)}

    async def preview(self, ctx: NodeContext) -> Json:
        """How long it would wait."""
        return {"waited_ms": await self._wanted(ctx)}

    async def _wanted(self, ctx: NodeContext) -> float:
        text = await ctx.compute(self._milliseconds)
        number = _number(text)
        if number is None:
            raise NodeFailed(_wrong(text), field="milliseconds")
        return number


def _number(text: str) -> float | None:
    """The milliseconds that a text means; None where it is no number from 0 to LONGEST."""
    try:
        number = float(text.strip())
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number <= LONGEST else None


def _wrong(text: str) -> str:
    return f"{text.strip()!r:.80} is no wait: give a number of milliseconds from 0 to {LONGEST}."
