"""A pipeline understood once: what ``compile_plan`` makes of a document, for any number of runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import networkx as nx

from agentui.errors import Problem
from agentui.jsonio import Json

ERROR_PORT = "error"
"""The port by which a node leaves that has failed, where an edge leads on from it."""


class PreparedNode(Protocol):
    """A node that is set up, as the plan holds it: ``Node``, which the plan does not know.

    The context of a run knows its plan, and the node's methods know the context; so here it has no type.
    """

    @property
    def calls_upstream(self) -> bool:
        """Whether a run of this node may cost money."""

    @property
    def says_text(self) -> bool:
        """Whether its ``text`` is what it answers, although it calls an upstream."""

    @property
    def ends_run(self) -> bool:
        """Whether the run is over once this node has answered."""

    @property
    def ends_iteration(self) -> bool:
        """Whether the iteration of a loop is over once this node has run."""

    async def run(self, ctx: Any) -> Mapping[str, Json]:
        """Do the work in a ``NodeContext``. Raises AgentUIError."""

    async def rehearse(self, ctx: Any) -> Mapping[str, Json]:
        """The OUT that another node's preview is shown in its place. Raises AgentUIError."""

    async def first_iteration(self, ctx: Any) -> Mapping[str, Json]:
        """What names of a loop are when the nodes in this one run first."""

    async def preview(self, ctx: Any) -> Json:
        """What the node would send or set in a ``NodeContext``, with nothing sent."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One node ready to run. ``feeds`` are the positions in the plan of those that wait for it.

    ``sets`` are the run variables that it sets; ``stores`` says that it writes stored ones. ``ports`` are those it may leave
    by, but for ``error``; ``exits`` are its followers by port, None where all of them follow in any case. A node that
    ``starts_on_first`` runs with the first edge that is taken, and ``closes`` are the positions of those that feed nothing
    but it: they are cancelled then. One that ``joins`` asks which nodes it was reached from. One that is ``handed_on`` gives an
    answer that a node which answers may give as its own.
    """

    id: str
    type: str
    title: str
    node: PreparedNode
    enabled: bool
    may_fail: bool
    waits_for: int
    feeds: tuple[int, ...]
    sets: frozenset[str]
    stores: bool
    ports: tuple[str, ...]
    exits: Mapping[str, tuple[int, ...]] | None
    starts_on_first: bool
    closes: frozenset[int]
    joins: bool
    handed_on: bool

    @property
    def default_port(self) -> str:
        """The port of a node that chose none."""
        return "done" if "done" in self.ports else self.ports[-1]

    @property
    def catches(self) -> bool:
        """Whether its failure is led on by an edge."""
        return self.exits is not None and ERROR_PORT in self.exits


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked pipeline. ``nodes`` stand in an order in which they could run one after the other.

    ``answers`` are the positions of the nodes that may answer; exactly one of them does. ``has_ports`` says that a node may
    be skipped because none before it leads to it, or starts before all of them are done. ``version`` is a hash of the document.
    ``is_chain`` says that the nodes stand in one row, so that nothing ever runs beside another.
    ``document`` is what was compiled; nobody changes it. ``reads`` names for each node the nodes whose OUT it reads.
    ``needed`` are the positions that the answer waits for, itself
    included. ``uses_memory`` says whether a template names something that only a stored variable can be, or a node writes one;
    ``may_use_memory`` whether one names what the context has and a stored variable may hide (``{{ model }}``); without either a
    run needs no store. ``variables`` are the names, up to their first dot, of all stored variables that a run
    may read or write; None where any may be. ``reads_chat`` says that one asks who speaks in the chat, or when somebody did;
    ``assembles`` that a node wants the prompt that a session's assets make. ``bodies`` are the plans of what stands in nodes
    of this one, by their ids; what is said of variables and reads holds for them too. A body's own ``answers`` are none.
    """

    id: str
    name: str
    version: str
    document: Mapping[str, Json]
    nodes: tuple[PlanNode, ...]
    answers: frozenset[int]
    has_ports: bool
    is_chain: bool
    reads: Mapping[str, frozenset[str]]
    needed: frozenset[int]
    uses_memory: bool
    may_use_memory: bool
    variables: frozenset[str] | None
    reads_chat: bool
    assembles: bool
    warnings: tuple[Problem, ...]
    bodies: Mapping[str, "Plan"]
    calls: frozenset[str]
    """The ids of the pipelines that it calls."""

    @property
    def reads_state(self) -> bool:
        """Whether a template may read the chat's Session State."""
        return self.variables is None or "state" in self.variables

    def every_node(self) -> Iterator[PlanNode]:
        """All nodes in their order, those of a body right behind the node that holds it."""
        for node in self.nodes:
            yield node
            if node.id in self.bodies:
                yield from self.bodies[node.id].every_node()

    def before(self, position: int) -> set[int]:
        """The positions of the nodes that this one waits for, near or far."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        graph.add_edges_from((number, following) for number, node in enumerate(self.nodes) for following in node.feeds)
        return nx.ancestors(graph, position)
