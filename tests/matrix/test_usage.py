"""Tokens add up, whoever counts."""

from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask, Tokens
from tests.upstreams import step as steps
from tests.upstreams.server import Step


@pairs()
@streamed
async def test_usage_is_told(pair: Pair, stream):
    answer = await pair.ask(step=Step(tokens=steps.Tokens(11, 7)), stream=stream)
    assert answer.usage == Tokens(11, 7)


@pairs()
@streamed
async def test_cached_and_thought_tokens_are_told(pair: Pair, stream):
    step = Step(tokens=steps.Tokens(100, 50, cache_read=60, cache_write=10, reasoning=20))
    answer = await pair.ask(Ask(think=True), step, stream=stream)
    assert answer.usage == Tokens(100, 50, cached=60, reasoning=20)
