"""The ports of one walk over a plan that branches: who is reached, who is skipped and why, and what is cancelled."""

import asyncio
from collections.abc import Mapping

from agentui.errors import NoAnswer
from agentui.jsonio import Json
from agentui.pipeline.plans.plan import PlanNode
from agentui.pipeline.run import Run
from agentui.pipeline.walk.frame import Frame
from agentui.pipeline.walk.reach import EVERY_PORT, Cause, Reach, is_failure

TOO_LATE: Mapping[str, Json] = {"reason": "another branch was first"}


class Ports:
    """Follows a walk from node to node, and tells the run's watchers of nodes that do not run."""

    def __init__(self, run: Run, frame: Frame) -> None:
        self._run = run
        self._frame = frame
        self._nodes = frame.plan.nodes
        self._reach = Reach(self._nodes)
        self._running: dict[int, asyncio.Task[object]] = {}
        self._over: set[int] = set()
        """Those that ended or were skipped."""
        self._closed: set[int] = set()
        """Those that nobody waits for any more."""
        self._dead_end: Cause | None = None
        self._unreached: Cause | None = None
        self.ended_by: str | None = None
        """The node that ended the run."""

    def begin(self, position: int) -> bool:
        """A node is about to run; False where nobody waits for it any more."""
        if position in self._closed:
            self._skip(position, TOO_LATE)
            return False
        task = asyncio.current_task()
        assert task is not None  # every node runs in one
        self._running[position] = task
        for other in self._nodes[position].closes:
            if other not in self._over and other not in self._closed:
                self._closed.add(other)
                if other in self._running:
                    self._running[other].cancel()
        return True

    def came_from(self, position: int) -> tuple[str, ...]:
        """The ids of the nodes whose edges led to a node that joins: in the plan's order, or where it starts on the first
        edge in the order in which they ended."""
        reached = self._reach.came_from[position]
        order = reached if self._nodes[position].starts_on_first else sorted(reached)
        return tuple(self._nodes[number].id for number in order)

    def is_closed(self, position: int) -> bool:
        """Whether nobody waits for a node any more."""
        return position in self._closed

    def leave(self, position: int, port: str) -> list[int]:
        """A node is done and leaves by a port: those that are ready now."""
        node = self._nodes[position]
        self._end(position)
        failed = is_failure(self._frame.out.get(node.id))
        ready, skipped = self._reach.leave(position, port, failed=failed)
        if node.exits is not None and port != EVERY_PORT and not node.exits.get(port):
            self._dead_end = Cause(node.id, port)
        for lost, cause in skipped:
            self._skip(lost, {"reason": "not reached", "node": cause.node, "port": cause.port})
            if lost in self._frame.plan.answers:
                self._unreached = cause
        return ready

    def cancelled(self, position: int) -> None:
        """A node was cancelled while it ran: by one that ended the run or needed it no more, or with the whole run."""
        self._end(position)
        if position in self._closed:
            self._tell(self._nodes[position], TOO_LATE)
        elif self.ended_by is not None:
            self._tell(self._nodes[position], {"reason": "the run has ended", "node": self.ended_by})

    def close(self) -> None:
        """The walk is over: tell of the nodes that never began. Raises NoAnswer where one should have answered."""
        reason = TOO_LATE if self.ended_by is None else {"reason": "the run has ended", "node": self.ended_by}
        for position in range(len(self._nodes)):
            if position not in self._over:
                self._skip(position, reason)
        if self._frame.plan.answers and self._frame.answered_by is None:
            raise self._no_answer()

    def _no_answer(self) -> NoAnswer:
        begin = "The pipeline ended without an answer"
        if self._dead_end is not None:
            node, port = self._dead_end
            text = f"{begin}: node {node} left by its port {port!r}, which leads nowhere. Connect it to a node that answers."
            return NoAnswer(text, node=self._frame.path + node, port=port)
        if self._unreached is not None:
            node, port = self._unreached
            text = f"{begin}: node {node} did not leave by its port {port!r}, which leads to the node that answers."
            return NoAnswer(text, node=self._frame.path + node, port=port)
        return NoAnswer(f"{begin}.")

    def _end(self, position: int) -> None:
        self._over.add(position)
        self._running.pop(position, None)

    def _skip(self, position: int, why: Json) -> None:
        self._over.add(position)
        self._tell(self._nodes[position], why)

    def _tell(self, node: PlanNode, why: Json) -> None:
        self._run.emit("node.skipped", self._frame.path + node.id, why)
