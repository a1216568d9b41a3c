"""The Vercel AI SDK's wire shapes: ``openai(m)`` and ``openai.chat(m)``, ``anthropic(m)`` and ``google(m)``.

Version 6 sends to /v1/responses by default and leaves ``store`` at its default, so in the second step of a tool loop it
points to the first step's items instead of sending them.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.matrix.neutral import UPSTREAMS
from tests.matrix.readers import read
from tests.upstreams.server import API_KEY, Call, Mock, Step

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city"}},
    "required": ["city"],
    "additionalProperties": False,
}
CALLS = Step(text="Let me look.", thinking="I need the tool.", calls=(Call("weather", '{"city": "Paris"}'),))
BEARER = {"authorization": f"Bearer {API_KEY}", "user-agent": "ai-sdk/openai/3.0.141 runtime/node.js/24"}
CLAUDE = {"x-api-key": API_KEY, "anthropic-version": "2023-06-01", "anthropic-beta": "fine-grained-tool-streaming-2025-05-14"}
GOOGLE = {"x-goog-api-key": API_KEY, "user-agent": "ai-sdk/google/3.0.141 runtime/node.js/24"}
upstreams = pytest.mark.parametrize("upstream", UPSTREAMS)
foreign = pytest.mark.parametrize("upstream", [name for name in UPSTREAMS if name != "openai_responses"])
streams = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


class Wire:
    """A plain HTTP client on agentui."""

    def __init__(self, session: aiohttp.ClientSession, origin: str) -> None:
        self._session = session
        self._origin = origin

    async def post(self, upstream: str, path: str, headers: Any, body: Any) -> tuple[int, str]:
        """Send to the pipeline of an upstream, and read everything."""
        url = f"{self._origin}/p/{upstream}{path}"
        async with self._session.post(url, headers=headers, json=body) as reply:
            return reply.status, await reply.text()


@pytest_asyncio.fixture(loop_scope="package")
async def wire(origin: str) -> AsyncIterator[Wire]:
    """The client."""
    async with aiohttp.ClientSession() as session:
        yield Wire(session, origin)


def payloads(text: str) -> list[Any]:
    """The JSON of every event; [DONE] is left out."""
    lines = [line[6:] for line in text.replace("\r\n", "\n").split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


# --- openai.chat(m) --------------------------------------------------------------------------------------------------


@upstreams
async def test_chat_streams_with_tools(wire: Wire, mock: Mock, upstream):
    function = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA, "strict": False}
    body = {
        "model": "some-model",
        "max_tokens": 500,
        "temperature": 0,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How is the weather?"}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "auto",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    mock.script(CALLS)
    status, text = await wire.post(upstream, "/v1/chat/completions", BEARER, body)
    assert status == 200, text
    chunks = payloads(text)
    assert text.endswith("data: [DONE]\n\n")
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Let me look."
    pieces = [call for delta in deltas for call in delta.get("tool_calls") or ()]
    assert pieces[0]["function"]["name"] == "weather"
    assert json.loads("".join(call["function"]["arguments"] for call in pieces)) == {"city": "Paris"}
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["prompt_tokens"] == 11
    body["messages"] += [
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": pieces[0]["id"], "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": pieces[0]["id"], "content": '{"degrees":21}'},
    ]
    mock.script(Step(text="Warm."))
    status, text = await wire.post(upstream, "/v1/chat/completions", BEARER, body)
    assert status == 200, text
    assert [part[3] for part in read(mock.last).parts("result")] == ['{"degrees":21}']


@upstreams
async def test_chat_asks_for_objects(wire: Wire, mock: Mock, upstream):
    form = {"type": "json_schema", "json_schema": {"schema": SCHEMA, "strict": True, "name": "response"}}
    body = {"model": "some-model", "messages": [{"role": "user", "content": "Where?"}], "response_format": form}
    mock.script(Step(text='{"city": "Paris"}'))
    status, text = await wire.post(upstream, "/v1/chat/completions", BEARER, body)
    assert status == 200, text
    assert json.loads(text)["choices"][0]["message"]["content"] == '{"city": "Paris"}'
    assert read(mock.last).schema["properties"] == SCHEMA["properties"]


# --- openai(m) -------------------------------------------------------------------------------------------------------


def responses_body(stream: bool) -> dict[str, Any]:
    """The first step of a tool loop."""
    tool = {"type": "function", "name": "weather", "description": "Tells.", "parameters": SCHEMA, "strict": False}
    body: dict[str, Any] = {
        "model": "some-model",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "How is the weather?"}]},
        ],
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 500,
        "tools": [tool],
        "tool_choice": "auto",
    }
    return {**body, "stream": True} if stream else body


async def first_step(wire: Wire, mock: Mock, upstream: str, body: Any) -> list[Any]:
    """The output items of an answer that thinks, speaks and calls."""
    mock.script(CALLS)
    status, text = await wire.post(upstream, "/v1/responses", BEARER, body)
    assert status == 200, text
    response = payloads(text)[-1]["response"] if body.get("stream") else json.loads(text)
    assert response["status"] == "completed"
    return list(response["output"])


def second_step(body: Any, items: list[Any]) -> Any:
    """The first step's items by reference, and the result."""
    call = next(item for item in items if item["type"] == "function_call")
    references = [{"type": "item_reference", "id": item["id"]} for item in items]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"degrees":21}'}
    return {**body, "input": [*body["input"], *references, output]}


@foreign
@streams
async def test_references_to_an_answer_made_here_are_found(wire: Wire, mock: Mock, upstream, stream):
    body = responses_body(stream)
    items = await first_step(wire, mock, upstream, body)
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call"]
    mock.script(Step(text="Warm."))
    status, text = await wire.post(upstream, "/v1/responses", BEARER, second_step(body, items))
    assert status == 200, text
    seen = read(mock.last)
    assert seen.conversation()[:2] == [("user", "How is the weather?"), ("assistant", "Let me look.")]
    assert [part[2:] for part in seen.parts("call")] == [("weather", {"city": "Paris"})]
    assert [part[3] for part in seen.parts("result")] == ['{"degrees":21}']
    if upstream == "claude":
        assert len(seen.parts("thought")) == 1


@foreign
async def test_references_are_found_by_whichever_vendor_is_asked_next(wire: Wire, mock: Mock, upstream):
    body = responses_body(stream=False)
    items = await first_step(wire, mock, upstream, body)
    for later in UPSTREAMS:
        mock.script(Step(text="Warm."))
        status, text = await wire.post(later, "/v1/responses", BEARER, second_step(body, items))
        assert status == 200, (later, text)
        assert [part[3] for part in read(mock.last).parts("result")] == ['{"degrees":21}']


async def test_references_go_to_their_own_vendor_as_they_are(wire: Wire, mock: Mock):
    body = responses_body(stream=False)
    body["input"].append({"type": "item_reference", "id": "msg_kept_at_openai"})
    await wire.post("openai_responses", "/v1/responses", BEARER, body)
    assert mock.last.body == body


@foreign
@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"input": [{"type": "item_reference", "id": "msg_nobody_knows"}, {"role": "user", "content": "go on"}]}, "input"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
    ],
)
async def test_what_is_kept_elsewhere_is_an_error_that_names_it(wire: Wire, mock: Mock, upstream, more, field):
    status, text = await wire.post(upstream, "/v1/responses", BEARER, {**responses_body(stream=False), **more})
    error = json.loads(text)["error"]
    assert (status, error["param"]) == (400, field)
    assert field in error["message"]
    assert mock.requests == []


@upstreams
@streams
async def test_without_storage_items_come_whole(wire: Wire, mock: Mock, upstream, stream):
    body = {**responses_body(stream), "store": False, "include": ["reasoning.encrypted_content"]}
    items = await first_step(wire, mock, upstream, body)
    call = next(item for item in items if item["type"] == "function_call")
    thoughts = [item for item in items if item["type"] == "reasoning"]
    words = next(item for item in items if item["type"] == "message")
    content = [{"type": "output_text", "text": words["content"][0]["text"]}]
    body["input"] += [
        *({key: thought[key] for key in ("type", "id", "encrypted_content", "summary")} for thought in thoughts),
        {"role": "assistant", "content": content, "id": words["id"]},
        {key: call[key] for key in ("type", "call_id", "name", "arguments", "id")},
        {"type": "function_call_output", "call_id": call["call_id"], "output": '{"degrees":21}'},
    ]
    mock.script(Step(text="Warm."))
    status, text = await wire.post(upstream, "/v1/responses", BEARER, body)
    assert status == 200, text
    assert [part[3] for part in read(mock.last).parts("result")] == ['{"degrees":21}']


# --- anthropic(m) ----------------------------------------------------------------------------------------------------


@upstreams
async def test_anthropic_goes_through_a_tool_loop(wire: Wire, mock: Mock, upstream):
    tool = {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}
    body: dict[str, Any] = {
        "model": "some-model",
        "max_tokens": 6000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "How is the weather?"}]}],
        "tools": [tool],
        "tool_choice": {"type": "auto"},
        "stream": True,
    }
    mock.script(CALLS)
    status, text = await wire.post(upstream, "/v1/messages", CLAUDE, body)
    assert status == 200, text
    events = payloads(text)
    assert events[0]["type"] == "message_start" and events[-1]["type"] == "message_stop"
    blocks = [dict(event["content_block"]) for event in events if event["type"] == "content_block_start"]
    for event in events:
        if event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            for name in ("text", "thinking", "signature", "partial_json"):
                if name in delta:
                    block[name] = block.get(name, "") + delta[name]
    for block in blocks:
        if "partial_json" in block:
            block["input"] = json.loads(block.pop("partial_json"))
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]
    result = {"type": "tool_result", "tool_use_id": blocks[2]["id"], "content": '{"degrees":21}'}
    body["messages"] += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
    mock.script(Step(text="Warm."))
    status, text = await wire.post(upstream, "/v1/messages", CLAUDE, body)
    assert status == 200, text
    assert [part[3] for part in read(mock.last).parts("result")] == ['{"degrees":21}']


# --- google(m) -------------------------------------------------------------------------------------------------------


@upstreams
async def test_google_goes_through_a_tool_loop(wire: Wire, mock: Mock, upstream):
    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "The city"}}, "required": ["city"]}
    declared = {"name": "weather", "description": "Tells the weather.", "parameters": parameters}
    body: dict[str, Any] = {
        "generationConfig": {"maxOutputTokens": 6000, "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2000}},
        "contents": [{"role": "user", "parts": [{"text": "How is the weather?"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [declared]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    # Behind the OpenAI dialect stands one of Google's own endpoints, which refuses a call without its signature.
    model = "google/gemini-3-pro" if upstream == "openai" else "gemini-3-pro"
    path = f"/v1beta/models/{model}:streamGenerateContent?alt=sse"
    mock.script(CALLS)
    status, text = await wire.post(upstream, path, GOOGLE, body)
    assert status == 200, text
    parts = [part for chunk in payloads(text) for one in chunk["candidates"] for part in one["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts if not part.get("thought")) == "Let me look."
    (called,) = [part for part in parts if "functionCall" in part]
    assert called["functionCall"]["args"] == {"city": "Paris"}
    # The SDK keeps name, arguments and signature of a call, and no id.
    call = {"functionCall": {"name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": called["thoughtSignature"]}
    response = {"name": "weather", "content": {"degrees": 21}}
    body["contents"] += [
        {"role": "model", "parts": [{"text": "Let me look."}, call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": response}}]},
    ]
    mock.script(Step(text="Warm."))
    status, text = await wire.post(upstream, path, GOOGLE, body)
    assert status == 200, text
    assert b"21" in mock.last.raw and b"agentui" not in mock.last.raw
    if upstream == "claude":  # what is kept by the call's id is found by its mark
        assert [block["type"] for block in mock.last.body["messages"][1]["content"]] == ["thinking", "text", "tool_use"]
        assert mock.last.body["thinking"]["type"] == "enabled"
