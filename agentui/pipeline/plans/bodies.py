"""Bodies: which nodes of a document stand in another node (a Loop), and run in its walks instead of the pipeline's own."""

from collections import Counter
from collections.abc import Callable, Mapping

from agentui.errors import Problem
from agentui.jsonio import Json
from agentui.pipeline.plans.spec import EdgeSpec, NodeSpec, PipelineSpec

MAX_DEPTH = 5
"""How deep bodies may stand in each other."""


def split_bodies(
    spec: PipelineSpec, holds_body: Callable[[str], bool], problems: list[Problem]
) -> Mapping[str | None, PipelineSpec]:
    """The document cut into small ones: the pipeline's own nodes under None, those of each body under the id of its holder.

    ``holds_body`` says of which types nodes may hold others. What is wrong goes to ``problems``: an id twice, a parent that
    is no holder, bodies that stand too deep or in each other, edges that cross a border. Such nodes count as the pipeline's
    own, and such edges are left out.
    """
    for id, count in Counter(node.id for node in spec.nodes).items():
        if count > 1:
            problems.append(
                Problem("node.duplicate_id", f"Two nodes have the id {id!r}; rename one.", node=id, facts={"node": id})
            )
    if all(node.parent is None for node in spec.nodes):
        return {None: spec}
    specs = {node.id: node for node in spec.nodes}
    parents = {id: _parent_of(node, specs, holds_body, problems) for id, node in specs.items()}
    nodes: dict[str | None, list[NodeSpec]] = {None: []}
    for node in spec.nodes:
        nodes.setdefault(parents[node.id], []).append(node)
    edges: dict[str | None, list[EdgeSpec]] = {}
    for edge in spec.edges:
        source, target = parents.get(edge.source), parents.get(edge.target)
        if edge.source in specs and edge.target in specs and source != target:
            text = f"The edge {edge.source} -> {edge.target} crosses the border of a loop: connect the loop itself."
            problems.append(
                Problem("loop.border", text, node=edge.target, facts={"source": edge.source, "target": edge.target})
            )
        else:
            edges.setdefault(source, []).append(edge)
    return {
        holder: spec.model_copy(
            update={"nodes": inside, "edges": edges.get(holder, []), "answer": spec.answer if holder is None else None}
        )
        for holder, inside in nodes.items()
    }


def _parent_of(
    node: NodeSpec, specs: Mapping[str, NodeSpec], holds_body: Callable[[str], bool], problems: list[Problem]
) -> str | None:
    """The holder of a node; None, and a problem, where it cannot be one."""
    if node.parent is None:
        return None
    holders: list[str] = []
    holder: str | None = node.parent
    while holder is not None and len(holders) <= MAX_DEPTH:
        if holder not in specs or not holds_body(specs[holder].type):
            what = "there is no such node" if holder not in specs else "that node holds no others"
            text = f"This node stands in {holder!r}, but {what}. Put it into a loop, or take it out."
            facts: dict[str, Json] = {"holder": holder, "reason": "no_node" if holder not in specs else "no_loop"}
            problems.append(Problem("loop.parent", text, node=node.id, field="parent", facts=facts))
            return None
        if holder == node.id:
            text = "This loop stands in itself. Take it out."
            problems.append(Problem("loop.parent", text, node=node.id, field="parent", facts={"reason": "itself"}))
            return None
        holders.append(holder)
        holder = specs[holder].parent
    if len(holders) > MAX_DEPTH:
        text = f"Loops stand in each other more than {MAX_DEPTH} deep. Take one out."
        problems.append(Problem("loop.depth", text, node=node.id, field="parent", facts={"limit": MAX_DEPTH}))
        return None
    return node.parent
