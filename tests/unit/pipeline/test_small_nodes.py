"""Wait, Log and CountTokens."""

import asyncio
import time

import pytest

from agentui.chat.estimates import text_tokens
from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.preview import preview_node
from agentui.pipeline.tokens import estimate_tokens
from tests.unit.pipeline.parts import Ear, compiled, execute, heard, make_incoming, make_run

ANSWER: Json = {"id": "say", "type": "SetVars", "config": {"variables": [{"name": "SAY", "value": "[[OUT:n1]]"}]}}


class _Begun(Ear):
    """Says that its run has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "run":
            self.began.set()


def asked(milliseconds: Json) -> Incoming:
    """A request that says how long to wait."""
    return make_incoming({"model": "m", "messages": [], "n": milliseconds})


def single(kind: str, **config: Json) -> list[Json]:
    return [{"id": "n1", "type": kind, "config": config}]


async def test_a_wait_lasts_as_long_as_it_says() -> None:
    before = time.monotonic()
    run = await execute(compiled(single("Wait", milliseconds="{{ incoming.json.n }}")), asked(30))
    assert time.monotonic() - before >= 0.03
    assert run.out["n1"] == {"waited_ms": 30.0}


async def test_a_wait_that_outlasts_its_run_fails_at_once() -> None:
    with pytest.raises(NodeFailed, match="must be over"):
        await execute(compiled(single("Wait", milliseconds="3600000")), seconds=5)


async def test_a_wait_ends_with_its_run() -> None:
    ear = _Begun()
    began = asyncio.create_task(execute(compiled(single("Wait", milliseconds="3600000")), ear=ear, seconds=7200))
    await asyncio.wait_for(ear.began.wait(), 30)
    began.cancel()
    with pytest.raises(asyncio.CancelledError):
        await began
    assert ear.run.state == "cancelled"


@pytest.mark.parametrize("text", ["", "soon", "-1", "3600001", "nan", "inf", "1s"])
async def test_what_is_no_time_is_refused_when_saved_and_when_rendered(text: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled(single("Wait", milliseconds=text))
    assert [(problem.code, problem.field) for problem in caught.value.problems] == [("wait.milliseconds", "milliseconds")]
    with pytest.raises(NodeFailed, match="is no wait"):
        await execute(
            compiled(single("Wait", milliseconds="{{ incoming.json.n }}")),
            asked(text),
        )


async def test_a_preview_neither_waits_nor_writes_into_the_run() -> None:
    nodes = [*single("Wait", milliseconds="3600000"), {"id": "n2", "type": "Log", "config": {"message": "Hi"}}, ANSWER]
    run = make_run(compiled(nodes, [("n1", "n2"), ("n2", "say")]), seconds=5)
    shown = await preview_node(run, "say", {})
    assert shown["preview"] == {"vars": {"SAY": '{"waited_ms":3600000.0}'}}
    assert heard(run) == []


async def test_a_message_is_in_the_runs_events() -> None:
    run = await execute(compiled(single("Log", message="{{ model }} asked", level="warning")))
    assert run.out["n1"] == {"message": "gpt-4o-mini asked", "level": "warning"}
    assert [event.data for event in run.events.items if event.type == "node.log"] == [run.out["n1"]]


async def test_a_message_never_shows_a_key_not_even_the_half_that_is_left_of_one() -> None:
    key = "sk-" + "k" * 60
    request = make_incoming(headers={"authorization": f"Bearer {key}"})
    filler = "x" * (2000 - 30)
    run = await execute(compiled(single("Log", message=filler + "{{ incoming.headers.authorization }}")), request)
    assert "kkkk" not in run.out["n1"]["message"][:-10]
    assert len(run.out["n1"]["message"]) <= 2000


def test_no_secret_stands_in_a_message() -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled(single("Log", message="[[SECRET:openai]]"))
    assert [problem.code for problem in caught.value.problems] == ["template.secret_not_allowed"]


async def test_tokens_are_those_of_the_estimate() -> None:
    long = "слово " * 30_000
    request = make_incoming({"model": "m", "messages": [{"role": "user", "content": long}]})
    run = await execute(compiled(single("CountTokens")), request)
    assert run.out["n1"]["tokens"] == estimate_tokens(request.chat) > 10_000
    run = await execute(compiled(single("CountTokens", content="{{ chat.last_user }}")), request)
    assert run.out["n1"] == {"tokens": text_tokens(long), "text": str(text_tokens(long))}


async def test_a_count_may_be_the_answer() -> None:
    ear = Ear()
    await execute(compiled(single("CountTokens", content="four")), ear=ear)
    assert ear.texts == ["1"]
