"""A conversation that is too long for the upstream's model: every caller hears it in the words that its agents look for."""

import pytest

from agentui.jsonio import loads
from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import UPSTREAMS, Ask
from tests.upstreams.server import API_KEY, Step

SAYS = {
    "openai": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "openai_responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "claude": "prompt is too long: 9000 tokens > 8192 maximum",
    "gemini": "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
}
KNOWN = {"openai": "context_length_exceeded", "claude": "prompt is too long", "gemini": "exceeds the maximum number of tokens"}


@pairs(("openai", "claude", "gemini"))
@streamed
async def test_an_overflow_is_told_in_the_callers_words(pair: Pair, stream):
    step = Step(status=400, message=SAYS[pair.upstream])
    with pytest.raises(pair.callers[pair.caller_name].error(400)) as refused:
        await pair.ask(Ask(), step, stream=stream)
    told = refused.value.code if pair.caller_name == "openai" else str(refused.value)  # OpenAI's agents look at the code
    assert KNOWN[pair.caller_name] in told


@pytest.mark.parametrize("upstream", UPSTREAMS)
async def test_codex_hears_of_it_in_its_stream(session, mock, origin, upstream):
    mock.script([Step(status=400, message=SAYS[upstream])] * 3)
    body = {"model": "text", "input": "hi", "stream": True}
    url = f"{origin}/p/{upstream}/v1/responses"
    async with session.post(url, json=body, headers={"authorization": f"Bearer {API_KEY}"}) as reply:
        told = await reply.read()
    mock.forget_steps()
    assert reply.status == 200
    events = [loads(line.removeprefix(b"data: ")) for line in told.splitlines() if line.startswith(b"data: ")]
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["code"] == "context_length_exceeded"
