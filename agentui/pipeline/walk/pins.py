"""Which nodes need not run because of nodes whose OUT is given."""

from collections.abc import Container

from agentui.jsonio import dumps_text
from agentui.pipeline.plans.plan import Plan


def needless(plan: Plan, pins: Container[str]) -> frozenset[int]:
    """The positions of the nodes that need not run, because all that follows them is pinned.

    One runs all the same when it chooses among ports, when it writes stored variables, when a node that runs reads its OUT, or
    when such a node's document mentions a variable that it sets: whoever takes a mention for a read errs on the safe side.
    """
    written = {node["id"]: dumps_text(node) for node in plan.document["nodes"]}
    inside = {id: " ".join(written[node.id] for node in body.every_node()) for id, body in plan.bodies.items()}
    needed: set[int] = set()
    out: set[str] = set()
    texts: list[str] = []
    for position in range(len(plan.nodes) - 1, -1, -1):
        node = plan.nodes[position]
        if node.id in pins:
            continue
        follows = position in plan.answers or not node.feeds or not needed.isdisjoint(node.feeds)
        if not node.enabled:
            # Order goes through a disabled node.
            if follows:
                needed.add(position)
            continue
        mentioned = any(name in text for name in (*node.sets, "vars") for text in texts) if node.sets else False
        if follows or mentioned or len(node.ports) > 1 or node.stores or node.id in out:
            needed.add(position)
            out |= plan.reads.get(node.id, frozenset())
            texts.append(f"{written[node.id]} {inside.get(node.id, '')}")
    return frozenset(
        position for position, node in enumerate(plan.nodes) if position not in needed and node.id not in pins and node.enabled
    )
