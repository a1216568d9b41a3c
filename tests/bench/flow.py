"""``python -m tests.bench.flow``: what the executor costs for each node of a pipeline, in microseconds.

Nodes that do nothing stand one after the other, side by side, and behind a node that chooses a port; a run of a single node is
taken off, so that what remains is the executor's. Reported are the smallest of several rounds: the others met other programs.
"""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from time import perf_counter, process_time

from agentui.jsonio import Json
from agentui.pipeline.node import Node, NodeParams, node
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from tests.unit.pipeline.parts import catalog_of, compiled, document, execute

NODES = 200
RUNS = 30
ROUNDS = 7


@node("Nothing")
class Nothing(Node[NodeParams]):
    """Does nothing."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        return {}


@node("Choose")
class Choose(Node[NodeParams]):
    """Chooses a port."""

    Params = NodeParams
    ports = ("left", "right")

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        ctx.leave_by("left")
        return {}


def plan(size: int, edges: Sequence[tuple[str, str]]) -> Plan:
    """A plan of so many nodes."""
    nodes: list[Json] = [{"id": f"n{number}", "type": "Nothing"} for number in range(size)]
    return compiled(nodes, edges, Nothing, Choose, answer=f"n{size - 1}")


def chain(size: int) -> list[tuple[str, str]]:
    """Nodes one after the other."""
    return [(f"n{number}", f"n{number + 1}") for number in range(size - 1)]


def chosen(size: int) -> Plan:
    """The same behind a node that chooses a port."""
    nodes: list[Json] = [{"id": f"n{number}", "type": "Nothing" if number else "Choose"} for number in range(size)]
    wires = [{"from": source, "to": target} for source, target in chain(size)]
    wires[0]["from_port"] = "left"
    whole = {**document(nodes, answer=f"n{size - 1}"), "edges": wires}
    return compile_plan("test", whole, catalog_of(Nothing, Choose))


async def took(each: Plan) -> float:
    """The processor seconds of one run, at best."""
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        began = process_time()
        for _ in range(RUNS):
            await execute(each)
        best = min(best, (process_time() - began) / RUNS)
    return best


async def main() -> None:
    """Measure every shape."""
    began = perf_counter()
    single = await took(plan(1, ()))
    beside = [(f"n{number}", f"n{NODES - 1}") for number in range(NODES - 1)]
    shapes = {"a chain": plan(NODES, chain(NODES)), "side by side": plan(NODES, beside), "behind a port": chosen(NODES)}
    print(f"a run of one node {single * 1e6:8.1f} us")
    for name, each in shapes.items():
        print(f"{name:18}{(await took(each) - single) / (NODES - 1) * 1e6:8.1f} us a node")
    print(f"measured in {perf_counter() - began:.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
