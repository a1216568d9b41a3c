"""What stands beside the conversation: token counts, embeddings, model lists."""

import openai
import pytest
from google.genai import types

from tests.matrix.conftest import Pair, pairs
from tests.upstreams.server import Step
from tests.upstreams.step import Tokens

TEXTS = ["one", "three"]
VECTORS = [[0.5, -0.25, 3.0], [0.5, -0.25, 5.0]]
COUNTED = {"openai_responses": True, "claude": True, "gemini": True, "openai": False}
"""Who can count; for the others agentui guesses."""  # fmt: skip


async def count(pair: Pair) -> int:
    """The tokens of two sentences and a tool, by the caller's SDK."""
    origin = f"{pair.origin}/p/{pair.upstream}"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    match pair.caller_name:
        case "claude":
            tools = [{"name": "weather", "input_schema": schema}]
            asked = pair.callers.anthropic.with_options(base_url=origin).messages.count_tokens
            counted = await asked(
                model="text", system="Be brief.", tools=tools, messages=[{"role": "user", "content": "How are you today?"}]
            )
            return int(counted.input_tokens)
        case "openai_responses":
            tools = [{"type": "function", "name": "weather", "parameters": schema, "strict": False}]
            asked = pair.callers.openai.with_options(base_url=f"{origin}/v1").responses.input_tokens.count
            counted = await asked(model="text", instructions="Be brief.", tools=tools, input="How are you today?")
            return int(counted.input_tokens)
    config = types.CountTokensConfig(http_options=types.HttpOptions(base_url=origin))
    counted = await pair.callers.genai.aio.models.count_tokens(model="text", contents="How are you today?", config=config)
    return int(counted.total_tokens)


@pairs(("openai_responses", "claude", "gemini"))
async def test_tokens_are_counted(pair: Pair):
    pair.mock.script(Step(tokens=Tokens(input=123)))
    counted = await count(pair)
    if COUNTED[pair.upstream]:
        assert counted == 123
    else:
        assert 1 < counted < 100
        assert pair.mock.requests == []


@pairs(("openai",), ("openai", "openai_responses", "gemini"))
@pytest.mark.parametrize("form", [None, "float", "base64"])
async def test_embeddings_come(pair: Pair, form):
    client = pair.callers.openai.with_options(base_url=f"{pair.origin}/p/{pair.upstream}/v1")
    more = {} if form is None else {"encoding_format": form}
    reply = await client.embeddings.create(model="embed", input=TEXTS, **more)
    vectors = [one.embedding for one in reply.data]
    assert [one.index for one in reply.data] == [0, 1]
    if form == "base64":
        assert all(isinstance(vector, str) for vector in vectors)
    else:
        assert vectors == VECTORS


@pairs(("openai",), ("claude",))
async def test_claude_has_no_embeddings_and_that_is_said(pair: Pair):
    client = pair.callers.openai.with_options(base_url=f"{pair.origin}/p/{pair.upstream}/v1")
    with pytest.raises(openai.APIStatusError, match="embeddings") as caught:
        await client.embeddings.create(model="embed", input="one")
    assert caught.value.status_code == 501


@pairs()
async def test_models_are_listed(pair: Pair):
    names = await pair.callers[pair.caller_name].models(f"{pair.origin}/p/{pair.upstream}")
    plain = [name.removeprefix("models/") for name in names]
    assert {"text", "tool", "thinking"} <= set(plain)
    assert f"pipeline/{pair.upstream}" in plain
