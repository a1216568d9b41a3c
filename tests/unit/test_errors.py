"""Every error has a status, a stable code and a sentence."""

import pytest

from agentui import errors
from agentui.errors import AgentUIError, InvalidPipeline, Problem, TemplateProblem, UpstreamRefused, kind_of_status


def family(kind: type[AgentUIError]) -> list[type[AgentUIError]]:
    return [kind, *(deeper for child in kind.__subclasses__() for deeper in family(child))]


KINDS = [kind for kind in family(AgentUIError) if kind.__module__ == errors.__name__]


def test_every_kind_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in KINDS if "code" in vars(kind)]
    assert len(set(codes)) == len(codes)
    assert all(code == code.lower() and " " not in code for code in codes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_an_error_status_and_in_the_drawing(kind: type[AgentUIError]) -> None:
    assert 400 <= kind.status < 600
    assert errors.__doc__ is not None
    assert kind.__name__ in errors.__doc__


def test_details_are_facts_and_the_message_is_the_text() -> None:
    error = errors.BadRequest("No model.", param="model", limit=3)
    assert (str(error), error.message, error.param, error.details) == (
        "No model.",
        "No model.",
        "model",
        {"param": "model", "limit": 3},
    )
    assert errors.NotFound("x").param is None


def test_a_problem_says_where_it_is() -> None:
    assert str(Problem("c", "Broken.", node="n1", field="template", line=2, column=5)) == (
        "node n1 field template line 2 column 5: Broken."
    )
    assert str(Problem("c", "Broken.")) == "Broken."


def test_a_problem_as_json_has_every_field() -> None:
    assert Problem("c", "m", "warning", "n1").as_json() == {
        "code": "c",
        "message": "m",
        "severity": "warning",
        "node": "n1",
        "field": None,
        "line": None,
        "column": None,
        "facts": {},
    }


def test_an_invalid_pipeline_carries_its_problems_as_facts() -> None:
    problem = Problem("c", "m", node="n1")
    error = InvalidPipeline("It cannot run.", (problem,), pipeline="p")
    assert error.problems == (problem,)
    assert error.details == {"problems": [problem.as_json()], "pipeline": "p"}


def test_a_template_problem_is_an_invalid_pipeline_of_one() -> None:
    problem = Problem("template.render", "Too long.", node="n1", field="template", line=1, column=2)
    error = TemplateProblem(problem, pipeline="p")
    assert isinstance(error, InvalidPipeline)
    assert (error.message, error.problems) == (str(problem), (problem,))


def test_a_refusal_keeps_what_the_upstream_said() -> None:
    error = UpstreamRefused("Slow down.", status=429, kind="rate_limit", vendor="claude", retry_after=7, body={"type": "error"})
    assert (error.status, error.kind, error.retry_after, error.body) == (429, "rate_limit", 7, {"type": "error"})
    assert UpstreamRefused.status == 502


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "authentication"),
        (404, "not_found"),
        (418, "invalid_request"),
        (429, "rate_limit"),
        (500, "server"),
        (503, "overloaded"),
        (504, "timeout"),
        (529, "overloaded"),
        (599, "server"),
    ],
)
def test_a_status_alone_means_something(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind
