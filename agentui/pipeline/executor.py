"""Walks a plan: every node starts as soon as what it waits for is done, several at once."""

import asyncio
from collections.abc import Container, Mapping

from agentui.chat.messages import Text
from agentui.chat.reply import Choice, Reply
from agentui.errors import AgentUIError, NodeFailed, NotFound, Unsupported, UpstreamError, UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.plans.plan import Plan, PlanNode
from agentui.pipeline.run import Run
from agentui.pipeline.sink import ListenerGone, Sink
from agentui.pipeline.tokens import estimate_tokens
from agentui.templating.core.values import best_text, text_of

INTERNAL: Mapping[str, Json] = {
    "code": "internal_error",
    "message": "An error of agentui or of a node's code; see the log.",
}
"""What is told of an error that is nobody's but the program's."""
NOTHING: frozenset[int] = frozenset()


def describe_error(error: AgentUIError) -> dict[str, Json]:
    """An error as OUT and events hold it."""
    return {"code": error.code, "message": error.message, "status": error.status}


async def execute(run: Run, sink: Sink) -> None:
    """Run all nodes of a plan. The answering node speaks to ``sink`` while it works.

    Raises the first failing node's error, with the node's id and type in its details where it is an AgentUIError, after the
    other nodes were cancelled. Cancelling the task cancels the nodes.
    """
    walk = _Walk(run, sink)
    first: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for position, node in enumerate(run.plan.nodes):
                if node.waits_for == 0:
                    group.create_task(walk.follow(position, group), name=node.id)
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
        # The task group of Python 3.11 and 3.12 leaves a frame that knows this group, which knows the frame: a run that
        # failed would wait for the garbage collector, with its bodies.
        failed.__traceback__ = None
    if first is not None:
        try:
            raise first
        finally:
            del first


class _Walk:
    """One walk over one plan."""

    def __init__(self, run: Run, sink: Sink) -> None:
        self.run = run
        self.sink = sink
        self.nodes = run.plan.nodes
        self.waits = [node.waits_for for node in self.nodes]
        self.is_chat = run.incoming.operation == "chat"
        self.idle = needless(run.plan, run.pins) if run.pins else NOTHING

    async def follow(self, position: int, group: asyncio.TaskGroup) -> None:
        """Run a node and, in the same task, one after the other that waited for it last; all others that did get tasks."""
        while True:
            await self._step(position)
            ready: list[int] = []
            for following in self.nodes[position].feeds:
                self.waits[following] -= 1
                if self.waits[following] == 0:
                    ready.append(following)
            if not ready:
                return
            position, *others = ready
            for other in others:
                group.create_task(self.follow(other, group), name=self.nodes[other].id)

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
        elif not self.is_chat and position != run.plan.answer and node.node.calls_upstream:
            # A token count or an embedding needs the answer only; other calls would cost money for nothing.
            run.emit("node.skipped", node.id, {"reason": "not needed for this request"})
        else:
            await self._execute(position, node)

    async def _pin(self, position: int, node: PlanNode) -> None:
        """Take the pinned OUT for the node's own; where the node answers, its best text is the answer."""
        pinned = self.run.pins[node.id]
        out = dict(pinned) if isinstance(pinned, Mapping) else {"result": pinned}
        self.run.set_out(node.id, out)
        self.run.emit("node.finished", node.id, out, pinned=True)
        if position == self.run.plan.answer:
            await self._answer(said_in(out))

    async def _execute(self, position: int, node: PlanNode) -> None:
        run = self.run
        answers = position == run.plan.answer
        ctx = NodeContext(run, node.id, node.type, self.sink if answers else None)
        run.emit("node.started", node.id)
        try:
            try:
                out = dict(await node.node.run(ctx))
            finally:
                ctx.close()
        except AgentUIError as error:
            error.details = {"pipeline": run.plan.id, "node": node.id, "type": node.type, **error.details}
            _name_place(error, node.id)
            run.emit("node.failed", node.id, describe_error(error))
            if not node.may_fail or answers:
                raise
            out = {"error": describe_error(error)}
        except ListenerGone:
            raise
        except Exception:
            # A fault of the node's code: the canvas hears of it, the log has the rest.
            run.emit("node.failed", node.id, INTERNAL)
            raise
        run.set_out(node.id, out)
        run.emit("node.finished", node.id, out)
        if answers and not node.node.calls_upstream:
            await self._answer(answer_text(out))

    async def _answer(self, text: str) -> None:
        """Answer with the words of a node that called no model. Raises Unsupported where none are wanted."""
        run = self.run
        match run.incoming.operation:
            case "count_tokens":
                await self.sink.tokens(estimate_tokens(run.incoming.chat), estimated=True)
            case "embeddings":
                raise Unsupported("This pipeline answers with text and makes no embeddings: choose one that calls a provider.")
            case "forward":
                raise NotFound("This pipeline answers with text and passes nothing on: choose one that calls a provider.")
            case "chat":
                model = run.incoming.model or f"pipeline/{run.plan.id}"
                run.reply = Reply((Choice((Text(text),), "stop"),), new_id("msg"), model, run.started_ms // 1000)
                await self.sink.reply(run.reply)


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
        return last if isinstance(last, str) else best_text(last) or text_of(last)
    return best_text(dict(out))


def said_in(out: Mapping[str, Json]) -> str:
    """The words of the answering node."""
    said = out.get("response_text")
    return said if isinstance(said, str) else answer_text(out)


def _name_place(error: AgentUIError, node: str) -> None:
    """Let an error of the model's side, or of a node's work, begin with its node and the upstream's host.

    Callers see the message alone. What an upstream refused in its own words keeps them.
    """
    if not isinstance(error, UpstreamError | NodeFailed) or (isinstance(error, UpstreamRefused) and error.body is not None):
        return
    host = error.details.get("host")
    place = f", {host}" if isinstance(host, str) and host not in error.message else ""
    error.message = f"Node {node}{place}: {error.message}"
