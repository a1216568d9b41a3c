"""Embeddings: OpenAI's and Google's own SDKs over every upstream that makes some."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from google import genai
from google.genai import errors, types
from openai import AsyncOpenAI

from tests.api.callers import Caller
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Mock

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]

UPSTREAMS = ("openai", "openai_responses", "gemini")


@pytest.fixture
async def server(start_server: StartServer, mock: Mock) -> Server:
    return await start_server({each: call(each, mock.origin) for each in (*UPSTREAMS, "claude", "caller")}, active="caller")


async def google(server: Server, pipeline: str, texts: Any, **config: Any) -> list[list[float]]:
    """The vectors as Google's SDK tells them."""
    options = types.HttpOptions(base_url=f"{server.origin}/p/{pipeline}")

    def ask() -> list[list[float]]:
        with genai.Client(api_key=API_KEY, http_options=options) as client:
            answer = client.models.embed_content(model="text", contents=texts, config=types.EmbedContentConfig(**config))
            return [list(each.values or []) for each in answer.embeddings or []]

    return await asyncio.to_thread(ask)


@pytest.mark.parametrize("upstream", [*UPSTREAMS, "caller"])
async def test_both_sdks_get_the_vectors_of_every_upstream(server: Server, mock: Mock, upstream: str) -> None:
    told = await google(server, upstream, ["One", "Two"])
    assert len(told) == 2 and all(vector and all(isinstance(value, float) for value in vector) for vector in told)
    assert len(await google(server, upstream, "One")) == 1
    async with AsyncOpenAI(base_url=f"{server.origin}/p/{upstream}/v1", api_key=API_KEY, max_retries=0) as client:
        answer = await client.embeddings.create(model="text", input=["One", "Two"])
    if upstream != "caller":
        assert [entry.embedding for entry in answer.data] == [pytest.approx(vector, abs=1e-6) for vector in told]
    paths = {"openai": "/v1/embeddings", "openai_responses": "/v1/embeddings"}
    assert mock.requests[0].path == paths.get(upstream, "/v1beta/models/text:batchEmbedContents")


@pytest.mark.parametrize("upstream", [*UPSTREAMS, "caller"])
async def test_one_text_is_answered_as_one(server: Server, mock: Mock, upstream: str) -> None:
    answer = await _post(server, upstream, "embedContent", {"content": {"parts": [{"text": "On"}, {"text": "e"}]}})
    assert answer.status == 200 and set(answer.json) >= {"embedding"} and answer.json["embedding"]["values"]
    if upstream in ("gemini", "caller"):
        assert mock.last.path.endswith(":embedContent"), "what goes to its own vendor goes as it came"
    else:
        assert mock.last.body == {"model": "text", "input": ["One"], "encoding_format": "float"}


async def test_sizes_go_along_and_tasks_are_named(server: Server, mock: Mock) -> None:
    body = {"content": {"parts": [{"text": "One"}]}, "taskType": "RETRIEVAL_QUERY", "outputDimensionality": 3}
    answer = await _post(server, "openai", "embedContent", body)
    assert answer.status == 200, answer.body
    assert mock.last.body["dimensions"] == 3 and answer.headers["x-agentui-dropped"] == "taskType"
    await _post(server, "gemini", "batchEmbedContents", {"requests": [{**body, "model": "models/text"}]})
    assert mock.last.body["requests"][0] == {**body, "model": "models/text"}


@pytest.mark.parametrize(
    ("method", "body", "words"),
    [
        ("batchEmbedContents", {}, "requests"),
        ("batchEmbedContents", {"requests": []}, "requests"),
        ("batchEmbedContents", {"requests": [1]}, "requests"),
        ("batchEmbedContents", {"requests": [{"content": 7}]}, "content"),
        ("embedContent", {}, "content"),
        ("embedContent", {"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}}, "texts"),
        (
            "batchEmbedContents",
            {"requests": [{"content": {"parts": [{"text": "a"}]}, "outputDimensionality": n} for n in (1, 2)]},
            "size",
        ),
    ],
)
async def test_what_no_other_vendor_can_embed_is_refused(
    server: Server, mock: Mock, method: str, body: Mapping[str, Any], words: str
) -> None:
    answer = await _post(server, "openai", method, body)
    assert answer.status == 400 and words in answer.json["error"]["message"] and answer.json["error"]["code"] == 400
    assert mock.requests == []


async def test_claude_has_none(server: Server) -> None:
    with pytest.raises(errors.ServerError, match="no embeddings"):
        await google(server, "claude", "One")


async def _post(server: Server, pipeline: str, method: str, body: Mapping[str, Any]) -> Any:
    caller = Caller("gemini", server.origin, prefix=f"/p/{pipeline}")
    return await caller.post(f"/v1beta/models/text:{method}", body)
