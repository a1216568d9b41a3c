"""A pipeline document is read leniently where nobody looks and strictly where the engine does."""

import pytest

from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.plans.spec import MAX_NODES, parse_spec


def node(id: str = "n1", **more: Json) -> Json:
    return {"id": id, "type": "SetVars", **more}


def spec(**more: Json) -> Json:
    return {"format": 1, "name": "x", "nodes": [node()], **more}


def problems(document: Json) -> tuple[Problem, ...]:
    with pytest.raises(InvalidPipeline) as caught:
        parse_spec(document)
    return caught.value.problems


def test_the_smallest_document_has_defaults_for_everything_else() -> None:
    read = parse_spec(spec())
    only = read.nodes[0]
    assert (only.enabled, only.on_error, only.config, only.title, read.edges, read.answer) == (True, "fail", {}, "", [], None)


def test_an_edge_leaves_through_done_unless_it_says_otherwise() -> None:
    read = parse_spec(
        spec(nodes=[node("a"), node("b")], edges=[{"from": "a", "to": "b"}, {"from": "a", "to": "b", "from_port": "x"}])
    )
    assert [(edge.source, edge.target, edge.from_port) for edge in read.edges] == [("a", "b", "done"), ("a", "b", "x")]


def test_unknown_fields_are_welcome_on_every_level() -> None:
    parse_spec(spec(nodes=[node(position={"x": 1}, colour="red")], edges=[], viewport={"zoom": 2}))


@pytest.mark.parametrize(
    ("document", "where", "field"),
    [
        (spec(nodes=[node(enabled="yes")]), "n1", "enabled"),
        (spec(nodes=[node(on_error="ignore")]), "n1", "on_error"),
        (spec(nodes=[node(config=[])]), "n1", "config"),
        (spec(nodes=[node(), node("n 2")]), "n 2", "id"),
        (spec(nodes=[node(), {"type": "SetVars"}]), "#2", "id"),
        (spec(nodes=[{"id": 7, "type": "SetVars"}]), "#1", "id"),
        (spec(nodes=["n1"]), "#1", None),
        (spec(nodes=[]), None, "nodes"),
        (spec(format=2), None, "format"),
        (spec(format="1"), None, "format"),
        (spec(name=""), None, "name"),
        (spec(edges=[{"from": "n1"}]), None, "edges.0.to"),
        (spec(answer=1), None, "answer"),
    ],
)
def test_a_wrong_field_is_named_with_its_node(document: Json, where: str | None, field: str | None) -> None:
    found = problems(document)
    assert [(problem.node, problem.field) for problem in found] == [(where, field)]


def test_every_wrong_field_is_reported_at_once() -> None:
    found = problems({"format": 9, "nodes": [node(enabled=1), node(type="")]})
    assert {(problem.node, problem.field) for problem in found} == {
        (None, "format"),
        (None, "name"),
        ("n1", "enabled"),
        ("n1", "type"),
    }


@pytest.mark.parametrize("document", [None, [], "pipeline", 1, {}])
def test_what_is_no_pipeline_at_all_is_refused(document: Json) -> None:
    assert problems(document)


def test_more_nodes_than_a_pipeline_may_have_are_refused() -> None:
    assert parse_spec(spec(nodes=[node(f"n{number}") for number in range(MAX_NODES)]))
    assert problems(spec(nodes=[node(f"n{number}") for number in range(MAX_NODES + 1)]))[0].field == "nodes"


def test_a_pipeline_without_nodes_says_so() -> None:
    with pytest.raises(InvalidPipeline, match="no node yet") as caught:
        parse_spec(spec(nodes=[]))
    assert [(problem.code, problem.field) for problem in caught.value.problems] == [("spec.no_nodes", "nodes")]
    assert [problem.code for problem in problems(spec(nodes=[], name=""))] == ["spec.invalid", "spec.no_nodes"]
    assert {problem.field for problem in problems({"format": 1, "name": "x", "nodes": None})} == {"nodes"}
