"""``compile_plan``: check a pipeline's document and make its plan. ``check_document``: only say what is wrong with it.

Who waits for whom is a graph of networkx, which lives as long as the compiling; a run only counts down integers.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx

from agentui.documents.document import version_of
from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, HIDEABLE_NAMES
from agentui.pipeline.node import Build, Catalog, Node, make_node
from agentui.pipeline.plans.answers import Answers
from agentui.pipeline.plans.branches import Branches, Exits
from agentui.pipeline.plans.hosts import hosts_of
from agentui.pipeline.plans.plan import ERROR_PORT, Plan, PlanNode
from agentui.pipeline.plans.spec import NodeSpec, PipelineSpec, parse_spec
from agentui.pipeline.run import Services


def compile_plan(pipeline_id: str, document: Json, catalog: Catalog, has_secret: Callable[[str], bool] | None = None) -> Plan:
    """Check a pipeline document and make its plan; ``has_secret`` says of which secrets to warn.

    Raises InvalidPipeline with every problem that was found: fields, unknown types, edges that lead nowhere, cycles
    (with the path), reads of nodes that do not run before, templates and expressions with line and column.
    """
    return _Compiler(parse_spec(document), catalog, has_secret).compile(pipeline_id, document)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a document and, where nothing is, what it means.

    ``reads`` names for each node those whose OUT it reads, ``order`` the nodes in an order of running. ``hosts`` are where
    keys would be sent: hosts of literal addresses; an address with macros as its own text.
    """

    valid: bool
    problems: tuple[Problem, ...]
    reads: dict[str, list[str]]
    order: list[str]
    hosts: list[str]


def check_document(document: Mapping[str, Json], catalog: Catalog, services: Services) -> Verdict:
    """Check a pipeline document of any shape."""
    hosts = hosts_of(document, catalog, services)
    try:
        plan = compile_plan("document", document, catalog, services.secrets.has)
    except InvalidPipeline as error:
        return Verdict(False, tuple(error.problems), {}, [], hosts)
    reads = {reader: sorted(read) for reader, read in plan.reads.items()}
    return Verdict(True, plan.warnings, reads, [node.id for node in plan.nodes], hosts)


class _Compiler:
    """One document on its way to a plan; what is wrong with it gathers in ``problems``."""

    def __init__(self, spec: PipelineSpec, catalog: Catalog, has_secret: Callable[[str], bool] | None) -> None:
        self.spec = spec
        self.catalog = catalog
        self.has_secret = has_secret
        self.problems: list[Problem] = []
        self.specs: dict[str, NodeSpec] = {}
        self.graph: nx.DiGraph[str] = nx.DiGraph()
        """The nodes' ids in the document's order; an edge leads from a node to one that waits for it."""
        self.nodes: dict[str, Node[Any]] = {}
        self.builds: dict[str, Build] = {}
        """What compiling each node told: what it reads, sets and stores."""
        self.reads: dict[str, frozenset[str]] = {}
        self.branches: Branches | None = None
        """What excludes what; None where the nodes wait for each other."""

    def compile(self, pipeline_id: str, document: Json) -> Plan:
        """The plan. Raises InvalidPipeline with every problem that was found."""
        self._check_ids()
        self._draw_edges()
        self._make_nodes()
        self._check_ports()
        self._check_reads()
        answers = self._answers()
        errors = [problem for problem in self.problems if problem.severity == "error"]
        if not answers or errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            headline = f"The pipeline {pipeline_id!r} cannot run: {errors[0]}{more}"
            raise InvalidPipeline(headline, tuple(self.problems), pipeline=pipeline_id)
        rank = {name: number for number, name in enumerate(self.specs)}
        order = list(nx.lexicographical_topological_sort(self.graph, key=rank.__getitem__))
        position = {name: number for number, name in enumerate(order)}
        return Plan(
            id=pipeline_id,
            name=self.spec.name,
            version=version_of(document),
            document=document,
            nodes=tuple(self._plan_node(name, position) for name in order),
            answers=frozenset(position[name] for name in answers),
            has_ports=self._has_ports(answers),
            reads=self.reads,
            is_chain=all(len(ready) == 1 for ready in nx.topological_generations(self.graph)),
            needed=frozenset(position[name] for answer in answers for name in nx.ancestors(self.graph, answer) | {answer}),
            uses_memory=self._uses_memory(),
            may_use_memory=any(build.reads.bare & HIDEABLE_NAMES for _, build in self._enabled()),
            variables=self._variables(),
            reads_chat=any(build.reads.chat for _, build in self._enabled()),
            assembles=any(build.assembles for _, build in self._enabled()),
            warnings=tuple(self.problems),
        )

    def _plan_node(self, id: str, position: Mapping[str, int]) -> PlanNode:
        spec, build = self.specs[id], self.builds[id]
        return PlanNode(
            id=id,
            type=spec.type,
            title=spec.title or spec.type,
            node=self.nodes[id],
            enabled=spec.enabled,
            may_fail=spec.on_error == "continue",
            waits_for=len(self.graph.pred[id]),
            feeds=tuple(sorted(position[name] for name in self.graph.succ[id])),
            sets=frozenset(build.sets),
            stores=build.stores,
            ports=self.nodes[id].ports,
            exits=self._exits_of(id, position),
            starts_on_first=spec.enabled and self.nodes[id].starts_on_first,
            closes=frozenset(position[name] for name in self._feeding_only(id)),
            joins=self.nodes[id].passes_answer,
        )

    def _exits_of(self, id: str, position: Mapping[str, int]) -> dict[str, tuple[int, ...]] | None:
        """The followers of a node by port; None where all of them follow in any case."""
        edges = self.graph[id]
        if len(self.nodes[id].ports) == 1 and not any(ERROR_PORT in edge["ports"] for edge in edges.values()):
            return None
        exits: dict[str, list[int]] = {}
        for target, edge in edges.items():
            for port in edge["ports"]:
                exits.setdefault(port, []).append(position[target])
        return {port: tuple(sorted(targets)) for port, targets in exits.items()}

    def _feeding_only(self, id: str) -> set[str]:
        """The nodes before one that starts on the first edge, all of whose ways lead to it alone."""
        if not (self.specs[id].enabled and self.nodes[id].starts_on_first):
            return set()
        found = {id}
        before = nx.ancestors(self.graph, id)
        for name in reversed(list(nx.topological_sort(self.graph.subgraph(before)))):
            if found.issuperset(self.graph.succ[name]):
                found.add(name)
        return found - {id}

    def _has_ports(self, answers: Collection[str]) -> bool:
        """Whether a walk over the nodes has more to do than to count down what each waits for."""
        if len(answers) > 1:
            return True
        used = (port for *_, edge in self.graph.edges(data=True) for port in edge["ports"])
        if any(port == ERROR_PORT for port in used):
            return True
        return any(
            len(node.ports) > 1 or node.starts_on_first or node.passes_answer or node.ends_run for node in self.nodes.values()
        )

    def _problem(
        self, code: str, message: str, node: str | None = None, severity: Literal["error", "warning"] = "error"
    ) -> None:
        self.problems.append(Problem(code, message, severity, node=node))

    def _check_ids(self) -> None:
        for node in self.spec.nodes:
            if node.id in self.specs:
                self._problem("node.duplicate_id", f"Two nodes have the id {node.id!r}; rename one.", node.id)
            self.specs[node.id] = node
        self.graph.add_nodes_from(self.specs)

    def _draw_edges(self) -> None:
        """Bad edges are reported and left out; a cycle is reported with its path."""
        for edge in self.spec.edges:
            missing = [name for name in (edge.source, edge.target) if name not in self.specs]
            if missing:
                text = f"The edge {edge.source} -> {edge.target} leads to no node: there is no {missing[0]!r}."
                self._problem("edge.unknown_node", text)
                continue
            if self.graph.has_edge(edge.source, edge.target):
                self.graph.edges[edge.source, edge.target]["ports"].add(edge.from_port)
            else:
                self.graph.add_edge(edge.source, edge.target, ports={edge.from_port})
        if not nx.is_directed_acyclic_graph(self.graph):
            cycle = [source for source, _ in nx.find_cycle(self.graph)]
            path = " -> ".join([*cycle, cycle[0]])
            self._problem("graph.cycle", f"The nodes wait for each other: {path}. Remove one edge.", cycle[0])

    def _make_nodes(self) -> None:
        for node in self.spec.nodes:
            if node.type not in self.catalog:
                text = f"There is no node type {node.type!r}; known are {', '.join(self.catalog.names())}."
                self._problem("node.unknown_type", text, node.id)
                continue
            build = self.builds[node.id] = Build(node.id, has_secret=self.has_secret)
            instance = make_node(self.catalog[node.type], node.config, build)
            self.problems.extend(build.problems)
            if instance is not None:
                self.nodes[node.id] = instance

    def _check_ports(self) -> None:
        """Edges begin at ports that there are. A node that could not be made is asked for none."""
        for source, _, edge in self.graph.edges(data=True):
            node = self.nodes.get(source)
            if node is None:
                continue
            ports = (*node.ports, ERROR_PORT) if node.error_port else node.ports
            for port in sorted(edge["ports"] - {*ports}):
                text = f"{self.specs[source].type} has no port {port!r}; it has {', '.join(ports)}."
                self._problem("edge.unknown_port", text, source)
        if nx.is_directed_acyclic_graph(self.graph):
            self.branches = Branches(self.graph, self._exits)

    def _check_reads(self) -> None:
        """A template may only read the OUT of nodes that run before it."""
        for reader, build in self.builds.items():
            read = self.reads[reader] = build.reads.nodes_among(self.specs)
            undefended = build.reads.undefended_among(self.specs)
            # Walking to all ancestors costs a pass over the graph: only where something is read.
            before = nx.ancestors(self.graph, reader) if read else set()
            for other in sorted(read):
                reads = f"Node {reader!r} reads OUT.{other}, but"
                if other not in self.specs:
                    self._problem("read.unknown_node", f"{reads} there is no node {other!r}.", reader)
                elif other not in before:
                    text = f"{reads} {other!r} does not run before it. Connect them, or read another node."
                    self._problem("read.not_before", text, reader)
                elif not self.specs[other].enabled:
                    self._problem("read.disabled", f"{reads} {other!r} is disabled: it will find nothing.", reader, "warning")
                elif other in undefended and self.branches is not None and self.branches.may_lack(reader, other):
                    text = f"{reads} {other!r} may be skipped when {reader!r} runs: write default(..) for what stands then."
                    self._problem("read.may_be_skipped", text, reader, "warning")

    def _exits(self, name: str) -> Exits:
        """What a node may leave by, for who asks what excludes what."""
        used = frozenset[str]().union(*(edge["ports"] for edge in self.graph[name].values()))
        node = self.nodes.get(name)
        return Exits(node.ports if node is not None else ("done",), used, not self.specs[name].enabled)

    def _answers(self) -> frozenset[str]:
        """The nodes that may answer; none where that is not known, which is reported."""
        return Answers(self.spec.answer, self.specs, self.graph, self.nodes, self.branches).find(self.problems)

    def _enabled(self) -> list[tuple[str, Build]]:
        return [(node.id, self.builds[node.id]) for node in self.spec.nodes if node.enabled]

    def _uses_memory(self) -> bool:
        """Whether a node stores a variable, or reads a name that neither the context nor a SetVars surely before it gives."""
        known = {*CONTEXT_NAMES, "OUT", "pm"}
        sure = {node.id for node in self.spec.nodes if node.enabled and node.on_error == "fail"}
        for id, build in self._enabled():
            if build.stores or build.reads.tier_names:
                return True
            unknown = build.reads.names - known
            if unknown:
                # Walking to all ancestors costs a pass over the graph: only where a name is left.
                before = nx.ancestors(self.graph, id)
                if unknown.difference(*(self.builds[other].sets for other in before & sure)):
                    return True
        return False

    def _variables(self) -> frozenset[str] | None:
        """The stored variables that the enabled nodes may read or write, as ``Plan.variables`` holds them.

        ``assets.gold`` may be a variable's name or lead into ``assets``: both begin alike, so the beginning is what counts.
        """
        names: set[str] = set()
        for _, build in self._enabled():
            if "vars" in build.reads.names or (build.stores and not build.stored):
                return None
            names |= build.reads.names | build.reads.tier_names | build.stored
        return frozenset(name.partition(".")[0] for name in names)
