"""The node Validate: which way a pipeline goes on, by a value."""

import pytest

from agentui.errors import InvalidPipeline
from agentui.jsonio import Json
from agentui.pipeline.plans.compile import compile_plan
from tests.unit.pipeline.parts import catalog_of, compiled, document, execute, heard

SCHEMA = '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age", "name"]}'


async def validated(value: str, **config: Json) -> tuple[Json, str]:
    """The node's OUT, and which of the nodes behind it ran."""
    nodes = [
        {"id": "n1", "type": "Validate", "config": {"value": value, **config}},
        {"id": "good", "type": "Text", "config": {"text": "good"}},
        {"id": "bad", "type": "Text", "config": {"text": "{{ OUT.n1.complaint }}"}},
    ]
    whole = document(nodes)
    whole["edges"] = [{"from": "n1", "to": to, "from_port": port} for to, port in (("good", "valid"), ("bad", "invalid"))]
    run = await execute(compile_plan("test", whole, catalog_of()))
    [ran] = [node for kind, node in heard(run) if kind == "node.finished" and node != "n1"]
    assert ran is not None
    return run.out["n1"], ran


async def test_a_value_that_follows_goes_on_by_valid() -> None:
    out, ran = await validated(
        '{"age": 3, "name": "x"}', json_schema=SCHEMA, condition="value.age < 4 and model contains 'gpt'"
    )
    assert (ran, out["valid"], out["errors"], out["complaint"]) == ("good", True, [], "")
    assert out["value"] == {"age": 3, "name": "x"}


async def test_one_that_does_not_goes_on_by_invalid_with_every_complaint() -> None:
    out, ran = await validated('{"age": "3"}', json_schema=SCHEMA, condition="value.age < 4")
    assert (ran, out["valid"]) == ("bad", False)
    assert {error["path"] for error in out["errors"]} == {"", "/age"}
    assert "/age: '3' is not of type 'integer'" in out["complaint"]


@pytest.mark.parametrize(
    ("message", "told"), [("Not {{ model }}.", "Not gpt-4o-mini."), ("", "This does not hold: value.a > 1")]
)
async def test_a_condition_that_does_not_hold_is_told(message: str, told: str) -> None:
    out, ran = await validated('{"a": 1}', condition="value.a > 1", message=message)
    assert (ran, out["errors"]) == ("bad", [{"path": "", "message": told}])


async def test_a_value_without_rules_is_valid() -> None:
    assert (await validated(""))[0]["valid"]


def test_a_condition_that_is_none_is_told_when_the_pipeline_is_saved() -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "Validate", "config": {"condition": "value >"}}])
    assert {problem.field for problem in caught.value.problems} == {"condition"}


def test_the_value_of_a_condition_is_no_variable_of_the_memory() -> None:
    assert not compiled([{"id": "n1", "type": "Validate", "config": {"condition": "value.a > 1"}}]).uses_memory
