"""Pipelines that call others: what these get and give, who speaks, and circles."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock

import pytest

from agentui.cli import main
from agentui.errors import InvalidPipeline, NodeFailed, NotFound
from agentui.jsonio import Json, dumps
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run
from tests.unit.pipeline.parts import Ear, catalog_of, document, execute, make_services


def calling(id: str, pipeline: str, **config: Json) -> Json:
    return {"id": id, "type": "SubPipeline", "config": {"pipeline": pipeline, **config}}


def text(id: str, words: str, **more: Json) -> Json:
    return {"id": id, "type": "Text", "config": {"text": words}, **more}


def planned(id: str, *nodes: Json, edges: tuple[tuple[str, str], ...] = ()) -> Plan:
    return compile_plan(id, document(nodes, edges), catalog_of())


async def run(plan: Plan, others: Mapping[str, Plan], ear: Ear | None = None, **more: Json) -> Run:
    def plan_of(id: str) -> Plan:
        if id not in others:
            raise NotFound(f"There is no pipeline {id!r}.")
        return others[id]

    return await execute(plan, ear=ear, services=replace(make_services(), plans=plan_of), **more)


CHILD = planned(
    "child",
    {"id": "set", "type": "SetVars", "config": {"variables": [{"name": "mood", "value": "calm"}]}},
    text("say", "{{ name }}: {{ chat.last_user }}{{ hidden }}"),
    edges=(("set", "say"),),
)


async def test_a_called_pipeline_gets_inputs_and_gives_its_answer() -> None:
    before = text("before", "not seen")
    nodes = (
        before,
        calling("sub", "child", inputs={"name": "<{{ OUT.before.text }}>"}),
        text("after", "{{ OUT.sub.outputs.mood }}"),
    )
    made = await run(planned("top", *nodes, edges=(("before", "sub"), ("sub", "after"))), {"child": CHILD})
    out = made.out["sub"]
    assert out["response_text"] == "<not seen>: Hi"
    assert out["outputs"] == {"mood": "calm"}
    assert out["nodes"]["set"] == {"vars": {"mood": "calm"}}
    assert made.out["after"]["text"] == "calm"
    assert ("node.finished", "sub/say") in [(event.type, event.node) for event in made.events.items]


async def test_a_called_pipeline_speaks_where_the_call_answers_and_hears_a_message() -> None:
    ear = Ear()
    made = await run(planned("top", calling("sub", "child", message="Say {{ model }}")), {"child": CHILD}, ear)
    assert ear.texts == [": Say gpt-4o-mini"]
    assert made.answered_by == "sub"
    assert made.frame.run_vars == {}


async def test_calls_stand_in_loops_and_loops_in_calls() -> None:
    each = {"id": "each", "type": "Loop", "config": {"items": "[1, 2]", "join": "+"}}
    inner = planned("inner", each, text("t", "{{ name }}{{ loop.item }}{{ chat.last_user }}", parent="each"))
    call = calling("sub", "inner", inputs={"name": "{{ loop.item }}"}, message="!")
    made = await run(planned("top", each, {**call, "parent": "each"}), {"inner": inner})
    assert made.out["each"]["text"] == "11!+12!+21!+22!"
    assert "each#2/sub/each#1/t" in {event.node for event in made.events.items}


async def test_a_failure_inside_is_the_calls_own() -> None:
    with pytest.raises(NotFound, match="no pipeline 'gone'"):
        await run(planned("top", calling("sub", "gone")), {})
    itself = planned("itself", calling("sub", "itself"))
    with pytest.raises(NodeFailed, match="more than 8 deep"):
        await run(itself, {"itself": itself})


def test_what_is_wrong_with_a_call_is_told_when_it_is_saved() -> None:
    with pytest.raises(InvalidPipeline) as caught:
        planned("top", calling("sub", "", inputs={"a b": "x"}))
    assert [problem.code for problem in caught.value.problems] == ["pipeline.none", "pipeline.input"]


def test_a_circle_is_refused_with_its_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = PipelineLibrary(tmp_path / "pipelines", tmp_path / "data", catalog_of(), lock=RLock())
    library.save("c", document([text("t", "x")]), if_none_match="*")
    library.save("b", document([calling("sub", "c")]), if_none_match="*")
    library.save("a", document([calling("sub", "b")]), if_none_match="*")
    entry = library.save("c", document([calling("sub", "a")]), if_match=library.entry("c").etag)
    assert [(problem.code, "c -> a -> b -> c" in problem.message) for problem in entry.problems] == [("pipeline.cycle", True)]
    assert library.plan("c").calls == frozenset()
    files = [tmp_path / f"{name}.json" for name in "xy"]
    for file, other in zip(files, "yx", strict=True):
        file.write_bytes(dumps(document([calling("sub", other)])))
    assert main(["check", *map(str, files)]) == 1
    assert "x -> y -> x. [pipeline.cycle]" in capsys.readouterr().out
