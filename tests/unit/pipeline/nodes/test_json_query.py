"""The node Json: questions to JSON, in JMESPath and JSONPath, and what they may cost."""

import jmespath  # type: ignore[import-untyped]  # it ships none
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.nodes.data import queries
from agentui.pipeline.nodes.data.queries import QueryError, QueryLanguage, compile_query
from agentui.templating.core.paths import MISSING
from tests.unit.pipeline.parts import compiled, execute

VALUE: Json = {
    "choices": [{"message": {"content": "Hello"}}, {"message": {"content": "Bye"}}],
    "n": None,
    "people": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 20}],
}


async def asked(**config: Json) -> Json:
    """The node's OUT."""
    config.setdefault("source", dumps_text(VALUE))
    return (await execute(compiled([{"id": "n1", "type": "Json", "config": config}]))).out["n1"]


@pytest.mark.parametrize(
    ("language", "expression", "result"),
    [
        ("jmespath", "choices[0].message.content", "Hello"),
        ("jmespath", "people[?age > `30`].{who: name}", [{"who": "Ada"}]),
        ("jmespath", "length(people)", 2),
        ("jmespath", "nothing.here", None),
        ("jsonpath", "$.choices[0].message.content", "Hello"),
        ("jsonpath", "choices.1.message.content", "Bye"),
        ("jsonpath", "[ 'n' ]", None),
        ("jsonpath", "$.choices[*].message.content", ["Hello", "Bye"]),
        ("jsonpath", "$..age", [36, 20]),
        ("jsonpath", "$.people[?@.age < 30].name", ["Bob"]),
        ("jsonpath", "$.people[?match(@.name, 'A.a')].age", [36]),
        ("jsonpath", "$.people[?search(@.name, '^B')].age", [20]),
        ("jsonpath", "$.people[?search(@.name, '(')].age", None),
        ("jsonpath", "$", VALUE),
        ("jsonpath", "$.nothing", None),
        ("jmespath", "", VALUE),
    ],
)
async def test_questions_are_answered(language: str, expression: str, result: Json) -> None:
    out = await asked(language=language, expression=expression)
    assert out["result"] == result and "vars" not in out
    assert out["text"] == ("" if result is None else result if isinstance(result, str) else dumps_text(result))


async def test_answers_have_names_and_defaults() -> None:
    out = await asked(
        expression="nothing",
        default='{"model": "{{ model }}"}',
        outputs=[{"name": "FIRST", "expression": "people[0].name"}, {"name": "NONE", "expression": "x", "default": "[]"}],
    )
    assert out["result"] == {"model": "gpt-4o-mini"}
    assert out["vars"] == {"FIRST": "Ada", "NONE": []}


async def test_out_of_other_nodes_is_asked_and_answers_are_variables() -> None:
    before = {"id": "n1", "type": "SetVars", "config": {"variables": [{"name": "X", "mode": "expr", "value": '{"a": [1, 2]}'}]}}
    asking = {"source": "{{ OUT.n1.vars }}", "outputs": [{"name": "Y", "expression": "X.a[-1]"}]}
    after = {"id": "n3", "type": "Text", "config": {"text": "{{ Y }}"}}
    plan = compiled([before, {"id": "n2", "type": "Json", "config": asking}, after], [("n1", "n2"), ("n2", "n3")])
    assert (await execute(plan)).out["n3"]["text"] == "2"
    assert not plan.uses_memory


@pytest.mark.parametrize("language", ["jmespath", "jsonpath"])
@pytest.mark.parametrize("expression", ["a[", "$[?(", "[" * 3000, "(" * 3900, "a" * 5000, "a.b[?c =~ /x/]", "'"])
def test_what_is_no_question_is_told_when_the_pipeline_is_saved(language: str, expression: str) -> None:
    for config in ({"expression": expression}, {"outputs": [{"name": "A", "expression": expression}]}):
        with pytest.raises(InvalidPipeline) as caught:
            compiled([{"id": "n1", "type": "Json", "config": {"language": language, **config}}])
        assert [problem.code for problem in caught.value.problems] == ["query.syntax"]


@pytest.mark.parametrize(
    ("language", "expression", "value"),
    [
        ("jmespath", "[@,@]" + "|[@,@]" * 60, {"a": 1}),
        ("jmespath", "join('', [@,@])" + "|join('', [@,@])" * 60, "word"),
        ("jmespath", "[][][][]" + "|[@,@][]" * 60, [[1] * 100] * 100),
        ("jsonpath", "$" + "['a','a']" * 40, VALUE),
        ("jsonpath", "$" + "[*,*]" * 40, None),
        ("jsonpath", "$..*" * 6, [[[[[1] * 8] * 8] * 8] * 8] * 8),
        ("jsonpath", "$..[?count($..*..*..*) > 1]", [[[[1] * 8] * 8] * 8] * 8),
        ("jsonpath", "$[?search(@, '^(a|aa)+$')]", ["a" * 60 + "b"] * 2000),
    ],
)
def test_no_question_computes_without_end(
    monkeypatch: pytest.MonkeyPatch, language: QueryLanguage, expression: str, value: Json
) -> None:
    monkeypatch.setattr(queries, "QUERY_SECONDS", 0.2)
    if value is None:
        value = 1
        for _ in range(50):
            value = [value]
    if expression.startswith("$['a'"):
        value = 1
        for _ in range(50):
            value = {"a": value}
    with pytest.raises(QueryError):
        compile_query(language, expression).find(value)


@pytest.mark.parametrize("expression", ["to_number('1e999')", "map(&to_number(@), ['-1e999'])", "`NaN`"])
async def test_no_number_comes_of_a_question_that_json_has_not(expression: str) -> None:
    with pytest.raises(NodeFailed, match="JSON has not"):
        await asked(outputs=[{"name": "A", "expression": expression}])


async def test_a_question_that_does_not_fit_the_value_fails_the_node() -> None:
    with pytest.raises(NodeFailed, match="cannot be answered"):
        await asked(expression="sum(people)")
    with pytest.raises(NodeFailed, match="cannot be answered"):
        await asked(expression="[?a < 'x']", source='[{"a": 1}]')


LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=3)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
STEPS = st.lists(st.sampled_from("abc") | st.integers(0, 2), min_size=1, max_size=4)


@given(VALUES, STEPS)
def test_a_path_leads_where_walking_leads_in_both_languages(value: Json, steps: list[str | int]) -> None:
    walked = value
    for step in steps:
        if isinstance(step, str):
            walked = walked.get(step, MISSING) if isinstance(walked, dict) else MISSING
        else:
            walked = walked[step] if isinstance(walked, list) and step < len(walked) else MISSING
    path = "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in steps)
    assert compile_query("jsonpath", "$" + path).find(value) == walked
    dotted = ".".join(map(str, steps))
    if isinstance(steps[0], str):
        assert compile_query("jsonpath", dotted).find(value) == walked
    found = compile_query("jmespath", "@" + path).find(value)
    assert found == (MISSING if walked is None else walked)
    assert jmespath.search("@" + path, value) == (None if found is MISSING else found)
