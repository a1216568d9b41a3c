"""Tools: declared, chosen, called, answered."""

import pytest

from tests.matrix.conftest import Pair, foreign_pairs, pairs, streamed
from tests.matrix.neutral import Ask, Heard, Result, Results, ToolDef, user
from tests.upstreams.server import Call, Step

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NESTED = {
    "type": "object",
    "description": "Where to go",
    "properties": {
        "stops": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "place": {"$ref": "#/$defs/place"},
                    "nights": {"type": ["integer", "null"], "minimum": 0},
                    "kind": {"anyOf": [{"type": "string", "enum": ["by car", "by train"]}, {"const": 7}]},
                },
                "required": ["place"],
                "additionalProperties": False,
            },
        },
        "$odd name": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "required": ["stops"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}}}},
}
WEATHER = ToolDef(schema=CITY)
CLOCK = ToolDef("clock", "Tells the time.", CITY)
NOTHING = ToolDef("now", "Takes nothing.")
ASKS = user("How is the weather?")
ONE = Step(text="", calls=(Call("weather", '{"city": "Paris"}'),))
TWO = Step(
    text="", calls=(Call("weather", '{"city": "Paris"}'), Call("clock", '{"city": "Oslo", "note": "naïve ☃ 😀 \\u2028"}'))
)
TURNS_TO = {"openai": "tool_calls", "openai_responses": "completed", "claude": "tool_use", "gemini": "STOP"}


@pairs()
@streamed
async def test_a_call_comes(pair: Pair, stream):
    answer = await pair.ask(Ask(tools=(WEATHER,)), ONE, stream=stream)
    (call,) = answer.calls
    assert (call.name, call.arguments) == ("weather", {"city": "Paris"})
    assert answer.finish == TURNS_TO[pair.caller_name]
    assert answer.text == ""


@pairs()
@streamed
async def test_words_and_a_call_come(pair: Pair, stream):
    step = Step(text="Let me look. ", calls=ONE.calls)
    answer = await pair.ask(Ask(tools=(WEATHER,)), step, stream=stream)
    assert answer.text == "Let me look. "
    assert [call.name for call in answer.calls] == ["weather"]
    assert answer.finish == TURNS_TO[pair.caller_name]


@pairs()
@streamed
async def test_parallel_calls_come_in_order(pair: Pair, stream):
    answer = await pair.ask(Ask(tools=(WEATHER, CLOCK)), TWO, stream=stream)
    assert [(call.name, call.arguments["city"]) for call in answer.calls] == [("weather", "Paris"), ("clock", "Oslo")]
    assert answer.calls[1].arguments["note"] == "naïve ☃ 😀 \u2028"
    assert len({call.id for call in answer.calls}) == 2 or pair.caller_name == pair.upstream == "gemini"


@pairs(upstreams=("openai",))
async def test_interleaved_calls_are_told_apart(pair: Pair):
    step = Step(text="", calls=TWO.calls, interleave=True)
    answer = await pair.ask(Ask(tools=(WEATHER, CLOCK)), step, stream=True)
    assert [(call.name, call.arguments["city"]) for call in answer.calls] == [("weather", "Paris"), ("clock", "Oslo")]


@pairs(("openai", "openai_responses", "claude"), ("openai", "openai_responses", "claude"))
async def test_arguments_stream_in_pieces(pair: Pair):
    long = '{"city": "' + "Llanfairpwllgwyngyll" * 3 + '"}'
    answer = await pair.ask(Ask(tools=(WEATHER,)), Step(text="", calls=(Call("weather", long),)), stream=True)
    assert answer.calls[0].arguments == {"city": "Llanfairpwllgwyngyll" * 3}
    assert answer.pieces >= 3


@pairs()
@streamed
@pytest.mark.parametrize("arguments", ["", "{}"], ids=["none", "empty"])
async def test_a_call_without_arguments_comes(pair: Pair, stream, arguments):
    answer = await pair.ask(Ask(tools=(NOTHING,)), Step(text="", calls=(Call("now", arguments),)), stream=stream)
    assert [(call.name, call.arguments) for call in answer.calls] == [("now", {})]
    results = Results((Result(answer.calls[0], "noon"),))
    final = await pair.ask(Ask(turns=(ASKS, Heard(answer), results), tools=(NOTHING,)), Step(text="Noon."), stream=stream)
    assert final.text == "Noon."
    assert [part[2:] for part in pair.seen.parts("call")] == [("now", {})]


@pairs()
@streamed
async def test_a_result_goes_back(pair: Pair, stream):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), ONE, stream=stream)
    turns = (ASKS, Heard(first), Results((Result(first.calls[0], "21 degrees"),)))
    second = await pair.ask(Ask(turns=turns, tools=(WEATHER,)), Step(text="It is warm."), stream=stream)
    assert second.text == "It is warm."
    (call,), (result,) = pair.seen.parts("call"), pair.seen.parts("result")
    assert call[2:] == ("weather", {"city": "Paris"})
    assert result[1] == call[1]
    assert result[3:] == ("21 degrees", False)
    assert result[2] in (None, "weather")


@pairs()
@streamed
async def test_parallel_results_go_back_in_one_turn(pair: Pair, stream):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER, CLOCK)), TWO, stream=stream)
    results = Results((Result(first.calls[0], "21 degrees"), Result(first.calls[1], "noon")))
    await pair.ask(Ask(turns=(ASKS, Heard(first), results), tools=(WEATHER, CLOCK)), Step(), stream=stream)
    calls, answers = pair.seen.parts("call"), pair.seen.parts("result")
    assert [call[2] for call in calls] == ["weather", "clock"]
    assert [answer[3] for answer in answers] == ["21 degrees", "noon"]
    assert [answer[1] for answer in answers] == [call[1] for call in calls]


@pairs(("openai", "openai_responses", "claude"))
async def test_results_are_told_apart_by_their_ids(pair: Pair):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER, CLOCK)), TWO)
    results = Results((Result(first.calls[1], "noon"), Result(first.calls[0], "21 degrees")))
    await pair.ask(Ask(turns=(ASKS, Heard(first), results), tools=(WEATHER, CLOCK)))
    names = {call[1]: call[2] for call in pair.seen.parts("call")}
    given = {names[result[1]]: result[3] for result in pair.seen.parts("result")}
    assert given == {"weather": "21 degrees", "clock": "noon"}


@pairs()
async def test_two_rounds_of_tools_go_back(pair: Pair):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), ONE)
    turns = (ASKS, Heard(first), Results((Result(first.calls[0], "21 degrees"),)))
    second = await pair.ask(Ask(turns=turns, tools=(WEATHER,)), ONE)
    turns = (*turns, Heard(second), Results((Result(second.calls[0], "22 degrees"),)), user("And now?"))
    await pair.ask(Ask(turns=turns, tools=(WEATHER,)))
    assert [result[3] for result in pair.seen.parts("result")] == ["21 degrees", "22 degrees"]
    assert pair.seen.conversation()[-1] == ("user", "And now?")


@pairs(("claude", "gemini"))
async def test_a_failed_result_goes_back(pair: Pair):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), ONE)
    turns = (ASKS, Heard(first), Results((Result(first.calls[0], "no such city", is_error=True),)))
    second = await pair.ask(Ask(turns=turns, tools=(WEATHER,)))
    (result,) = pair.seen.parts("result")
    assert "no such city" in result[3]
    if pair.upstream in ("claude", "gemini"):
        assert result[4]
    elif pair.caller_name == "claude":
        assert "is_error" in second.dropped


@pairs()
@streamed
async def test_a_result_may_be_empty(pair: Pair, stream):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), ONE, stream=stream)
    turns = (ASKS, Heard(first), Results((Result(first.calls[0], ""),)))
    await pair.ask(Ask(turns=turns, tools=(WEATHER,)), stream=stream)
    assert [result[3] for result in pair.seen.parts("result")] == [""]


@pairs(("openai", "openai_responses", "gemini"))
async def test_the_history_of_a_tool_may_outlive_its_declaration(pair: Pair):
    first = await pair.ask(Ask(turns=(ASKS,), tools=(WEATHER,)), ONE)
    turns = (ASKS, Heard(first), Results((Result(first.calls[0], "21 degrees"),)))
    await pair.ask(Ask(turns=turns))
    assert [result[3] for result in pair.seen.parts("result")] == ["21 degrees"]


@pairs()
@pytest.mark.parametrize("choice", ["none", "required", "clock"])
async def test_a_choice_arrives(pair: Pair, choice):
    await pair.ask(Ask(tools=(WEATHER, CLOCK), choice=choice))
    assert pair.seen.choice == choice
    assert [tool[0] for tool in pair.seen.tools] == ["weather", "clock"]


@pairs()
async def test_no_choice_is_no_wish(pair: Pair):
    await pair.ask(Ask(tools=(WEATHER, CLOCK)))
    assert pair.seen.choice in (None, "auto")


@pairs(("openai", "openai_responses", "claude"))
async def test_one_call_at_a_time_arrives_or_is_named(pair: Pair):
    answer = await pair.ask(Ask(tools=(WEATHER,), parallel=False))
    if pair.upstream == "gemini":
        assert "parallel_tool_calls" in answer.dropped
    else:
        assert pair.seen.parallel is False


@pairs()
@streamed
async def test_a_nested_schema_arrives_whole(pair: Pair, stream):
    await pair.ask(Ask(tools=(ToolDef("travel", "Plans a journey.", NESTED),)), stream=stream)
    assert pair.seen.tools == [("travel", "Plans a journey.", NESTED)]


@pairs()
async def test_a_tool_that_takes_nothing_is_declared(pair: Pair):
    await pair.ask(Ask(tools=(NOTHING,)))
    ((name, description, schema),) = pair.seen.tools
    assert (name, description) == ("now", "Takes nothing.")
    assert schema is None or (schema["type"] == "object" and not schema.get("properties"))


@foreign_pairs()
@streamed
async def test_null_arguments_are_none(pair: Pair, stream):
    answer = await pair.ask(Ask(tools=(NOTHING,)), Step(text="", calls=(Call("now", "null"),)), stream=stream)
    (call,) = answer.calls
    assert (call.name, call.arguments) == ("now", {})
