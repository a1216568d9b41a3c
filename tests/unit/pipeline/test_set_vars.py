"""SetVars gives names to values: texts with macros, formulas without (seed 003, the part on SetVars)."""

import pytest

from agentui.errors import InvalidPipeline, NodeFailed, Problem
from agentui.jsonio import Json
from agentui.pipeline.node import Build
from agentui.pipeline.nodes.data.set_vars import Row, SetVars, SetVarsParams
from tests.unit.pipeline.parts import compiled, execute, make_incoming


def rows(*variables: tuple[str, str, str]) -> Json:
    config = {"variables": [{"name": name, "mode": mode, "value": value} for name, mode, value in variables]}
    return {"id": "n1", "type": "SetVars", "config": config}


async def values(*variables: tuple[str, str, str], **request: Json) -> dict[str, Json]:
    """What the rows are worth."""
    run = await execute(compiled([rows(*variables)]), make_incoming(**request))
    assert set(run.out["n1"]) == {"vars"}
    out: dict[str, Json] = run.out["n1"]["vars"]
    return out


def problems(*variables: tuple[str, str, str]) -> tuple[Problem, ...]:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([rows(*variables)])
    return caught.value.problems


async def test_a_string_is_a_template() -> None:
    assert await values(("A", "string", "[[VAR:model]] {{ params.temperature|default(0.7) }} plain")) == {
        "A": "gpt-4o-mini 0.7 plain"
    }


async def test_a_string_is_a_string_even_where_it_looks_like_a_number() -> None:
    assert await values(("A", "string", "{{ incoming.json.n }}"), body={"model": "m", "messages": [], "n": 5}) == {"A": "5"}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("128 + 64", 192),
        ("(5 * 60) + 30", 330),
        ("42 % 2", 0),
        ("-5", -5),
        ("23 // 10", 2),
        ('"eu" + "-central"', "eu-central"),
        ("(2 < 3) and (10 % 2 == 0)", True),
        ("1 < 2 < 5", True),
        ('["fast", "safe"]', ["fast", "safe"]),
        ('{"temperature": 0.3, "topP": 0.9, "safe": true}', {"temperature": 0.3, "topP": 0.9, "safe": True}),
        ("true", True),
        ("false", False),
        ("null", None),
        ("[null, {}]", [None, {}]),
    ],
)
async def test_the_formulas_of_the_seed(formula: str, value: Json) -> None:
    got = (await values(("X", "expr", formula)))["X"]
    assert got == value
    assert type(got) is type(value)


async def test_chance_is_within_its_bounds_and_new_every_time() -> None:
    seen = [
        await values(
            ("F", "expr", "rand()"),
            ("D", "expr", "randint(1, 6)"),
            ("C", "expr", 'choice(["gpt-4o-mini", "gpt-4o", "o3-mini"])'),
            ("L", "expr", "[rand(), rand(), rand()]"),
        )
        for _ in range(50)
    ]
    assert all(0 <= one["F"] < 1 for one in seen)
    assert {one["D"] for one in seen} <= {1, 2, 3, 4, 5, 6}
    assert {one["C"] for one in seen} == {"gpt-4o-mini", "gpt-4o", "o3-mini"}
    assert len({one["F"] for one in seen}) == 50
    assert all(len(set(one["L"])) == 3 for one in seen)


async def test_rows_of_one_node_do_not_see_each_other() -> None:
    assert await values(("A", "string", "a"), ("B", "string", "<{{ A }}>")) == {"A": "a", "B": "<>"}


async def test_the_order_of_rows_is_kept() -> None:
    assert list(await values(("Z", "expr", "1"), ("A", "expr", "2"), ("M", "expr", "3"))) == ["Z", "A", "M"]


async def test_a_node_without_rows_sets_nothing() -> None:
    assert await values() == {}


async def test_a_value_of_the_caller_is_never_read_as_a_template() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "[[VAR:model]] {{ model }} [[SECRET:openai]]"}]}
    assert await values(("A", "string", "{{ chat.last_user }}"), body=body) == {
        "A": "[[VAR:model]] {{ model }} [[SECRET:openai]]"
    }


@pytest.mark.parametrize(
    "name", ["MY_KEY", "REGION", "MAX_TOKENS", "_x", "x1", "model", "system", "params", "chat", "vendor_format"]
)
async def test_these_names_may_be_used(name: str) -> None:
    assert await values((name, "string", "v")) == {name: "v"}


@pytest.mark.parametrize("name", ["", "1X", "MY-KEY", "MY KEY", "ключ", "a.b", "X\n", "MY_KEY "])
def test_a_name_has_letters_digits_and_underscores(name: str) -> None:
    (problem,) = problems((name, "string", "v"))
    assert (problem.code, problem.node, problem.field) == ("setvars.name", "n1", "variables.0.name")


TAKEN = ["incoming", "OUT", "OUT1", "OUT42", "PROMPT", "VAR", "SECRET", "pm", "vars", "true", "False", "null", "none"]


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_with_a_meaning_of_its_own_is_refused(name: str) -> None:
    (problem,) = problems(("OK", "string", "v"), (name, "string", "v"))
    assert (problem.code, problem.field) == ("setvars.reserved", "variables.1.name")


@pytest.mark.parametrize("name", [*TAKEN, "incoming.gold", 'OUT1["x"]'])
def test_it_is_refused_in_a_stored_tier_too(name: str) -> None:
    build = Build("n1")
    SetVars(SetVarsParams(variables=[Row(name=name, tier="global", value="v")]), build)
    assert [problem.code for problem in build.problems] == ["setvars.reserved"]


@pytest.mark.parametrize(
    "formula",
    [
        "incoming.path",
        "MAX_TOKENS",
        "[[VAR:model]]",
        "{{ model }}",
        "open('x')",
        "[1, 2][0]",
        "'a'.upper()",
        "1 if true else 2",
        "2 ** 9",
        "lambda: 1",
        "__import__('os')",
        "1 +",
        "",
    ],
)
def test_a_formula_reaches_nothing_outside_itself(formula: str) -> None:
    found = problems(("X", "expr", formula))
    assert [(problem.code, problem.node, problem.field) for problem in found] == [
        ("expression.syntax", "n1", "variables.0.value")
    ]
    assert (found[0].line, found[0].column is not None) == (1, True)
    assert "line 1" not in found[0].message


async def test_a_formula_that_fails_names_its_variable_and_place() -> None:
    with pytest.raises(NodeFailed, match="Variable 'X'") as caught:
        await values(("OK", "expr", "1"), ("X", "expr", "randint(6, randint(1, 2))"))
    assert caught.value.details["variable"] == "X"
    assert caught.value.details["field"] == "variables.1.value"
    assert caught.value.details["node"] == "n1"
    assert caught.value.details["column"] == 1


def test_secrets_are_not_read_into_variables() -> None:
    assert [problem.field for problem in problems(("A", "string", "[[SECRET:openai]]"))] == ["variables.0.value"]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"name": "A", "mode": "magic", "value": ""}, "variables.0.mode"),
        ({"name": "A", "value": 5}, "variables.0.value"),
        ({"value": "x"}, "variables.0.name"),
    ],
)
def test_a_row_of_another_shape_is_refused(row: Json, field: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "SetVars", "config": {"variables": [row]}}])
    assert [(problem.node, problem.field) for problem in caught.value.problems] == [("n1", field)]
