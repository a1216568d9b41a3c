"""Gemini ends an answer with MALFORMED_FUNCTION_CALL: that is an error which passes, not an answer."""

import pytest

from agentui.jsonio import Json, dumps
from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask
from tests.matrix.test_errors import failures
from tests.upstreams.server import Step
from tests.upstreams.step import Raw


def malformed(*, stream: bool, words: str | None = None, reason: str = "MALFORMED_FUNCTION_CALL") -> Step:
    """An answer that says these words and then something that is no call."""
    said: list[Json] = [] if words is None else [{"candidates": [{"content": {"parts": [{"text": words}]}}]}]
    last = {"candidates": [{"content": {}, "finishReason": reason, "index": 0}], "usageMetadata": {"promptTokenCount": 3}}
    events = b"".join(b"data: " + dumps(one) + b"\r\n\r\n" for one in [*said, last])
    return Step(raw=Raw(events, "text/event-stream") if stream else Raw(dumps(last), "application/json"))


@pairs(upstreams=("gemini",))
@streamed
@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
async def test_the_model_is_asked_again_before_anybody_hears_of_it(pair: Pair, stream: bool, reason: str):
    before = len(pair.mock.requests)
    pair.mock.script([malformed(stream=stream, reason=reason), Step(text="Well.")])
    assert (await pair.ask(Ask(), stream=stream)).text == "Well."
    assert len(pair.mock.requests) - before == 2


@pairs(upstreams=("gemini",))
@streamed
async def test_an_error_that_callers_try_again_is_what_remains(pair: Pair, stream: bool):
    caller = pair.callers[pair.caller_name]
    pair.mock.script([malformed(stream=stream), malformed(stream=stream)])
    with pytest.raises(failures(pair), match="malformed call") as caught:
        await pair.ask(Ask(), stream=stream)
    assert isinstance(caught.value, caller.error(502))


@pairs(upstreams=("gemini",))
async def test_behind_words_it_is_the_streams_error(pair: Pair):
    before = len(pair.mock.requests)
    pair.mock.script([malformed(stream=True, words="I look. ")])
    with pytest.raises(failures(pair), match="malformed call"):
        await pair.ask(Ask(), stream=True)
    assert len(pair.mock.requests) - before == 1
