"""The mock and the demo are consistent with the vendors' own SDKs, and the mock refuses what the vendors refuse."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import text_message
from agentui.chat.request import ChatRequest, Params, WireRequest
from agentui.demo import DemoSettings, start_demo
from agentui.demo.model import answer, sample, words
from tests.upstreams.server import API_KEY, Call, Mock, Step, start_mock
from tests.upstreams.step import HOSTILE_TEXT, SCENARIOS

pytestmark = [
    pytest.mark.sdk,
    # google-genai itself subclasses aiohttp's session when it makes its first asynchronous client.
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
USER = {"role": "user", "content": "Please call the tool."}
OPENAI_TOOLS: Any = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
RESPONSES_TOOLS: Any = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
CLAUDE_TOOLS: Any = [{"name": "weather", "input_schema": SCHEMA}]
GEMINI_TOOLS: Any = [
    types.Tool(function_declarations=[types.FunctionDeclaration(name="weather", parameters_json_schema=SCHEMA)])
]
MANUAL = types.AutomaticFunctionCallingConfig(disable=True)


@pytest.fixture
async def mock() -> AsyncIterator[Mock]:
    server = await start_mock()
    yield server
    await server.close()


@pytest.fixture(params=["mock", "demo"])
async def origin(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    server = await start_mock() if request.param == "mock" else await start_demo(settings=DemoSettings(delay=0))
    yield server.origin
    await server.close()


def model_at(origin_kind: str, mock_name: str) -> str:
    """The mock tells answers apart by the model's name, the demo by what is asked."""
    return mock_name if origin_kind == "mock" else "demo-small"


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["origin"])


@pytest.fixture
async def chat(origin: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{origin}/v1", api_key=API_KEY, max_retries=0) as client:
        yield client


@pytest.fixture
async def claude(origin: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=origin, api_key=API_KEY, max_retries=0) as client:
        yield client


@pytest.fixture
async def gemini(origin: str) -> AsyncIterator[Any]:
    client = genai_client(origin)
    yield client.aio
    await client.aio.aclose()
    client.close()


def genai_client(origin: str, key: str = API_KEY) -> genai.Client:
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=origin))


class TestOpenAIChat:
    async def test_text_comes_whole_with_usage(self, chat, kind):
        reply = await chat.chat.completions.create(model=model_at(kind, "text"), messages=[USER])
        assert reply.choices[0].message.content
        assert reply.choices[0].finish_reason == "stop"
        assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0

    async def test_a_stream_says_the_same_as_the_whole(self, chat, kind):
        asked = {"model": model_at(kind, "text"), "messages": [USER]}
        whole = await chat.chat.completions.create(**asked)
        stream = await chat.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
        chunks = [chunk async for chunk in stream]
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert said == whole.choices[0].message.content
        assert chunks[-1].choices == []
        assert chunks[-1].usage == whole.usage
        assert len({chunk.id for chunk in chunks}) == 1

    @pytest.mark.parametrize("streamed", [False, True])
    async def test_a_tool_loop_goes_round(self, chat, kind, streamed):
        asked: Any = {"model": model_at(kind, "tool"), "tools": OPENAI_TOOLS}
        if streamed:
            async with chat.chat.completions.stream(**asked, messages=[USER]) as stream:
                first = await stream.get_final_completion()
        else:
            first = await chat.chat.completions.create(**asked, messages=[USER])
        assert first.choices[0].finish_reason == "tool_calls"
        call = first.choices[0].message.tool_calls[0]
        assert call.function.name == "weather"
        assert "city" in json.loads(call.function.arguments)
        spoken = {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": function_of(call)}]}
        result = {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}
        second = await chat.chat.completions.create(**asked, messages=[USER, spoken, result])
        assert "21 degrees" in second.choices[0].message.content

    async def test_several_choices_come_whole_and_streamed(self, chat, kind):
        asked = {"model": model_at(kind, "text"), "messages": [USER], "n": 2}
        whole = await chat.chat.completions.create(**asked)
        said = {0: "", 1: ""}
        async for chunk in await chat.chat.completions.create(**asked, stream=True):
            for choice in chunk.choices:
                said[choice.index] += choice.delta.content or ""
        assert [choice.message.content for choice in whole.choices] == [said[0], said[1]]
        assert said[0] != said[1]

    @pytest.mark.parametrize(("status", "error"), [(429, openai.RateLimitError), (404, openai.NotFoundError)])
    async def test_errors_are_the_sdks_own(self, chat, kind, status, error):
        name = f"error-{status}" if kind == "mock" else f"demo-error-{status}"
        with pytest.raises(error) as caught:
            await chat.chat.completions.create(model=name, messages=[USER])
        assert caught.value.status_code == status
        assert caught.value.message

    async def test_embeddings_are_unpacked_by_the_sdk(self, chat, kind):
        reply = await chat.embeddings.create(model=model_at(kind, "embed"), input=["one", "three"])
        floats = await chat.embeddings.create(model=model_at(kind, "embed"), input=["one", "three"], encoding_format="float")
        assert [one.index for one in reply.data] == [0, 1]
        for packed, plain in zip(reply.data, floats.data, strict=True):
            assert packed.embedding == pytest.approx(plain.embedding, abs=1e-6)

    async def test_models_are_listed(self, chat):
        names = [model.id async for model in chat.models.list()]
        assert names


class TestResponses:
    async def test_text_comes_whole_and_streamed(self, chat, kind):
        asked = {"model": model_at(kind, "text"), "input": "Hello there"}
        whole = await chat.responses.create(**asked)
        async with chat.responses.stream(**asked) as stream:
            events = [event async for event in stream]
            final = await stream.get_final_response()
        assert whole.status == final.status == "completed"
        assert whole.output_text == final.output_text != ""
        said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert said == final.output_text
        assert final.usage.total_tokens == whole.usage.total_tokens > 0

    async def test_a_tool_loop_goes_round(self, chat, kind):
        asked: Any = {"model": model_at(kind, "tool"), "tools": RESPONSES_TOOLS}
        async with chat.responses.stream(**asked, input=[USER]) as stream:
            first = await stream.get_final_response()
        call = next(item for item in first.output if item.type == "function_call")
        assert "city" in json.loads(call.arguments)
        spoken = {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"}
        second = await chat.responses.create(**asked, input=[USER, spoken, result])
        assert "21 degrees" in second.output_text

    async def test_thoughts_are_summarised_when_asked_for(self, chat, kind):
        asked: Any = {"model": model_at(kind, "thinking"), "reasoning": {"effort": "low", "summary": "auto"}}
        async with chat.responses.stream(**asked, input="Think!") as stream:
            final = await stream.get_final_response()
        assert final.output[0].type == "reasoning"
        assert final.output[0].summary[0].text
        assert final.usage.output_tokens_details.reasoning_tokens > 0

    async def test_input_tokens_are_counted(self, chat, kind):
        counted = await chat.responses.input_tokens.count(model=model_at(kind, "text"), input="one two three")
        assert counted.input_tokens > 0


class TestClaude:
    async def test_text_comes_whole_and_streamed(self, claude, kind):
        asked: Any = {"model": model_at(kind, "text"), "max_tokens": 100, "messages": [USER]}
        whole = await claude.messages.create(**asked)
        async with claude.messages.stream(**asked) as stream:
            said = "".join([text async for text in stream.text_stream])
            final = await stream.get_final_message()
        assert whole.content[0].text == final.content[0].text == said != ""
        assert whole.stop_reason == final.stop_reason == "end_turn"
        assert final.usage.output_tokens == whole.usage.output_tokens > 0
        assert final.usage.input_tokens == whole.usage.input_tokens > 0

    async def test_a_tool_loop_with_thinking_goes_round(self, claude, kind):
        asked: Any = {
            "model": model_at(kind, "thinking-tool"),
            "max_tokens": 4000,
            "tools": CLAUDE_TOOLS,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        }
        async with claude.messages.stream(**asked, messages=[USER]) as stream:
            first = await stream.get_final_message()
        assert [block.type for block in first.content] == ["thinking", "tool_use"]
        assert first.content[0].signature
        assert first.stop_reason == "tool_use"
        assert "city" in first.content[1].input
        result = {"type": "tool_result", "tool_use_id": first.content[1].id, "content": "21 degrees"}
        turns = [USER, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        second = await claude.messages.create(**asked, messages=turns)
        assert "21 degrees" in "".join(block.text for block in second.content if block.type == "text")

    @pytest.mark.parametrize(("status", "error"), [(429, anthropic.RateLimitError), (529, anthropic.APIStatusError)])
    async def test_errors_are_the_sdks_own(self, claude, kind, status, error):
        name = f"error-{status}" if kind == "mock" else f"demo-error-{status}"
        with pytest.raises(error) as caught:
            await claude.messages.create(model=name, max_tokens=5, messages=[USER])
        assert caught.value.status_code == status
        assert caught.value.response.headers["retry-after"]

    async def test_tokens_are_counted_and_models_listed(self, claude, kind):
        counted = await claude.messages.count_tokens(model=model_at(kind, "text"), messages=[USER])
        assert counted.input_tokens > 0
        assert [model.id async for model in claude.models.list()]


class TestGemini:
    async def test_text_comes_whole_and_streamed(self, gemini, kind):
        model = model_at(kind, "text")
        whole = await gemini.models.generate_content(model=model, contents="Hello")
        chunks = [chunk async for chunk in await gemini.models.generate_content_stream(model=model, contents="Hello")]
        assert whole.text == "".join(chunk.text or "" for chunk in chunks) != ""
        assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
        assert chunks[-1].usage_metadata.total_token_count == whole.usage_metadata.total_token_count > 0

    @pytest.mark.parametrize("streamed", [False, True])
    async def test_a_tool_loop_with_signatures_goes_round(self, gemini, kind, streamed):
        model = model_at(kind, "gemini-3-pro--thinking-tool")
        config = types.GenerateContentConfig(tools=GEMINI_TOOLS, automatic_function_calling=MANUAL)
        user = types.Content(role="user", parts=[types.Part(text="Please call the tool.")])
        if streamed:
            stream = await gemini.models.generate_content_stream(model=model, contents=[user], config=config)
            parts = [part async for chunk in stream for part in chunk.candidates[0].content.parts]
        else:
            first = await gemini.models.generate_content(model=model, contents=[user], config=config)
            parts = first.candidates[0].content.parts
        calls = [part for part in parts if part.function_call]
        assert calls[0].thought_signature
        assert "city" in calls[0].function_call.args
        spoken = types.Content(role="model", parts=calls)
        answer = types.FunctionResponse(id=calls[0].function_call.id, name="weather", response={"result": "21 degrees"})
        result = types.Content(role="user", parts=[types.Part(function_response=answer)])
        second = await gemini.models.generate_content(model=model, contents=[user, spoken, result], config=config)
        assert "21 degrees" in second.text

    async def test_errors_are_the_sdks_own(self, gemini, kind):
        name = "error-429" if kind == "mock" else "demo-error-429"
        with pytest.raises(genai_errors.ClientError) as caught:
            await gemini.models.generate_content(model=name, contents="Hello")
        assert caught.value.code == 429
        assert caught.value.status == "RESOURCE_EXHAUSTED"

    async def test_tokens_embeddings_and_models_are_served(self, gemini, kind):
        counted = await gemini.models.count_tokens(model=model_at(kind, "text"), contents="one two")
        assert counted.total_tokens > 0
        embedded = await gemini.models.embed_content(model=model_at(kind, "text"), contents=["one", "three"])
        assert embedded.embeddings[0].values
        assert [model.name async for model in await gemini.models.list()]


_LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "string", "object", "array", "#", "#/a"])
_KEYS = st.sampled_from(["type", "properties", "required", "items", "enum", "anyOf", "oneOf", "$ref", "const", "minimum", "a"])
SCHEMAS = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4))


def function_of(call: Any) -> dict[str, str]:
    return {"name": call.function.name, "arguments": call.function.arguments}


# --- the demo alone --------------------------------------------------------------------------------------------------


class TestDemo:
    @pytest.fixture
    async def demo(self) -> AsyncIterator[str]:
        server = await start_demo(settings=DemoSettings(delay=0))
        yield server.origin
        await server.close()

    @pytest.fixture
    async def client(self, demo: str) -> AsyncIterator[openai.AsyncOpenAI]:
        async with openai.AsyncOpenAI(base_url=f"{demo}/v1", api_key="none", max_retries=0) as client:
            yield client

    async def test_it_says_what_it_is_and_what_was_said(self, client):
        messages: Any = [{"role": "system", "content": "Be a pirate."}, {"role": "user", "content": "Ahoy!"}]
        reply = await client.chat.completions.create(model="whatever", messages=messages)
        text = reply.choices[0].message.content
        assert text.startswith("This is agentui's built-in demo model, not a real one. You said: Ahoy!")
        assert '"Be a pirate."' in text

    async def test_a_limit_ends_with_length_and_counts_words(self, client):
        reply = await client.chat.completions.create(model="demo-small", messages=[USER], max_completion_tokens=3)
        assert reply.choices[0].message.content == "This is agentui's"
        assert reply.choices[0].finish_reason == "length"
        assert reply.usage.completion_tokens == 3

    async def test_a_stop_string_ends_the_answer_and_claude_names_it(self, demo):
        async with anthropic.AsyncAnthropic(base_url=demo, api_key="none", max_retries=0) as claude:
            asked: Any = {"max_tokens": 100, "messages": [USER], "stop_sequences": ["zzz", "built-in"]}
            reply = await claude.messages.create(model="demo-small", **asked)
        assert reply.content[0].text == "This is agentui's "
        assert (reply.stop_reason, reply.stop_sequence) == ("stop_sequence", "built-in")

    async def test_structured_output_fits_the_schema(self, client):
        schema = {
            "type": "object",
            "properties": {
                "mood": {"enum": ["calm", "wild"]},
                "place": {"$ref": "#/$defs/place"},
                "ages": {"type": "array", "items": {"type": ["null", "integer"]}},
                "unasked": {"type": "string"},
            },
            "required": ["mood", "place", "ages"],
            "$defs": {"place": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        }
        form: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
        reply = await client.chat.completions.create(model="demo-small", messages=[USER], response_format=form)
        assert json.loads(reply.choices[0].message.content) == {"mood": "calm", "place": {"name": "demo"}, "ages": [1]}

    async def test_a_schema_without_end_still_gets_an_answer(self, client):
        node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
        form: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": node}}
        reply = await client.chat.completions.create(model="demo-small", messages=[USER], response_format=form)
        assert "next" in json.loads(reply.choices[0].message.content)

    async def test_no_tool_is_called_unless_spoken_of_or_forced(self, client):
        said: Any = [{"role": "user", "content": "Good morning"}]
        plain = await client.chat.completions.create(model="demo-small", messages=said, tools=OPENAI_TOOLS)
        forced = await client.chat.completions.create(
            model="demo-small", messages=said, tools=OPENAI_TOOLS, tool_choice="required"
        )
        assert plain.choices[0].message.tool_calls is None
        assert forced.choices[0].message.tool_calls[0].function.arguments == '{"city":"demo"}'

    def test_a_schema_that_multiplies_is_answered_in_time(self):
        names = [f"p{number}" for number in range(50)]
        greedy = {"type": "object", "properties": {name: {"$ref": "#"} for name in names}, "required": names}
        assert sample(greedy)["p0"]["p0"]

    @given(SCHEMAS)
    def test_any_schema_gets_a_sample(self, schema):
        assert json.loads(json.dumps(sample(schema))) == sample(schema)

    @given(st.text(), st.integers(1, 20))
    def test_words_joined_are_the_text_again(self, text, limit):
        assert "".join(words(text)) == text
        wire = WireRequest("openai", "chat", "m", False, "/v1/chat/completions", {})
        chat = ChatRequest("openai", "m", [text_message("user", text)], Params(max_tokens=limit), wire)
        assert len(answer(chat).text.split()) <= limit

    @pytest.mark.parametrize(
        "path", ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:generateContent"]
    )
    @pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"model": 1, "messages": 2, "contents": {}, "max_tokens": "x"}'])
    async def test_nonsense_is_refused_in_the_routes_own_shape(self, demo, path, body):
        async with aiohttp.ClientSession() as session, session.post(demo + path, data=body) as reply:
            error = await reply.json()
        assert reply.status == 400
        assert error["error"]["message"]
        assert ("type" in error) == (path == "/v1/messages")
        assert ("status" in error["error"]) == path.endswith("generateContent")

    async def test_without_sse_gemini_streams_a_json_array(self, demo):
        body = {"contents": [{"parts": [{"text": "Hello"}]}]}
        url = f"{demo}/v1beta/models/a/b:c:streamGenerateContent"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
            chunks = json.loads(await reply.text())
        assert "Hello" in "".join(chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in chunks)


# --- the mock alone: answers -----------------------------------------------------------------------------------------

PLAIN_PATHS = {
    "openai": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1/models/{model}:{operation}",
}


def wire(dialect: str, model: str, *, stream: bool, **more: Any) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Path, headers and body of a plain request in one dialect."""
    bearer = {"authorization": f"Bearer {API_KEY}"}
    match dialect:
        case "openai":
            return PLAIN_PATHS[dialect], bearer, {"model": model, "messages": [USER], "stream": stream, **more}
        case "openai_responses":
            return PLAIN_PATHS[dialect], bearer, {"model": model, "input": "Hello", "stream": stream, **more}
        case "claude":
            headers = {"x-api-key": API_KEY, "anthropic-version": "2023-06-01"}
            return (
                PLAIN_PATHS[dialect],
                headers,
                {"model": model, "max_tokens": 9, "messages": [USER], "stream": stream, **more},
            )
    operation = "streamGenerateContent?alt=sse" if stream else "generateContent"
    path = PLAIN_PATHS[dialect].format(model=model, operation=operation)
    return path, {"x-goog-api-key": API_KEY}, {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}], **more}


async def post(mock: Mock, dialect: str, model: str, *, stream: bool = False, **more: Any) -> tuple[int, bytes]:
    """Post a plain request and read everything."""
    path, headers, body = wire(dialect, model, stream=stream, **more)
    sent: Any = {"json": body, "headers": headers, "allow_redirects": False}
    async with aiohttp.ClientSession() as session, session.post(mock.origin + path, **sent) as reply:
        return reply.status, await reply.read()


BREAKS = ("truncated-line", "truncated-reset", "truncated", "truncated-early", "hang", "hang-mid", "forever", "redirect")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", PLAIN_PATHS)
async def test_every_scenario_answers_in_every_dialect(mock, dialect, stream):
    for name in SCENARIOS:
        if name in BREAKS or (name == "slow" and stream):
            continue
        status, data = await post(mock, dialect, name, stream=stream)
        assert status in (200, 429, 502, 503) or name == "blocked", (name, status, data)
        assert data or name == "empty-body"


@pytest.mark.parametrize("name", ["unicode", "unicode-bytes"])
async def test_hostile_text_survives_the_sdks_that_read_it_well(mock, name):
    async with openai.AsyncOpenAI(base_url=f"{mock.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        whole = await client.chat.completions.create(model=name, messages=[USER])
    assert whole.choices[0].message.content == HOSTILE_TEXT
    _, data = await post(mock, "claude", name, stream=True)
    lines = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]
    assert "".join(line["delta"].get("text", "") for line in lines if line["type"] == "content_block_delta") == HOSTILE_TEXT


UNDERSTOOD = [
    name
    for name, step in SCENARIOS.items()
    if name not in (*BREAKS, "slow", "blocked")
    and step.raw is None
    and step.status == 200
    and step.fail_after is None
    and not step.bad_event
]


@pytest.mark.parametrize("name", UNDERSTOOD)
async def test_claudes_sdk_reads_the_same_whole_and_streamed(mock, name):
    asked: Any = {"model": name, "max_tokens": 9, "messages": [USER], "tools": CLAUDE_TOOLS}
    async with anthropic.AsyncAnthropic(base_url=mock.origin, api_key=API_KEY, max_retries=0) as client:
        whole = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            final = await stream.get_final_message()
    assert nameless(final) == nameless(whole)


@pytest.mark.parametrize("name", UNDERSTOOD)
async def test_openais_sdk_reads_the_same_responses_whole_and_streamed(mock, name):
    asked: Any = {"model": name, "input": "x", "tools": RESPONSES_TOOLS, "reasoning": {"summary": "auto"}}
    async with openai.AsyncOpenAI(base_url=f"{mock.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        whole = await client.responses.create(**asked)
        events = [event async for event in await client.responses.create(**asked, stream=True)]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert nameless(events[-1].response) == nameless(whole)


@pytest.mark.parametrize("name", [name for name in UNDERSTOOD if name not in ("filter", "length")])
async def test_openais_sdk_reads_the_same_chat_whole_and_streamed(mock, name):
    asked: Any = {"model": name, "messages": [USER], "tools": OPENAI_TOOLS, "logprobs": True, "top_logprobs": 2}
    async with openai.AsyncOpenAI(base_url=f"{mock.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        whole = await client.chat.completions.create(**asked)
        async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            final = await stream.get_final_completion()
    one, other = whole.choices[0], final.choices[0]
    assert (other.message.content, other.message.refusal) == (one.message.content, one.message.refusal)
    assert [function_of(call) for call in other.message.tool_calls or ()] == [
        function_of(call) for call in one.message.tool_calls or ()
    ]
    assert (other.finish_reason, final.usage) == (one.finish_reason, whole.usage)
    assert (other.logprobs.content if other.logprobs else []) == one.logprobs.content


def nameless(model: Any) -> Any:
    """A reply as JSON without what is new each time: ids and signatures."""
    text = model.model_dump_json(exclude_none=True)
    return json.loads(re.sub(r'"[^"]*_mock\d+[^"]*"|"[A-Za-z0-9+/]{30,}={0,2}"', '"#"', text))


async def test_interleaved_calls_are_put_together_by_the_sdk(mock):
    async with openai.AsyncOpenAI(base_url=f"{mock.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        asked: Any = {"model": "tools-interleaved", "messages": [USER], "tools": OPENAI_TOOLS}
        indexes = [
            delta.index
            async for chunk in await client.chat.completions.create(**asked, stream=True)
            for delta in chunk.choices[0].delta.tool_calls or ()
        ]
        async with client.chat.completions.stream(**asked) as stream:
            final = await stream.get_final_completion()
    assert indexes != sorted(indexes)
    assert [json.loads(call.function.arguments)["city"] for call in final.choices[0].message.tool_calls] == ["Paris", "Oslo"]


async def test_scripted_steps_come_in_order_and_then_the_name_decides(mock):
    mock.script([Step(text="one"), Step(text="", calls=(Call("f", "{}"),)), Step(status=500)])
    first = json.loads((await post(mock, "openai", "text"))[1])
    second = json.loads((await post(mock, "claude", "text"))[1])
    third, _ = await post(mock, "gemini", "text")
    fourth = json.loads((await post(mock, "openai", "text"))[1])
    assert first["choices"][0]["message"]["content"] == "one"
    assert second["content"][0]["name"] == "f"
    assert third == 500
    assert fourth["choices"][0]["message"]["content"] == "Hello from the mock."
    assert [request.path for request in mock.requests][2] == "/v1/models/text:generateContent"
    assert mock.last.body["model"] == "text"


@pytest.mark.parametrize("dialect", PLAIN_PATHS)
async def test_a_cut_stream_never_has_its_end_marker(mock, dialect):
    markers = {
        "openai": b"[DONE]",
        "openai_responses": b"response.completed",
        "claude": b"message_stop",
        "gemini": b"finishReason",
    }
    for name in ("truncated", "truncated-early", "truncated-line"):
        status, data = await post(mock, dialect, name, stream=True)
        assert status == 200
        assert markers[dialect] not in data
    assert not data.endswith((b"\n\n", b"\r\n\r\n"))
    _, whole = await post(mock, dialect, "text", stream=True)
    assert markers[dialect] in whole


@pytest.mark.parametrize("dialect", PLAIN_PATHS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_reset_breaks_the_connection(mock, dialect, stream):
    with pytest.raises(aiohttp.ClientError):
        await post(mock, dialect, "truncated-reset", stream=stream)


@pytest.mark.parametrize("dialect", PLAIN_PATHS)
@pytest.mark.parametrize("name", ["hang", "hang-mid", "forever"])
async def test_a_client_that_leaves_is_counted(mock, dialect, name):
    asking = asyncio.ensure_future(post(mock, dialect, name, stream=True))
    await mock.was_asked()
    asking.cancel()
    await asyncio.wait([asking])
    await mock.was_aborted()
    await mock.is_idle()
    assert mock.aborted == 1


async def test_a_held_answer_goes_on_when_released(mock):
    asking = asyncio.ensure_future(post(mock, "claude", "hang", stream=True))
    await mock.was_asked()
    mock.release()
    status, data = await asking
    assert status == 200
    assert b"message_stop" in data
    assert mock.aborted == 0


async def test_an_error_in_the_middle_reaches_the_sdk(mock):
    async with anthropic.AsyncAnthropic(base_url=mock.origin, api_key=API_KEY, max_retries=0) as client:
        with pytest.raises(anthropic.APIStatusError, match="Overloaded in the middle"):
            async with client.messages.stream(model="fail-mid", max_tokens=9, messages=[USER]) as stream:
                await stream.get_final_message()
    async with openai.AsyncOpenAI(base_url=f"{mock.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        with pytest.raises(openai.APIError, match="Overloaded in the middle"):
            async for _ in await client.chat.completions.create(model="fail-mid", messages=[USER], stream=True):
                pass


# --- the mock alone: refusals ----------------------------------------------------------------------------------------


async def refusal(mock: Mock, dialect: str, model: str = "text", **more: Any) -> str:
    """The message of a request that must be refused with 400."""
    status, data = await post(mock, dialect, model, **more)
    assert status == 400, data
    return str(json.loads(data)["error"]["message"])


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("openai", "Unrecognized request argument supplied: nonsense"),
        ("openai_responses", "Unknown parameter: 'nonsense'"),
        ("claude", "nonsense: Extra inputs are not permitted"),
        ("gemini", 'Unknown name "nonsense": Cannot find field'),
    ],
)
async def test_unknown_fields_are_refused_in_the_vendors_words(mock, dialect, words):
    assert words in await refusal(mock, dialect, nonsense=1)


@pytest.mark.parametrize(
    ("dialect", "header", "status"),
    [
        ("openai", {"authorization": "Bearer wrong"}, 401),
        ("openai_responses", {}, 401),
        ("claude", {"authorization": "Bearer wrong"}, 401),
        ("claude", {"x-api-key": "wrong", "authorization": f"Bearer {API_KEY}"}, 401),
        ("gemini", {"x-goog-api-key": "wrong"}, 400),
        ("gemini", {}, 403),
    ],
)
async def test_wrong_keys_are_refused(mock, dialect, header, status):
    path, _, body = wire(dialect, "text", stream=False)
    sent: Any = {"json": body, "headers": {"anthropic-version": "2023-06-01", **header}}
    async with aiohttp.ClientSession() as session, session.post(mock.origin + path, **sent) as reply:
        assert reply.status == status
        assert ("API_KEY_INVALID" in await reply.text()) == (status == 400)


async def test_the_key_may_stand_in_geminis_query(mock):
    path, _, body = wire("gemini", "text", stream=False)
    async with aiohttp.ClientSession() as session, session.post(f"{mock.origin}{path}?key={API_KEY}", json=body) as reply:
        assert reply.status == 200


TOOL_CALLS = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
USES = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "weather", "input": {}}]}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
TEXT = {"type": "text", "text": "and"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"messages": [TOOL_CALLS, USER]}, "did not have response messages: a"),
        ({"messages": [{"role": "tool", "tool_call_id": "a", "content": ""}]}, "must be a response to"),
        ({"messages": [{"role": "user", "content": "x", "age": 3}]}, "Unknown parameter: 'messages[0].age'"),
        ({"messages": []}, "messages"),
        ({"parallel_tool_calls": False}, "only allowed when 'tools'"),
        ({"stop": list("abcde")}, "maximum length 4"),
        ({"response_format": {"type": "json_object"}}, "must contain the word 'json'"),
        ({"model": "gpt-5", "max_tokens": 3}, "Use 'max_completion_tokens' instead"),
        ({"model": "o3-mini", "temperature": 0.5}, "does not support 0.5"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "does not match pattern"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": SCHEMA}}]},
            "additionalProperties",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "nope"}}]}]}, "valid URL"),
    ],
)
async def test_openai_rules_hold(mock, more, words):
    assert words in await refusal(mock, "openai", **more)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ({"temperature": 1.5}, "temperature"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, 'first message must use the "user" role'),
        ({"messages": [{"role": "user", "content": " "}]}, "text content blocks must be non-empty"),
        ({"messages": [USER, USES, USER], "tools": CLAUDE_TOOLS}, "without `tool_result` blocks immediately after: a"),
        ({"messages": [USER, USES, {"role": "user", "content": [TEXT, RESULT]}], "tools": CLAUDE_TOOLS}, "must come first"),
        ({"messages": [{"role": "user", "content": [RESULT]}], "tools": CLAUDE_TOOLS}, "unexpected `tool_use_id`"),
        ({"messages": [USER, USES, {"role": "user", "content": [RESULT]}]}, "must define tools"),
        ({"tools": [{"name": "f", "input_schema": {}}]}, "Input should be 'object'"),
        ({"max_tokens": 1024, "thinking": {"type": "enabled", "budget_tokens": 1024}}, "must be greater than"),
        ({"max_tokens": 1024, "thinking": {"type": "enabled", "budget_tokens": 9}}, "greater than or equal to 1024"),
        (
            {"thinking": {"type": "adaptive"}, "tools": CLAUDE_TOOLS, "tool_choice": {"type": "any"}},
            "forces tool use",
        ),
        (
            {
                "messages": [USER, USES, {"role": "user", "content": [RESULT]}],
                "tools": CLAUDE_TOOLS,
                "max_tokens": 2000,
                "thinking": {"type": "enabled", "budget_tokens": 1024},
            },
            "Expected `thinking`",
        ),
        (
            {
                "messages": [
                    USER,
                    {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "eA=="}, TEXT]},
                    USER,
                ]
            },
            "Invalid `signature`",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "eA=="}},
                        ],
                    }
                ]
            },
            "media_type",
        ),
    ],
)
async def test_claude_rules_hold(mock, more, words):
    assert words in await refusal(mock, "claude", **more)


async def test_sampling_is_refused_on_the_new_version_only(mock):
    status, _ = await post(mock, "claude", "text", temperature=1.0)
    assert status == 200
    async with anthropic.AsyncAnthropic(base_url=mock.origin, api_key=API_KEY, max_retries=0) as client:
        with pytest.raises(anthropic.BadRequestError, match="temperature: Extra inputs are not permitted"):
            await client.messages.create(model="text", max_tokens=9, messages=[USER], extra_body={"temperature": 1.0})
    assert mock.last.headers["anthropic-version"] == "2026-10-21"
    assert "x-api-key" not in mock.last.headers


def turns(*parts: Mapping[str, Any] | list[Any]) -> dict[str, Any]:
    """Gemini contents, a user's question first, then model and user in turns."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": "q"}]}]
    for number, part in enumerate(parts):
        role = "user" if number % 2 else "model"
        contents.append({"role": role, "parts": part if isinstance(part, list) else [part]})
    return {"contents": contents}


CALL = {"functionCall": {"name": "f", "args": {}}}
ANSWER = {"functionResponse": {"name": "f", "response": {}}}


def declares(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": [{"name": "f", "parameters": parameters}]}]}


@pytest.mark.parametrize(
    ("model", "more", "words"),
    [
        ("text", {"contents": []}, "contents is not specified"),
        ("text", {"contents": [{"parts": []}]}, "parts must not be empty"),
        ("text", {"contents": [{"parts": [{"text": ""}]}]}, "must have one initialized field"),
        ("text", {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "€"}}]}]}, "Base64 decoding failed"),
        ("text", {"generationConfig": {"top_n": 1}}, "Unknown name \"top_n\" at 'generation_config'"),
        ("text", turns([CALL, CALL], ANSWER), "number of function response parts"),
        ("text", turns(CALL, {"functionResponse": {"name": "g", "response": {}}}), "names of the function response"),
        ("text", {"contents": [{"role": "model", "parts": [CALL]}]}, "function call turn comes immediately after"),
        ("gemini-3-pro", turns(CALL, ANSWER), "missing a thought_signature"),
        ("gemini-3-pro", turns({**CALL, "thoughtSignature": "AAAA"}, ANSWER), "not valid"),
        ("text", declares({"type": "object", "additionalProperties": False}), 'Unknown name "additionalProperties"'),
        ("text", declares({"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}}), "items: missing field"),
        (
            "text",
            declares({"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "enum": ["1"]}}}),
            "only allowed for STRING",
        ),
        (
            "text",
            {
                **declares({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}),
                "toolConfig": {"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["f"]}},
            },
            "can only be set when",
        ),
    ],
)
async def test_gemini_rules_hold(mock, model, more, words):
    assert words in await refusal(mock, "gemini", model, **more)


@pytest.mark.parametrize("word", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])
@pytest.mark.parametrize("encoded", [False, True])
async def test_gemini_accepts_the_documented_words_for_a_signature(mock, word, encoded):
    token = base64.b64encode(word.encode()).decode() if encoded else word
    status, data = await post(mock, "gemini", "gemini-3-pro", **turns({**CALL, "thought_signature": token}, ANSWER))
    assert status == 200, data


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"input": [{"type": "function_call_output", "call_id": "a", "output": ""}]}, "No tool call found"),
        ({"input": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]}, "No tool output found"),
        ({"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]}, "Supported values"),
        ({"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "Supported values"),
        ({"input": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="}]}, "could not be verified"),
        ({"previous_response_id": "resp_1"}, "not found"),
        ({"model": "gpt-5", "temperature": 0}, "does not support 0"),
    ],
)
async def test_responses_rules_hold(mock, more, words):
    assert words in await refusal(mock, "openai_responses", **more)
