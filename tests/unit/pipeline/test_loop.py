"""Loops: what repeats, in which order, what it gives, how it ends, and what a run keeps of ten thousand iterations."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.flow.folding import FIRST, LAST
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.preview import preview_node
from agentui.pipeline.run import Run
from agentui.pipeline.walk.budget import Allowance, Budget
from tests.unit.pipeline.parts import Ear, catalog_of, document, execute, make_run
from tests.unit.pipeline.test_executor import Refuse, Say


class WhenParams(NodeParams):
    condition: str = "true"


@node("When")
class When(Node[WhenParams]):
    """Leaves by yes or no."""

    Params = WhenParams
    ports = ("yes", "no")

    def prepare(self, build: Build) -> None:
        self.condition = build.condition("condition", self.params.condition)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        port = "yes" if await ctx.compute(self.condition) else "no"
        ctx.leave_by(port)
        return {"port": port}


class AskParams(NodeParams):
    tokens: int = 0


@node("Ask")
class Ask(Node[AskParams]):
    """Begins a call to a model, which takes tokens."""

    Params = AskParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        await ctx.begin_call()
        GATE[0].begun += 1
        return {"text": str((ctx.frame.loop or {})["index"]), "usage": {"input_tokens": self.params.tokens, "output_tokens": 1}}


class Gate:
    """How many stand in it now, and the most that ever did; ``full`` once as many as ``wanted`` have come."""

    def __init__(self, wanted: int = 1) -> None:
        self.inside = self.most = self.begun = 0
        self.wanted = wanted
        self.open = asyncio.Event()
        self.full = asyncio.Event()


GATE = [Gate()]
"""The one of the test that runs."""


@node("Hold")
class Hold(Node[NodeParams]):
    """Waits until the gate opens."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        gate = GATE[0]
        gate.inside += 1
        gate.begun += 1
        gate.most = max(gate.most, gate.inside)
        if gate.inside == gate.wanted:
            gate.full.set()
        try:
            await gate.open.wait()
        finally:
            gate.inside -= 1
        return {"text": str((ctx.frame.loop or {})["item"])}


@pytest.fixture(autouse=True)
def gate() -> Gate:
    """A gate of the test's own."""
    GATE[0] = Gate()
    return GATE[0]


def loop(id: str = "loop", parent: str | None = None, **config: Json) -> Json:
    return {"id": id, "type": "Loop", "config": config, **({"parent": parent} if parent else {})}


def inside(id: str, type: str, parent: str = "loop", **config: Json) -> Json:
    return {"id": id, "type": type, "config": config, "parent": parent}


def sets(id: str, parent: str | None = "loop", /, **values: str) -> Json:
    rows = [{"name": name, "mode": "json", "value": value} for name, value in values.items()]
    return {"id": id, "type": "SetVars", "config": {"variables": rows}, **({"parent": parent} if parent else {})}


def planned(*nodes: Json, edges: str = "", **more: Json) -> Plan:
    """A plan whose edges are written ``a.port>b``; ``done`` where no port stands."""
    whole = document(nodes, **more)
    for edge in edges.split():
        source, _, target = edge.partition(">")
        name, _, port = source.partition(".")
        whole["edges"].append({"from": name, "to": target, "from_port": port or "done"})
    return compile_plan("test", whole, catalog_of(When, Hold, Ask, Say, Refuse))


async def out_of(*nodes: Json, edges: str = "", **more: Any) -> dict[str, Json]:
    out: dict[str, Json] = (await execute(planned(*nodes, edges=edges), **more)).out["loop"]
    return out


def codes(*nodes: Json, edges: str = "", **more: Json) -> list[str]:
    with pytest.raises(InvalidPipeline) as caught:
        planned(*nodes, edges=edges, **more)
    return [problem.code for problem in caught.value.problems if problem.severity == "error"]


# --- what repeats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "texts"),
    [
        ('["a", 1, null]', ["1/3 a", "2/3 1", "3/3 "]),
        ("chat.messages", ['1/1 {"role":"user","content":"Hi"}']),
        ("{{ chat.messages }}", ['1/1 {"role":"user","content":"Hi"}']),
        ("3", ["1/3 1", "2/3 2", "3/3 3"]),
        ('"one\\n\\n two "', ["1/2 one", "2/2 two"]),
        ("'[7, 8]'", ["1/2 7", "2/2 8"]),
        ("nobody", []),
        ("[]", []),
    ],
)
async def test_each_item_of_a_list_is_gone_through(items: str, texts: list[str]) -> None:
    text = "{{ loop.index }}/{{ loop.count }} {{ loop.item }}"
    out = await out_of(loop(items=items), inside("t", "Text", text=text), edges="")
    assert out["texts"] == texts
    assert out["text"] == "\n\n".join(texts)
    assert (out["count"], out["ended"]) == (len(texts), "done")


async def test_a_loop_answers_with_the_texts_of_its_results() -> None:
    ear = Ear()
    await execute(planned(loop(items="[1, 2]", join=", "), inside("t", "Text", text="<{{ loop.item }}>")), ear=ear)
    assert ear.texts == ["<1>, <2>"]


@pytest.mark.parametrize(
    ("items", "what"), [("1.5", "a number and no list: 1.5"), ('{"a": [1]}', 'an object and no list: {"a":[1]}')]
)
async def test_what_is_no_list_fails_the_node(items: str, what: str) -> None:
    with pytest.raises(NodeFailed) as caught:
        await out_of(loop(items=items), inside("t", "Text", text="x"))
    assert caught.value.message == f"Node loop: items gives {what}"


async def test_a_while_loop_checks_first_and_sees_what_was_set() -> None:
    nodes = (sets("n", None, n="0"), loop(mode="while", condition="n < 3"), sets("add", n="{{ n|add(1) }}"))
    run = await execute(planned(*nodes, sets("after", None, seen="{{ n }}"), edges="n>loop loop>after"))
    assert run.out["loop"]["count"] == 3
    assert run.out["loop"]["vars"] == {"n": 3}
    assert run.out["after"] == {"vars": {"seen": 3}}


async def test_an_until_loop_runs_once_at_least_and_may_read_its_body() -> None:
    condition = 'OUT.t.text ends with "xxx" or loop.index > 50'
    out = await out_of(
        loop(mode="until", condition=condition), inside("t", "Text", text='{{ loop.last.text|default("") }}x'), edges=""
    )
    assert out["texts"] == ["x", "xx", "xxx"]
    assert out["ended"] == "done"
    assert out["last"]["text"] == "xxx"


@pytest.mark.parametrize(
    "config", [{"items": "20"}, {"mode": "while", "condition": "true"}, {"mode": "until", "condition": "false"}]
)
async def test_a_loop_ends_at_its_limit(config: dict[str, Json]) -> None:
    out = await out_of(loop(**config, max_iterations=7), inside("t", "Text", text="x"))
    assert (out["count"], out["ended"]) == (7, "limit")


async def test_the_nodes_in_a_loop_read_those_before_it_and_each_other() -> None:
    nodes = (
        sets("first", None, greeting='"Hi"'),
        loop(items='["A"]', result="b"),
        inside("a", "Text", text="{{ greeting }} {{ loop.item }} {{ OUT.first.vars.greeting }}"),
        inside("b", "Text", text="({{ OUT.a.text }})"),
    )
    assert (await out_of(*nodes, edges="first>loop a>b"))["texts"] == ["(Hi A Hi)"]


async def test_loops_stand_in_loops() -> None:
    nodes = (
        loop(items='["a", "b"]', join="|"),
        loop("inner", "loop", items="[1, 2]", join=","),
        inside("t", "Text", "inner", text="{{ loop.outer.item }}{{ loop.item }}"),
    )
    run = await execute(planned(*nodes))
    assert run.out["loop"]["text"] == "a1,a2|b1,b2"
    assert ("node.finished", "loop#2/inner#1/t") in [(event.type, event.node) for event in run.events.items]


# --- ways out --------------------------------------------------------------------------------------------------------


async def test_break_and_continue_end_what_they_stand_in() -> None:
    nodes = (
        loop(items="[1, 2, 3, 4, 5]"),
        inside("skip", "When", condition="loop.item == 2"),
        inside("continue", "Continue"),
        inside("stop", "When", condition="loop.item > 3"),
        inside("break", "Break"),
        inside("t", "Text", text="{{ loop.item }}"),
    )
    edges = "skip.yes>continue skip.no>stop stop.yes>break stop.no>t"
    for at_once in (1, 3):
        nodes[0]["config"].update(at_once=at_once, result="t")
        out = await out_of(*nodes, edges=edges)
        assert out["texts"] == ["1", "", "3"]
        assert out["results"][1] is None
        assert out["ended"] == "break"


async def test_break_cancels_what_still_runs_in_the_iteration(gate: Gate) -> None:
    nodes = (loop(items="[1, 2]"), inside("hold", "Hold"), inside("t", "Text", text="x"), inside("break", "Break"))
    run = await execute(planned(*nodes, edges="t>break"))
    assert run.out["loop"]["ended"] == "break"
    assert gate.inside == 0
    told = [event.data for event in run.events.items if event.type == "node.skipped" and event.node == "loop#1/hold"]
    assert told == [{"reason": "the run has ended", "node": "break"}]


async def test_a_failing_iteration_fails_the_loop_and_cancels_the_others(gate: Gate) -> None:
    nodes = (loop(items="[1, 2, 3]", at_once=3), inside("c", "When", condition="loop.item == 3"))
    with pytest.raises(NodeFailed) as caught:
        await out_of(*nodes, inside("no", "Refuse"), inside("hold", "Hold"), edges="c.yes>no c.no>hold")
    assert (caught.value.details["node"], caught.value.message) == ("loop#3/no", "Node loop#3/no: No.")
    assert gate.inside == 0


async def test_the_deadline_of_a_loop_keeps_what_there_is(gate: Gate) -> None:
    nodes = (loop(items="[1, 2]", deadline_s=0.05, result="t"), inside("t", "Text", text="x"), inside("c", "When"))
    nodes[2]["config"]["condition"] = "loop.index == 2"
    out = await out_of(*nodes, inside("hold", "Hold"), edges="t>c c.yes>hold")
    assert (out["texts"], out["ended"]) == (["x"], "deadline")
    assert gate.inside == 0


async def test_the_deadline_of_a_loop_counts_behind_iterations_that_a_node_ended(gate: Gate) -> None:
    nodes = (loop(items="[1, 2]", deadline_s=0.05), inside("c", "When", condition="loop.index == 2"))
    out = await out_of(*nodes, inside("next", "Continue"), inside("hold", "Hold"), edges="c.no>next c.yes>hold")
    assert out["ended"] == "deadline"
    assert gate.inside == 0


# --- budgets and failures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 4])
async def test_a_loop_makes_no_more_calls_than_it_may(gate: Gate, at_once: int) -> None:
    out = await out_of(loop(items="10", at_once=at_once, max_calls=3), inside("ask", "Ask"))
    assert (out["texts"], out["ended"], gate.begun) == (["1", "2", "3"], "budget", 3)
    gate.begun = 0
    twice = (loop(items="10", at_once=at_once, max_calls=3), inside("ask", "Ask"), inside("again", "Ask"))
    out = await out_of(*twice, edges="ask>again")
    assert (out["ended"], gate.begun) == ("budget", 3)
    assert len(out["results"]) <= 1
    out = await out_of(loop(items="3", at_once=at_once, max_calls=3), inside("ask", "Ask"))
    assert out["ended"] == "done"


async def test_tokens_that_are_spent_let_no_other_iteration_begin(gate: Gate) -> None:
    out = await out_of(loop(items="10", max_tokens=25), inside("ask", "Ask", tokens=9))
    assert (out["count"], out["ended"], gate.begun) == (3, "budget", 3)
    out = await out_of(loop(mode="until", condition="false", max_tokens=25), inside("ask", "Ask", tokens=9))
    assert (out["count"], out["ended"]) == (3, "budget")
    out = await out_of(loop(mode="while", condition="loop.index < 4", max_tokens=25), inside("ask", "Ask", tokens=9))
    assert (out["count"], out["ended"]) == (3, "done")


async def test_a_budget_holds_for_the_loops_in_it(gate: Gate) -> None:
    nodes = (loop(items="5", max_calls=7), loop("inner", "loop", items="3", max_calls=9), inside("ask", "Ask", "inner"))
    out = await out_of(*nodes)
    assert [result["count"] for result in out["results"]] == [3, 3]
    assert (out["ended"], gate.begun) == ("budget", 7)
    gate.begun = 0
    nodes[0]["config"]["max_calls"], nodes[1]["config"]["max_calls"] = 100, 2
    out = await out_of(*nodes)
    assert [result["ended"] for result in out["results"]] == ["budget"] * 5
    assert (out["ended"], gate.begun) == ("done", 10)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"max_iterations": 2}, "The loop has reached its most iterations, after 2 iterations."),
        ({"max_calls": 2}, "The loop has spent its model calls or tokens, after 2 iterations."),
        ({"deadline_s": 1e-9}, "The loop's time is over, after 0 iterations."),
    ],
)
async def test_a_loop_may_fail_where_its_limits_end_it(config: dict[str, Json], message: str) -> None:
    nodes = (loop(items="4", on_limit="fail", **config), inside("ask", "Ask"))
    with pytest.raises(NodeFailed) as caught:
        await out_of(*nodes)
    assert caught.value.message == f"Node loop: {message}"
    run = await execute(planned(*nodes, sets("after", None, a="1"), edges="loop.error>after"))
    assert run.out["loop"]["error"]["code"] == "node_failed"
    assert run.out["after"] == {"vars": {"a": 1}}


@pytest.mark.parametrize("at_once", [1, 3])
async def test_items_that_fail_are_left_out_or_keep_their_error(at_once: int) -> None:
    nodes = (
        loop(items="[1, 2, 3]", at_once=at_once, result="t", on_failure="skip"),
        inside("c", "When", condition="loop.item == 2"),
        inside("no", "Refuse"),
        inside("t", "Text", text="{{ loop.item }}"),
    )
    edges = "c.yes>no c.no>t"
    out = await out_of(*nodes, edges=edges)
    error = {"code": "node_failed", "message": "Node loop#2/no: No.", "status": 422}
    assert (out["texts"], out["errors"], out["ended"]) == (["1", "3"], [{"index": 2, **error}], "done")
    nodes[0]["config"]["on_failure"] = "keep"
    out = await out_of(*nodes, edges=edges)
    assert (out["texts"], out["text"], out["results"][1]) == (["1", "", "3"], "1\n\n3", {"error": error})
    assert out["errors"] == [{"index": 2, **error}]


async def test_a_cancelled_run_leaves_nothing_of_a_loop_behind(gate: Gate) -> None:
    gate.wanted = 4
    task = asyncio.ensure_future(execute(planned(loop(items="10", at_once=4), inside("hold", "Hold"))))
    await gate.full.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gate.inside == 0
    assert gate.begun == 4


async def test_iterations_at_once_keep_their_order(gate: Gate) -> None:
    gate.wanted = 3
    task = asyncio.ensure_future(out_of(loop(items="6", at_once=3), inside("hold", "Hold")))
    await gate.full.wait()
    assert gate.begun == 3
    gate.open.set()
    assert (await task)["texts"] == ["1", "2", "3", "4", "5", "6"]
    assert gate.most == 3


# --- limits ----------------------------------------------------------------------------------------------------------


async def test_ten_thousand_iterations_keep_the_events_of_the_first_and_the_last() -> None:
    nodes = (
        loop(mode="while", condition="true", max_iterations=10_000, result="t"),
        inside("t", "Text", text="{{ loop.index }}"),
    )
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(others())
    run = await execute(planned(*nodes))
    other.cancel()
    assert run.out["loop"]["count"] == 10_000
    assert run.out["loop"]["texts"][-1] == "10000"
    assert turns >= 10_000
    paths = [event.node for event in run.events.items if event.type == "node.finished" and event.node != "loop"]
    kept = [*range(1, FIRST + 1), *range(10_001 - LAST, 10_001)]
    assert paths == [f"loop#{index}/t" for index in kept]
    (omitted,) = [event for event in run.events.items if event.type == "node.omitted"]
    assert (omitted.node, omitted.data) == ("loop", {"iterations": 10_000 - FIRST - LAST})
    assert not run.folded


async def test_results_that_are_too_large_together_fail() -> None:
    nodes = (
        sets("big", None, big='"' + "x" * 100_000 + '"'),
        loop(items="400", max_iterations=400),
        inside("t", "Text", text="{{ big }}{{ loop.index }}"),
    )
    with pytest.raises(NodeFailed, match="larger than"):
        await out_of(*nodes, edges="big>loop")


# --- what is refused -------------------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_loop_is_told_when_it_is_saved() -> None:
    text = inside("t", "Text", text="x")
    assert codes(loop(items="3")) == ["loop.empty"]
    assert codes(loop(), text) == ["loop.items"]
    assert codes(loop(items="1 +"), text) == ["condition.syntax"]
    assert codes(loop(mode="until"), text) == ["condition.syntax"]
    assert codes(loop(items="3", result="x"), text) == ["loop.result"]
    assert codes(loop(items="3"), text, {"id": "b", "type": "Break"}, answer="loop") == ["loop.outside"]
    assert codes(loop(items="3"), text, sets("after", None, a="{{ OUT.t.text }}"), edges="loop>after") == ["read.unknown_node"]
    assert codes(loop(items="3"), text, sets("after", None, a="1"), edges="t>after loop>after") == ["loop.border"]
    assert codes(sets("s", None, a="1"), inside("t", "Text", "s", text="x"), edges="s>t") == ["loop.parent"]
    assert codes(sets("s", None, a="1"), inside("t", "Text", "gone", text="x"), edges="s>t") == ["loop.parent"]
    own = loop("loop", "loop", items="3")
    assert "loop.parent" in codes(own, text)
    deep = [loop(f"l{level}", f"l{level - 1}" if level else None, items="2") for level in range(7)]
    assert "loop.depth" in codes(*deep, inside("t", "Text", "l6", text="x"))


def test_a_plan_with_a_loop_knows_what_its_body_needs() -> None:
    plan = planned(loop(items="3"), inside("t", "Text", text="{{ gold }} {{ loop.item }} {{ vars.chat.mood }}"))
    assert plan.uses_memory
    assert {"gold", "mood"} <= (plan.variables or set())
    quiet = planned(
        sets("s", None, gold="1"), loop(items="3"), inside("t", "Text", text="{{ gold }}{{ loop.item }}"), edges="s>loop"
    )
    assert not quiet.uses_memory
    assert [node.id for node in quiet.every_node()] == ["s", "loop", "t"]


async def test_a_pin_stands_for_a_node_in_every_iteration() -> None:
    nodes = (loop(items="3"), inside("no", "Refuse"), inside("t", "Text", text="{{ OUT.no.text }}{{ loop.item }}"))
    out = await out_of(*nodes, edges="no>t", pins={"no": {"text": "pinned "}})
    assert out["texts"] == ["pinned 1", "pinned 2", "pinned 3"]


# --- against an interpreter ------------------------------------------------------------------------------------------

BODIES = st.fixed_dictionaries(
    {
        "items": st.lists(st.integers(0, 9), max_size=8),
        "most": st.integers(1, 9),
        "continue_at": st.integers(0, 12),
        "break_at": st.integers(0, 12),
        "mode": st.sampled_from(["each", "while", "until"]),
        "stop": st.integers(0, 30),
    }
)


def interpreted(body: Mapping[str, Any]) -> tuple[list[Json], int, str]:
    """What a loop gives over a body that adds, and may continue and break: results, the sum, and how it ended."""
    total, results = 0, []
    items: list[Any] = body["items"] if body["mode"] == "each" else [None] * body["most"]
    ended = "limit" if body["mode"] != "each" or len(items) > body["most"] else "done"
    for index, item in enumerate(items[: body["most"]], 1):
        if body["mode"] == "while" and not total < body["stop"]:
            return results, total, "done"
        total += index if item is None else item
        if total % 13 == body["continue_at"]:
            results.append(None)
        elif total % 13 == body["break_at"]:
            return results, total, "break"
        else:
            results.append(f"={total}")
        if body["mode"] == "until" and total >= body["stop"]:
            return results, total, "done"
    if body["mode"] == "while" and not total < body["stop"]:
        ended = "done"
    return results, total, ended


@given(BODIES)
@settings(max_examples=60, deadline=None)
def test_a_loop_does_what_a_plain_interpreter_does(body: Mapping[str, Any]) -> None:
    condition = f"total < {body['stop']}" if body["mode"] == "while" else f"total >= {body['stop']}"
    nodes = (
        sets("begin", None, total="0"),
        loop(mode=body["mode"], items=str(body["items"]), condition=condition, max_iterations=body["most"], result="t"),
        sets("add", total="{{ total|add(loop.item|default(loop.index)) }}"),
        inside("skip", "When", condition=f"total % 13 == {body['continue_at']}"),
        inside("continue", "Continue"),
        inside("stop", "When", condition=f"total % 13 == {body['break_at']}"),
        inside("break", "Break"),
        inside("t", "Text", text="={{ total }}"),
    )
    plan = planned(*nodes, edges="begin>loop add>skip skip.yes>continue skip.no>stop stop.yes>break stop.no>t")
    run: Run = asyncio.run(execute(plan))
    out = run.out["loop"]
    results = [None if result is None else result["text"] for result in out["results"]]
    assert (results, run.frame.run_vars["total"], out["ended"]) == interpreted(body)


TROUBLED = st.fixed_dictionaries(
    {
        "fails": st.lists(st.booleans(), max_size=8),
        "at_once": st.integers(1, 4),
        "on_failure": st.sampled_from(["fail", "skip", "keep"]),
        "max_calls": st.one_of(st.none(), st.integers(1, 6)),
        "cancelled_at": st.one_of(st.none(), st.integers(0, 40)),
    }
)


def troubled(case: Mapping[str, Any]) -> tuple[list[Json], str] | None:
    """What a loop gives in which iterations fail, and others ask a model, one after the other; None where it fails."""
    results: list[Json] = []
    calls = 0
    for index, fails in enumerate(case["fails"], 1):
        if case["max_calls"] is not None and calls >= case["max_calls"]:
            return results, "budget"
        if not fails:
            calls += 1
            results.append(str(index))
        elif case["on_failure"] == "fail":
            return None
        elif case["on_failure"] == "keep":
            results.append("node_failed")
    return results, "done"


@given(TROUBLED)
@settings(max_examples=80, deadline=None)
def test_whatever_fails_in_a_loop_nothing_goes_on_and_its_limits_hold(case: Mapping[str, Any]) -> None:
    GATE[0] = Gate()
    config = {name: case[name] for name in ("at_once", "on_failure", "max_calls")}
    nodes = (
        loop(items=dumps_text(case["fails"]), result="ask", **config),
        inside("c", "When", condition="loop.item"),
        inside("no", "Refuse"),
        inside("ask", "Ask"),
    )
    plan = planned(*nodes, edges="c.yes>no c.no>ask")
    ear = Ear()

    async def run() -> None:
        task = asyncio.create_task(execute(plan, ear=ear))
        if case["cancelled_at"] is not None:
            for _ in range(case["cancelled_at"]):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task])
        assert asyncio.all_tasks() == {asyncio.current_task()}
        if not task.cancelled():
            task.exception()

    asyncio.run(run())
    assert GATE[0].begun <= (case["max_calls"] or 8)
    if not hasattr(ear, "run"):
        return  # it was cancelled before it began
    assert [event.type for event in ear.run.events.items].count("run.finished") == 1
    assert ear.run.events.is_closed and not ear.run.folded
    expected = troubled(case)
    if ear.run.state == "finished":
        out = ear.run.out["loop"]
        results = [result.get("text") or result["error"]["code"] for result in out["results"]]
        assert expected is None or case["at_once"] > 1 or (results, out["ended"]) == expected
        assert expected is not None or (case["at_once"] > 1 and out["ended"] == "budget")
    elif case["cancelled_at"] is None:
        assert expected is None or case["at_once"] > 1


# --- previews --------------------------------------------------------------------------------------------------------


async def test_a_preview_in_a_loop_shows_its_first_iteration_and_runs_no_loop() -> None:
    nodes = (
        sets("list", None, list='["a", "b"]'),
        loop(items="vars.list"),
        loop("inner", "loop", items="[7]"),
        inside("first", "Text", "inner", text="{{ loop.outer.item }}{{ loop.item }}"),
        inside("t", "SetVars", "inner"),
        inside("hold", "Hold", "inner"),
        sets("after", None, n="{{ OUT.loop.count|default(-1) }}"),
    )
    nodes[4]["config"] = {"variables": [{"name": "x", "value": "{{ loop.index }} of {{ loop.count }}: {{ OUT.first.text }}"}]}
    plan = planned(*nodes, edges="list>loop first>t loop>after")
    shown = await preview_node(make_run(plan), "t", {})
    assert shown["preview"] == {"vars": {"x": "1 of 1: a7"}}
    assert shown["missing"] == []
    assert (await preview_node(make_run(plan), "loop", {}))["preview"] == {"items": ["a", "b"], "count": 2}
    after = await preview_node(make_run(plan), "after", {})
    assert (after["preview"], after["missing"]) == ({"vars": {"n": -1}}, ["loop"])


async def test_a_call_that_begins_while_its_iteration_is_cancelled_waits_for_that() -> None:
    clock = asyncio.timeout(0)
    allowance = Allowance(Budget(0, None), clock, None)
    with pytest.raises(TimeoutError):
        async with clock:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                call = asyncio.ensure_future(allowance.begin_call())
                await asyncio.sleep(0)
                assert not call.done()
                call.cancel()
                raise
