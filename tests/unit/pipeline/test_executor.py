"""The executor walks any plan: in order, side by side where it can, under one deadline, with one first cause."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from agentui.errors import NodeFailed, UpstreamTimeout
from agentui.jsonio import Json
from agentui.pipeline.node import Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.walk.said import answer_text
from tests.unit.pipeline.parts import Ear, compiled, execute, heard, make_incoming, make_run


class SayParams(NodeParams):
    text: str = ""


@node("Say")
class Say(Node[SayParams]):
    """Says a text."""

    Params = SayParams

    def prepare(self, build: Any) -> None:
        self.text = build.text("text", self.params.text)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        return {"text": ctx.render(self.text)}


@node("Refuse")
class Refuse(Node[NodeParams]):
    """Fails at once."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        raise NodeFailed("No.")


@node("Stumble")
class Stumble(Node[NodeParams]):
    """Has a bug."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        raise ZeroDivisionError("a bug")


@node("Sleep")
class Sleep(Node[NodeParams]):
    """Never ends by itself."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        await asyncio.Event().wait()
        return {}


@node("Late")
class Late(Node[NodeParams]):
    """Has a timeout of its own that nobody caught."""

    Params = NodeParams

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        raise TimeoutError


@node("Pay")
class Pay(Node[NodeParams]):
    """Costs money."""

    Params = NodeParams
    calls_upstream = True

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        if ctx.sink is not None:
            await ctx.sink.tokens(7, estimated=False)
        return {"text": "paid"}


def calling(does: Callable[[NodeContext], Awaitable[Mapping[str, Json]]]) -> type[Node[NodeParams]]:
    """A node type ``Call`` that does this."""

    @node("Call")
    class Call(Node[NodeParams]):
        """Does what the test says."""

        Params = NodeParams

        async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
            return await does(ctx)

    return Call


def say(id: str, text: str = "", **more: Json) -> Json:
    return {"id": id, "type": "Say", "config": {"text": text}, **more}


def of(type: str, id: str, **more: Json) -> Json:
    return {"id": id, "type": type, **more}


# --- order and parallelism -------------------------------------------------------------------------------------------


async def test_a_chain_runs_in_order_and_each_node_reads_the_one_before() -> None:
    nodes = [say("n1", "a"), say("n2", "[[OUT1]]b"), say("n3", "[[OUT2]]c")]
    ear = Ear()
    run = await execute(compiled(nodes, [("n1", "n2"), ("n2", "n3")], Say), ear=ear)
    assert ear.texts == ["abc"]
    assert run.out == {"n1": {"text": "a"}, "n2": {"text": "ab"}, "n3": {"text": "abc"}}
    assert heard(run) == [
        ("run.started", None),
        ("node.started", "n1"),
        ("node.finished", "n1"),
        ("node.started", "n2"),
        ("node.finished", "n2"),
        ("node.started", "n3"),
        ("node.finished", "n3"),
        ("run.finished", None),
    ]
    assert run.state == "finished"
    assert run.events.is_closed


async def test_nodes_side_by_side_are_under_way_at_the_same_time() -> None:
    together = asyncio.Barrier(3)

    async def meet(ctx: NodeContext) -> Mapping[str, Json]:
        # Nobody passes before all three are here: one after the other would never end.
        await together.wait()
        return {"text": ctx.node_id}

    nodes = [of("Call", "a"), of("Call", "b"), of("Call", "c"), say("d", "{{ OUT.a.text }}{{ OUT.b.text }}{{ OUT.c.text }}")]
    ear = Ear()
    await execute(compiled(nodes, [("a", "d"), ("b", "d"), ("c", "d")], Say, calling(meet)), ear=ear)
    assert ear.texts == ["abc"]


async def test_a_node_starts_when_its_own_inputs_are_done_and_not_when_a_generation_is() -> None:
    grandchild_ran = asyncio.Event()

    async def wait_for_the_other_branch(ctx: NodeContext) -> Mapping[str, Json]:
        await grandchild_ran.wait()
        return {}

    class Announce(Say):
        """Says that it ran."""

        async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
            grandchild_ran.set()
            return {}

    node("Announce")(Announce)
    nodes = [say("root"), of("Call", "slow"), say("quick"), of("Announce", "grandchild"), say("end", "done")]
    edges = [("root", "slow"), ("root", "quick"), ("quick", "grandchild"), ("slow", "end"), ("grandchild", "end")]
    ear = Ear()
    await execute(compiled(nodes, edges, Say, Announce, calling(wait_for_the_other_branch)), ear=ear)
    assert ear.texts == ["done"]


async def test_five_hundred_nodes_run() -> None:
    nodes = [say("n0", "."), *(say(f"n{number}", f"[[OUT{number - 1}]].") for number in range(1, 500))]
    ear = Ear()
    await execute(compiled(nodes, [(f"n{number}", f"n{number + 1}") for number in range(499)], Say), ear=ear)
    assert ear.texts == ["." * 500]


async def test_two_runs_of_one_plan_share_nothing() -> None:
    plan = compiled([say("n1", "{{ chat.last_user }}")], (), Say)
    ears = [Ear() for _ in range(5)]
    bodies = [{"model": "m", "messages": [{"role": "user", "content": f"I am {number}"}]} for number in range(5)]
    await asyncio.gather(
        *(execute(plan, make_incoming(body), ear) for body, ear in zip(bodies, ears, strict=True)),
    )
    assert [ear.texts for ear in ears] == [[f"I am {number}"] for number in range(5)]


# --- OUT and variables -----------------------------------------------------------------------------------------------


async def test_what_a_node_gave_out_stays_even_if_it_changes_its_mind() -> None:
    given: dict[str, Json] = {"text": "first"}

    async def give(ctx: NodeContext) -> Mapping[str, Json]:
        return given

    class Meddle(Say):
        """Changes the other node's dictionary."""

        async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
            given["text"] = "second"
            return await super().run(ctx)

    node("Meddle")(Meddle)
    ear = Ear()
    nodes = [of("Call", "n1"), {"id": "n2", "type": "Meddle", "config": {"text": "[[OUT1]]"}}]
    await execute(compiled(nodes, [("n1", "n2")], Meddle, calling(give)), ear=ear)
    assert ear.texts == ["first"]


async def test_variables_are_seen_by_later_nodes_and_the_later_value_wins() -> None:
    nodes = [
        {"id": "a", "type": "SetVars", "config": {"variables": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}},
        {"id": "b", "type": "SetVars", "config": {"variables": [{"name": "X", "value": "[[X]]![[Y]]"}]}},
        say("c", "[[X]] [[Y]] {{ vars.X }}"),
    ]
    ear = Ear()
    await execute(compiled(nodes, [("a", "b"), ("b", "c")], Say), ear=ear)
    assert ear.texts == ["1!2 2 1!2"]


async def test_a_disabled_node_is_passed_over_and_leaves_no_out() -> None:
    nodes = [say("n1", "never", enabled=False), say("n2", "got [[OUT1]]{{ OUT.n1.text|default('nothing') }}")]
    ear = Ear()
    run = await execute(compiled(nodes, [("n1", "n2")], Say), ear=ear)
    assert ear.texts == ["got nothing"]
    assert "n1" not in run.out
    assert [event.data for event in run.events.items if event.type == "node.skipped"] == [{"reason": "disabled"}]


async def test_a_pinned_node_does_not_run_and_its_pin_is_its_out() -> None:
    ear = Ear()
    plan = compiled([of("Refuse", "n1"), say("n2", "[[OUT1]]")], [("n1", "n2")], Say, Refuse)
    run = await execute(plan, ear=ear, pins={"n1": {"text": "pinned"}})
    assert ear.texts == ["pinned"]
    [pinned] = [event for event in run.events.items if event.type == "node.finished" and event.node == "n1"]
    assert pinned.pinned and pinned.data == {"text": "pinned"}
    assert "node.started" not in [event.type for event in run.events.items if event.node == "n1"]


async def test_nodes_that_only_feed_pinned_ones_do_not_run() -> None:
    refused = [of("Refuse", id) for id in ("far", "near", "pin")]
    nodes = [*refused, say("side", "aside"), say("end", "[[OUT:pin.text]]")]
    edges = [("far", "near"), ("near", "pin"), ("side", "pin"), ("side", "end"), ("pin", "end")]
    run = await execute(compiled(nodes, edges, Say, Refuse, answer="end"), ear=(ear := Ear()), pins={"pin": {"text": "given"}})
    assert ear.texts == ["given"]
    skipped = {event.node: event.data for event in run.events.items if event.type == "node.skipped"}
    assert skipped == {"far": {"reason": "pinned"}, "near": {"reason": "pinned"}}
    assert run.out["side"] == {"text": "aside"}


@pytest.mark.parametrize("read", ["{{ OUT.early.vars.X }}", "[[X]]", "{{ vars.run.X }}", "{{ vars|json }}"])
async def test_a_node_before_a_pin_runs_when_what_it_gives_is_read_later(read: str) -> None:
    rows = [{"name": "X", "mode": "string", "value": "early"}]
    nodes = [
        {"id": "early", "type": "SetVars", "config": {"variables": rows}},
        {"id": "pin", "type": "SetVars", "config": {}},
        say("end", read),
    ]
    plan = compiled(nodes, [("early", "pin"), ("pin", "end")], Say)
    await execute(plan, ear=(ear := Ear()), pins={"pin": {}})
    assert "early" in ear.texts[0]


async def test_a_node_before_a_pin_runs_when_it_stores_variables() -> None:
    class Keep(Say):
        """Says a text, and stores what turns up."""

        def prepare(self, build: Any) -> None:
            super().prepare(build)
            build.stores = True

    node("Keep")(Keep)
    nodes = [of("Keep", "first", config={"text": "kept"}), say("pin", "never")]
    run = await execute(compiled(nodes, [("first", "pin")], Say, Keep), pins={"pin": {}})
    assert run.out["first"] == {"text": "kept"}


async def test_a_disabled_node_between_does_not_hide_who_needs_a_node() -> None:
    nodes = [say("first", "said"), say("off", "never", enabled=False), say("pin", "never"), say("end", "done")]
    plan = compiled(nodes, [("first", "off"), ("off", "end"), ("pin", "end")], Say, answer="end")
    run = await execute(plan, pins={"pin": {}})
    assert run.out["first"] == {"text": "said"}


async def test_pinned_variables_are_variables() -> None:
    ear = Ear()
    plan = compiled([{"id": "a", "type": "SetVars", "config": {}}, say("b", "[[X]]")], [("a", "b")], Say)
    await execute(plan, ear=ear, pins={"a": {"vars": {"X": "pinned"}}})
    assert ear.texts == ["pinned"]


async def test_a_pinned_answer_answers_with_its_best_text() -> None:
    ear = Ear()
    pin = {"result": {"choices": [{"message": {"content": "From before."}}]}}
    await execute(compiled([of("Pay", "n1")], (), Pay), ear=ear, pins={"n1": pin})
    assert ear.texts == ["From before."]


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ({"text": "said"}, "said"),
        ({"vars": {"A": "first", "B": "last"}}, "last"),
        ({"vars": {"A": {"content": "deep"}}}, "deep"),
        ({"vars": {"A": 5}}, "5"),
        ({"vars": {"A": "first", "B": True}}, "true"),
        ({"vars": {"A": [1, 2]}}, "[1,2]"),
        ({"vars": {"A": None}}, ""),
        ({"vars": {}}, ""),
        ({"response_text": "words"}, "words"),
        ({"result": {"content": [{"type": "text", "text": "claude"}]}}, "claude"),
        ({}, ""),
    ],
)
def test_a_node_without_a_model_answers_with_its_most_likely_words(out: Json, text: str) -> None:
    assert answer_text(out) == text


async def test_a_node_after_the_answer_still_runs() -> None:
    ear = Ear()
    run = await execute(compiled([say("a", "answer"), say("b", "after")], [("a", "b")], Say, answer="a"), ear=ear)
    assert ear.texts == ["answer"]
    assert run.out["b"] == {"text": "after"}


async def test_a_token_count_skips_paid_calls_that_do_not_answer() -> None:
    counting = make_incoming(
        {"model": "c", "messages": [{"role": "user", "content": "hi"}]}, "/v1/messages/count_tokens", headers={"x-api-key": "k"}
    )
    ear = Ear()
    run = await execute(compiled([of("Pay", "a"), say("b"), of("Pay", "c")], [("a", "b"), ("b", "c")], Pay, Say), counting, ear)
    assert ("node.skipped", "a") in heard(run)
    assert ("node.finished", "b") in heard(run)
    assert ear.counts == [(7, False)]


# --- failures --------------------------------------------------------------------------------------------------------


async def test_a_failure_names_pipeline_node_and_type_and_ends_the_run() -> None:
    plan, ear = compiled([of("Refuse", "n1"), say("n2")], [("n1", "n2")], Say, Refuse), Ear()
    with pytest.raises(NodeFailed) as caught:
        await execute(plan, ear=ear)
    run = ear.run
    assert caught.value.details == {"pipeline": "test", "node": "n1", "type": "Refuse"}
    assert heard(run) == [("run.started", None), ("node.started", "n1"), ("node.failed", "n1"), ("run.finished", None)]
    assert run.events.items[-1].data == {
        "state": "failed",
        "error": {"code": "node_failed", "message": "Node n1: No.", "status": 422},
    }


async def test_the_first_cause_is_reported_and_its_siblings_are_cancelled() -> None:
    cancelled: list[str] = []
    all_here = asyncio.Barrier(3)

    async def hang(ctx: NodeContext) -> Mapping[str, Json]:
        try:
            await all_here.wait()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(ctx.node_id)
            # A second failure while it is torn down must not hide the first one.
            raise NodeFailed("I was cancelled.") from None
        return {}

    class RefuseTogether(Refuse):
        """Refuses once everybody is under way."""

        async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
            await all_here.wait()
            return await super().run(ctx)

    node("RefuseTogether")(RefuseTogether)
    nodes = [of("Call", "a"), of("RefuseTogether", "b"), of("Call", "c"), say("end")]
    plan = compiled(nodes, [("a", "end"), ("b", "end"), ("c", "end")], Say, RefuseTogether, calling(hang))
    with pytest.raises(NodeFailed, match=r"^No\.$") as caught:
        await execute(plan)
    assert caught.value.details["node"] == "b"
    assert sorted(cancelled) == ["a", "c"]


async def test_on_error_continue_gives_the_error_as_out() -> None:
    ear = Ear()
    nodes = [of("Refuse", "n1", on_error="continue"), say("n2", "{{ OUT.n1.error.code }}: {{ OUT.n1.error.message }}")]
    run = await execute(compiled(nodes, [("n1", "n2")], Say, Refuse), ear=ear)
    assert ear.texts == ["node_failed: Node n1: No."]
    assert run.out["n1"] == {"error": {"code": "node_failed", "message": "Node n1: No.", "status": 422}}
    assert [kind for kind, id in heard(run) if id == "n1"] == ["node.started", "node.failed", "node.finished"]
    assert run.state == "finished"


async def test_an_answer_may_not_go_on_after_its_error() -> None:
    with pytest.raises(NodeFailed):
        await execute(compiled([of("Refuse", "n1", on_error="continue")], (), Refuse))


@pytest.mark.parametrize("beside", [(), ("aside",)])
async def test_a_bug_in_a_node_fails_the_run_without_its_words_in_events(beside: tuple[str, ...]) -> None:
    plan = compiled([of("Stumble", "n1"), *(say(id) for id in beside)], (), Say, Stumble, answer="n1")
    ear = Ear()
    with pytest.raises(ZeroDivisionError):
        await execute(plan, ear=ear)
    run = ear.run
    assert run.state == "failed"
    assert ("node.failed", "n1") in heard(run)
    assert all("a bug" not in str(event.data) for event in run.events.items)


async def test_the_deadline_stops_every_node() -> None:
    plan = compiled([of("Sleep", "a"), of("Sleep", "b"), say("c")], [("a", "c"), ("b", "c")], Say, Sleep)
    ear = Ear()
    with pytest.raises(UpstreamTimeout, match="deadline"):
        await execute(plan, ear=ear, seconds=0.01)
    run = ear.run
    assert run.state == "failed"
    assert run.events.items[-1].data["error"]["code"] == "upstream_timeout"


async def test_a_timeout_of_a_nodes_own_is_not_called_the_deadline() -> None:
    ear = Ear()
    with pytest.raises(TimeoutError):
        await execute(compiled([of("Late", "a")], (), Late), ear=ear)
    assert ear.run.events.items[-1].data["error"]["code"] == "internal_error"


async def test_a_node_that_fails_at_the_deadline_does_not_hide_it_and_leaves_no_cancellation_behind() -> None:
    async def fail(ctx: NodeContext) -> Mapping[str, Json]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise NodeFailed("Could not clean up.") from error
        return {}

    ear = Ear()
    with pytest.raises(UpstreamTimeout, match="deadline"):
        await execute(compiled([of("Call", "a")], (), calling(fail)), ear=ear, seconds=0.01)
    task = asyncio.current_task()
    assert ear.run.state == "failed"
    assert task is not None and task.cancelling() == 0


async def test_a_released_deadline_no_longer_ends_the_run() -> None:
    async def release(ctx: NodeContext) -> Mapping[str, Json]:
        ctx.run.release_deadline()
        assert ctx.run.clock is not None
        assert not ctx.run.clock.is_running
        return {"text": "on and on"}

    ear = Ear()
    run = await execute(compiled([of("Call", "a")], (), calling(release)), ear=ear)
    assert (ear.texts, run.deadline) == (["on and on"], float("inf"))


@pytest.mark.parametrize("beside", [False, True])
async def test_a_cancelled_run_says_so_and_stops_its_nodes(beside: bool) -> None:
    nodes = [of("Sleep", "a"), *([of("Sleep", "b")] if beside else [])]
    ear = Ear()
    task = asyncio.create_task(execute(compiled(nodes, (), Sleep, answer="a"), ear=ear))
    await asyncio.sleep(0)
    run = ear.run
    async for _, event in run.events.read():
        if event.type == "node.started":
            task.cancel()
            break
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.state == "cancelled"
    assert run.events.items[-1].data == {"state": "cancelled"}


async def test_whoever_asked_hears_once_that_a_run_is_over() -> None:
    ended: list[str] = []
    run = make_run(compiled([say("a")], (), Say))
    run.on_finish = lambda over: ended.append(over.id)
    run.finish("finished")
    run.finish("failed")
    assert ended == [run.id]
    assert run.state == "finished"
