"""The iterations of one Loop in one run: frames one after the other, or several at once, and what they give."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.nodecontext import NodeContext, TemplateField
from agentui.pipeline.nodes.flow.folding import Folding
from agentui.pipeline.walk.executor import execute
from agentui.pipeline.walk.frame import Frame
from agentui.pipeline.walk.group import Group, in_group
from agentui.pipeline.walk.said import said_in
from agentui.templating.core.paths import MISSING
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.weight import Scale

Ended = Literal["done", "break", "limit", "deadline"]


class Iterations:
    """Runs the body of the node whose context this is, and collects results by the number of the iteration."""

    def __init__(self, ctx: NodeContext, result: str, deadline_s: float | None) -> None:
        self._ctx = ctx
        self._body = ctx.body
        self._result = result or next((node.id for node in reversed(ctx.body.nodes) if node.enabled), "")
        self._deadline_s = deadline_s
        self._results: dict[int, Json] = {}
        self._weight = 0
        self._vars = ctx.frame.run_vars
        self._folding = Folding(ctx.run, ctx.node_id)
        self._ended: Ended = "done"
        self._broken_at: int | None = None
        """The first iteration that ended the loop."""

    async def each(self, items: Sequence[Json], at_once: int) -> None:
        """One iteration for each item. Raises what one raises, after the others were cancelled."""

        async def all_of_them() -> None:
            if at_once == 1:
                for index, item in enumerate(items, 1):
                    if await self._iterate(self._frame(index, item, len(items))) == "break":
                        return
            else:
                await self._side_by_side(items, at_once)

        await self._within_deadline(all_of_them)

    async def repeat(self, condition: TemplateField[bool], most: int, *, checks_first: bool) -> None:
        """Iterations while the condition holds or, where it is checked behind each, until it does."""

        async def all_of_them() -> None:
            before = self._ctx.frame
            for index in range(1, most + 1):
                frame = self._frame(index, None, None)
                if checks_first and not await self._holds(condition, frame, before):
                    return
                if await self._iterate(frame) == "break":
                    return
                if not checks_first and await self._holds(condition, self._frame(index, None, None), frame):
                    return
                before = frame
            # What is checked first may also end it now.
            if not checks_first or await self._holds(condition, self._frame(most + 1, None, None), before):
                self._ended = "limit"

        await self._within_deadline(all_of_them)

    def note_limit(self, is_over: bool) -> None:
        """There were more items than iterations."""
        if is_over and self._ended == "done":
            self._ended = "limit"

    def out(self, join: str) -> dict[str, Json]:
        """The loop's OUT, with the variables that the iterations set."""
        results = [self._results[index] for index in sorted(self._results)]
        texts = [said_in(result) if result is not None else "" for result in results]
        before = self._ctx.frame.run_vars
        made = {name: value for name, value in self._vars.items() if before.get(name, MISSING) is not value}
        return {
            "results": results,
            "texts": texts,
            "text": join.join(text for text in texts if text),
            "count": len(results),
            "ended": self._ended,
            "last": results[-1] if results else None,
            **({"vars": made} if made else {}),
        }

    def _frame(self, index: int, item: Json, count: int | None, *, follows: bool = True) -> Frame:
        """The walk of an iteration, which ``follows`` another or runs beside it."""
        outer = self._ctx.frame
        loop = loop_names(outer, index, item, count, self._results.get(index - 1) if follows else None)
        return Frame(self._body, f"{self._ctx.node_id}#{index}/", self._vars, loop, outer, depth=outer.depth)

    async def _iterate(self, frame: Frame, *, keeps_vars: bool = True) -> str | None:
        """Walk the body once. Returns how a node has ended the iteration."""
        loop = frame.loop or {}
        self._folding.begin(frame.path)
        try:
            await execute(self._ctx.run, frame, None)
        finally:
            self._folding.end(frame.path)
        if frame.left_by != "break" or self._result in frame.out:
            self._keep(loop["index"], frame.out.get(self._result))
        if keeps_vars:
            self._vars = frame.run_vars
        if frame.left_by == "break":
            self._ended = "break"
        return frame.left_by

    def _keep(self, index: int, result: Json) -> None:
        """Collect a result. Raises NodeFailed where all are too large together."""
        try:
            self._weight += Scale().weigh(result)
        except CannotInsert as error:
            raise NodeFailed(f"The result of iteration {index} cannot be collected: {error}") from error
        most = self._ctx.services.max_reply
        if self._weight > most:
            text = f"The results of {len(self._results) + 1} iterations are larger than {most} bytes together."
            raise NodeFailed(f"{text} Let the result be a node that gives less, such as SetVars.")
        self._results[index] = result

    async def _side_by_side(self, items: Sequence[Json], at_once: int) -> None:
        """Several iterations at once, begun in the order of the items."""
        waiting = enumerate(items, 1)
        running: dict[int, asyncio.Task[object]] = {}

        async def work() -> None:
            task = asyncio.current_task()
            assert task is not None  # ``in_group`` makes one
            for index, item in waiting:
                if self._broken_at is not None:
                    return
                running[index] = task
                how = await self._iterate(self._frame(index, item, len(items), follows=False), keeps_vars=False)
                del running[index]
                if how == "break":
                    self._break(index, running)

        def begin(group: Group) -> None:
            for _ in range(min(at_once, len(items))):
                group.start(work(), self._ctx.node_id)

        await in_group(begin)
        if self._broken_at is not None:
            self._results = {index: result for index, result in self._results.items() if index <= self._broken_at}

    def _break(self, index: int, running: dict[int, asyncio.Task[object]]) -> None:
        """An iteration ends the loop: those behind it do not count, and those before it go on to their end."""
        self._broken_at = index if self._broken_at is None else min(self._broken_at, index)
        for other, task in running.items():
            if other > index:
                task.cancel()

    async def _holds(self, condition: TemplateField[bool], frame: Frame, before: Frame) -> bool:
        """Whether the condition holds, for the iteration of this frame, with what the one before it gave."""
        index = (frame.loop or {})["index"]
        last = self._results.get(index, self._results.get(index - 1))
        scope = self._ctx.scope({"loop": {**(frame.loop or {}), "last": last}})
        return await self._ctx.compute(condition, replace(scope, out=before.seen, run_vars=self._vars))

    async def _within_deadline(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work; where the loop's own deadline ends it, what there is by then counts."""
        clock = asyncio.timeout(self._deadline_s)
        try:
            async with clock:
                await work()
        except TimeoutError:
            if not clock.expired():
                raise
            self._ended = "deadline"
        finally:
            self._folding.close()


def loop_names(outer: Frame, index: int, item: Json, count: int | None, last: Json) -> dict[str, Json]:
    """What ``loop`` is in an iteration of a loop that stands in the walk ``outer``."""
    names: dict[str, Json] = {"item": item, "index": index, "count": count, "last": last}
    return names if outer.loop is None else {**names, "outer": outer.loop}
