"""``compile_plan``: check a pipeline's document and make its plan. ``check_document``: only say what is wrong with it.

Who waits for whom is a graph of networkx, which lives as long as the compiling; a run only counts down integers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx

from agentui.documents.document import version_of
from agentui.errors import NO_FACTS, InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, HIDEABLE_NAMES
from agentui.pipeline.node import Build, Catalog, Node, make_node
from agentui.pipeline.plans.answers import Answers
from agentui.pipeline.plans.bodies import split_bodies
from agentui.pipeline.plans.branches import Branches, Exits
from agentui.pipeline.plans.hosts import hosts_of
from agentui.pipeline.plans.names import unknown_names
from agentui.pipeline.plans.plan import ERROR_PORT, Plan, PlanNode
from agentui.pipeline.plans.spec import NodeSpec, PipelineSpec, parse_spec
from agentui.pipeline.run import Services


def compile_plan(pipeline_id: str, document: Json, catalog: Catalog, has_secret: Callable[[str], bool] | None = None) -> Plan:
    """Check a pipeline document and make its plan; ``has_secret`` says of which secrets to warn.

    Raises InvalidPipeline with every problem that was found: fields, unknown types, edges that lead nowhere, cycles
    (with the path), reads of nodes that do not run before, templates and expressions with line and column.
    """
    problems: list[Problem] = []
    groups = split_bodies(parse_spec(document), lambda kind: kind in catalog and catalog[kind].holds_body, problems)
    return _Compiler(groups, catalog, has_secret, problems).compile(pipeline_id, document)


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


def check_document(
    document: Mapping[str, Json],
    catalog: Catalog,
    services: Services,
    circle: Callable[[Collection[str]], Problem | None] | None = None,
    has_secret: Callable[[str], bool] | None = None,
) -> Verdict:
    """Check a pipeline document of any shape; ``circle`` says what is wrong with the pipelines that it calls,
    ``has_secret`` which secrets there are, where those are not the server's."""
    hosts = hosts_of(document, catalog, services)
    try:
        plan = compile_plan("document", document, catalog, has_secret or services.secrets.has)
    except InvalidPipeline as error:
        return Verdict(False, tuple(error.problems), {}, [], hosts)
    found = None if circle is None else circle(plan.calls)
    problems = plan.warnings if found is None else (found, *plan.warnings)
    return Verdict(found is None, problems, _reads_of(plan), [node.id for node in plan.every_node()], hosts)


def _reads_of(plan: Plan) -> dict[str, list[str]]:
    """What each node reads, in bodies too."""
    reads = {reader: sorted(read) for reader, read in plan.reads.items()}
    for body in plan.bodies.values():
        reads |= _reads_of(body)
    return reads


class _Compiler:
    """One document on its way to a plan, or one body in it; what is wrong with it gathers in ``problems``.

    ``groups`` are the nodes by their holder. A body has an ``outer`` compiler, and stands in the node ``holder`` of that.
    """

    def __init__(
        self,
        groups: Mapping[str | None, PipelineSpec],
        catalog: Catalog,
        has_secret: Callable[[str], bool] | None,
        problems: list[Problem],
        outer: "_Compiler | None" = None,
        holder: str | None = None,
    ) -> None:
        self.groups = groups
        self.spec = groups[holder]
        self.catalog = catalog
        self.has_secret = has_secret
        self.problems = problems
        self.outer = outer
        self.holder = holder
        self.inner: dict[str, _Compiler] = {}
        """The bodies in this one, by the ids of their holders."""
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
        self._check()
        answers = self._answers()
        errors = [problem for problem in self.problems if problem.severity == "error"]
        if not answers or errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            headline = f"The pipeline {pipeline_id!r} cannot run: {errors[0]}{more}"
            raise InvalidPipeline(headline, tuple(self.problems), pipeline=pipeline_id)
        return self._plan(pipeline_id, document, answers)

    def _check(self) -> None:
        """Make the nodes, those of the bodies too, and find what is wrong with them."""
        self._draw_nodes()
        self._draw_edges()
        self._make_nodes()
        self._check_ports()
        for name in self.specs:
            if name in self.groups:
                body = _Compiler(self.groups, self.catalog, self.has_secret, self.problems, self, name)
                self.inner[name] = body
                body._check()
        self._check_place()
        self._check_reads()
        if self.outer is None:
            self._check_names()

    def _plan(self, pipeline_id: str, document: Json, answers: frozenset[str]) -> Plan:
        """The plan of nodes with which nothing is wrong."""
        enabled = self._enabled()
        bodies = {name: body._plan(pipeline_id, document, frozenset()) for name, body in self.inner.items()}
        rank = {name: number for number, name in enumerate(self.specs)}
        order = list(nx.lexicographical_topological_sort(self.graph, key=rank.__getitem__))
        position = {name: number for number, name in enumerate(order)}
        handed_on = self._handed_on(answers)
        nodes = tuple(self._plan_node(name, position, bodies.get(name), name in handed_on) for name in order)
        return Plan(
            id=pipeline_id,
            name=self.spec.name,
            version=version_of(document),
            document=document,
            nodes=nodes,
            answers=frozenset(position[name] for name in answers),
            has_ports=self._has_ports(answers),
            is_chain=sum(node.waits_for == 0 for node in nodes) == 1 and all(len(node.feeds) <= 1 for node in nodes),
            reads=self.reads,
            needed=frozenset(position[name] for answer in answers for name in nx.ancestors(self.graph, answer) | {answer}),
            uses_memory=self._uses_memory() or any(body.uses_memory for body in bodies.values()),
            may_use_memory=any(build.reads.bare & HIDEABLE_NAMES for _, build in enabled)
            or any(body.may_use_memory for body in bodies.values()),
            variables=_joined(self._variables(), bodies),
            reads_chat=any(build.reads.chat for _, build in enabled) or any(body.reads_chat for body in bodies.values()),
            assembles=any(build.assembles for _, build in enabled) or any(body.assembles for body in bodies.values()),
            warnings=tuple(self.problems),
            bodies=bodies,
            calls=frozenset[str]().union(*(build.calls for _, build in enabled), *(body.calls for body in bodies.values())),
        )

    def _handed_on(self, answers: Collection[str]) -> set[str]:
        """The nodes whose answer may become the run's by another one that hands it on."""
        found: set[str] = set()
        waiting = list(answers)
        while waiting:
            name = waiting.pop()
            given = [other for other in self.nodes[name].hands_on(list(self.graph.pred[name])) if other in self.nodes]
            waiting += [other for other in given if other not in found]
            found.update(given)
        return found

    def _plan_node(self, id: str, position: Mapping[str, int], body: Plan | None, handed_on: bool) -> PlanNode:
        spec, build = self.specs[id], self.builds[id]
        inside = () if body is None else body.nodes
        return PlanNode(
            id=id,
            type=spec.type,
            title=spec.title or spec.type,
            node=self.nodes[id],
            enabled=spec.enabled,
            may_fail=spec.on_error == "continue",
            waits_for=len(self.graph.pred[id]),
            feeds=tuple(sorted(position[name] for name in self.graph.succ[id])),
            sets=frozenset(build.sets).union(*(node.sets for node in inside)),
            stores=build.stores or any(node.stores for node in inside),
            ports=self.nodes[id].ports,
            exits=self._exits_of(id, position),
            starts_on_first=spec.enabled and self.nodes[id].starts_on_first,
            closes=frozenset(position[name] for name in self._feeding_only(id)),
            joins=self.nodes[id].passes_answer,
            handed_on=handed_on,
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
            len(node.ports) > 1 or node.starts_on_first or node.passes_answer or node.ends_run or node.ends_iteration
            for node in self.nodes.values()
        )

    def _problem(
        self,
        code: str,
        message: str,
        node: str | None = None,
        severity: Literal["error", "warning"] = "error",
        facts: Mapping[str, Json] = NO_FACTS,
    ) -> None:
        self.problems.append(Problem(code, message, severity, node=node, facts=facts))

    def _draw_nodes(self) -> None:
        self.specs = {node.id: node for node in self.spec.nodes}
        self.graph.add_nodes_from(self.specs)

    def _draw_edges(self) -> None:
        """Bad edges are reported and left out; a cycle is reported with its path."""
        for edge in self.spec.edges:
            missing = [name for name in (edge.source, edge.target) if name not in self.specs]
            if missing:
                text = f"The edge {edge.source} -> {edge.target} leads to no node: there is no {missing[0]!r}."
                self._problem(
                    "edge.unknown_node", text, facts={"source": edge.source, "target": edge.target, "name": missing[0]}
                )
                continue
            if self.graph.has_edge(edge.source, edge.target):
                self.graph.edges[edge.source, edge.target]["ports"].add(edge.from_port)
            else:
                self.graph.add_edge(edge.source, edge.target, ports={edge.from_port})
        if not nx.is_directed_acyclic_graph(self.graph):
            cycle = [source for source, _ in nx.find_cycle(self.graph)]
            path = " -> ".join([*cycle, cycle[0]])
            self._problem(
                "graph.cycle", f"The nodes wait for each other: {path}. Remove one edge.", cycle[0], facts={"path": path}
            )

    def _make_nodes(self) -> None:
        for node in self.spec.nodes:
            if node.type not in self.catalog:
                text = f"There is no node type {node.type!r}; known are {', '.join(self.catalog.names())}."
                self._problem("node.unknown_type", text, node.id, facts={"type": node.type})
                continue
            build = self.builds[node.id] = Build(node.id, body=self._ids_in(node.id), has_secret=self.has_secret)
            instance = make_node(self.catalog[node.type], node.config, build)
            self.problems.extend(build.problems)
            if instance is not None:
                self.nodes[node.id] = instance

    def _check_names(self) -> None:
        """Names in conditions that nothing gives, in all bodies: what a node sets is seen by those behind it and within it."""
        builds = list(self._all_builds())
        given = {name for build in builds for name in (*build.sets, *build.stored, "OUT", "pm", "vars", "loop")}
        self.problems.extend(unknown_names(builds, given))

    def _all_builds(self) -> Iterator[Build]:
        yield from self.builds.values()
        for body in self.inner.values():
            yield from body._all_builds()

    def _ids_in(self, holder: str) -> list[str]:
        """The ids of the nodes in a body."""
        return [node.id for node in self.groups[holder].nodes] if holder in self.groups else []

    def _check_place(self) -> None:
        """Some nodes stand in loops only, and some only outside of them."""
        for id, node in self.nodes.items():
            if node.ends_iteration and self.outer is None:
                text = f"{self.specs[id].type} stands in no loop: put it into one."
                self._problem("loop.outside", text, id, facts={"type": self.specs[id].type})
            if node.ends_run and self.outer is not None:
                text = f"{self.specs[id].type} cannot stand in a loop: leave the loop with Break, and answer behind it."
                self._problem("loop.answer", text, id, facts={"type": self.specs[id].type})

    def _outside(self) -> dict[str, NodeSpec]:
        """The nodes outside of this body that run before it."""
        if self.outer is None or self.holder is None:
            return {}
        before = nx.ancestors(self.outer.graph, self.holder)
        return {**self.outer._outside(), **{name: self.outer.specs[name] for name in before}}

    def _may_lack(self, reader: str, read: str) -> bool:
        """Whether a node may run although another, which stands before it or before its loop, was skipped."""
        if read in self.specs:
            return self.branches is not None and self.branches.may_lack(reader, read)
        return self.outer is not None and self.holder is not None and self.outer._may_lack(self.holder, read)

    def _check_ports(self) -> None:
        """Edges begin at ports that there are. A node that could not be made is asked for none."""
        for source, _, edge in self.graph.edges(data=True):
            node = self.nodes.get(source)
            if node is None:
                continue
            ports = (*node.ports, ERROR_PORT) if node.error_port else node.ports
            for port in sorted(edge["ports"] - {*ports}):
                text = f"{self.specs[source].type} has no port {port!r}; it has {', '.join(ports)}."
                self._problem(
                    "edge.unknown_port", text, source, facts={"type": self.specs[source].type, "port": port, "ports": ports}
                )
        if nx.is_directed_acyclic_graph(self.graph):
            self.branches = Branches(self.graph, self._exits)

    def _check_reads(self) -> None:
        """A template may only read the OUT of nodes that run before it."""
        outside = self._outside()
        known = {**outside, **self.specs}
        for reader, build in self.builds.items():
            # What a loop decides by may be what its body gave the last time.
            own = self.inner[reader].specs.keys() if reader in self.inner else frozenset[str]()
            read = build.reads.nodes_among({**known, **dict.fromkeys(own)}) - own
            undefended = build.reads.undefended_among(known)
            # Walking to all ancestors costs a pass over the graph: only where something is read.
            before = nx.ancestors(self.graph, reader) | outside.keys() if read else set()
            for other in sorted(read):
                reads = f"Node {reader!r} reads OUT.{other}, but"
                if other not in known:
                    in_loop = any(other in self._ids_in(holder) for holder in self.groups if holder is not None)
                    text = f"{reads} {_absence(other, in_loop=in_loop)}."
                    facts = {"reader": reader, "node": other, "reason": "in_loop" if in_loop else "no_node"}
                    self._problem("read.unknown_node", text, reader, facts=facts)
                elif other not in before:
                    text = f"{reads} {other!r} does not run before it. Connect them, or read another node."
                    self._problem("read.not_before", text, reader, facts={"reader": reader, "node": other})
                elif not known[other].enabled:
                    text = f"{reads} {other!r} is disabled: it will find nothing."
                    self._problem("read.disabled", text, reader, "warning", facts={"reader": reader, "node": other})
                elif other in undefended and self._may_lack(reader, other):
                    text = f"{reads} {other!r} may be skipped when {reader!r} runs: write default(..) for what stands then."
                    self._problem("read.may_be_skipped", text, reader, "warning", facts={"reader": reader, "node": other})
            if reader in self.inner:
                inside = self.inner[reader]
                read = read.union(*inside.reads.values()) - inside.specs.keys()
            self.reads[reader] = read

    def _exits(self, name: str) -> Exits:
        """What a node may leave by, for who asks what excludes what."""
        used = frozenset[str]().union(*(edge["ports"] for edge in self.graph[name].values()))
        node, spec = self.nodes.get(name), self.specs[name]
        if node is None:
            return Exits(("done",), used, not spec.enabled)
        # A node whose run goes on from its failure leaves by its usual port, whatever it chooses when it works.
        idle = node.idle_ports if spec.on_error == "fail" else frozenset[str]()
        return Exits(tuple(port for port in node.ports if port not in idle), used, not spec.enabled)

    def _answers(self) -> frozenset[str]:
        """The nodes that may answer; none where that is not known, which is reported."""
        return Answers(self.spec.answer, self.specs, self.graph, self.nodes, self.branches).find(self.problems)

    def _enabled(self) -> list[tuple[str, Build]]:
        return [(node.id, self.builds[node.id]) for node in self.spec.nodes if node.enabled]

    def _uses_memory(self) -> bool:
        """Whether a node stores a variable, or reads a name that neither the context nor a SetVars surely before it gives."""
        known = {*CONTEXT_NAMES, "OUT", "pm"} | ({"loop"} if self.outer is not None or self.inner else set())
        for id, build in self._enabled():
            if build.stores or build.reads.tier_names:
                return True
            unknown = build.reads.names - known
            # Walking to all ancestors costs a pass over the graph: only where a name is left.
            if unknown and unknown - self._set_before(id):
                return True
        return False

    def _set_before(self, id: str) -> set[str]:
        """The run variables that nodes surely set before one runs."""
        sure = {node.id for node in self.spec.nodes if node.enabled and node.on_error == "fail"}
        names = set[str]().union(*(self.builds[other].sets for other in nx.ancestors(self.graph, id) & sure))
        if self.outer is not None and self.holder is not None:
            names |= self.outer._set_before(self.holder)
        return names

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


def _joined(own: frozenset[str] | None, bodies: Mapping[str, Plan]) -> frozenset[str] | None:
    """``Plan.variables`` of nodes and of the bodies among them."""
    names = own
    for body in bodies.values():
        names = None if names is None or body.variables is None else names | body.variables
    return names


def _absence(name: str, *, in_loop: bool) -> str:
    """Why no node of this id can be read."""
    if in_loop:
        return f"{name!r} stands in a loop, whose nodes only those in it read: read OUT of the loop"
    return f"there is no node {name!r}"
