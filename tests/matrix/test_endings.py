"""Why an answer ends, in each caller's own words."""

from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask
from tests.upstreams.server import Step

LENGTH = {"openai": "length", "openai_responses": "max_output_tokens", "claude": "max_tokens", "gemini": "MAX_TOKENS"}
STOPPED = {"openai": "stop", "openai_responses": "completed", "claude": "end_turn", "gemini": "STOP"}
FILTERED = {"openai": "content_filter", "openai_responses": "content_filter", "claude": "refusal", "gemini": "SAFETY"}


@pairs()
@streamed
async def test_a_limit_is_told(pair: Pair, stream):
    answer = await pair.ask(Ask(max_tokens=100), Step(text="This goes on and", finish="length"), stream=stream)
    assert answer.text == "This goes on and"
    assert answer.finish == LENGTH[pair.caller_name]


@pairs(("openai", "claude", "gemini"))
@streamed
async def test_a_stop_string_is_told(pair: Pair, stream):
    answer = await pair.ask(Ask(stop=("END",)), Step(text="Up to here", finish="stop_sequence"), stream=stream)
    assert answer.text == "Up to here"
    told = pair.caller_name == pair.upstream == "claude"
    assert answer.finish == ("stop_sequence" if told else STOPPED[pair.caller_name])


@pairs()
@streamed
async def test_the_vendors_filter_is_told(pair: Pair, stream):
    answer = await pair.ask(step=Step(text="I was about to", finish="content_filter"), stream=stream)
    assert answer.text == "I was about to"
    assert answer.finish == FILTERED[pair.caller_name]


@pairs(upstreams=("openai", "openai_responses", "claude"))
@streamed
async def test_the_models_own_no_is_heard(pair: Pair, stream):
    answer = await pair.ask(step=Step(text="", refusal="I cannot help with that."), stream=stream)
    assert "I cannot help with that." in (answer.refusal, answer.text)
    if pair.caller_name == "claude":
        assert answer.finish == "refusal"
    if pair.caller_name == "gemini":
        assert answer.finish == "SAFETY"


@pairs(upstreams=("gemini",))
@streamed
async def test_a_blocked_prompt_is_told(pair: Pair, stream):
    answer = await pair.ask(step=Step(text="", blocked=True, finish="content_filter"), stream=stream)
    assert answer.text == ""
    assert answer.finish == {**FILTERED, "gemini": "blocked:PROHIBITED_CONTENT"}[pair.caller_name]
