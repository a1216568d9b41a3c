"""Walks a plan: every node starts as soon as what it waits for is done, several at once, under one deadline."""

import asyncio
import time
from collections.abc import Container, Mapping
from contextlib import suppress

from agentui.errors import AgentUIError, UpstreamTimeout, let_go
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.answer import Answer
from agentui.pipeline.deadline import Deadline
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.plan import Plan, PlanNode
from agentui.pipeline.run import Run
from agentui.templating.core.values import best_text

INTERNAL: Json = {"code": "internal_error", "message": "An error of agentui or of a node's code; see the log."}
"""What is told of an error that is nobody's but the program's."""
NOTHING: frozenset[int] = frozenset()
_MAPPINGS = (dict, Mapping)
"""The kind that nearly all are first: asking an abstract class takes long."""


class PipelineExecutor:
    """Runs plans. Knows nothing of HTTP, vendors or templates."""

    async def run(self, run: Run, answer: Answer) -> None:
        """Execute a run to its end. The answering node speaks to ``answer`` while it works.

        Raises the first failing node's AgentUIError, with the node's id and type in its details, after its siblings were
        cancelled; UpstreamTimeout when the deadline passes. Cancelling the task cancels the run.
        """
        run.emit("run.started", data={"pipeline": run.plan.id, "name": run.plan.name, "version": run.plan.version})
        deadline = run.clock = Deadline(run.deadline - time.monotonic())
        is_late = False
        try:
            try:
                await (_Walk if run.plan.is_chain else _TreeWalk)(run, answer).walk()
            except BaseException:
                # Whatever the walk made of its cancellation: the caller's task goes on without it.
                is_late = deadline.was_the_cause()
                raise
            finally:
                deadline.stop()
            if run.conclude is not None:
                await run.conclude()
        except AgentUIError as error:
            run.finish("failed", describe_error(error))
            raise
        except asyncio.CancelledError as error:
            if not is_late:
                run.finish("cancelled", describe_error(run.stop_reason) if run.stop_reason is not None else None)
                raise
            raise _too_late(run) from error
        except BaseException:
            run.finish("failed", INTERNAL)
            raise
        run.finish("finished")


def _too_late(run: Run) -> UpstreamTimeout:
    """End a run whose deadline has passed; the error that says so."""
    late = UpstreamTimeout("The run took longer than its deadline and was stopped.", run=run.id)
    run.finish("failed", describe_error(late))
    return late


def describe_error(error: AgentUIError) -> dict[str, Json]:
    """An error as OUT and events hold it."""
    return {"code": error.code, "message": error.message, "status": error.status}


class _Walk:
    """One walk over one plan."""

    def __init__(self, run: Run, answer: Answer) -> None:
        self.run = run
        self.answer = answer
        self.nodes = run.plan.nodes
        self.whole = run.incoming.operation == "chat"
        self.idle = needless(run.plan, run.pins) if run.pins else NOTHING
        self.runs_all = self.whole and not run.pins

    async def walk(self) -> None:
        """Run all nodes, one after the other."""
        for position, node in enumerate(self.nodes):
            if self.runs_all and node.enabled:
                await self._execute(position, node)
            else:
                await self._step(position)

    async def _step(self, position: int) -> None:
        """Run, skip or pin one node and freeze its OUT."""
        node = self.nodes[position]
        run = self.run
        if node.id in run.pins:
            await self._pin(position, node)
        elif not node.enabled:
            run.emit("node.skipped", node.id, {"reason": "disabled"})
        elif position in self.idle:
            run.emit("node.skipped", node.id, {"reason": "pinned"})
        elif not self.whole and position != run.plan.answer and node.node.calls_upstream:
            # A token count or an embedding needs the answer only; other calls would cost money for nothing.
            run.emit("node.skipped", node.id, {"reason": "not needed for this request"})
        else:
            await self._execute(position, node)

    async def _pin(self, position: int, node: PlanNode) -> None:
        """Take the pinned OUT for the node's own; where the node answers, its best text is the answer."""
        pinned = self.run.pins[node.id]
        out = pinned if isinstance(pinned, Mapping) else {"result": pinned}
        self.run.emit("node.finished", node.id, self._freeze(node.id, out), pinned=True)
        if position == self.run.plan.answer:
            said = out.get("response_text")
            await self.answer.text(said if isinstance(said, str) else answer_text(out))

    async def _execute(self, position: int, node: PlanNode) -> None:
        run = self.run
        answers = position == run.plan.answer
        ctx = NodeContext(run, node.id, node.type, self.answer if answers else None)
        run.emit("node.started", node.id)
        try:
            try:
                out = await node.node.run(ctx)
            finally:
                ctx.close()
        except AgentUIError as error:
            _place(error, node, run)
            run.emit("node.failed", node.id, describe_error(error))
            let_go(error)
            if not node.may_fail or answers:
                raise
            out = {"error": describe_error(error)}
        except Exception:
            # A fault of the node's code: the canvas hears of it, the log has the rest.
            run.emit("node.failed", node.id, INTERNAL)
            raise
        run.emit("node.finished", node.id, self._freeze(node.id, out))
        if answers and not node.node.calls_upstream:
            await self.answer.text(answer_text(out))

    def _freeze(self, node_id: str, out: Mapping[str, Json]) -> dict[str, Json]:
        """The OUT as it is kept: from here on nobody changes it; what it says about variables is seen by later nodes."""
        run = self.run
        kept = run.out[node_id] = dict(out)
        variables = kept.get("vars")
        if variables and isinstance(variables, _MAPPINGS):
            run.run_vars = {**run.run_vars, **variables}
        return kept


class _TreeWalk(_Walk):
    """One whose nodes run in tasks of their own. When one fails, or the walk is cancelled, the others are cancelled, and waited
    for.

    Not a TaskGroup: that of Python 3.11 and 3.12 leaves errors and frames behind that hold each other, and the run.
    """

    def __init__(self, run: Run, answer: Answer) -> None:
        super().__init__(run, answer)
        self.waits = [node.waits_for for node in self.nodes]
        self.tasks: set[asyncio.Task[None]] = set()
        self.all_done = asyncio.Event()
        self.is_stopped = False
        self.failures: list[BaseException] = []

    async def walk(self) -> None:
        """Run all nodes, each as soon as those before it are done. Raises the first failure."""
        for position, count in enumerate(tuple(self.waits)):
            if count == 0:
                self._begin(position)
        try:
            await self.all_done.wait()
        except asyncio.CancelledError:
            self._stop()
            while self.tasks:
                with suppress(asyncio.CancelledError):  # the first is passed on
                    await self.all_done.wait()
            if not self.failures:
                raise
        if self.failures:
            raise self.failures.pop()

    def _begin(self, position: int) -> None:
        """Run a node in a task."""
        if self.is_stopped:
            return
        task = asyncio.create_task(self._step_on(position), name=self.nodes[position].id)
        self.tasks.add(task)
        task.add_done_callback(self._end)

    async def _step_on(self, position: int) -> None:
        """Run a node, and begin those that waited for it last."""
        await self._step(position)
        for following in self.nodes[position].feeds:
            self.waits[following] -= 1
            if self.waits[following] == 0:
                self._begin(following)

    def _end(self, task: asyncio.Task[None]) -> None:
        """A task is over: note the first failure."""
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failures:
            self.failures.append(error)
            self._stop()
        if not self.tasks:
            self.all_done.set()

    def _stop(self) -> None:
        self.is_stopped = True
        for task in self.tasks:
            task.cancel()


def needless(plan: Plan, pins: Container[str]) -> frozenset[int]:
    """The positions of the nodes that need not run, because all that follows them is pinned.

    One runs all the same when it writes stored variables, when a node that runs reads its OUT, or when such a node's document
    mentions a variable that it sets: whoever takes a mention for a read errs on the safe side.
    """
    written = {node["id"]: dumps_text(node) for node in plan.document["nodes"]}
    needed: set[int] = set()
    out: set[str] = set()
    texts: list[str] = []
    for position in range(len(plan.nodes) - 1, -1, -1):
        node = plan.nodes[position]
        if node.id in pins:
            continue
        follows = position == plan.answer or not node.feeds or not needed.isdisjoint(node.feeds)
        if not node.enabled:
            # Order goes through a disabled node.
            if follows:
                needed.add(position)
            continue
        mentioned = any(name in text for name in (*node.sets, "vars") for text in texts) if node.sets else False
        if follows or mentioned or node.stores or node.id in out:
            needed.add(position)
            out |= plan.reads.get(node.id, frozenset())
            texts.append(written[node.id])
    return frozenset(
        position for position, node in enumerate(plan.nodes) if position not in needed and node.id not in pins and node.enabled
    )


def answer_text(out: Mapping[str, Json]) -> str:
    """The words of a node that called no model: its ``text``, else the last variable it set, else its best text."""
    text = out.get("text")
    if isinstance(text, str):
        return text
    variables = out.get("vars")
    if isinstance(variables, Mapping) and variables:
        last = list(variables.values())[-1]
        return last if isinstance(last, str) else best_text(last)
    return best_text(dict(out))


def _place(error: AgentUIError, node: PlanNode, run: Run) -> None:
    """Say in the error where it happened."""
    error.details.setdefault("pipeline", run.plan.id)
    error.details.setdefault("node", node.id)
    error.details.setdefault("type", node.type)
