"""``/v1/completions``: OpenAI's own SDK asks for text, and every vendor's model answers."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from agentui.demo import DemoServer
from agentui.jsonio import Json, dumps
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Mock, Step
from tests.upstreams.step import Raw

pytestmark = pytest.mark.sdk

UPSTREAMS = ("openai", "openai_responses", "claude", "gemini")
EVERY = pytest.mark.parametrize("upstream", UPSTREAMS)


@pytest.fixture
async def server(start_server: StartServer, mock: Mock) -> Server:
    """One pipeline for each vendor, and one that forwards."""
    raw = {"format": 1, "name": "raw", "nodes": [{"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}}]}
    to_each = {upstream: call(upstream, mock.origin) for upstream in UPSTREAMS}
    return await start_server({**to_each, "raw": raw}, active="openai")


@pytest.fixture
async def client(server: Server) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        yield client


def at(client: AsyncOpenAI, server: Server, pipeline: str) -> AsyncOpenAI:
    return client.with_options(base_url=f"{server.origin}/p/{pipeline}/v1")


@EVERY
async def test_a_text_is_completed_by_every_vendor(server: Server, client: AsyncOpenAI, upstream: str) -> None:
    ask = at(client, server, upstream).completions
    whole = await ask.create(model="text", prompt="Once upon a time", max_tokens=64, temperature=0.5)
    assert whole.object == "text_completion" and whole.choices[0].text == "Hello from the mock."
    assert whole.choices[0].finish_reason == "stop" and whole.usage is not None and whole.usage.total_tokens == 18
    stream = await ask.create(model="text", prompt=["Once"], stream=True, stream_options={"include_usage": True}, max_tokens=64)
    chunks = [chunk async for chunk in stream]
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == "Hello from the mock."
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason] == ["stop"]
    assert chunks[-1].usage is not None and chunks[-1].usage.completion_tokens == 7
    assert {(chunk.object, chunk.id) for chunk in chunks} == {("text_completion", chunks[0].id)}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_prompt_comes_back_where_it_is_wanted(server: Server, client: AsyncOpenAI, stream: bool) -> None:
    ask: dict[str, Any] = {"model": "text", "prompt": "Say: ", "echo": True, "n": 2}
    answer = await client.completions.create(**ask, stream=stream)
    texts = {0: "", 1: ""}
    if stream:
        async for chunk in answer:
            for choice in chunk.choices:
                texts[choice.index] += choice.text
    else:
        texts = {choice.index: choice.text for choice in answer.choices}
    assert texts == {0: "Say: Hello from the mock.", 1: "Say: Hello from the mock. (2)"}


async def test_what_is_asked_reaches_a_chat_model(server: Server, client: AsyncOpenAI, mock: Mock) -> None:
    ask = at(client, server, "openai").completions.with_raw_response
    answer = await ask.create(
        model="text", prompt="def f(", suffix="return 1", stop=["\n"], seed=7, logprobs=2, max_tokens=9, best_of=1, user="u"
    )
    sent = mock.last.body
    assert mock.last.path == "/v1/chat/completions" and "prompt" not in sent and "echo" not in sent
    told = {name: sent[name] for name in ("stop", "seed", "logprobs", "top_logprobs", "max_tokens", "user")}
    assert told == {"stop": ["\n"], "seed": 7, "logprobs": True, "top_logprobs": 2, "max_tokens": 9, "user": "u"}
    assert [message["role"] for message in sent["messages"]] == ["user"]
    assert "<beginning>def f(</beginning>" in sent["messages"][0]["content"] and "<end>return 1</end>" in str(sent)
    assert answer.headers["x-agentui-dropped"] == "best_of"


async def test_log_probabilities_are_told_as_lists(server: Server, client: AsyncOpenAI, mock: Mock) -> None:
    tokens = [
        {"token": "He", "logprob": -0.5, "bytes": None, "top_logprobs": [{"token": "Ho", "logprob": -1.5, "bytes": None}]},
        {"token": "llo", "logprob": -0.25, "bytes": None, "top_logprobs": []},
    ]
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{**choice, "logprobs": {"content": tokens}}],
    }
    mock.script(Step(raw=_raw(body)))
    answer = await client.completions.create(model="text", prompt="Say ", echo=True, logprobs=1)
    told = answer.choices[0].logprobs
    assert told is not None and told.tokens == ["He", "llo"] and told.token_logprobs == [-0.5, -0.25]
    assert told.top_logprobs == [{"Ho": -1.5}, {}] and told.text_offset == [4, 6]


@pytest.mark.parametrize(
    ("prompt", "code", "words"),
    [
        (["One", "Two"], "unsupported_feature", "several texts"),
        ([1, 2, 3], "unsupported_feature", "token numbers"),
        ([[1, 2], [3]], "unsupported_feature", "token numbers"),
        (7, "bad_request", "prompt must be"),
        ([], "bad_request", "prompt must be"),
        (None, "bad_request", "prompt must be"),
    ],
)
async def test_a_prompt_that_is_no_text_is_refused(
    client: AsyncOpenAI, mock: Mock, prompt: Json, code: str, words: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=words) as refused:
        await client.completions.create(model="text", prompt=prompt)
    assert refused.value.param == "prompt" and refused.value.code == code
    assert mock.requests == []


async def test_an_upstream_that_fails_is_told_in_the_text_s_own_words(server: Server, client: AsyncOpenAI) -> None:
    for upstream in UPSTREAMS:
        ask = at(client, server, upstream).completions
        with pytest.raises(openai.APIError, match="Overloaded in the middle"):
            async for _ in await ask.create(model="fail-mid", prompt="Go", stream=True, max_tokens=9):
                pass


async def test_raw_forward_hands_a_text_completion_on_as_it_came(server: Server, client: AsyncOpenAI, mock: Mock) -> None:
    with pytest.raises(openai.NotFoundError, match="Invalid URL"):
        await at(client, server, "raw").completions.create(model="text", prompt=["One", "Two"][:1])
    assert mock.last.path == "/v1/completions" and mock.last.body == {"model": "text", "prompt": ["One"]}


async def test_the_demo_completes_a_text_in_its_own_route_too(server: Server, demo: DemoServer) -> None:
    async with AsyncOpenAI(base_url=f"{demo.origin}/v1", api_key="none", max_retries=0) as client:
        answer = await client.completions.create(model="demo-small", prompt="Hi", echo=True)
        assert answer.object == "text_completion" and answer.choices[0].text.startswith("Hi")


def _raw(body: Json) -> Raw:
    return Raw(dumps(body), "application/json")
