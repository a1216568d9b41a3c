"""``python -m tests.bench.flow``: what the executor costs for each node of a pipeline, in microseconds; what a loop costs
for each of 10,000 iterations, and what a megabyte of conditions costs.

Nodes that do nothing stand one after the other, side by side, and behind a node that chooses a port; a run of a single node is
taken off, so that what remains is the executor's. Reported are the smallest of several rounds: the others met other programs.
"""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from time import perf_counter, process_time

from agentui.jsonio import Json
from agentui.pipeline.node import Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from tests.unit.pipeline.parts import catalog_of, compiled, document, execute

NODES = 200
ITERATIONS = 10_000
CASES, CASE_BYTES = 64, 16 * 1024
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


def looping() -> Plan:
    """A loop around one node."""
    loop: Json = {"id": "loop", "type": "Loop", "config": {"items": str(ITERATIONS), "max_iterations": ITERATIONS}}
    return compiled([loop, {"id": "n", "type": "Nothing", "parent": "loop"}], (), Nothing)


def deciding() -> Json:
    """A Switch with a megabyte of conditions, of which the last one holds."""
    false = " or ".join(["nobody"] * 250) + ' or "'
    rows = [f'{false}{"x" * (CASE_BYTES - len(false) - 13)}" == model' for _ in range(CASES - 1)]
    cases = [{"name": f"c{number}", "condition": row} for number, row in enumerate([*rows, "true"])]
    return document([{"id": "n", "type": "Switch", "config": {"cases": cases}}])


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
    began_loop = process_time()
    await execute(looping())
    print(f"{ITERATIONS} iterations  {(process_time() - began_loop) / ITERATIONS * 1e6:8.1f} us an iteration")
    whole = deciding()
    began_cases = process_time()
    plan_of_cases = compile_plan("test", whole, catalog_of(Nothing))
    compiled_in = process_time() - began_cases
    run = await execute(plan_of_cases)
    took_cases = process_time() - began_cases - compiled_in
    assert run.out["n"]["port"] == f"c{CASES - 1}"
    print(
        f"{CASES * CASE_BYTES >> 20} MB of conditions {compiled_in * 1e3:8.1f} ms to compile, {took_cases * 1e3:.1f} ms to run"
    )
    print(f"measured in {perf_counter() - began:.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
