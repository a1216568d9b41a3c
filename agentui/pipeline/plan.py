"""A pipeline understood once: ``compile_plan`` turns a spec into an immutable ``Plan``.

Who waits for whom is a graph of networkx, which lives as long as the compiling; a run only counts down integers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import networkx as nx

from agentui.documents.document import version_of
from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES
from agentui.pipeline.node import Build, Catalog, Node, make_node
from agentui.pipeline.spec import NodeSpec, PipelineSpec, parse_spec

Graph: TypeAlias = "nx.DiGraph[str]"
"""The nodes' ids in the document's order; an edge leads from a node to one that waits for it."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One node ready to run. ``feeds`` are the positions in the plan of those that wait for it.

    ``sets`` are the run variables that it sets; ``stores`` says that it writes stored ones.
    """

    id: str
    type: str
    title: str
    node: Node[Any]
    enabled: bool
    may_fail: bool
    waits_for: int
    feeds: tuple[int, ...]
    sets: frozenset[str]
    stores: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked pipeline. ``nodes`` stand in an order in which they could run one after the other.

    ``answer`` is the position of the node whose result is the pipeline's answer. ``version`` is a hash of the document.
    ``document`` is what was compiled; nobody changes it. ``reads`` names for each node the nodes whose OUT it reads.
    ``is_chain`` says that never two nodes are ready at once. ``needed`` are the positions that the answer waits for, itself
    included. ``uses_memory`` says whether a template names something that may be a stored variable, or a node writes one;
    without it a run needs no store. ``variables`` are the names, up to their first dot, of all stored variables that a run
    may read or write; None where any may be.
    """

    id: str
    name: str
    version: str
    document: Mapping[str, Json]
    nodes: tuple[PlanNode, ...]
    answer: int
    reads: Mapping[str, frozenset[str]]
    is_chain: bool
    needed: frozenset[int]
    uses_memory: bool
    variables: frozenset[str] | None
    warnings: tuple[Problem, ...]

    def before(self, position: int) -> set[int]:
        """The positions of the nodes that this one waits for, near or far."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        graph.add_edges_from((number, following) for number, node in enumerate(self.nodes) for following in node.feeds)
        return nx.ancestors(graph, position)


def compile_plan(pipeline_id: str, document: Json, catalog: Catalog) -> Plan:
    """Check a pipeline document and make its plan.

    Raises InvalidPipeline with every problem that was found: fields, unknown types, edges that lead nowhere, cycles
    (with the path), reads of nodes that do not run before, templates and expressions with line and column.
    """
    spec = parse_spec(document)
    problems: list[Problem] = []
    _check_ids(spec, problems)
    graph = _graph(spec, catalog, problems)
    made, builds = _make_nodes(spec, catalog, problems)
    ids = {node.id for node in spec.nodes}
    reads = {id: build.reads.nodes_among(ids) for id, build in builds.items()}
    _check_reads(spec, graph, reads, problems)
    answer = _answer(spec, graph, problems)
    if answer is None or any(problem.severity == "error" for problem in problems):
        raise InvalidPipeline(_headline(pipeline_id, problems), tuple(problems), pipeline=pipeline_id)
    uses_memory = _uses_memory(spec, graph, builds)
    return _plan(pipeline_id, document, spec, graph, made, builds, reads, answer, problems, uses_memory=uses_memory)


def _headline(pipeline_id: str, problems: Iterable[Problem]) -> str:
    errors = [problem for problem in problems if problem.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"The pipeline {pipeline_id!r} cannot run: {errors[0]}{more}"


def _check_ids(spec: PipelineSpec, problems: list[Problem]) -> None:
    seen: set[str] = set()
    for node in spec.nodes:
        if node.id in seen:
            problems.append(Problem("node.duplicate_id", f"Two nodes have the id {node.id!r}; rename one.", node=node.id))
        seen.add(node.id)


def _graph(spec: PipelineSpec, catalog: Catalog, problems: list[Problem]) -> Graph:
    """The order graph. Bad edges are reported and left out; a cycle is reported with its path."""
    by_id = {node.id: node for node in spec.nodes}
    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(by_id)
    for edge in spec.edges:
        missing = [name for name in (edge.source, edge.target) if name not in by_id]
        if missing:
            text = f"The edge {edge.source} -> {edge.target} leads to no node: there is no {missing[0]!r}."
            problems.append(Problem("edge.unknown_node", text))
            continue
        kind = by_id[edge.source].type
        if kind in catalog and edge.from_port not in catalog[kind].ports:
            text = f"{kind} has no port {edge.from_port!r}; it has {', '.join(catalog[kind].ports)}."
            problems.append(Problem("edge.unknown_port", text, node=edge.source))
        graph.add_edge(edge.source, edge.target)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [source for source, _ in nx.find_cycle(graph)]
        path = " -> ".join([*cycle, cycle[0]])
        problems.append(Problem("graph.cycle", f"The nodes wait for each other: {path}. Remove one edge.", node=cycle[0]))
    return graph


def _make_nodes(spec: PipelineSpec, catalog: Catalog, problems: list[Problem]) -> tuple[dict[str, Node[Any]], dict[str, Build]]:
    """The nodes, and what compiling them told: what each reads, sets and stores."""
    builds: dict[str, Build] = {}
    made: dict[str, Node[Any]] = {}
    for node in spec.nodes:
        if node.type not in catalog:
            text = f"There is no node type {node.type!r}; known are {', '.join(catalog.names())}."
            problems.append(Problem("node.unknown_type", text, node=node.id))
            continue
        build = builds[node.id] = Build(node.id)
        instance = make_node(catalog[node.type], node.config, build)
        problems.extend(build.problems)
        if instance is not None:
            made[node.id] = instance
    return made, builds


def _uses_memory(spec: PipelineSpec, graph: Graph, builds: Mapping[str, Build]) -> bool:
    """Whether a node stores a variable, or reads a name that neither the context nor a SetVars surely before it gives."""
    known = {*CONTEXT_NAMES, "OUT", "pm"}
    sure = {node.id for node in spec.nodes if node.enabled and node.on_error == "fail"}
    for node in spec.nodes:
        build = builds[node.id]
        if not node.enabled:
            continue
        if build.stores or build.reads.tier_names:
            return True
        unknown = build.reads.names - known
        if unknown:
            # Walking to all ancestors costs a pass over the graph: only where a name is left.
            before = nx.ancestors(graph, node.id)
            unknown = unknown.difference(*(builds[id].sets for id in before if id in sure))
        if unknown:
            return True
    return False


def _variables(spec: PipelineSpec, builds: Mapping[str, Build]) -> frozenset[str] | None:
    """The stored variables that the enabled nodes may read or write, as ``Plan.variables`` holds them.

    ``assets.gold`` may be a variable's name or lead into ``assets``: both begin alike, so the beginning is what counts.
    """
    every = [builds[node.id] for node in spec.nodes if node.enabled]
    if any("vars" in build.reads.names or (build.stores and not build.stored) for build in every):
        return None
    return frozenset(
        name.partition(".")[0] for build in every for name in (*build.reads.names, *build.reads.tier_names, *build.stored)
    )


def _check_reads(spec: PipelineSpec, graph: Graph, reads: Mapping[str, frozenset[str]], problems: list[Problem]) -> None:
    """A template may only read the OUT of nodes that run before it."""
    enabled = {node.id: node.enabled for node in spec.nodes}
    for reader, read in reads.items():
        # Walking to all ancestors costs a pass over the graph: only where something is read.
        before = nx.ancestors(graph, reader) if read else set()
        for other in sorted(read):
            if other not in enabled:
                text = f"Node {reader!r} reads OUT.{other}, but there is no node {other!r}."
                problems.append(Problem("read.unknown_node", text, node=reader))
            elif other not in before:
                text = (
                    f"Node {reader!r} reads OUT.{other}, but {other!r} does not run before it. "
                    "Connect them, or read another node."
                )
                problems.append(Problem("read.not_before", text, node=reader))
            elif not enabled[other]:
                text = f"Node {reader!r} reads OUT.{other}, but {other!r} is disabled: it will find nothing."
                problems.append(Problem("read.disabled", text, "warning", node=reader))


def _answer(spec: PipelineSpec, graph: Graph, problems: list[Problem]) -> str | None:
    """The node that answers: the one named, else the only one that nothing follows."""
    by_id = {node.id: node for node in spec.nodes}
    if spec.answer is not None:
        if spec.answer not in by_id:
            problems.append(Problem("answer.unknown", f"answer names {spec.answer!r}, but there is no such node."))
            return None
        named = by_id[spec.answer]
        if not named.enabled:
            text = "This node answers, but it is disabled. Enable it, or let another node answer."
            problems.append(Problem("answer.disabled", text, node=named.id))
        return named.id
    last: list[str] = [name for name in by_id if not graph.succ[name] and by_id[name].enabled]
    if len(last) == 1:
        return last[0]
    if last:
        text = f"Which node answers? Nothing follows {', '.join(sorted(last))}: name one in answer."
        problems.append(Problem("answer.ambiguous", text))
    elif nx.is_directed_acyclic_graph(graph):
        problems.append(Problem("answer.none", "The node that nothing follows is disabled: name an enabled one in answer."))
    return None


def _plan(
    pipeline_id: str,
    document: Json,
    spec: PipelineSpec,
    graph: Graph,
    made: Mapping[str, Node[Any]],
    builds: Mapping[str, Build],
    reads: Mapping[str, frozenset[str]],
    answer: str,
    problems: list[Problem],
    *,
    uses_memory: bool,
) -> Plan:
    """Put the parts together; everything has been checked."""
    rank = {node.id: number for number, node in enumerate(spec.nodes)}
    order = list(nx.lexicographical_topological_sort(graph, key=rank.__getitem__))
    position = {name: number for number, name in enumerate(order)}
    specs = {node.id: node for node in spec.nodes}
    return Plan(
        id=pipeline_id,
        name=spec.name,
        version=version_of(document),
        document=document,
        nodes=tuple(_plan_node(specs[name], made[name], builds[name], graph, position) for name in order),
        answer=position[answer],
        reads=dict(reads),
        is_chain=all(len(ready) == 1 for ready in nx.topological_generations(graph)),
        needed=frozenset(position[name] for name in nx.ancestors(graph, answer) | {answer}),
        uses_memory=uses_memory,
        variables=_variables(spec, builds),
        warnings=tuple(problems),
    )


def _plan_node(spec: NodeSpec, node: Node[Any], build: Build, graph: Graph, position: Mapping[str, int]) -> PlanNode:
    return PlanNode(
        id=spec.id,
        type=spec.type,
        title=spec.title or spec.type,
        node=node,
        enabled=spec.enabled,
        may_fail=spec.on_error == "continue",
        waits_for=len(graph.pred[spec.id]),
        feeds=tuple(sorted(position[name] for name in graph.succ[spec.id])),
        sets=frozenset(build.sets),
        stores=build.stores,
    )
