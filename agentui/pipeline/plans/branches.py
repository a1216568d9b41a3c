"""Which nodes of a pipeline are reached together and which exclude each other, by the ports that lead to them.

For each node one pass forward finds its ways: for every node before it that leaves by one of several ports and decides on it,
the ports by which it is reached. Two nodes exclude each other where one deciding node leads to them by different ports only.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from agentui.pipeline.plans.plan import ERROR_PORT

Ways = Mapping[str, frozenset[str]]
"""By the id of a deciding node the ports through which alone another is reached."""


@dataclass(frozen=True, slots=True)
class Exits:
    """What a node may leave by. ``ports`` are its own; ``used`` those that edges begin at, ``error`` among them where one does.
    A node that ``passes`` (a disabled one) leaves by all but ``error``."""

    ports: tuple[str, ...]
    used: frozenset[str]
    passes: bool

    @property
    def ends(self) -> frozenset[str]:
        """Every port that it may come to leave by; one where it decides nothing."""
        if self.passes:
            return frozenset()
        return frozenset(self.ports) | (self.used & {ERROR_PORT})

    @property
    def decides(self) -> bool:
        """Whether what follows depends on the port that it takes."""
        return len(self.ends) > 1


class Branches:
    """The ways of every node of one graph, whose edges hold their ``ports``. The graph has no cycle."""

    def __init__(self, graph: "nx.DiGraph[str]", exits: Callable[[str], Exits]) -> None:
        self._exits: dict[str, Exits] = {}
        self._ways: dict[str, Ways] = {}
        self._are_all: dict[str, bool] = {}
        """Whether a node is reached in all the ways that it has, and not only in some of them."""
        self._before: dict[str, frozenset[str]] = {}
        """The nodes that surely ran before a node does."""
        self._graph = graph
        for name in nx.topological_sort(graph):
            self._exits[name] = exits(name)
            self._see(name)

    @property
    def decide(self) -> bool:
        """Whether any node decides on others."""
        return any(exits.decides for exits in self._exits.values())

    def exclude(self, one: str, other: str) -> bool:
        """Whether two nodes never both leave well in one run."""
        first, second = self._own(one), self._own(other)
        return any(ports.isdisjoint(second[name]) for name, ports in first.items() if name in second)

    def together(self, names: Collection[str]) -> tuple[str, str] | None:
        """The first two of these nodes that do not exclude each other; None where all do."""
        pairs = combinations(names, 2)
        return next(((one, other) for one, other in pairs if not self.exclude(one, other)), None)

    def may_lack(self, reader: str, read: str) -> bool:
        """Whether a node may run although another, which stands before it, was skipped."""
        if read in self._before[reader]:
            return False
        ways = self._ways[reader]
        is_implied = all(name in ways and ways[name] <= ports for name, ports in self._ways[read].items())
        return not (is_implied and self._are_all[read])

    def _see(self, name: str) -> None:
        """Find the ways of a node whose nodes before it are known."""
        edges = [(source, self._along(source, name)) for source in self._graph.pred[name]]
        if not edges:
            self._ways[name], self._are_all[name], self._before[name] = {}, True, frozenset()
            return
        common = set(edges[0][1]).intersection(*(ways for _, ways in edges))
        unions = {key: frozenset[str]().union(*(ways[key] for _, ways in edges)) for key in common}
        ways = {key: ports for key, ports in unions.items() if ports != self._exits[key].ends}
        self._ways[name] = ways
        self._are_all[name] = self._is_exact(edges, ways)
        befores = [self._before[source] | {source} for source, _ in edges]
        self._before[name] = befores[0].intersection(*befores[1:])

    def _is_exact(self, edges: Sequence[tuple[str, Ways]], ways: Ways) -> bool:
        """Whether the ways of a node say just when it is reached: one edge is as wide as they are, or all edges differ by the
        ports of one node alone."""
        exact = [each for source, each in edges if self._are_all[source]]
        if any(each == ways for each in exact):
            return True
        names = set().union(*(each for _, each in edges))
        differing = [name for name in names if len({each.get(name) for _, each in edges}) > 1]
        return len(exact) == len(edges) and len(differing) <= 1

    def _along(self, source: str, target: str) -> Ways:
        """The ways in which the edges between two nodes are taken."""
        exits = self._exits[source]
        ports: frozenset[str] = frozenset(self._graph.edges[source, target]["ports"])
        ways = self._ways[source]
        if not exits.decides or ports == exits.ends:
            return ways
        return {**ways, source: ports}

    def _own(self, name: str) -> Ways:
        """The ways of a node that has not failed."""
        exits = self._exits[name]
        if exits.passes or ERROR_PORT not in exits.used:
            return self._ways[name]
        return {**self._ways[name], name: exits.ends - {ERROR_PORT}}
