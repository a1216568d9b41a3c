"""Thoughts of servers that are compatible with OpenAI or Claude go back to the server that made them, whoever the caller is."""

import pytest

from tests.matrix.conftest import Pair, agentui, pairs, streamed
from tests.matrix.neutral import CALLERS, Ask, Heard, Result, Results, ToolDef, user
from tests.upstreams.server import API_KEY, Call, Step

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDef(schema=CITY)
ASKS = user("How is the weather where thoughts go back?")
KEY = {"authorization": f"Bearer {API_KEY}"}
LOOKS = Step(text="", thinking="I need the tool.", calls=(Call("weather", '{"city": "Paris"}'),))


async def in_a_loop(pair: Pair, model: str, stream: bool, rounds: int = 2) -> list[dict]:
    """Ask, run the tool so many times, hear the answer; the assistant's messages that the upstream got last."""
    turns = (ASKS,)
    for number in range(rounds):
        answer = await pair.ask(Ask(model, turns=turns, tools=(WEATHER,)), LOOKS, stream=stream)
        assert [call.name for call in answer.calls] == ["weather"]
        turns = (*turns, Heard(answer), Results((Result(answer.calls[0], f"{number} degrees"),)))
    final = await pair.ask(Ask(model, turns=turns, tools=(WEATHER,)), Step(text="Warm."), stream=stream)
    assert final.text == "Warm."
    return [message for message in pair.mock.last.body["messages"] if message["role"] == "assistant"]


@pairs(upstreams=("openai",))
@streamed
@pytest.mark.parametrize("model", ["deepseek-v4-pro", "kimi-k2-thinking", "some-local-model"])
async def test_a_tool_loop_gives_the_thoughts_back(pair: Pair, stream, model):
    said = await in_a_loop(pair, model, stream)
    assert [message["reasoning_content"] for message in said] == ["I need the tool."] * 2


async def test_what_is_not_understood_goes_as_it_came_whatever_is_kept(session, mock, callers, origin):
    await Pair("openai", "openai", mock, callers, origin).ask(Ask("some-local-model", turns=(ASKS,), tools=(WEATHER,)), LOOKS)
    body = {"model": "text", "messages": [{"role": "newest_role", "content": "Hello"}]}
    async with session.post(f"{origin}/p/openai/v1/chat/completions", json=body, headers=KEY) as reply:
        told = await reply.text()
    assert mock.last.body == body, told


@pairs(upstreams=("openai",))
@streamed
async def test_gemini_behind_an_openai_endpoint_gets_its_signatures_back(pair: Pair, stream):
    said = await in_a_loop(pair, "google/gemini-3-pro", stream)
    signed = [call["extra_content"]["google"]["thought_signature"] for message in said for call in message["tool_calls"]]
    assert len(set(signed)) == 2


@pairs(upstreams=("openai",))
@streamed
@pytest.mark.parametrize("model", ["router/claude", "router/gpt-5"])
async def test_openrouters_details_go_back_as_they_were(pair: Pair, stream, model):
    """The mock refuses others."""
    said = await in_a_loop(pair, model, stream)
    kinds = [[one["type"] for one in message["reasoning_details"]] for message in said]
    assert kinds == [["reasoning.text", "reasoning.encrypted"]] * 2
    assert all("reasoning_content" not in message for message in said)


@pairs(upstreams=("openai",))
@streamed
async def test_mistrals_thoughts_go_back_as_parts(pair: Pair, stream):
    said = await in_a_loop(pair, "magistral-medium", stream)
    told = [part["thinking"][0]["text"] for message in said for part in message["content"] if part["type"] == "thinking"]
    assert told == ["I need the tool."] * 2


@pairs(("openai", "openai_responses", "gemini"), ("claude",))
@streamed
async def test_a_compatible_claude_server_gets_its_unsigned_thoughts_back(pair: Pair, stream):
    said = await in_a_loop(pair, "unsigned-claude", stream)
    thoughts = [block for message in said for block in message["content"] if block["type"] == "thinking"]
    assert thoughts == [{"type": "thinking", "thinking": "I need the tool.", "signature": ""}] * 2


@pairs(("claude",), ("claude",))
@streamed
async def test_a_claude_callers_unsigned_thoughts_go_as_they_came(pair: Pair, stream):
    said = await in_a_loop(pair, "unsigned-claude", stream)
    thoughts = [block for message in said for block in message["content"] if block["type"] == "thinking"]
    assert thoughts == [{"type": "thinking", "thinking": "I need the tool.", "signature": ""}] * 2


@pairs(("claude", "openai_responses", "gemini"), ("openai",))
async def test_another_model_of_a_strict_vendor_is_not_told(pair: Pair):
    answer = await pair.ask(Ask("deepseek-v4-pro", turns=(ASKS,), tools=(WEATHER,)), LOOKS)
    turns = (ASKS, Heard(answer), Results((Result(answer.calls[0], "21"),)))
    final = await pair.ask(Ask("gpt-4o", turns=turns, tools=(WEATHER,)), Step(text="Warm."))
    assert final.text == "Warm."
    assert b"reasoning_content" not in pair.mock.last.raw


@pytest.mark.parametrize("caller", CALLERS)
async def test_another_server_is_not_told(mock, callers, tmp_path, origin, caller):
    """The same thought, when the node asks a server at another address (another name of this one)."""
    pair = Pair(caller, "openai", mock, callers, origin)
    answer = await pair.ask(Ask("some-local-model", turns=(ASKS,), tools=(WEATHER,)), LOOKS)
    mock_elsewhere = mock.origin.replace("127.0.0.1", "localhost")
    turns = (ASKS, Heard(answer), Results((Result(answer.calls[0], "21"),)))
    async with agentui(tmp_path / "server", mock, pipelines={"openai": elsewhere(mock_elsewhere)}) as pair.origin:
        final = await pair.ask(Ask("some-local-model", turns=turns, tools=(WEATHER,)), Step(text="Warm."))
    assert final.text == "Warm."
    if caller != "openai":  # an OpenAI caller says itself what goes as it came
        assert b"reasoning_content" not in mock.last.raw


def elsewhere(base_url: str) -> dict:
    """A pipeline that asks a server at this address."""
    config = {"provider": "openai", "base_url": base_url}
    return {"format": 1, "name": "elsewhere", "nodes": [{"id": "n1", "type": "ProviderCall", "config": config}], "edges": []}


@pairs(upstreams=("openai",))
async def test_a_history_that_was_made_elsewhere_is_taken_by_a_model_that_wants_thoughts(pair: Pair):
    asks = user("How is the weather elsewhere?")
    answer = await pair.ask(Ask("gpt-4o", turns=(asks,), tools=(WEATHER,)), Step(text="", calls=(Call("weather"),)))
    turns = (asks, Heard(answer), Results((Result(answer.calls[0], "21"),)))
    final = await pair.ask(Ask("deepseek-v4-pro", turns=turns, tools=(WEATHER,)), Step(text="Warm."))
    assert final.text == "Warm."
