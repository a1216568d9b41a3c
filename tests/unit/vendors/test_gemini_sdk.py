"""Google's own SDK talks to the dialect over a real socket."""

import base64
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from google import genai
from google.genai import errors, types

from agentui.chat.deltas import End, Finish, Start, TextDelta, ThinkingDelta, ToolCallDelta, Usage, UsageDelta
from agentui.chat.messages import Media, Text
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import ToolChoice
from agentui.errors import Busy
from agentui.vendors.gemini import Gemini

# The SDK subclasses aiohttp's session, which aiohttp discourages.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")]
GEMINI = Gemini()
WORDS = "Grüße \u2028 \u0085 \U0001f600"


@asynccontextmanager
async def client(handler):
    """The SDK, its requests understood by the dialect and answered by ``handler(wire)``."""

    async def answer(request: web.Request) -> web.Response:
        wire = GEMINI.read_request(request.path, request.query, request.headers, await request.json())
        return handler(wire)

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    async with TestServer(app) as server:
        options = types.HttpOptions(base_url=str(server.make_url("")))
        sdk = genai.Client(api_key="k", http_options=options, vertexai=False)
        async with sdk.aio:
            yield sdk.aio
        sdk.close()


async def test_the_sdk_reads_a_stream():
    def handler(wire):
        assert wire.stream
        renderer = GEMINI.stream_renderer(wire)
        deltas = (
            Start("r", "m"),
            ThinkingDelta("hm"),
            TextDelta(WORDS),
            ToolCallDelta(0, "c1", "f", '{"a": "\u2028"}'),
            Finish("tool_calls"),
            UsageDelta(Usage(3, 5, None, None, 2)),
            End(),
        )
        data = b"".join(renderer.feed(delta) for delta in deltas)
        return web.Response(body=data, content_type=GEMINI.stream_format(wire).content_type)

    async with client(handler) as sdk:
        chunks = [chunk async for chunk in await sdk.models.generate_content_stream(model="m", contents="Hi")]
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    assert (parts[0].text, parts[0].thought, parts[1].text) == ("hm", True, WORDS)
    assert (parts[2].function_call.id, parts[2].function_call.args) == ("c1", {"a": "\u2028"})
    assert chunks[-1].candidates[0].finish_reason is types.FinishReason.STOP
    assert chunks[-1].usage_metadata.thoughts_token_count == 2


async def test_the_sdk_raises_an_error_inside_a_stream():
    def handler(wire):
        renderer = GEMINI.stream_renderer(wire)
        data = renderer.feed(TextDelta("a")) + renderer.fail(Busy("Full.", retry_after=1))
        return web.Response(body=data, content_type="text/event-stream")

    async with client(handler) as sdk:
        stream = await sdk.models.generate_content_stream(model="m", contents="Hi")
        with pytest.raises(errors.ServerError) as caught:
            [chunk async for chunk in stream]
    assert (caught.value.code, caught.value.status) == (503, "UNAVAILABLE")


async def test_what_the_sdk_sends_is_understood():
    seen = []

    def handler(wire):
        seen.append(GEMINI.parse_request(wire))
        return web.json_response(GEMINI.render_reply(Reply((Choice((Text(WORDS),), "stop"),)), wire))

    picture = bytes(range(248, 256))
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        temperature=0.5,
        top_k=40,
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
        tools=[
            types.Tool(
                function_declarations=[{"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}]
            )
        ],
        tool_config=types.ToolConfig(function_calling_config={"mode": "ANY", "allowed_function_names": ["f"]}),
    )
    async with client(handler) as sdk:
        answer = await sdk.models.generate_content(
            model="tunedModels/mine",
            contents=[types.Part.from_bytes(data=picture, mime_type="image/png"), "What?"],
            config=config,
        )
    assert answer.text == WORDS
    (chat,) = seen
    assert (chat.model, chat.system, chat.last_user) == ("tunedModels/mine", "Be brief.", "What?")
    assert chat.messages[1].parts[0] == Media("image", "image/png", data=base64.b64encode(picture).decode())
    assert (chat.params.temperature, chat.params.top_k) == (0.5, 40)
    assert chat.thinking is not None
    assert (chat.thinking.effort, chat.thinking.include) == ("low", True)
    assert chat.tools[0].schema == {"type": "object", "properties": {"a": {"type": "string"}}}
    assert chat.tool_choice == ToolChoice("named", ("f",))


async def test_the_sdk_counts_tokens():
    async with client(lambda wire: web.json_response(GEMINI.count_tokens.render_reply(7))) as sdk:
        assert (await sdk.models.count_tokens(model="m", contents="Hi")).total_tokens == 7
