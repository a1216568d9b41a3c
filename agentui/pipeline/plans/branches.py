"""Which nodes of a pipeline may be reached in one run, by the ports that lead to them.

A run chooses one port of every node, and a node is reached where a path of chosen ports leads to it. So a node's ways are the
paths to it, and there may be more of them than anybody can list. None are listed here: every question is answered by one pass
over the graph, whose cost grows with the edges, and the answers are exact.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import networkx as nx

from agentui.pipeline.plans.plan import ERROR_PORT


@dataclass(frozen=True, slots=True)
class Exits:
    """What a node may leave by. ``ports`` are its own; ``used`` those that edges begin at, ``error`` among them where one does.
    A node that ``passes`` (a disabled one) leaves by all but ``error``."""

    ports: tuple[str, ...]
    used: frozenset[str]
    passes: bool


class Silence(NamedTuple):
    """A node, and a port of it after which nobody answers."""

    node: str
    port: str


class _Way(NamedTuple):
    """One way on from a node: the port that it leaves by, and the nodes that follow then; "" where it passes order on."""

    port: str
    leads_to: tuple[str, ...]


class Branches:
    """The ways through one graph, whose edges hold their ``ports``. The graph has no cycle."""

    def __init__(self, graph: "nx.DiGraph[str]", exits: Callable[[str], Exits]) -> None:
        self._order: list[str] = list(nx.topological_sort(graph))
        self._ways = {name: _ways_of(graph, name, exits(name)) for name in self._order}
        self._roots = tuple(name for name in self._order if not graph.pred[name])
        self._reached = set(self._roots)
        """The nodes that any run reaches: all but those behind the error port of a disabled node."""
        for name in self._order:
            if name in self._reached:
                self._reached.update(*(way.leads_to for way in self._ways[name]))

    def exclude(self, one: str, other: str) -> bool:
        """Whether two nodes never both leave well in one run."""
        return self.together((one, other)) is None

    def together(self, names: Sequence[str]) -> tuple[str, str] | None:
        """Two of these nodes that both leave well in some run, as early in their order as there are; None where none do."""
        if not self._may_meet(names):
            return None
        # Of more nodes there are no fewer that meet: so the shortest beginning with two that do ends with the second of them.
        second = bisect_left(range(len(names)), True, key=lambda count: self._may_meet(names[:count])) - 1
        first = bisect_left(range(second), True, key=lambda count: self._may_meet((*names[:count], names[second]))) - 1
        return names[first], names[second]

    def may_lack(self, reader: str, read: str) -> bool:
        """Whether a node may run although another, which stands before it, was skipped."""
        return bool(self._lacking[reader] >> self._bit[read] & 1)

    def silence(self, answers: Collection[str]) -> Silence | None:
        """Where a run may turn away from all of these nodes, so that none of them leaves well; None where no run does, and
        where none could do otherwise."""
        silent: dict[str, _Way] = {}
        for name in reversed(self._order):
            ways = (way for way in self._ways[name] if name not in answers or way.port == ERROR_PORT)
            found = next((way for way in ways if all(following in silent for following in way.leads_to)), None)
            if found is not None:
                silent[name] = found
        if not all(root in silent for root in self._roots):
            return None
        taken = set(self._roots)
        for name in self._order:
            if name in taken:
                if name in answers or any(following not in silent for way in self._ways[name] for following in way.leads_to):
                    return Silence(name, silent[name].port)
                taken.update(silent[name].leads_to)
        return None

    def _may_meet(self, names: Sequence[str]) -> bool:
        """Whether two of these nodes both leave well in some run.

        They do where two paths to them part for good at a node that goes both ways by one port, or at the start: where no
        single node stands on all paths from there to any of them. The nodes that do stand on all paths form a tree, in which
        each node hangs below the nearest of its own; the paths part for good where only its root is above all that follows.
        """
        speak = set(names)
        tree = _Tree()
        for name in reversed(self._order):
            above: list[int] = []
            for way in self._ways[name]:
                follow = [place for following in way.leads_to if (place := tree.places.get(following)) is not None]
                if name in speak and way.port != ERROR_PORT:
                    follow.append(tree.ROOT)
                if not follow:
                    continue
                nearest = tree.nearest(follow)
                if nearest == tree.ROOT and len(follow) > 1 and name in self._reached:
                    return True
                above.append(nearest)
            if above:
                tree.add(name, tree.nearest(above))
        begin = [place for root in self._roots if (place := tree.places.get(root)) is not None]
        return len(begin) > 1 and tree.nearest(begin) == tree.ROOT

    @cached_property
    def _bit(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._order)}

    @cached_property
    def _lacking(self) -> dict[str, int]:
        """For every node the others that a run which reaches it may have skipped, a bit for each (``_bit``).

        A run avoids a node where every node that it reaches takes a port none of whose followers leads there: what a node can
        avoid is what one of its ports can, and a port can what all of its followers can. A path is then free of a node where,
        at each of its steps, all that follows by the port can avoid that node.
        """
        everything = (1 << len(self._order)) - 1
        avoids: dict[str, int] = {}
        by_way: dict[tuple[str, str], int] = {}
        for name in reversed(self._order):
            found = 0
            for way in self._ways[name]:
                bits = everything
                for following in way.leads_to:
                    bits &= avoids[following]
                by_way[name, way.port] = bits
                found |= bits
            avoids[name] = found & ~(1 << self._bit[name])
        at_start = everything
        for root in self._roots:
            at_start &= avoids[root]
        lacking = dict.fromkeys(self._order, 0)
        lacking.update(dict.fromkeys(self._roots, at_start))
        for name in self._order:
            for way in self._ways[name]:
                for following in way.leads_to:
                    lacking[following] |= lacking[name] & by_way[name, way.port]
        return lacking


class _Tree:
    """A tree that grows leaf by leaf, and names the nearest place that is above several others, in steps that grow with the
    logarithm of its depth: each place knows its parent and one far above it (E. Myers, "Applicative random-access stacks")."""

    ROOT = 0

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._parent = [0]
        self._jump = [0]
        self._depth = [0]

    def add(self, name: str, parent: int) -> None:
        """Hang a node below a place."""
        self.places[name] = len(self._parent)
        far = self._jump[parent]
        is_even = self._depth[parent] - self._depth[far] == self._depth[far] - self._depth[self._jump[far]]
        self._parent.append(parent)
        self._jump.append(self._jump[far] if is_even else parent)
        self._depth.append(self._depth[parent] + 1)

    def nearest(self, places: Sequence[int]) -> int:
        """The nearest place that each of these is, or is below."""
        found = places[0]
        for place in places[1:]:
            found = self._nearest_of_two(found, place)
        return found

    def _nearest_of_two(self, one: int, other: int) -> int:
        parent, jump, depth = self._parent, self._jump, self._depth
        if depth[one] < depth[other]:
            one, other = other, one
        while depth[one] > depth[other]:
            one = jump[one] if depth[jump[one]] >= depth[other] else parent[one]
        while one != other:
            if jump[one] == jump[other]:
                one, other = parent[one], parent[other]
            else:
                one, other = jump[one], jump[other]
        return one


def _ways_of(graph: "nx.DiGraph[str]", name: str, exits: Exits) -> tuple[_Way, ...]:
    """What a node may do when it is reached. A port that it has not leads nowhere, which is told elsewhere."""
    leads_to: dict[str, list[str]] = {}
    for target, edge in graph[name].items():
        for port in edge["ports"]:
            leads_to.setdefault(port, []).append(target)
    if exits.passes:
        followers = dict.fromkeys(target for port, targets in leads_to.items() if port != ERROR_PORT for target in targets)
        return (_Way("", tuple(followers)),)
    ports = dict.fromkeys((*exits.ports, ERROR_PORT) if ERROR_PORT in exits.used else exits.ports)
    return tuple(_Way(port, tuple(leads_to.get(port, ()))) for port in ports)
