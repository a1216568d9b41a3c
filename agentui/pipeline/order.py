"""``Order``: which node waits for which. The only import of networkx, and only where nodes wait for each other.

n1 -> n2 -> n3        sorted: each node after those that it waits for
n1 -> n2 -> n3 -> n2  a cycle: networkx finds it, and takes some 10 MB and a fifth of a second for that the first time
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise


class Order:
    """Nodes by their ids, in the document's order, and the edges between them; an edge's double is the same edge."""

    def __init__(self, nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> None:
        self._nodes = nodes
        self._edges = tuple(dict.fromkeys(edges))
        self._followers: dict[str, list[str]] = {node: [] for node in nodes}
        self._leaders: dict[str, list[str]] = {node: [] for node in nodes}
        for source, target in self._edges:
            self._followers[source].append(target)
            self._leaders[target].append(source)

    def cycle(self) -> list[str]:
        """Nodes that wait for each other, each for the one before it and the first for the last; [] where none do."""
        if len(self._free) == len(self._nodes):
            return []
        # Most servers never meet a cycle, so they do without its 285 modules.
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._nodes)
        graph.add_edges_from(self._edges)
        return [source for source, _ in nx.find_cycle(graph)]

    def ancestors(self, node: str) -> set[str]:
        """The nodes that have surely run or been skipped when this one starts."""
        found: set[str] = set()
        ahead = list(self._leaders[node])
        while ahead:
            leader = ahead.pop()
            if leader not in found:
                found.add(leader)
                ahead.extend(self._leaders[leader])
        # In a cycle a node is its own ancestor, and still has not run when it starts.
        return found - {node}

    def sorted(self) -> list[str]:
        """All nodes, each after those that it waits for and otherwise as in the document. There must be no cycle."""
        return list(self._free)

    def followers(self, node: str) -> Sequence[str]:
        """The nodes that wait for this one."""
        return self._followers[node]

    def waits_for(self, node: str) -> int:
        """How many nodes this one waits for."""
        return len(self._leaders[node])

    @property
    def is_chain(self) -> bool:
        """True when at every moment at most one node can be ready: each waits for the one before it. There must be no
        cycle."""
        return all(after in self._followers[before] for before, after in pairwise(self._free))

    @cached_property
    def _free(self) -> list[str]:
        """The nodes that no cycle holds up, sorted (Kahn's algorithm; of several that are ready the document's first)."""
        rank = {node: number for number, node in enumerate(self._nodes)}
        waits_for = {node: len(leaders) for node, leaders in self._leaders.items()}
        ready = [rank[node] for node, count in waits_for.items() if count == 0]
        heapify(ready)
        free: list[str] = []
        while ready:
            node = self._nodes[heappop(ready)]
            free.append(node)
            for follower in self._followers[node]:
                waits_for[follower] -= 1
                if waits_for[follower] == 0:
                    heappush(ready, rank[follower])
        return free
