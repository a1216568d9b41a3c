"""Thinking: switched, told apart from the answer, and carried through a tool loop."""

import pytest

from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import UPSTREAMS, Ask, Heard, Result, Results, ToolDef, user
from tests.upstreams.server import Call, Step

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDef(schema=CITY)
ASKS = user("How is the weather?")
THOUGHT = "Let me think\nabout this carefully."
SIGNING = {"claude": "some-claude", "gemini": "gemini-3-pro", "openai_responses": "gpt-5", "openai": "gpt-5"}
"""Models whose upstreams check what comes back."""  # fmt: skip


@pairs()
async def test_thinking_on_arrives(pair: Pair):
    await pair.ask(Ask(think=True))
    assert pair.seen.thinks is True


@pairs()
async def test_thinking_off_arrives(pair: Pair):
    await pair.ask(Ask(think=False))
    assert pair.seen.thinks is not True


@pairs()
async def test_no_word_on_thinking_is_none(pair: Pair):
    await pair.ask()
    assert pair.seen.thinks is None


@pairs()
@streamed
async def test_thoughts_come_apart_from_the_text(pair: Pair, stream):
    answer = await pair.ask(Ask(think=True), Step(text="The answer.", thinking=THOUGHT), stream=stream)
    assert answer.text == "The answer."
    assert answer.thoughts == THOUGHT


@pairs()
@streamed
async def test_an_answer_with_thoughts_goes_back(pair: Pair, stream):
    first = await pair.ask(Ask(think=True), Step(text="The answer.", thinking=THOUGHT), stream=stream)
    second = await pair.ask(Ask(think=True, turns=(ASKS, Heard(first), user("Why?"))), Step(text="Because."), stream=stream)
    assert second.text == "Because."
    said = [("user", "How is the weather?"), ("assistant", "The answer."), ("user", "Why?")]
    assert pair.seen.conversation() == said


@pairs()
@streamed
@pytest.mark.parametrize("rounds", [1, 3])
async def test_a_tool_loop_goes_on_thinking(pair: Pair, stream, rounds):
    step = Step(text="", thinking="I need the tool.", calls=(Call("weather", '{"city": "Paris"}'),))
    turns = (ASKS,)
    model = SIGNING[pair.upstream]
    for number in range(rounds):
        answer = await pair.ask(Ask(model, turns=turns, tools=(WEATHER,), think=True), step, stream=stream)
        assert [call.name for call in answer.calls] == ["weather"]
        assert answer.thoughts == "I need the tool."
        turns = (*turns, Heard(answer), Results((Result(answer.calls[0], f"{number} degrees"),)))
    final = await pair.ask(Ask(model, turns=turns, tools=(WEATHER,), think=True), Step(text="Warm."), stream=stream)
    assert final.text == "Warm."
    assert len(pair.seen.parts("result")) == rounds
    if pair.upstream == "claude":
        assert len(pair.seen.parts("thought")) == rounds
        assert pair.seen.thinks is True
    if pair.upstream == "gemini":
        assert b"skip_thought_signature_validator" not in pair.mock.last.raw
        assert pair.mock.last.raw.count(b'"thoughtSignature"') >= rounds


@pairs()
@streamed
async def test_parallel_calls_in_thought_go_on(pair: Pair, stream):
    calls = (Call("weather", '{"city": "Paris"}'), Call("weather", '{"city": "Oslo"}'))
    step = Step(text="Looking twice.", thinking="I need it twice.", calls=calls)
    asked = Ask(SIGNING[pair.upstream], turns=(ASKS,), tools=(WEATHER,), think=True)
    answer = await pair.ask(asked, step, stream=stream)
    results = Results((Result(answer.calls[0], "21"), Result(answer.calls[1], "12")))
    again = Ask(SIGNING[pair.upstream], turns=(ASKS, Heard(answer), results), tools=(WEATHER,), think=True)
    assert (await pair.ask(again, Step(text="Done."), stream=stream)).text == "Done."
    assert [result[3] for result in pair.seen.parts("result")] == ["21", "12"]


@pairs(upstreams=("gemini",))
@streamed
async def test_gemini_3_signs_without_being_asked_to_think(pair: Pair, stream):
    asked = Ask("gemini-3-pro", turns=(ASKS,), tools=(WEATHER,))
    answer = await pair.ask(asked, Step(text="", calls=(Call("weather"),)), stream=stream)
    again = Ask("gemini-3-pro", turns=(ASKS, Heard(answer), Results((Result(answer.calls[0], "21"),))), tools=(WEATHER,))
    assert (await pair.ask(again, Step(text="Done."), stream=stream)).text == "Done."


@pairs(("openai", "openai_responses", "claude"), ("gemini",))
async def test_gemini_3_takes_a_history_that_was_made_elsewhere(pair: Pair):
    call = {"id": "call_elsewhere", "name": "weather", "arguments": {"city": "Paris"}}
    elsewhere = Pair(pair.caller_name, "openai", pair.mock, pair.callers, pair.origin)
    answer = await elsewhere.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), Step(text="", calls=(Call("weather", id=call["id"]),)))
    again = Ask("gemini-3-pro", turns=(ASKS, Heard(answer), Results((Result(answer.calls[0], "21"),))), tools=(WEATHER,))
    assert (await pair.ask(again, Step(text="Done."))).text == "Done."


@pairs(upstreams=("claude",))
@streamed
async def test_redacted_thoughts_go_back(pair: Pair, stream):
    step = Step(text="", thinking="Secret.", redacted=True, calls=(Call("weather", '{"city": "Paris"}'),))
    asked = Ask("some-claude", turns=(ASKS,), tools=(WEATHER,), think=True)
    answer = await pair.ask(asked, step, stream=stream)
    assert answer.thoughts == ""
    results = Results((Result(answer.calls[0], "21"),))
    again = Ask("some-claude", turns=(ASKS, Heard(answer), results), tools=(WEATHER,), think=True)
    assert (await pair.ask(again, Step(text="Done."), stream=stream)).text == "Done."
    assert len(pair.seen.parts("thought")) == 1


@pairs(("openai", "openai_responses", "claude"))
@pytest.mark.parametrize("later", UPSTREAMS)
async def test_a_signature_never_reaches_another_vendor(pair: Pair, later):
    step = Step(text="", thinking="I need the tool.", calls=(Call("weather", '{"city": "Paris"}'),))
    asked = Ask("thinking", turns=(ASKS,), tools=(WEATHER,), think=True)
    answer = await pair.ask(asked, step)
    other = Pair(pair.caller_name, later, pair.mock, pair.callers, pair.origin)
    results = Results((Result(answer.calls[0], "21"),))
    again = Ask("thinking", turns=(ASKS, Heard(answer), results), tools=(WEATHER,), think=True)
    assert (await other.ask(again, Step(text="Done."))).text == "Done."
