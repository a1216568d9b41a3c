"""Break and Continue: ways out of an iteration."""

from collections.abc import Mapping
from typing import ClassVar

from agentui.jsonio import Json
from agentui.pipeline.node import Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.walk.frame import LoopExit


class LeaveLoopParams(NodeParams):
    """Nothing to configure."""


class LeaveLoop(Node[LeaveLoopParams]):
    """What Break and Continue share."""

    Params = LeaveLoopParams
    category = "control"
    ends_iteration = True
    error_port = False
    how: ClassVar[LoopExit]

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Mark the iteration as over."""
        ctx.leave_loop(self.how)
        return {"loop": self.how}

    async def preview(self, ctx: NodeContext) -> Json:
        """What it would do."""
        return {"loop": self.how}


@node("Break")
class Break(LeaveLoop):
    """Ends the loop in which it stands: the iteration is over at once, what still runs in it is cancelled, and none follows.

    It stands behind a node that decides, such as If; where it is not reached, the loop goes on. OUT: ``loop``, which is
    ``break``.
    """

    title = "Break"
    icon = "octagon-x"
    how = "break"


@node("Continue")
class Continue(LeaveLoop):
    """Ends the iteration in which it stands and goes on with the next one; what still runs in it is cancelled.

    The iteration gives what its result node has given by then, null where it has not run. OUT: ``loop``, which is
    ``continue``.
    """

    title = "Continue"
    icon = "skip-forward"
    how = "continue"
