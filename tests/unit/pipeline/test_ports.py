"""A node leaves through a port: what is reached runs, what is not is skipped with its reason, and exactly one answers."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import Field

from agentui.errors import InvalidPipeline, NoAnswer, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, describe, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run
from tests.unit.pipeline.parts import Ear, catalog_of, document, execute, make_incoming
from tests.unit.pipeline.test_executor import Pay, Refuse, Say, calling, of, say


class ChooseParams(NodeParams):
    port: str = "done"
    fails: bool = False


@node("Choose")
class Choose(Node[ChooseParams]):
    """Leaves by the port that it is told."""

    Params = ChooseParams
    ports = ("left", "right")

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        if self.params.fails:
            raise NodeFailed("No.")
        ctx.leave_by(self.params.port)
        return {"port": self.params.port}


class NamedParams(NodeParams):
    names: list[str] = Field(default_factory=list)


@node("Named")
class Named(Node[NamedParams]):
    """Has the ports that its configuration names."""

    Params = NamedParams
    ports = ("other",)
    ports_from = "names.*"

    def prepare(self, build: Build) -> None:
        self.ports = (*self.params.names, "other")

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        return {}


@node("First")
class First(Node[NodeParams]):
    """Takes whoever comes first."""

    Params = NodeParams
    starts_on_first = True

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        return {"text": "+".join(sorted(ctx.frame.out))}


@node("Pass")
class Pass(Node[NodeParams]):
    """Passes on what came before it."""

    Params = NodeParams
    passes_answer = True

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        return {"text": "passed on"}


@node("PassBadly")
class PassBadly(Pass):
    """Fails to pass on what came before it."""

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        raise NodeFailed("No.")


KINDS = (Choose, Named, First, Pass, Say, Refuse, Pay)


def planned(nodes: Sequence[Json], edges: str, *kinds: type[Node[Any]], **more: Json) -> Plan:
    """A plan whose edges are written ``a.port>b``; ``done`` where no port stands."""
    whole = document(nodes, **more)
    for edge in edges.split():
        source, _, target = edge.partition(">")
        name, _, port = source.partition(".")
        whole["edges"].append({"from": name, "to": target, "from_port": port or "done"})
    return compile_plan("test", whole, catalog_of(*KINDS, *kinds))


def choose(id: str, port: str, **more: Json) -> Json:
    return of("Choose", id, config={"port": port}, **more)


def skipped(run: Run) -> dict[str | None, Json]:
    return {event.node: event.data for event in run.events.items if event.type == "node.skipped"}


def codes(nodes: Sequence[Json], edges: str, **more: Json) -> list[str]:
    with pytest.raises(InvalidPipeline) as caught:
        planned(nodes, edges, **more)
    return [problem.code for problem in caught.value.problems]


# --- ports and skipping ----------------------------------------------------------------------------------------------


async def test_what_a_port_leads_to_runs_and_the_rest_is_skipped_with_its_cause() -> None:
    nodes = [choose("c", "right"), say("a", "A"), say("deep", "deep"), say("b", "B")]
    ear = Ear()
    run = await execute(planned(nodes, "c.left>a a>deep c.right>b"), ear=ear)
    assert ear.texts == ["B"]
    assert skipped(run) == {
        "a": {"reason": "not reached", "node": "c", "port": "left"},
        "deep": {"reason": "not reached", "node": "c", "port": "left"},
    }
    assert run.answered_by == "b"
    assert list(run.out) == ["c", "b"]


async def test_a_join_waits_for_all_branches_and_runs_where_one_was_taken() -> None:
    nodes = [choose("c", "left"), say("a", "A"), say("b", "B"), say("j", "{{ OUT.a.text }}{{ OUT.b.text|default('-') }}")]
    ear = Ear()
    run = await execute(planned(nodes, "c.left>a c.right>b a>j b>j"), ear=ear)
    assert ear.texts == ["A-"]
    assert set(skipped(run)) == {"b"}


async def test_one_target_of_two_ports_is_reached_by_either() -> None:
    for port in ("left", "right"):
        ear = Ear()
        await execute(planned([choose("c", port), say("a", "A")], "c.left>a c.right>a"), ear=ear)
        assert ear.texts == ["A"]


async def test_a_disabled_node_passes_order_on_by_all_its_ports() -> None:
    nodes = [choose("c", "left", enabled=False), say("a", "A"), say("b", "B"), say("j", "{{ OUT.a.text }}{{ OUT.b.text }}")]
    ear = Ear()
    await execute(planned(nodes, "c.left>a c.right>b a>j b>j"), ear=ear)
    assert ear.texts == ["AB"]


async def test_a_node_that_chooses_no_port_leaves_by_its_last() -> None:
    nodes = [of("Named", "c", config={"names": ["x"]}), say("a", "A"), say("b", "B")]
    ear = Ear()
    await execute(planned(nodes, "c.x>a c.other>b"), ear=ear)
    assert ear.texts == ["B"]


def test_ports_follow_the_configuration_and_their_place_is_described() -> None:
    nodes = [of("Named", "c", config={"names": ["x"]}), say("a")]
    assert codes(nodes, "c.y>a") == ["edge.unknown_port"]
    told = describe(Named)
    assert (told["ports"], told["ports_from"], told["error_port"]) == (["other"], "names.*", True)


async def test_pins_choose_the_port_that_they_name() -> None:
    nodes = [choose("c", "left"), say("a", "A"), say("b", "B")]
    ear = Ear()
    await execute(planned(nodes, "c.left>a c.right>b"), ear=ear, pins={"c": {"port": "right"}})
    assert ear.texts == ["B"]


async def test_who_chooses_between_pinned_nodes_still_runs() -> None:
    nodes = [choose("c", "right"), say("a", "A"), say("b", "B")]
    ear = Ear()
    run = await execute(planned(nodes, "c.left>a c.right>b"), ear=ear, pins={"a": {"text": "PA"}, "b": {"text": "PB"}})
    assert ear.texts == ["PB"]
    assert set(skipped(run)) == {"a"}


# --- failures --------------------------------------------------------------------------------------------------------


async def test_a_failure_takes_the_error_port_and_the_rest_is_skipped() -> None:
    nodes = [of("Refuse", "n"), say("good", "good"), say("bad", "{{ OUT.n.error.code }}")]
    ear = Ear()
    run = await execute(planned(nodes, "n>good n.error>bad"), ear=ear)
    assert ear.texts == ["node_failed"]
    assert skipped(run) == {"good": {"reason": "not reached", "node": "n", "port": "done"}}
    assert run.out["n"]["error"]["message"] == "Node n: No."


async def test_a_node_that_answers_hands_its_answer_over_by_the_error_port() -> None:
    nodes = [of("Refuse", "n"), say("bad", "instead")]
    ear = Ear()
    run = await execute(planned(nodes, "n.error>bad"), ear=ear)
    assert (ear.texts, run.answered_by) == (["instead"], "bad")


async def test_a_node_that_succeeds_leaves_the_error_port_untaken() -> None:
    ear = Ear()
    run = await execute(planned([say("n", "well"), say("bad", "instead")], "n.error>bad"), ear=ear)
    assert (ear.texts, run.answered_by) == (["well"], "n")
    assert skipped(run) == {"bad": {"reason": "not reached", "node": "n", "port": "error"}}


async def test_a_failure_after_the_first_words_fails_the_run() -> None:
    async def begin(ctx: NodeContext) -> Mapping[str, Json]:
        assert ctx.sink is not None
        await ctx.sink.tokens(1, estimated=True)
        raise NodeFailed("Too late.")

    ear = Ear()
    with pytest.raises(NodeFailed, match=r"Too late\."):
        await execute(planned([of("Call", "n"), say("bad", "instead")], "n.error>bad", calling(begin)), ear=ear)
    assert ear.texts == []


async def test_a_fault_of_the_program_is_no_failure_that_a_port_or_a_loop_takes() -> None:
    async def broken(ctx: NodeContext) -> Mapping[str, Json]:
        raise KeyError("a bug")

    held = {**of("Call", "n"), "parent": "loop", "on_error": "continue"}
    for nodes, edges in (
        ([of("Call", "n"), say("bad", "instead")], "n.error>bad"),
        (
            [{**of("Loop", "loop"), "config": {"items": "2", "on_failure": "skip"}}, held, say("bad", "instead")],
            "loop.error>bad",
        ),
    ):
        ear = Ear()
        with pytest.raises(KeyError):
            await execute(planned(nodes, edges, calling(broken)), ear=ear)
        assert ear.run.events.items[-1].data["error"]["code"] == "internal_error"
        assert ear.texts == [] and "bad" not in ear.run.out


# --- who answers -----------------------------------------------------------------------------------------------------


def test_who_excludes_each_other_may_all_answer_and_others_are_ambiguous() -> None:
    nodes = [choose("c", "left"), say("a"), say("b"), say("x"), say("y")]
    assert {planned(nodes[:3], "c.left>a c.right>b").nodes[at].id for at in (1, 2)} == {"a", "b"}
    assert codes(nodes[:4], "c.left>a c.right>b") == ["answer.ambiguous"]
    assert codes(nodes[:3], "c.left>a c.left>b") == ["answer.ambiguous"]
    assert codes(nodes, "c.left>a c.right>b a>x b>x a>y") == ["answer.ambiguous"]


NATURAL = "c.left>a c.right>b a.error>f b.error>f"


async def test_one_node_takes_over_from_either_of_two_that_exclude_each_other() -> None:
    """What a person draws for: A or B by a question, and C where the one that was asked fails."""
    for merge in (False, True):
        for port, fails, answers in (("left", "", "a"), ("right", "", "b"), ("left", "a", "f"), ("right", "b", "f")):
            ends = [of("Pass", "m")] if merge else []
            both = [of("Refuse", id) if id == fails else say(id, id) for id in ("a", "b")]
            plan = planned([choose("c", port), *both, say("f", "f"), *ends], NATURAL + (" a>m b>m f>m" if merge else ""))
            assert {plan.nodes[at].id for at in plan.answers} == {"a", "b", "f"}
            assert plan.warnings == ()
            ear = Ear()
            run = await execute(plan, ear=ear)
            assert (ear.texts, run.answered_by) == ([answers], answers)


async def test_a_merge_whose_failure_leads_on_answers_itself() -> None:
    """Had the branch spoken in its place, the node behind the failure would wait for a turn that never comes."""
    nodes = [choose("c", "left"), say("a", "A"), say("b", "B"), of("PassBadly", "m"), say("f", "instead")]
    ear = Ear()
    run = await execute(planned(nodes, "c.left>a c.right>b a>m b>m m.error>f", PassBadly), ear=ear)
    assert (ear.texts, run.answered_by) == (["instead"], "f")


def test_where_nobody_would_answer_is_told_before_a_run() -> None:
    nodes = [choose("c", "left"), say("a"), say("b"), say("f")]
    for count, edges, more, place in (
        (2, "c.left>a", {}, ("c", "right")),
        (4, NATURAL, {"answer": "f"}, ("a", "done")),
        (4, "c.left>a c.right>b a.error>f", {"answer": "b"}, ("c", "left")),
        (3, "c.left>a c.right>b", {}, None),
    ):
        plan = planned(nodes[:count], edges, **more)
        told = [(problem.node, problem.message) for problem in plan.warnings if problem.code == "answer.missing"]
        assert [node for node, _ in told] == ([place[0]] if place else [])
        assert all(f"port {place[1]!r}" in text for _, text in told if place)


def test_what_is_passed_on_is_said_by_those_who_exclude_each_other() -> None:
    nodes = [choose("c", "left"), say("a"), say("b"), of("Pass", "m")]
    either = planned(nodes, "c.left>a c.right>b a>m b>m")
    assert {either.nodes[at].id for at in either.answers} == {"a", "b"}
    both = planned(nodes, "c.left>a c.left>b a>m b>m")
    assert {both.nodes[at].id for at in both.answers} == {"m"}


async def test_a_way_that_leads_to_no_answer_names_the_node_and_its_port() -> None:
    plan = planned([choose("c", "right"), say("a")], "c.left>a")
    with pytest.raises(NoAnswer, match="node c left by its port 'right', which leads nowhere") as caught:
        await execute(plan)
    assert caught.value.details == {"node": "c", "port": "right"}
    plan = planned([choose("c", "right"), say("a"), say("b")], "c.left>a c.right>b", answer="a")
    with pytest.raises(NoAnswer, match="did not leave by its port 'left'"):
        await execute(plan)


async def test_a_token_count_asks_the_branch_that_answers_alone() -> None:
    counting = make_incoming(
        {"model": "c", "messages": [{"role": "user", "content": "hi"}]}, "/v1/messages/count_tokens", headers={"x-api-key": "k"}
    )
    nodes = [of("Pay", "aside"), choose("c", "left"), of("Pay", "a"), of("Pay", "b")]
    ear = Ear()
    run = await execute(planned(nodes, "aside>c c.left>a c.right>b"), counting, ear)
    assert ear.counts == [(7, False)]
    assert skipped(run)["aside"] == {"reason": "not needed for this request"}


# --- whoever is first ------------------------------------------------------------------------------------------------


async def test_whoever_comes_first_is_enough_and_the_other_branch_is_cancelled() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def hang(ctx: NodeContext) -> Mapping[str, Json]:
        if ctx.node_id == "quick":
            await begun.wait()
            return {}
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            stopped.set()
            raise NodeFailed("Could not clean up.") from error
        return {}

    nodes = [of("Call", "quick"), of("Call", "slow"), say("later"), of("First", "m"), say("end", "{{ OUT.m.text }}")]
    ear = Ear()
    run = await execute(planned(nodes, "quick>m slow>later later>m m>end", calling(hang)), ear=ear)
    assert ear.texts == ["quick"]
    assert stopped.is_set()
    assert skipped(run) == {id: {"reason": "another branch was first"} for id in ("slow", "later")}


async def test_a_branch_that_feeds_others_too_goes_on() -> None:
    nodes = [say("quick"), say("slow", "s"), of("First", "m"), say("end", "{{ OUT.slow.text }}")]
    ear = Ear()
    run = await execute(planned(nodes, "quick>m slow>m slow>end m>end"), ear=ear)
    assert ear.texts == ["s"]
    assert skipped(run) == {}


# --- reads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "edges", "warns"),
    [
        ("{{ OUT.a.text }}", "c.left>a c.right>b a>j b>j", True),
        ("[[OUT:a.text]]", "c.left>a c.right>b a>j b>j", True),
        ("{{ OUT.a.text|default('') }}", "c.left>a c.right>b a>j b>j", False),
        ("{{ OUT.a.text|default('') }}{{ OUT.a.text|upper }}", "c.left>a c.right>b a>j b>j", True),
        ("{{ OUT.a.text }}", "c.left>a a>j c.right>b", False),
        ("{{ OUT.a.text }}", "c.left>a c.right>a a>j c.left>b b>j", False),
        ("{{ OUT.a.text }}", "a>c c.left>b b>j c.right>j", False),
        ("{{ OUT.c.port }}", "c.left>a c.right>b a>j b>j", False),
        ("{{ OUT.a.text }}", "a>b a.error>j b>j b.error>j", False),
    ],
)
def test_an_undefended_read_of_what_may_be_skipped_is_a_warning(read: str, edges: str, warns: bool) -> None:
    plan = planned([choose("c", "left"), say("a"), say("b"), say("j", read)], edges, answer="j")
    reads = [problem.code for problem in plan.warnings if problem.code != "answer.missing"]
    assert reads == (["read.may_be_skipped"] if warns else [])
