"""Every shape of graph becomes a plan or a list of reasons why not."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.documents.document import version_of
from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from tests.unit.pipeline.parts import catalog_of, compiled, document

Edges = Sequence[tuple[str, str]]


def sets(id: str, value: str = "x", **more: Json) -> Json:
    """A node that reads what ``value`` says."""
    return {"id": id, "type": "SetVars", "config": {"variables": [{"name": f"V_{id}", "value": value}]}, **more}


def plan_of(*ids: str, edges: Edges = (), **more: Json) -> Plan:
    return compiled([sets(id) for id in ids], edges, **more)


def problems(nodes: Sequence[Json], edges: Edges = (), **more: Json) -> list[Problem]:
    with pytest.raises(InvalidPipeline) as caught:
        compiled(nodes, edges, **more)
    return list(caught.value.problems)


def codes(found: Sequence[Problem]) -> list[str]:
    return [problem.code for problem in found]


def order(plan: Plan) -> list[str]:
    return [node.id for node in plan.nodes]


def answering(plan: Plan) -> list[str]:
    return [plan.nodes[position].id for position in sorted(plan.answers)]


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_a_single_node_answers() -> None:
    plan = plan_of("n1")
    assert (order(plan), plan.answers, plan.needed) == (["n1"], {0}, frozenset({0}))


def test_a_chain_runs_in_the_order_of_its_edges_and_its_last_node_answers() -> None:
    plan = plan_of("c", "a", "b", edges=[("a", "b"), ("b", "c")])
    assert order(plan) == ["a", "b", "c"]
    assert answering(plan) == ["c"]
    assert [node.waits_for for node in plan.nodes] == [0, 1, 1]
    assert [node.feeds for node in plan.nodes] == [(1,), (2,), ()]


def test_a_diamond_waits_for_both_sides() -> None:
    plan = plan_of("a", "b", "c", "d", edges=[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    assert order(plan) == ["a", "b", "c", "d"]
    assert [node.waits_for for node in plan.nodes] == [0, 1, 1, 2]
    assert plan.nodes[0].feeds == (1, 2)


def test_several_roots_are_ready_at_once() -> None:
    plan = plan_of("a", "b", "c", edges=[("a", "c"), ("b", "c")])
    assert [node.waits_for for node in plan.nodes] == [0, 0, 2]


def test_equals_keep_the_order_of_the_document() -> None:
    assert order(plan_of("z", "y", "x", "last", edges=[("z", "last"), ("x", "last"), ("y", "last")])) == ["z", "y", "x", "last"]


def test_an_edge_drawn_twice_counts_once() -> None:
    plan = plan_of("a", "b", edges=[("a", "b"), ("a", "b")])
    assert plan.nodes[1].waits_for == 1


def test_only_what_the_answer_waits_for_is_needed() -> None:
    plan = plan_of("a", "b", "after", "aside", edges=[("a", "b"), ("b", "after")], answer="b")
    assert {plan.nodes[position].id for position in plan.needed} == {"a", "b"}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_node_of_any_graph_stands_before_one_that_it_waits_for(data: st.DataObject) -> None:
    ids = [f"n{number}" for number in range(data.draw(st.integers(1, 12)))]
    shuffled = data.draw(st.permutations(ids))
    pairs = [(shuffled[low], shuffled[high]) for low in range(len(ids)) for high in range(low + 1, len(ids))]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    plan = compiled([sets(id) for id in ids], edges, answer=shuffled[-1])
    position = {id: number for number, id in enumerate(order(plan))}
    assert sorted(position) == sorted(ids)
    assert all(position[source] < position[target] for source, target in edges)
    assert sum(node.waits_for for node in plan.nodes) == len(edges) == sum(len(node.feeds) for node in plan.nodes)


def test_five_hundred_nodes_that_read_each_other_compile() -> None:
    nodes = [sets("n0"), *(sets(f"n{number}", f"[[OUT:n{number - 1}.vars]]") for number in range(1, 500))]
    plan = compiled(nodes, [(f"n{number}", f"n{number + 1}") for number in range(499)])
    assert len(plan.nodes) == 500
    assert plan.reads["n499"] == {"n498"}


def test_five_hundred_nodes_side_by_side_compile() -> None:
    ids = [f"n{number}" for number in range(499)]
    plan = plan_of(*ids, "end", edges=[(id, "end") for id in ids])
    assert plan.nodes[-1].waits_for == 499


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_a_cycle_is_named_with_its_path_and_nothing_else() -> None:
    found = problems([sets("a"), sets("b"), sets("c")], [("a", "b"), ("b", "c"), ("c", "a")])
    assert codes(found) == ["graph.cycle"]
    assert "a -> b -> c -> a" in found[0].message


def test_a_cycle_off_the_way_is_found_too() -> None:
    found = problems([sets(id) for id in "abcd"], [("a", "b"), ("b", "c"), ("c", "b"), ("a", "d")])
    assert codes(found) == ["graph.cycle"]
    assert "b -> c -> b" in found[0].message


def test_a_node_that_waits_for_itself_is_a_cycle() -> None:
    found = problems([sets("a")], [("a", "a")])
    assert codes(found) == ["graph.cycle"]
    assert "a -> a" in found[0].message


@pytest.mark.parametrize("edge", [("a", "ghost"), ("ghost", "a"), ("ghost", "spook")])
def test_an_edge_to_nowhere_names_what_is_missing(edge: tuple[str, str]) -> None:
    found = problems([sets("a")], [edge])
    assert codes(found) == ["edge.unknown_node"]
    assert "'ghost'" in found[0].message


def test_an_unknown_port_names_the_ports_there_are() -> None:
    edges = [{"from": "a", "to": "b", "from_port": "maybe"}]
    whole = {**document([sets("a"), sets("b")]), "edges": edges}
    with pytest.raises(InvalidPipeline) as caught:
        compile_plan("test", whole, catalog_of())
    found = caught.value.problems
    assert codes(found) == ["edge.unknown_port"]
    assert (found[0].node, "'maybe'" in found[0].message, "done" in found[0].message) == ("a", True, True)


def test_an_unknown_type_names_the_types_there_are() -> None:
    found = problems([sets("a"), {"id": "b", "type": "Teleport"}], [("a", "b")])
    assert codes(found) == ["node.unknown_type"]
    assert found[0].node == "b"
    assert "known are " in found[0].message
    assert all(name in found[0].message for name in ("ProviderCall", "RawForward", "SetVars"))


def test_two_nodes_of_one_id_are_refused() -> None:
    found = problems([sets("a"), sets("a"), sets("b")], [("a", "b")])
    assert "node.duplicate_id" in codes(found)


def test_everything_wrong_is_told_at_once_and_the_headline_counts_it() -> None:
    nodes = [sets("a", "{{ oops"), {"id": "b", "type": "Teleport"}, sets("c", "[[OUT:zzz.x]]")]
    with pytest.raises(InvalidPipeline) as caught:
        compiled(nodes, [("a", "b"), ("b", "c"), ("c", "ghost")])
    found = set(codes(caught.value.problems))
    assert {"edge.unknown_node", "node.unknown_type", "read.unknown_node"} < found
    assert f"(and {len(caught.value.problems) - 1} more)" in caught.value.message


def test_a_broken_template_is_named_with_node_field_line_and_column() -> None:
    found = problems([sets("a", "first line\n  {{ model|nonsense }}")])
    assert [(problem.node, problem.field, problem.line) for problem in found] == [("a", "variables.0.value", 2)]
    assert found[0].column is not None and found[0].column > 2


def test_a_field_that_nobody_reads_is_kept_and_warned_about() -> None:
    plan = compiled([{"id": "a", "type": "SetVars", "config": {"variables": [], "colour": "red"}}])
    assert [(problem.code, problem.severity, problem.field) for problem in plan.warnings] == [
        ("config.unknown_field", "warning", "colour")
    ]


# --- reads -----------------------------------------------------------------------------------------------------------


def test_a_node_may_read_any_node_that_runs_before_it() -> None:
    plan = compiled(
        [sets("n1"), sets("n2"), sets("n3", "[[OUT:n1.vars.V_n1]] {{ OUT.n2.vars }} [[OUT1]]")], [("n1", "n2"), ("n2", "n3")]
    )
    assert plan.reads["n3"] == {"n1", "n2"}


@pytest.mark.parametrize("macro", ["[[OUT:n1.vars]]", "{{ OUT.n1.vars }}", "[[OUT1]]", "{{ x|default(OUT.n1.vars) }}"])
def test_reading_a_node_that_does_not_run_before_names_both(macro: str) -> None:
    found = problems([sets("n1"), sets("n2", macro)], answer="n2")
    assert codes(found) == ["read.not_before"]
    assert "'n2' reads OUT.n1" in found[0].message
    assert found[0].node == "n2"


def test_a_node_that_reads_what_comes_after_it_is_refused() -> None:
    assert codes(problems([sets("n1", "[[OUT2]]"), sets("n2")], [("n1", "n2")])) == ["read.not_before"]


def test_a_node_that_reads_itself_is_refused() -> None:
    assert codes(problems([sets("n1", "[[OUT1]]")])) == ["read.not_before"]


def test_reading_a_node_that_is_not_there_is_refused() -> None:
    assert codes(problems([sets("n1", "[[OUT:nope.x]]")])) == ["read.unknown_node"]
    assert codes(problems([sets("n1", "[[OUT7]]")])) == ["read.unknown_node"]


def test_the_short_form_means_the_node_n1_first() -> None:
    plan = compiled([sets("n1"), sets("1"), sets("end", "[[OUT1]]")], [("n1", "end"), ("1", "end")])
    assert plan.reads["end"] == {"n1"}


def test_the_short_form_means_the_node_1_where_there_is_no_n1() -> None:
    plan = compiled([sets("1"), sets("end", "[[OUT1]]")], [("1", "end")])
    assert plan.reads["end"] == {"1"}


def test_reading_a_disabled_node_is_a_warning() -> None:
    plan = compiled([sets("n1", enabled=False), sets("n2", "[[OUT1]]")], [("n1", "n2")])
    assert [(problem.code, problem.severity) for problem in plan.warnings] == [("read.disabled", "warning")]


# --- the answer ------------------------------------------------------------------------------------------------------


def test_the_answer_may_be_any_enabled_node() -> None:
    plan = plan_of("a", "b", edges=[("a", "b")], answer="a")
    assert answering(plan) == ["a"]


def test_an_ambiguous_answer_names_the_candidates() -> None:
    found = problems([sets("a"), sets("c"), sets("b")], [("a", "b"), ("a", "c")])
    assert codes(found) == ["answer.ambiguous"]
    assert "b, c" in found[0].message
    assert found[0].node == "b"


def test_an_unknown_answer_is_refused() -> None:
    assert codes(problems([sets("a")], answer="z")) == ["answer.unknown"]


def test_a_disabled_answer_is_refused() -> None:
    assert codes(problems([sets("a", enabled=False)], answer="a")) == ["answer.disabled"]


def test_a_disabled_last_node_leaves_no_answer() -> None:
    assert codes(problems([sets("a"), sets("b", enabled=False)], [("a", "b")])) == ["answer.none"]


def test_a_disabled_node_aside_does_not_make_the_answer_ambiguous() -> None:
    plan = compiled([sets("a"), sets("b", enabled=False)])
    assert answering(plan) == ["a"]


def test_the_version_changes_with_the_document_alone() -> None:
    one = document([sets("a")])
    assert version_of(one) == version_of(document([sets("a")])) == compile_plan("x", one, catalog_of()).version
    assert version_of(one) != version_of(document([sets("b")]))


# --- stored variables ------------------------------------------------------------------------------------------------


def storing(*names: str, value: str = "x") -> Json:
    """A node that stores variables."""
    return {
        "id": "n1",
        "type": "SetVars",
        "config": {"variables": [{"name": n, "tier": "chat", "value": value} for n in names]},
    }


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (sets("n1"), set()),
        (sets("n1", "{{ gold }} [[VAR:mood.now]] {{ chat.last_user }} [[OUT:n0]]"), {"gold", "mood", "chat"}),
        (sets("n1", '{{ vars.chat.gold }} {{ vars.page["a.b"].c }} {{ vars.run.hp }}'), {"gold", "a"}),
        (sets("n1", "{{ gold }} {{ vars.chat|json }}"), None),
        (sets("n1", "{{ vars.chat|json }}", enabled=False), set()),
        (storing("gold", "bag.knife", 'gear["a.b"].c', value="{{ hp }}"), {"gold", "bag", "gear", 'gear["a', "hp"}),
    ],
)
def test_the_variables_that_a_run_may_touch_are_known(node: Json, wanted: set[str] | None) -> None:
    plan = compiled([sets("n0"), node, sets("n2")], [("n0", "n1"), ("n1", "n2")])
    assert plan.variables == wanted
    assert plan.uses_memory == (wanted != set())


def test_a_node_that_stores_what_it_alone_knows_may_touch_any_variable() -> None:
    @node("Keeps")
    class Keeps(Node[NodeParams]):
        """Stores what turns up."""

        Params = NodeParams

        def prepare(self, build: Build) -> None:
            build.stores = True

    assert compiled([{"id": "n1", "type": "Keeps", "config": {}}], (), Keeps).variables is None
