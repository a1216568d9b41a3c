"""Walks a plan: every node starts as soon as what it waits for is done, several at once."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from agentui.errors import AgentUIError, NodeFailed, UpstreamError, UpstreamRefused
from agentui.jsonio import Json
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.plans.plan import ERROR_PORT, PlanNode
from agentui.pipeline.run import Run
from agentui.pipeline.sink import ListenerGone, Sink
from agentui.pipeline.walk.frame import Frame
from agentui.pipeline.walk.group import Group, in_group
from agentui.pipeline.walk.pins import needless
from agentui.pipeline.walk.ports import Ports
from agentui.pipeline.walk.reach import EVERY_PORT, port_of
from agentui.pipeline.walk.said import answer_with, said_in
from agentui.pipeline.walk.speaker import Speaker

INTERNAL: Mapping[str, Json] = {
    "code": "internal_error",
    "message": "An error of agentui or of a node's code; see the log.",
}
"""What is told of an error that is nobody's but the program's."""
NOTHING: frozenset[int] = frozenset()


def describe_error(error: AgentUIError) -> dict[str, Json]:
    """An error as OUT and events hold it."""
    return {"code": error.code, "message": error.message, "status": error.status}


async def execute(run: Run, frame: Frame, sink: Sink | None) -> None:
    """Run the nodes of a walk. The answering one speaks to ``sink`` while it works; without a sink it answers in its OUT alone.

    Raises NoAnswer where nodes may answer and none was reached; else, after the other nodes were cancelled, the first failing
    node's error, with the node's id and type in its details where it is an AgentUIError. Cancelling the task cancels the nodes.
    """
    walk = _Walk(run, frame, sink)
    with suppress(_Ended):
        # A task, and what waits for it, is a twentieth of a small request; a chain has nothing to run beside itself.
        await (walk.follow_chain() if frame.plan.is_chain else in_group(walk.begin))
    walk.close()


class _Ended(Exception):
    """A node has ended the run, or an iteration, which is no failure: it only takes the other nodes down."""


class _Walk:
    """One walk over one plan."""

    def __init__(self, run: Run, frame: Frame, sink: Sink | None) -> None:
        plan = frame.plan
        self.run = run
        self.frame = frame
        self.sink = sink
        self.nodes = plan.nodes
        self.is_chat = run.incoming.operation == "chat"
        self.idle = needless(plan, run.pins) if run.pins and frame is run.frame else NOTHING
        self.ports = Ports(run, frame) if plan.has_ports else None
        self.waits = [] if plan.has_ports else [node.waits_for for node in self.nodes]

    def begin(self, group: Group) -> None:
        """Start the nodes that wait for none."""
        for position, node in enumerate(self.nodes):
            if node.waits_for == 0:
                group.start(self.follow(position, group), node.id)

    async def follow_chain(self) -> None:
        """Run the nodes of a chain one after the other. Raises RuntimeError for a node that is cancelled by nobody, as a group
        does: its caller has not left."""
        start = next(position for position, node in enumerate(self.nodes) if node.waits_for == 0)
        try:
            await self.follow(start, None)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                raise RuntimeError("A node was cancelled by nobody.") from None
            raise

    async def follow(self, position: int, group: Group | None) -> None:
        """Run a node and, in the same task, one after the other that waited for it last; all others that did get tasks of the
        ``group``, which a chain needs not."""
        ports = self.ports
        while True:
            if ports is None:
                await self._step(position)
                ready = self._count_down(position)
            else:
                if not ports.begin(position):
                    return
                try:
                    port = await self._step(position)
                except asyncio.CancelledError:
                    ports.cancelled(position)
                    raise
                ready = ports.leave(position, port)
                if self._is_over(self.nodes[position]):
                    ports.ended_by = self.nodes[position].id
                    raise _Ended
            if not ready:
                return
            position = ready[0]
            if len(ready) > 1:
                assert group is not None  # a node of a chain leads to one other
                for other in ready[1:]:
                    group.start(self.follow(other, group), self.nodes[other].id)

    def _is_over(self, node: PlanNode) -> bool:
        """Whether this node, which has just left, has ended the walk."""
        if self.frame.left_by is not None:
            return node.node.ends_iteration
        return node.node.ends_run and self.frame.answered_by == node.id

    def close(self) -> None:
        """All is done: say what was not reached. Raises NoAnswer."""
        if self.ports is not None:
            self.ports.close()

    def _count_down(self, position: int) -> list[int]:
        """The nodes that waited for this one last."""
        ready: list[int] = []
        for following in self.nodes[position].feeds:
            self.waits[following] -= 1
            if self.waits[following] == 0:
                ready.append(following)
        return ready

    async def _step(self, position: int) -> str:
        """Run, skip or pin one node and freeze its OUT. Returns the port that it leaves by."""
        node = self.nodes[position]
        run = self.run
        id = self.frame.path + node.id
        if run.pins and (pin := self.frame.pin_of(node.id, run.pins)) is not None:
            return await self._pin(position, node, run.pins[pin])
        if not node.enabled:
            run.emit("node.skipped", id, {"reason": "disabled"})
        elif position in self.idle:
            run.emit("node.skipped", id, {"reason": "pinned"})
        elif not self.is_chat and position not in self.frame.plan.answers and node.node.calls_upstream:
            # A token count or an embedding needs the answer only; other calls would cost money for nothing.
            run.emit("node.skipped", id, {"reason": "not needed for this request"})
        else:
            return await self._execute(position, node, id)
        return EVERY_PORT

    async def _pin(self, position: int, node: PlanNode, pinned: Json) -> str:
        """Take the pinned OUT for the node's own; where the node answers, its best text is the answer."""
        id = self.frame.path + node.id
        out = dict(pinned) if isinstance(pinned, Mapping) else {"result": pinned}
        self.run.set_out(self.frame, node.id, out)
        port = port_of(node, out)
        self.run.emit("node.finished", id, out, pinned=True, port=_told(node, port))
        sink = self._sink_of(node)
        is_late = node.node.ends_run and isinstance(sink, Speaker) and not sink.may_speak
        if port != ERROR_PORT and position in self.frame.plan.answers and not is_late:
            await self._answer(node, sink, {"text": said_in(out)})
        return port

    async def _execute(self, position: int, node: PlanNode, id: str) -> str:
        run, frame = self.run, self.frame
        answers = position in frame.plan.answers
        sink = self._sink_of(node) if answers else None
        ctx = NodeContext(run, node.id, node.type, sink, frame)
        ctx.catches = node.catches
        ctx.is_handed_on = node.handed_on
        if node.joins and self.ports is not None:
            ctx.came_from = self.ports.came_from(position)
        run.emit("node.started", id)
        try:
            try:
                out = dict(await node.node.run(ctx))
            finally:
                ctx.close()
        except AgentUIError as error:
            if self.ports is not None and self.ports.is_closed(position):
                raise asyncio.CancelledError from None
            error.details = {"pipeline": frame.plan.id, "node": id, "type": node.type, **error.details}
            _name_place(error, id)
            run.emit("node.failed", id, describe_error(error))
            catches = node.catches and not (isinstance(sink, Speaker) and sink.has_spoken)
            if not catches and (not node.may_fail or answers):
                raise
            out = {"error": describe_error(error)}
            run.set_out(frame, node.id, out)
            port = ERROR_PORT if catches else node.default_port
            run.emit("node.finished", id, out, port=_told(node, port))
            return port
        except ListenerGone:
            raise
        except Exception:
            # A fault of the node's code: the canvas hears of it, the log has the rest.
            run.emit("node.failed", id, INTERNAL)
            raise
        run.set_out(frame, node.id, out, is_received=node.node.calls_upstream)
        port = ctx.port or node.default_port
        run.emit("node.finished", id, out, port=_told(node, port))
        if answers:
            speaks = (node.node.calls_upstream and not node.node.says_text) or node.node.ends_run
            await self._answer(node, sink, None if speaks else out)
        return port

    def _sink_of(self, node: PlanNode) -> Sink | None:
        """Where an answering node speaks: where several may, nobody after the first."""
        if self.sink is None or self.ports is None:
            return self.sink
        return Speaker(self.sink, self.frame, node.id)

    async def _answer(self, node: PlanNode, sink: Sink | None, out: Mapping[str, Json] | None) -> None:
        """The node has answered; with what its OUT says, where it called no model. Raises Unsupported where no words fit."""
        if out is not None and sink is not None:
            await answer_with(self.run, sink, out)
        if self.frame.answered_by is None:
            self.frame.answered_by = node.id


def _told(node: PlanNode, port: str) -> str | None:
    """The port that an event names: where all that follows a node follows in any case, none."""
    return None if node.exits is None else port


def _name_place(error: AgentUIError, node: str) -> None:
    """Let an error of the model's side, or of a node's work, begin with its node and the upstream's host.

    Callers see the message alone. What an upstream refused in its own words keeps them, and what a node inside this one failed
    by names that.
    """
    if error.message.startswith((f"Node {node}/", f"Node {node}#")):
        return
    if not isinstance(error, UpstreamError | NodeFailed) or (isinstance(error, UpstreamRefused) and error.body is not None):
        return
    host = error.details.get("host")
    place = f", {host}" if isinstance(host, str) and host not in error.message else ""
    error.message = f"Node {node}{place}: {error.message}"
