"""A model that no table knows refuses something by name: it is asked again without it, and the caller reads what was lost."""

from itertools import count

import pytest

from tests.matrix.conftest import Pair, foreign_pairs, pairs, streamed
from tests.matrix.neutral import Ask, Heard, Result, Results, ToolDef, user
from tests.upstreams.server import API_KEY, Call, Step

_NUMBERS = count()
WEATHER = ToolDef(schema={"type": "object", "properties": {"city": {"type": "string"}}})
REFUSES_TEMPERATURE = {
    "openai": "Unsupported parameter: 'temperature' is not supported with this model.",
    "openai_responses": "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default is supported.",
    "claude": "`temperature` is deprecated for this model.",
    "gemini": "Invalid JSON payload received. Unknown name \"temperature\" at 'generation_config': Cannot find field.",
}


def new_model() -> str:
    """A model of which nothing is known, nor remembered."""
    return f"new-model-{next(_NUMBERS)}"


async def refused_once(pair: Pair, ask: Ask, *messages: str, stream: bool = False):
    """The answer when the upstream refuses with these words first, one each."""
    before = len(pair.mock.requests)
    pair.mock.script([*(Step(status=400, message=message) for message in messages), Step(text="Well.")])
    answer = await pair.ask(ask, stream=stream)
    assert answer.text == "Well."
    assert len(pair.mock.requests) - before == len(messages) + 1
    return answer


@foreign_pairs()
@streamed
async def test_a_parameter_that_the_model_refuses_is_left_out(pair: Pair, stream):
    answer = await refused_once(pair, Ask(new_model(), temperature=0.5), REFUSES_TEMPERATURE[pair.upstream], stream=stream)
    assert pair.seen.temperature is None
    assert "temperature" in " ".join(answer.dropped)


async def test_headers_are_those_of_the_answer_that_counts(session, mock, origin):
    mock.script([Step(status=400, message=REFUSES_TEMPERATURE["openai"], retry_after=9), Step(text="Well.")])
    body = {"model": new_model(), "max_tokens": 9, "temperature": 0.5, "messages": [{"role": "user", "content": "Hi"}]}
    async with session.post(f"{origin}/p/openai/v1/messages", json=body, headers={"x-api-key": API_KEY}) as reply:
        assert reply.status == 200, await reply.text()
        assert "temperature" in reply.headers["x-agentui-dropped"]
        assert "retry-after" not in reply.headers


@foreign_pairs(("openai", "gemini"), ("claude",))
async def test_several_refusals_are_heard_one_after_the_other(pair: Pair):
    words = ('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
             "max_tokens: 9000 > 8000, which is the maximum allowed number of output tokens for new-claude")  # fmt: skip
    await refused_once(pair, Ask(new_model(), think=True, max_tokens=9000), *words)
    assert pair.mock.last.body["thinking"] == {"type": "adaptive"}
    assert pair.mock.last.body["max_tokens"] == 8000


@foreign_pairs(("claude", "gemini"), ("openai",))
async def test_the_limit_has_the_name_that_the_model_knows(pair: Pair):
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    await refused_once(pair, Ask(new_model(), max_tokens=900), words)
    assert pair.mock.last.body["max_completion_tokens"] == 900
    assert "max_tokens" not in pair.mock.last.body


@foreign_pairs(("claude", "gemini"), ("openai",))
async def test_tools_go_without_the_effort_that_is_refused_beside_them(pair: Pair):
    words = "Function tools with reasoning_effort are not supported for new-model in /v1/chat/completions. Use /v1/responses."
    await refused_once(pair, Ask(new_model(), tools=(WEATHER,), think=True), words)
    assert "reasoning_effort" not in pair.mock.last.body


@pairs(upstreams=("openai",))
async def test_a_server_that_wants_thoughts_gets_them_also_of_its_own_dialects_clients(pair: Pair):
    asks = user("How is the weather for those who forget?")
    answer = await pair.ask(Ask("gpt-4o", turns=(asks,), tools=(WEATHER,)), Step(text="", calls=(Call("weather"),)))
    turns = (asks, Heard(answer), Results((Result(answer.calls[0], "21"),)))
    words = "The `reasoning_content` in the thinking mode must be passed back to the API."
    await refused_once(pair, Ask(new_model(), turns=turns, tools=(WEATHER,)), words)
    said = [message for message in pair.mock.last.body["messages"] if message["role"] == "assistant"]
    assert [message["reasoning_content"] for message in said] == [" "]


@pairs(("openai",), ("openai",))
async def test_a_caller_of_the_same_dialect_hears_the_refusal_itself(pair: Pair):
    pair.mock.script([Step(status=400, message=REFUSES_TEMPERATURE["openai"])])
    with pytest.raises(pair.callers["openai"].error(400)):
        await pair.ask(Ask(new_model(), temperature=0.5))


@foreign_pairs(("openai",), ("claude", "gemini"))
async def test_a_refusal_of_what_was_asked_is_told(pair: Pair):
    pair.mock.script([Step(status=400, message="messages: text content blocks must be non-empty")])
    with pytest.raises(pair.callers["openai"].error(400)):
        await pair.ask(Ask(new_model(), temperature=0.5))


@foreign_pairs()
@streamed
async def test_the_next_request_does_not_pay_for_the_refusal_again(pair: Pair, stream):
    model = new_model()
    await refused_once(pair, Ask(model, temperature=0.5), REFUSES_TEMPERATURE[pair.upstream], stream=stream)
    before = len(pair.mock.requests)
    answer = await pair.ask(Ask(model, temperature=0.7, max_tokens=50), Step(text="Again."), stream=stream)
    assert answer.text == "Again." and len(pair.mock.requests) - before == 1
    assert pair.seen.temperature is None and pair.seen.max_tokens == 50
    assert "temperature" in " ".join(answer.dropped)
    await pair.ask(Ask(new_model(), temperature=0.7), stream=stream)
    assert pair.seen.temperature == 0.7


OUT_OF_BOUNDS = {
    "claude": "`top_p`: range: 0.6..1",
    "openai": "Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
}


@foreign_pairs(("openai", "gemini"), ("claude", "openai"))
async def test_a_value_that_is_out_of_bounds_is_the_callers_to_hear(pair: Pair):
    model = new_model()
    pair.mock.script([Step(status=400, message=OUT_OF_BOUNDS[pair.upstream])] * 2)
    with pytest.raises(pair.callers[pair.caller_name].error(400)):
        await pair.ask(Ask(model, top_p=0.5))
    assert pair.seen.top_p == 0.5
    pair.mock.forget_steps()
    await pair.ask(Ask(model, top_p=0.7))
    assert pair.seen.top_p == 0.7
