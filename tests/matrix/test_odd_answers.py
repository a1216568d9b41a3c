"""Hard answers of every upstream, as the SDKs' own types read them: nothing missing, doubled, or out of order."""

import json
from itertools import permutations
from typing import Any

import pytest
from anthropic.types import Message, RawMessageStreamEvent
from google.genai import types as gemini
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from agentui.vendors.sse import SseDecoder
from tests.matrix.neutral import CALLERS
from tests.matrix.test_passthrough import post, request
from tests.upstreams.server import Call, Mock, Step
from tests.upstreams.step import Tokens

PARIS, OSLO = Call("weather", '{"city": "Paris"}', "call_1"), Call("weather", '{"city": "Oslo", "note": "☃"}', "call_2")
STEPS = {
    "nothing": Step(text="", chunks=()),
    "white space": Step(text=" \n ", chunks=(" ", "\n", " ")),
    "empty pieces": Step(text="ab", chunks=("", "a", "", "b", "")),
    "a thought alone": Step(text="", thinking="Hm."),
    "a thought and words": Step(text="So.", thinking="Hm."),
    "a thought, words and calls": Step(text="See:", thinking="Hm.", calls=(PARIS, OSLO)),
    "calls in turns": Step(text="", calls=(PARIS, OSLO), interleave=True),
    "many calls": Step(text="", calls=tuple(Call("weather", json.dumps({"city": str(n)}), f"call_{n}") for n in range(20))),
    "a call without arguments": Step(text="", calls=(Call("weather", "", "call_1"),)),
    "a call cut off by the limit": Step(text="I go", calls=(PARIS,), finish="length"),
    "filtered": Step(text="I was", finish="content_filter"),
    "a refusal": Step(text="", refusal="No."),
    "counted": Step(tokens=Tokens(100, 50, cache_read=60, cache_write=10, reasoning=20)),
    "words like events": Step(text="data: [DONE]\n\nevent: x\n\n", chunks=("data: [DO", "NE]\n\n", "event: x\n\n")),
}
TOOLS: dict[str, Any] = {
    "openai": {"tools": [{"type": "function", "function": {"name": "weather"}}], "stream_options": {"include_usage": True}},
    "openai_responses": {"tools": [{"type": "function", "name": "weather", "parameters": {}, "strict": False}]},
    "claude": {"tools": [{"name": "weather", "input_schema": {"type": "object"}}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "weather"}]}]},
}
EVENTS: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(ChatCompletionChunk),
    "openai_responses": TypeAdapter(ResponseStreamEvent),
    "claude": TypeAdapter(RawMessageStreamEvent),
    "gemini": TypeAdapter(gemini.GenerateContentResponse),
}
WHOLE: dict[str, Any] = {"openai": ChatCompletion, "openai_responses": Response, "claude": Message,
                         "gemini": gemini.GenerateContentResponse}  # fmt: skip


@pytest.mark.parametrize(("caller", "upstream"), list(permutations(CALLERS, 2)))
@pytest.mark.parametrize("name", STEPS)
async def test_a_hard_answer_is_what_the_sdks_types_say(session, mock: Mock, origin, caller, upstream, name):
    mock.script([STEPS[name]] * 2)
    more = {key: value for key, value in TOOLS[caller].items() if key != "stream_options"}
    path, body = request(caller, stream=False, **more)
    status, whole = await post(session, f"{origin}/p/{upstream}", caller, path, body)
    assert status == 200, whole
    path, body = request(caller, stream=True, **TOOLS[caller])
    _, streamed = await post(session, f"{origin}/p/{upstream}", caller, path, body)
    mock.forget_steps()
    # The types of Gemini's SDK take camel case by alias, and all take what they know only.
    answer = WHOLE[caller].model_validate(json.loads(whole))
    events = [json.loads(event.data) for event in SseDecoder().feed(streamed) if event.data.strip() != b"[DONE]"]
    told = [EVENTS[caller].validate_python(event) for event in events if event.get("type") != "ping"]
    SAME[caller](answer, told, events)


def _chat(answer: Any, told: Any, events: Any) -> None:
    """Chunks say what the whole answer says."""
    (choice,) = answer.choices
    deltas = [one for chunk in told for one in chunk.choices]
    assert "".join(one.delta.content or "" for one in deltas) == (choice.message.content or "")
    assert [one.finish_reason for one in deltas if one.finish_reason] == [choice.finish_reason]
    assert [chunk.usage for chunk in told if chunk.usage] == [answer.usage]
    heads = [call for one in deltas for call in one.delta.tool_calls or () if call.id]
    assert [call.index for call in heads] == list(range(len(choice.message.tool_calls or ())))
    for call, whole in zip(heads, choice.message.tool_calls or (), strict=True):
        pieces = [p.function.arguments or "" for one in deltas for p in one.delta.tool_calls or () if p.index == call.index]
        assert json.loads("".join(pieces)) == json.loads(whole.function.arguments)
        assert (call.function.name, call.type) == (whole.function.name, "function")
    assert (choice.finish_reason == "tool_calls") == (bool(heads) and choice.finish_reason not in ("length", "stop"))


def _responses(answer: Any, told: Any, events: Any) -> None:
    """The last event's response is the whole answer; every item begins and ends once, in its place."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    final = told[-1].response
    assert (final.status, final.incomplete_details, final.usage) == (answer.status, answer.incomplete_details, answer.usage)
    assert final.output_text == answer.output_text
    assert [item.type for item in final.output] == [item.type for item in answer.output]
    opened = [event["output_index"] for event in events if event["type"] == "response.output_item.added"]
    closed = [event["output_index"] for event in events if event["type"] == "response.output_item.done"]
    assert opened == sorted(closed) == list(range(len(final.output)))
    for place, item in enumerate(final.output):
        if item.type == "function_call":
            kind = "response.function_call_arguments.delta"
            pieces = [event["delta"] for event in events if event["type"] == kind and event["output_index"] == place]
            assert "".join(pieces) == item.arguments and json.loads(item.arguments) is not None


def _claude(answer: Any, told: Any, events: Any) -> None:
    """Blocks one after another; no text block is empty; the end says what the whole answer says."""
    kinds = [event["type"] for event in events if event["type"] != "ping"]
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
    open_block = None
    for event in events:
        if event["type"] == "content_block_start":
            assert open_block is None
            open_block = event["index"]
        elif event["type"] == "content_block_stop":
            assert open_block == event["index"]
            open_block = None
        elif event["type"] == "content_block_delta":
            assert open_block == event["index"]
    ending = next(event for event in events if event["type"] == "message_delta")
    assert ending["delta"]["stop_reason"] == answer.stop_reason
    assert ending["usage"]["output_tokens"] == answer.usage.output_tokens
    starts = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert starts == [block.type for block in answer.content]
    assert all(block.text for block in answer.content if block.type == "text")


def _gemini(answer: Any, told: Any, events: Any) -> None:
    """Chunks together have the parts of the whole answer, and the last says why it ended."""

    def parts(chunks: Any) -> tuple[str, str, list[Any]]:
        found = [part for chunk in chunks for one in chunk.candidates or () for part in (one.content.parts or ())]
        words = "".join(part.text for part in found if part.text and not part.thought)
        thoughts = "".join(part.text for part in found if part.text and part.thought)
        return words, thoughts, [(part.function_call.name, part.function_call.args) for part in found if part.function_call]

    assert parts(told) == parts([answer])
    reasons = [one.finish_reason for chunk in told for one in chunk.candidates or () if one.finish_reason]
    assert reasons == [answer.candidates[0].finish_reason]
    assert told[-1].usage_metadata == answer.usage_metadata


SAME = {"openai": _chat, "openai_responses": _responses, "claude": _claude, "gemini": _gemini}
