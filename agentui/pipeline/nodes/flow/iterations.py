"""The iterations of one Loop in one run: frames one after the other, or several at once, and what they give."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agentui.errors import AgentUIError, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.flow.folding import Folding
from agentui.pipeline.walk.budget import Allowance, Budget
from agentui.pipeline.walk.executor import describe_error, execute
from agentui.pipeline.walk.frame import Frame, LoopExit
from agentui.pipeline.walk.group import Group, drop_frames, in_group
from agentui.pipeline.walk.reach import is_failure
from agentui.pipeline.walk.said import said_in
from agentui.templating.core.paths import MISSING
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.weight import Scale

Ended = Literal["done", "break", "limit", "deadline", "budget"]
OnFailure = Literal["fail", "skip", "keep"]
_EARLY: Mapping[str, str] = {
    "limit": "The loop has reached its most iterations,",
    "deadline": "The loop's time is over,",
    "budget": "The loop has spent its model calls or tokens,",
}
"""What is told of the ends before the end."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a loop's iterations give, what they may cost, and what one that fails does. ``result`` is the id of the node whose
    OUT is collected; "" for the last one."""

    result: str
    deadline_s: float | None
    max_calls: int | None
    max_tokens: int | None
    on_failure: OnFailure


class Iterations:
    """Runs the body of the node whose context this is, and collects results by the number of the iteration."""

    def __init__(self, ctx: NodeContext, rules: Rules) -> None:
        self._ctx = ctx
        self._body = ctx.body
        self._result = rules.result or next((node.id for node in reversed(ctx.body.nodes) if node.enabled), "")
        self._rules = rules
        is_limited = rules.max_calls is not None or rules.max_tokens is not None
        self._budget = Budget(rules.max_calls, rules.max_tokens) if is_limited else None
        self._errors: dict[int, dict[str, Json]] = {}
        self._results: dict[int, Json] = {}
        self._weight = 0
        self._vars = ctx.frame.run_vars
        self._folding = Folding(ctx.run, ctx.node_id)
        self._ended: Ended = "done"
        self._broken_at: int | None = None
        """The first iteration that ended the loop."""

    async def each(self, items: Sequence[Json], at_once: int) -> None:
        """One iteration for each item. Raises what one raises, after the others were cancelled, where the rules let it fail."""

        async def all_of_them() -> None:
            if at_once == 1:
                for index, item in enumerate(items, 1):
                    if await self._ends_with(self._frame(index, item, len(items))):
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
                if await self._ends_with(frame):
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

    def check_end(self) -> None:
        """Raise NodeFailed where the loop has ended before its end, by a limit, its deadline or its budget."""
        if self._ended in _EARLY:
            raise NodeFailed(f"{_EARLY[self._ended]} after {len(self._results)} iterations.", ended=self._ended)

    def out(self, join: str) -> dict[str, Json]:
        """The loop's OUT, with the variables that the iterations set."""
        results = [self._results[index] for index in sorted(self._results)]
        texts = ["" if result is None or is_failure(result) else said_in(result) for result in results]
        before = self._ctx.frame.run_vars
        made = {name: value for name, value in self._vars.items() if before.get(name, MISSING) is not value}
        return {
            "results": results,
            "texts": texts,
            "text": join.join(text for text in texts if text),
            "count": len(results),
            "ended": self._ended,
            "errors": [{"index": index, **self._errors[index]} for index in sorted(self._errors)],
            "last": results[-1] if results else None,
            **({"vars": made} if made else {}),
        }

    def _frame(self, index: int, item: Json, count: int | None, *, follows: bool = True) -> Frame:
        """The walk of an iteration, which ``follows`` another or runs beside it."""
        outer = self._ctx.frame
        loop = loop_names(outer, index, item, count, self._results.get(index - 1) if follows else None)
        return Frame(self._body, f"{self._ctx.node_id}#{index}/", self._vars, loop, outer, depth=outer.depth)

    async def _ends_with(self, frame: Frame) -> bool:
        """Walk the body once, where the budget lets another iteration begin. Returns whether no other one follows."""
        how = "budget" if self._is_spent else await self._iterate(frame)
        if how == "budget":
            self._ended = "budget"
        return how in ("break", "budget")

    @property
    def _is_spent(self) -> bool:
        return self._budget is not None and self._budget.is_spent

    async def _iterate(self, frame: Frame, *, keeps_vars: bool = True) -> LoopExit | Literal["budget"] | None:
        """Walk the body once. Returns how the iteration has ended before its end: by a node, or by the budget."""
        loop = frame.loop or {}
        # A body that waits for nothing would hold the event loop from the first item to the last, and no clock would ring.
        await asyncio.sleep(0)
        self._folding.begin(frame.path)
        try:
            if not await self._walk(frame):
                return "budget"
        except AgentUIError as error:
            if self._rules.on_failure == "fail":
                raise
            self._fail(loop["index"], error)
            return None
        finally:
            self._folding.end(frame.path)
        if frame.left_by != "break" or self._result in frame.out:
            self._keep(loop["index"], frame.out.get(self._result))
        if keeps_vars:
            self._vars = frame.run_vars
        if frame.left_by == "break":
            self._ended = "break"
        return frame.left_by

    async def _walk(self, frame: Frame) -> bool:
        """Walk the body; False where that was cancelled because the budget did not allow one of its calls."""
        if self._budget is None:
            await execute(self._ctx.run, frame, None)
            return True
        clock = asyncio.timeout(None)
        frame.allowance = Allowance(self._budget, clock, frame.allowance)
        try:
            async with clock:
                await execute(self._ctx.run, frame, None)
        except TimeoutError:
            if not clock.expired():
                raise
            return False
        return True

    def _fail(self, index: int, error: AgentUIError) -> None:
        """An iteration failed, and the loop goes on: keep why, in the place of its result where that is wanted."""
        drop_frames(error)
        described = describe_error(error)
        self._weigh(index, described)
        self._errors[index] = described
        if self._rules.on_failure == "keep":
            self._results[index] = {"error": described}

    def _keep(self, index: int, result: Json) -> None:
        """Collect a result."""
        self._weigh(index, result)
        self._results[index] = result

    def _weigh(self, index: int, result: Json) -> None:
        """Raise NodeFailed where this result is too large together with those before it."""
        try:
            self._weight += Scale().weigh(result)
        except CannotInsert as error:
            raise NodeFailed(f"The result of iteration {index} cannot be collected: {error}") from error
        most = self._ctx.services.max_reply
        if self._weight > most:
            text = f"The results of {len(self._results) + 1} iterations are larger than {most} bytes together."
            raise NodeFailed(f"{text} Let the result be a node that gives less, such as SetVars.")

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
                if self._is_spent:
                    self._ended = "budget"
                    return
                running[index] = task
                how = await self._iterate(self._frame(index, item, len(items), follows=False), keeps_vars=False)
                del running[index]
                if how == "break":
                    self._break(index, running)
                elif how == "budget":
                    self._ended = "budget"
                    return

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
        clock = asyncio.timeout(self._rules.deadline_s)
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
