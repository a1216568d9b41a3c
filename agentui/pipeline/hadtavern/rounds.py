"""What a while of HadTavern's repeats comes to stand in a Loop: there it is a circle of connections, here a group of nodes."""

from collections.abc import Mapping, Sequence
from typing import Final

from agentui.jsonio import Json
from agentui.pipeline.hadtavern.report import HadTavernReport

BODY: Final = "body"
"""The port of a while that leads to what it repeats; there is none here."""


def put_in_loops(nodes: Sequence[dict[str, Json]], edges: Sequence[Json], report: HadTavernReport) -> list[Json]:
    """Let each node that follows the body of a while name its Loop as ``parent``. Returns the edges without those that lead
    into a body and back; what leads over the border of a loop is told of, and stays.

    Loops stand in loops as far as their bodies do. Work: nodes and edges, once for each loop.
    """
    loops = [node["id"] for node in nodes if node["type"] == "Loop"]
    if not loops:
        return list(edges)
    following: dict[str, list[str]] = {}
    begins: dict[str, list[str]] = {loop: [] for loop in loops}
    for edge in edges:
        if edge.get("from_port") == BODY and edge["from"] in begins:
            begins[edge["from"]].append(edge["to"])
        else:
            following.setdefault(edge["from"], []).append(edge["to"])
    bodies = {loop: _body(loop, begins, following) for loop in loops}
    by_id = {node["id"]: node for node in nodes}
    # The innermost first: a node stands in the smallest body that has it.
    for loop in sorted(loops, key=lambda loop: len(bodies[loop])):
        if not bodies[loop]:
            report.note("Nothing follows the body of this while: put the nodes into it that it repeats.", loop, "outputs")
        for id in bodies[loop]:
            by_id[id].setdefault("parent", loop)
    return [edge for edge in edges if not _is_round(edge, bodies) and _told(edge, by_id, report)]


def _body(loop: str, begins: Mapping[str, Sequence[str]], following: Mapping[str, Sequence[str]]) -> set[str]:
    """All that follows the body of a loop, up to the loop itself; with the bodies of the loops in it."""
    found: set[str] = set()
    waiting = list(begins[loop])
    while waiting:
        id = waiting.pop()
        if id != loop and id not in found:
            found.add(id)
            waiting += [*following.get(id, ()), *begins.get(id, ())]
    return found


def _is_round(edge: Mapping[str, Json], bodies: Mapping[str, set[str]]) -> bool:
    """Whether an edge leads into the body of its loop, or from there back to the loop: the Loop does both by itself."""
    source, target = edge["from"], edge["to"]
    into = edge.get("from_port") == BODY and source in bodies
    return into or source in bodies.get(target, ())


def _told(edge: Mapping[str, Json], by_id: Mapping[str, Mapping[str, Json]], report: HadTavernReport) -> bool:
    """Tell of an edge over the border of a loop, which stays: the check refuses it, and shows it."""
    ends = [by_id[edge[side]].get("parent") for side in ("from", "to")]
    if ends[0] != ends[1]:
        text = f"The connection to {edge['to']!r} leads over the border of a loop: join it to the loop itself."
        report.note(text, edge["from"], "outputs")
    return True
