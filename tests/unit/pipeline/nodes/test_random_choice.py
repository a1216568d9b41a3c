"""The node RandomChoice: one of several values, by chance."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.plans.compile import compile_plan
from tests.unit.pipeline.parts import catalog_of, compiled, document, execute

BEFORE = {"id": "n0", "type": "SetVars", "config": {"variables": [{"name": "L", "mode": "expr", "value": "[1, {}, null]"}]}}


async def chosen(**config: Json) -> Json:
    """The node's OUT."""
    run = await execute(compiled([BEFORE, {"id": "n1", "type": "RandomChoice", "config": config}], [("n0", "n1")]))
    return run.out["n1"]


async def test_an_item_is_chosen_and_named() -> None:
    items = [{"value": "never", "weight": 0}, {"value": "{{ model }}"}]
    assert await chosen(items=items, variable="X") == {
        "value": "gpt-4o-mini", "index": 1, "text": "gpt-4o-mini", "vars": {"X": "gpt-4o-mini"},
    }  # fmt: skip


async def test_values_of_a_list_keep_their_kinds() -> None:
    seen = [await chosen(values="{{ L }}") for _ in range(60)]
    assert {str(out["value"]) for out in seen} == {"1", "{}", "None"}
    assert all(out["value"] == [1, {}, None][out["index"]] for out in seen)


@settings(max_examples=20)
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=5), st.text(min_size=1, max_size=10))
async def test_a_seed_chooses_the_same_each_time(weights: list[float], seed: str) -> None:
    items = [{"value": str(number), "weight": weight} for number, weight in enumerate(weights)]
    seed = seed.replace("{", "(").replace("[", "(").encode("utf-8", "replace").decode()
    assert (await chosen(items=items, seed=seed))["index"] == (await chosen(items=items, seed=seed))["index"]


async def test_a_value_may_decide_the_way_on() -> None:
    items = [{"value": "a", "port": "left", "weight": 0}, {"value": "b", "port": "right"}]
    whole = document(
        [{"id": "n1", "type": "RandomChoice", "config": {"items": items}}]
        + [{"id": id, "type": "Text", "config": {"text": id}} for id in ("l", "r")]
    )
    whole["edges"] = [{"from": "n1", "to": id, "from_port": port} for id, port in (("l", "left"), ("r", "right"))]
    plan = compile_plan("test", whole, catalog_of())
    assert plan.nodes[0].node.ports == ("left", "right", "done")
    assert set((await execute(plan)).out) == {"n1", "r"}


async def test_weights_count() -> None:
    items = [{"value": "often", "weight": 9}, {"value": "seldom", "weight": 1}]
    seen = [(await chosen(items=items, seed=f"{number}"))["value"] for number in range(100)]
    assert 75 <= seen.count("often") < 100


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "random.nothing"),
        ({"items": [{"value": "a"}], "values": "[1]"}, "random.nothing"),
        ({"items": [{"value": "a", "weight": 0}]}, "random.nothing"),
        ({"items": [{"value": "a", "port": "error"}]}, "switch.name"),
        ({"items": [{"value": "a"}], "variable": "1x"}, "setvars.name"),
        ({"items": [{"value": "a"}], "variable": "OUT"}, "setvars.reserved"),
    ],
)
def test_what_cannot_be_chosen_from_is_told_when_the_pipeline_is_saved(config: Json, code: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "RandomChoice", "config": config}])
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize("values", ["[]", '"text"', "{{ missing|default({}) }}"])
async def test_a_list_that_is_none_fails_the_node(values: str) -> None:
    with pytest.raises(NodeFailed, match="JSON list"):
        await chosen(values=values)
