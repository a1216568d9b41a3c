"""``Order``: which node waits for which. The only import of networkx, and only where there is a graph.

n1 -> n2 -> n3    a line: everything about it is known by looking at it, as of most pipelines
n1 -> n3 <- n2    a graph: networkx, which takes some 10 MB and a quarter of a start's imports
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx


class Order:
    """Nodes by their ids, in the document's order, and the edges between them; an edge's double is the same edge."""

    def __init__(self, nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> None:
        self._nodes = nodes
        self._edges = tuple(dict.fromkeys(edges))
        self._followers: dict[str, list[str]] = {node: [] for node in nodes}
        self._waits_for = dict.fromkeys(nodes, 0)
        for source, target in self._edges:
            self._followers[source].append(target)
            self._waits_for[target] += 1
        self._line = self._as_line()

    @cached_property
    def _graph(self) -> "nx.DiGraph[str]":
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._nodes)
        graph.add_edges_from(self._edges)
        return graph

    def cycle(self) -> list[str]:
        """Nodes that wait for each other, each for the one before it and the first for the last; [] where none do."""
        if self._line is not None:
            return []
        import networkx as nx

        if nx.is_directed_acyclic_graph(self._graph):
            return []
        return [source for source, _ in nx.find_cycle(self._graph)]

    def ancestors(self, node: str) -> set[str]:
        """The nodes that have surely run or been skipped when this one starts."""
        if self._line is not None:
            return set(self._line[: self._line.index(node)])
        import networkx as nx

        return set(nx.ancestors(self._graph, node))

    def sorted(self) -> list[str]:
        """All nodes, each after those that it waits for and otherwise as in the document. There must be no cycle."""
        if self._line is not None:
            return list(self._line)
        import networkx as nx

        rank = {node: number for number, node in enumerate(self._nodes)}
        return list(nx.lexicographical_topological_sort(self._graph, key=lambda node: rank[node]))

    def followers(self, node: str) -> Sequence[str]:
        """The nodes that wait for this one."""
        return self._followers[node]

    def waits_for(self, node: str) -> int:
        """How many nodes this one waits for."""
        return self._waits_for[node]

    @property
    def is_chain(self) -> bool:
        """True when at every moment at most one node can be ready: each generation holds one node. There must be no cycle."""
        if self._line is not None:
            return True
        import networkx as nx

        return all(len(generation) == 1 for generation in nx.topological_generations(self._graph))

    def _as_line(self) -> list[str] | None:
        """The nodes as they stand in one line; None where they do not."""
        line = [node for node, count in self._waits_for.items() if count == 0]
        if len(line) != 1:
            return None
        while len(following := self._followers[line[-1]]) == 1 and self._waits_for[following[0]] == 1:
            line.append(following[0])
        return line if len(line) == len(self._nodes) else None
