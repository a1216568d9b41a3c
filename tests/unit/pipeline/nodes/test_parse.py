"""The node Parse: the JSON in what a model wrote."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.nodes.text.model_json import MAX_TEXT, NoJson, find_json
from tests.unit.pipeline.parts import compiled, execute, make_incoming
from tests.unit.work import lines_run

SCHEMA = '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("42", 42),
        ('Sure!\n```json\n{"a": [1]}\n```\nDone.', {"a": [1]}),
        ("~~~\n[1]\n~~~", [1]),
        ('As [1] says: {"a": "}"} and [2].', {"a": "}"}),
        ('Use {x}, then {"a": 1}', {"a": 1}),
    ],
)
def test_json_without_mistakes_is_found_between_words(text: str, value: Json) -> None:
    found = find_json(text, repair=False)
    assert (found.value, found.is_repaired) == (value, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'it's', b: True, c: [1 2 .5]", {"a": "it's", "b": True, "c": [1, 2, 0.5]}),
        ('Sure! {"a": "He said "yes" to me", "b": 2} Bye', {"a": 'He said "yes" to me', "b": 2}),
        ('{{"a": 1}}', {"a": 1}),
        ('{"a": "x\ny", // why\n "b": /* c */ 1 # d\n}', {"a": "x\ny", "b": 1}),
        ('[{"a": 1}, {"a": 2', [{"a": 1}, {"a": 2}]),
        ('```json\n{"a": "cut o', {"a": "cut o"}),
        ("{“a”: “b”, c: undefined, d: NaN}", {"a": "b", "c": None, "d": None}),
        ('{"n": 99999999999999999999, "m": 1e999}', {"n": 1e20, "m": "1e999"}),
    ],
)
def test_small_mistakes_are_mended(text: str, value: Json) -> None:
    found = find_json(text)
    assert found.value == value and (found.is_repaired or "1e20" in dumps_text(value))
    with pytest.raises(NoJson):
        find_json(text.replace("}, {", "; {") if "cut" not in text else text, repair=False)


@pytest.mark.parametrize("text", ["", "Hello.", "I cannot [sorry].", "{", "[", "{}" * 0, "[" * 500 + "1", "x" * (MAX_TEXT + 1)])
def test_what_is_no_json_is_none(text: str) -> None:
    with pytest.raises(NoJson):
        find_json(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict | list))


@given(VALUES, st.sampled_from(["", "Here it is: ", "```json\n"]))
def test_what_is_json_is_itself_wherever_it_stands(value: Json, before: str) -> None:
    text = before + json.dumps(value) + ("\n```" if before.startswith("`") else "")
    if value or not before.startswith("H"):
        assert find_json(text).value == value
    assert find_json(json.dumps(value)).is_repaired is False


@given(VALUES, st.data())
def test_a_cut_answer_is_read_or_refused_and_never_fails_otherwise(value: Json, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        made = find_json(cut).value
    except NoJson:
        return
    assert find_json(dumps_text(made)).value == made


@given(st.text(alphabet="{}[]\"',:/*#`~\n\\ a1-tn“”", max_size=60))
def test_whatever_a_model_writes_gives_json_or_a_refusal(text: str) -> None:
    try:
        made = find_json(text).value
    except NoJson:
        return
    assert json.loads(dumps_text(made)) == made


@pytest.mark.parametrize(
    "piece", ["{", "[", '"{', 'x" ', "a:b,", '["a, ', "\\", "/*", "`", "```\n", "{ /", "[}", '" ', "{'", "# ", "[[1,"]
)
def test_work_is_linear_in_the_text(piece: str) -> None:
    """Lines of Python, of two sizes; what is done in C goes once over the text for each place that is tried."""

    def lines(size: int) -> int:
        text = '{"a": "' + piece * (size // len(piece))

        def find() -> None:
            try:
                find_json(text)
            except NoJson:
                pass

        return lines_run(find)

    assert lines(8000) < 2.5 * lines(4000) + 200


async def parsed(text: str, **config: Json) -> Json:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    plan = compiled([{"id": "n1", "type": "Parse", "config": {"text": "{{ chat.last_user }}", **config}}])
    return (await execute(plan, make_incoming(body))).out["n1"]


async def test_a_node_gives_the_value_and_says_whether_it_was_mended() -> None:
    assert await parsed('{"age": 3,}', json_schema=SCHEMA, variable="X") == {
        "result": {"age": 3}, "text": '{"age":3}', "ok": True, "repaired": True, "error": None, "vars": {"X": {"age": 3}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong"), [("No.", "no JSON object"), ('{"age": "3"}', "/age: '3' is not of type 'integer'"), ("{}", "'age' is a")]
)
async def test_what_is_not_the_expected_json_fails_or_is_replaced(text: str, wrong: str) -> None:
    with pytest.raises(NodeFailed, match=wrong):
        await parsed(text, json_schema=SCHEMA)
    out = await parsed(text, json_schema=SCHEMA, on_failure="default", default='{"age": 0}')
    assert (out["result"], out["ok"], wrong in out["error"]) == ({"age": 0}, False, True)
    assert (await parsed(text, json_schema=SCHEMA, on_failure="default"))["result"] is None


@pytest.mark.parametrize("schema", ["[]", "{", '{"type": "none"}', '{"a": "' + "x" * 300_000 + '"}'])
def test_a_schema_that_is_none_is_told_when_the_pipeline_is_saved(schema: str) -> None:
    for kind in ("Parse", "Validate"):
        with pytest.raises(InvalidPipeline) as caught:
            compiled([{"id": "n1", "type": kind, "config": {"json_schema": schema}}])
        assert [problem.code for problem in caught.value.problems] == ["schema.invalid"]


async def test_a_schema_that_never_ends_ends_the_node() -> None:
    endless = '{"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}'
    with pytest.raises(NodeFailed, match="cannot be applied"):
        await parsed("{}", json_schema=endless)
