"""The executor against a plain interpreter: random graphs with branches, joins and failures; and random cancellations."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from agentui.errors import InvalidPipeline, NoAnswer, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.plans.compile import compile_plan
from tests.bench.flow import deciding
from tests.unit.pipeline.parts import Ear, catalog_of, document, execute, heard
from tests.unit.pipeline.test_ports import skipped

WAYS = ("done", "left", "right")


class StepParams(NodeParams):
    way: str = "done"
    fails: bool = False
    turns: int = 0
    reads: list[str] = Field(default_factory=list)


UNDER_WAY: set[str] = set()


@node("Step")
class Step(Node[StepParams]):
    """Takes some turns of the loop, then leaves by its way or fails. It says its id, and what those before it said."""

    Params = StepParams

    def prepare(self, build: Build) -> None:
        self.ports = ("done",) if self.params.way == "done" else ("left", "right")
        reads = "".join(f"{{{{ OUT.{id}.text|default('-') }}}}" for id in self.params.reads)
        self.text = build.text("text", f"({build.node}{reads})")

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        UNDER_WAY.add(ctx.node_id)
        try:
            for _ in range(self.params.turns):
                await asyncio.sleep(0)
            if self.params.fails:
                raise NodeFailed("No.")
            ctx.leave_by(self.params.way)
            return {"text": ctx.render(self.text)}
        finally:
            UNDER_WAY.discard(ctx.node_id)


@dataclass
class Plain:
    """What a document means, node by node and with nothing clever."""

    whole: Json
    out: dict[str, str | None] = field(default_factory=dict)
    """The text of each node's OUT; None where that is an error."""
    left: dict[str, str | None] = field(default_factory=dict)
    """The port that each node left by: None where it was skipped, "" where it is disabled and passes order on."""
    fails: bool = False
    answers: list[str] = field(default_factory=list)

    def interpret(self) -> None:
        edges = self.whole["edges"]
        for each in self.whole["nodes"]:
            id, config = each["id"], each.get("config", {})
            before = [edge for edge in edges if edge["to"] == id]
            taken = [edge["from"] for edge in before if self.is_taken(edge)]
            if before and not taken:
                self.left[id] = None
                continue
            if not each.get("enabled", True):
                self.left[id] = ""
                continue
            behind = {edge["from_port"] for edge in edges if edge["from"] == id}
            answers = self.whole["answer"] == id if self.whole.get("answer") else behind <= {"error"}
            if each["type"] == "Merge":
                names = [name for name in dict.fromkeys(node["id"] for node in self.whole["nodes"]) if name in taken]
                self.out[id] = "+".join(self.out[name] or "" for name in names if name in self.out)
                self.left[id] = "done"
            elif not config["fails"]:
                self.out[id] = "(" + id + "".join(self.read(name) for name in config["reads"]) + ")"
                self.left[id] = config["way"]
            elif "error" in behind:
                self.out[id], self.left[id] = None, "error"
                continue
            elif each.get("on_error") == "continue" and not answers:
                self.out[id], self.left[id] = None, "done" if config["way"] == "done" else "right"
                continue
            else:
                self.fails = True
                return
            if answers:
                self.answers.append(id)

    def read(self, id: str) -> str:
        text = self.out.get(id)
        return "-" if text is None else text

    def is_taken(self, edge: Json) -> bool:
        left = self.left[edge["from"]]
        return edge["from_port"] != "error" if left == "" else edge["from_port"] == left


@st.composite
def documents(draw: st.DrawFn) -> Json:
    """A pipeline without cycles: nodes in an order of running, with edges from any port to any later node."""
    size = draw(st.integers(1, 9))
    nodes: list[Json] = []
    edges: list[Json] = []
    for number in range(size):
        id = f"n{number}"
        sources = draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)) if number else []
        if sources and draw(st.integers(0, 4)) == 0:
            nodes.append({"id": id, "type": "Merge", "config": {"separator": "+"}})
        else:
            config = {
                "way": draw(st.sampled_from(WAYS)),
                "fails": draw(st.integers(0, 5)) == 0,
                "turns": draw(st.integers(0, 3)),
                "reads": [f"n{source}" for source in sources],
            }
            more = {"on_error": "continue"} if draw(st.booleans()) else {}
            nodes.append({"id": id, "type": "Step", "config": config, "enabled": draw(st.integers(0, 7)) > 0, **more})
        for source in sources:
            own = ["done"] if nodes[source]["config"].get("way", "done") == "done" else ["left", "right"]
            for port in draw(st.lists(st.sampled_from([*own, "error"]), min_size=1, max_size=2, unique=True)):
                edges.append({"from": f"n{source}", "to": id, "from_port": port})
    whole = {**document(nodes), "edges": edges}
    if draw(st.booleans()):
        whole["answer"] = draw(st.sampled_from([each["id"] for each in nodes if each.get("enabled", True)] or ["n0"]))
    return whole


@settings(max_examples=150, deadline=None)
@given(documents())
def test_a_graph_runs_as_a_plain_interpreter_reads_it(whole: Json) -> None:
    try:
        plan = compile_plan("test", whole, catalog_of(Step))
    except InvalidPipeline as refused:
        assert {problem.code for problem in refused.problems if problem.severity == "error"} <= {
            "answer.ambiguous",
            "answer.none",
            "answer.disabled",
        }
        return
    plain = Plain(whole)
    plain.interpret()
    ear = Ear()
    if plain.fails:
        with pytest.raises(NodeFailed):
            asyncio.run(execute(plan, ear=ear))
        return
    assert len(plain.answers) <= 1, "two nodes that exclude each other were both reached"
    if not plain.answers:
        with pytest.raises(NoAnswer):
            asyncio.run(execute(plan, ear=ear))
    else:
        run = asyncio.run(execute(plan, ear=ear))
        merged = plain.answers[0]
        assert ear.texts == [plain.out[merged]]
        speakers = {plan.nodes[position].id for position in plan.answers}
        assert run.answered_by in speakers and (run.answered_by == merged or merged not in speakers)
    run = ear.run
    assert {id: out.get("text") for id, out in run.out.items()} == plain.out
    unreached = {id for id, why in skipped(run).items() if why["reason"] == "not reached"}
    assert unreached == {id for id, left in plain.left.items() if left is None}


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from(["", "first", "returns"]), st.integers(0, 14))
def test_whatever_happens_nothing_goes_on_and_a_run_ends_once(whole: Json, end: str, turns: int) -> None:
    """A Merge that takes the first, or a Return, stands behind some of the nodes, and the run is cancelled at any turn."""
    ids = [each["id"] for each in whole["nodes"] if each["config"].get("way", "done") == "done"]
    whole.pop("answer", None)
    if end:
        kind: dict[str, Any] = {"first": {"type": "Merge", "config": {"mode": "first"}}, "returns": {"type": "Return"}}
        whole["nodes"].append({"id": "end", **kind[end]})
        whole["edges"] += [{"from": id, "to": "end", "from_port": "done"} for id in ids[:3]]
        whole["answer"] = "end"
    else:
        whole["answer"] = whole["nodes"][-1]["id"]
    try:
        plan = compile_plan("test", whole, catalog_of(Step))
    except InvalidPipeline:
        return
    ear = Ear()

    async def cancelled() -> None:
        task = asyncio.create_task(execute(plan, ear=ear))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert asyncio.all_tasks() == {asyncio.current_task()}
        if not task.cancelled():
            task.exception()

    asyncio.run(cancelled())
    assert set() == UNDER_WAY
    if not hasattr(ear, "run"):
        return  # it was cancelled before it began
    assert [kind for kind, _ in heard(ear.run)].count("run.finished") == 1
    assert ear.run.events.is_closed
    ended: dict[str | None, int] = {}
    for event in ear.run.events.items:
        if event.type in ("node.finished", "node.skipped"):
            ended[event.node] = ended.get(event.node, 0) + 1
    assert set(ended.values()) <= {1}
    if ear.run.state == "finished":
        assert len(ear.texts) == 1


async def test_a_megabyte_of_conditions_is_compiled_and_decided() -> None:
    run = await execute(compile_plan("test", deciding(), catalog_of()))
    assert run.out["n"]["port"] == "c63"
