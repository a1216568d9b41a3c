"""Tools that run here: the upstream asks, they are called, the upstream answers, and the caller sees one answer."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agentui.jsonio import Json, dumps_text
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from tests.matrix.conftest import Pair, agentui, pairs, streamed
from tests.matrix.neutral import Ask, Heard, Result, Results, ToolDef, user
from tests.matrix.readers import read
from tests.upstreams.server import Call, Mock, Step
from tests.upstreams.step import Tokens

SIDES: dict[str, Json] = {
    "type": "object",
    "properties": {"sides": {"type": "integer", "minimum": 2}},
    "required": ["sides"],
    "additionalProperties": False,
}
WEATHER = ToolDef(schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


async def _roll(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
    return ToolAnswer(f"You rolled {arguments['sides']}.", {"total": arguments["sides"]})


ROLL = HostedTool("roll", "Rolls a die.", SIDES, _roll, "dice")
WIPE = HostedTool("wipe", "Deletes all.", {"type": "object"}, _roll, "danger", side_effect="irreversible")
SIX, TEN = Call("roll", '{"sides": 6}', "call_six"), Call("roll", '{"sides": 10}', "call_ten")
OWN = Call("weather", '{"city": "Oslo"}', "call_own")


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def tooled(shared_mock: Mock, no_outside_settings: None, tmp_path_factory: Any) -> AsyncIterator[str]:
    """A server whose nodes offer its tools."""
    folder: Path = tmp_path_factory.mktemp("tooled") / "server"
    async with agentui(folder, shared_mock, hosted=[ROLL, WIPE], tools=["group:dice", "wipe"]) as origin:
        yield origin


@pytest.fixture
def dice(pair: Pair, tooled: str) -> Pair:
    """The pair with tools between them."""
    pair.origin = tooled
    return pair


async def ask(dice: Pair, steps: list[Step], given: Ask | None = None, *, stream: bool = True) -> Any:
    """What the caller gets when the upstream says these steps, all of which it must be asked for."""
    dice.mock.script(steps)
    caller = dice.callers[dice.caller_name]
    answer = await caller.ask(f"{dice.origin}/p/{dice.upstream}", given or Ask(), stream=stream)
    assert len(dice.mock.requests) == len(steps)
    return answer


def said_and_kept(request: Any) -> list[tuple[str, str | None]]:
    """The results that a model reads, and by which tool the variable is called in which each is kept (None: kept in none)."""
    results = [
        re.fullmatch(r"(.*?)(?:\n\n\[Variable: (\w+)_[0-9a-f]{6}_result\])?", part[3]) for part in request.parts("result")
    ]
    return [(result[1], result[2]) for result in results if result is not None]


@pairs()
@streamed
async def test_calls_are_made_and_answered(dice: Pair, stream: bool) -> None:
    steps = [Step(text="Let me see. ", calls=(SIX, TEN)), Step(text="Six and ten.")]
    answer = await ask(dice, steps, stream=stream)
    assert answer.text == "Let me see. \n\nSix and ten." and answer.calls == []
    assert (
        answer.finish
        == {"openai": "stop", "openai_responses": "completed", "claude": "end_turn", "gemini": "STOP"}[dice.caller_name]
    )
    first, second = (read(request) for request in dice.mock.requests)
    for request in (first, second):
        assert [name for name, *_ in request.tools] == ["roll", "ReadVar", "ListVars"]
    assert [part[2:4] for part in second.parts("call")] == [("roll", {"sides": 6}), ("roll", {"sides": 10})]
    assert said_and_kept(second) == [("You rolled 6.", "roll"), ("You rolled 10.", "roll")]


@pairs()
async def test_tokens_of_all_steps_are_counted(dice: Pair) -> None:
    steps = [Step(text="", calls=(SIX,), tokens=Tokens(10, 4)), Step(tokens=Tokens(30, 5))]
    answer = await ask(dice, steps)
    assert (answer.usage.input, answer.usage.output) == (40, 9)


@pairs(upstreams=("claude", "gemini", "openai_responses"))
async def test_thoughts_go_back_with_their_signatures(dice: Pair) -> None:
    await ask(dice, [Step(text="", thinking="I need it.", calls=(SIX,)), Step(thinking="Now I know.")], Ask(think=True))
    token = {"claude": "signature", "gemini": "thoughtSignature", "openai_responses": "encrypted_content"}[dice.upstream]
    assert f'"{token}":"' in dumps_text(dice.mock.requests[1].body)


COMPATIBLE = ("deepseek-v4-pro", "google/gemini-3-pro", "magistral-medium", "router/claude")
"""Models whose calls the mock refuses without what it gave beside them."""


@pairs(upstreams=("openai", "claude"))
@streamed
async def test_thoughts_of_compatible_servers_go_back_as_they_had_them(dice: Pair, stream: bool) -> None:
    for model in COMPATIBLE if dice.upstream == "openai" else ("unsigned-claude",):
        dice.mock.requests.clear()
        thinks = [Step(text="", thinking=f"{call.name} {call.id}", calls=(call,)) for call in (SIX, TEN)]
        assert (await ask(dice, [*thinks, Step(text="Both.")], Ask(model), stream=stream)).text == "Both."
        said = [dumps_text(message) for message in dice.mock.last.body["messages"] if message["role"] == "assistant"]
        assert ["roll call_six" in said[0], "roll call_ten" in said[1]] == [True, True], model


@pairs()
async def test_the_callers_own_calls_reach_it_and_what_was_called_here_is_not_lost(dice: Pair) -> None:
    given = Ask(tools=(WEATHER,), turns=(user("How is the weather?"),))
    answer = await ask(dice, [Step(text="", calls=(SIX,)), Step(text="Let me look. ", calls=(TEN, OWN))], given)
    (call,) = answer.calls
    assert (call.name, call.arguments, answer.text) == ("weather", {"city": "Oslo"}, "Let me look. ")
    if call.id is None:
        return  # a dialect without ids has nothing to find the answer by
    dice.mock.requests.clear()
    back = replace(given, turns=(*given.turns, Heard(answer), Results((Result(call, "Rain."),))))
    assert (await ask(dice, [Step(text="Wet.")], back)).text == "Wet."
    seen = read(dice.mock.requests[0])
    assert [part[2] for part in seen.parts("call")] == ["roll", "roll", "weather"]
    assert said_and_kept(seen) == [("You rolled 6.", "roll"), ("You rolled 10.", "roll"), ("Rain.", None)]


@pairs()
async def test_a_model_that_only_calls_must_answer_in_the_end(dice: Pair) -> None:
    await ask(dice, [*[Step(text="", calls=(SIX,))] * 8, Step(text="Enough.")])
    assert [read(request).choice for request in dice.mock.requests[-2:]][1] == "none"


@pairs(("openai",), ("openai",))
async def test_what_a_tool_says_gives_no_model_a_tool_that_is_not_allowed(dice: Pair) -> None:
    steps = [Step(text="", calls=(SIX,)), Step(text="", calls=(Call("wipe", "{}", "call_w"), Call("gone", "{}", "g"))), Step()]
    await ask(dice, steps)
    third = read(dice.mock.requests[2])
    told = [part[3] for part in third.parts("result")]
    assert "cannot be undone" in told[1] and "no tool named 'gone'" in told[2]


@pairs(("openai", "claude"), ("openai", "claude"))
async def test_a_callers_tool_is_not_shadowed(dice: Pair) -> None:
    caller = dice.callers[dice.caller_name]
    with pytest.raises(caller.error(409)) as caught:
        await caller.ask(f"{dice.origin}/p/{dice.upstream}", Ask(tools=(ToolDef("roll", "Mine."),)))
    assert "'roll'" in caller.message(caught.value) and dice.mock.requests == []
