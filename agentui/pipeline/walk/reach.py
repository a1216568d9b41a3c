"""Which nodes of a plan that branches are reached, as the nodes before them leave by their ports."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from agentui.jsonio import Json
from agentui.pipeline.plans.plan import ERROR_PORT, PlanNode

EVERY_PORT = ""
"""What a node leaves by that did not run and passes order on: all its ports but ``error``."""


def is_failure(out: Json) -> bool:
    """Whether a node's OUT is that of a failure that the run goes on from: an error alone."""
    return isinstance(out, Mapping) and out.keys() == {"error"}


def port_of(node: PlanNode, out: Json) -> str:
    """The port of a node whose OUT is given: ``error`` where it holds an error alone that an edge leads on from, else the one
    that it names, else the one without a choice."""
    if not isinstance(out, Mapping):
        return node.default_port
    if node.catches and is_failure(out):
        return ERROR_PORT
    port = out.get("port")
    return port if port in node.ports else node.default_port


class Cause(NamedTuple):
    """The node and the port of it that was not taken, because of which another node is not reached."""

    node: str
    port: str


class Reach:
    """Counts down, for one walk, what each node waits for.

    A node is ready once all nodes before it are decided and one of its edges is taken; where none is, it is skipped. A node
    that starts on the first edge is ready with that, but with the edge of a node that failed and goes on only where no other
    is taken.
    """

    __slots__ = ("_begun", "_nodes", "_reached", "_waits", "came_from")

    def __init__(self, nodes: Sequence[PlanNode]) -> None:
        self._nodes = nodes
        self._waits = [node.waits_for for node in nodes]
        self._reached = bytearray(len(nodes))
        """By position: 0 where no edge is taken, 1 where none but those of failures are, 2 where another one is."""
        self._begun = bytearray(len(nodes))
        self.came_from: dict[int, list[int]] = {number: [] for number, node in enumerate(nodes) if node.joins}
        """From which nodes each of those was reached that ask for it, in the order in which they ended."""

    def leave(self, position: int, port: str, *, failed: bool = False) -> tuple[list[int], list[tuple[int, Cause]]]:
        """A node leaves by a port, well or because the run goes on from its failure: the positions that are ready now, and
        those that are never reached, each with the cause."""
        ready: list[int] = []
        skipped: list[tuple[int, Cause]] = []
        taken = self._taken(self._nodes[position], port)
        self._decide(position, taken, None, ready, skipped, 1 if failed else 2)
        done = 0
        while done < len(skipped):
            lost, cause = skipped[done]
            done += 1
            self._decide(lost, (), cause, ready, skipped)
        return ready, skipped

    def _decide(
        self,
        position: int,
        taken: Collection[int],
        cause: Cause | None,
        ready: list[int],
        skipped: list[tuple[int, Cause]],
        how: int = 0,
    ) -> None:
        """Decide all edges of one node, those taken ``how`` they reach. ``cause`` is why it was skipped itself."""
        node = self._nodes[position]
        for following in node.feeds:
            self._waits[following] -= 1
            if following in taken:
                self._reached[following] = max(self._reached[following], how)
                if self._nodes[following].joins:
                    self.came_from[following].append(position)
            if self._begun[following]:
                continue
            is_decided = self._waits[following] == 0
            reached = self._reached[following]
            if (reached and is_decided) or (reached == 2 and self._nodes[following].starts_on_first):
                self._begun[following] = 1
                ready.append(following)
            elif is_decided:
                skipped.append((following, cause or Cause(node.id, _port_to(node, following))))

    @staticmethod
    def _taken(node: PlanNode, port: str) -> Collection[int]:
        if node.exits is None:
            return frozenset(node.feeds)
        if port == EVERY_PORT:
            return {following for name, exits in node.exits.items() if name != ERROR_PORT for following in exits}
        return frozenset(node.exits.get(port, ()))


def _port_to(node: PlanNode, following: int) -> str:
    """The first port of a node that leads to another."""
    return next(port for port, exits in (node.exits or {}).items() if following in exits)
