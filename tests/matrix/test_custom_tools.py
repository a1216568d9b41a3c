"""Tools that take free text (custom tools of OpenAI's two APIs): declared, called, answered, over every upstream."""

import json
from typing import Any

import pytest

from tests.matrix.neutral import UPSTREAMS
from tests.matrix.readers import read
from tests.upstreams.server import Call, Mock, Step

PATCH = 'begin\n+ "naïve" \\ ☃\nend'
CALL = Step(text="", calls=(Call("apply", json.dumps({"input": PATCH}), "call_1"),))
GRAMMAR = {"syntax": "lark", "definition": "start: /.+/"}
MODELS = {"openai": "gpt-5", "openai_responses": "gpt-5"}
upstreams = pytest.mark.parametrize("upstream", UPSTREAMS)
streams = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


async def chat(callers: Any, origin: str, *, stream: bool, **body: Any) -> tuple[Any, Any]:
    """A chat completion; the calls' ids, names and inputs, and why it ended."""
    create = callers.openai.with_options(base_url=f"{origin}/v1").chat.completions.create
    if not stream:
        choice = (await create(**body)).choices[0]
        return [(call.id, call.custom.name, call.custom.input) for call in choice.message.tool_calls or ()], choice
    calls: dict[int, list[str]] = {}
    text = ""
    async for chunk in await create(**body, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                # The SDK's type for deltas knows functions only; a custom call is an extra field of it.
                custom = call.custom if isinstance(call.custom, dict) else call.custom.model_dump()
                known = calls.setdefault(call.index, [call.id, custom.get("name"), ""])
                known[2] += custom.get("input") or ""
    return [tuple(call) for call in calls.values()], text


def declared(mock: Mock) -> Any:
    """The tools of the last request."""
    return mock.last.body["tools"]


@upstreams
@streams
async def test_a_chat_callers_custom_tool_is_called_and_answered(mock: Mock, callers, origin, upstream, stream):
    model = MODELS.get(upstream, "text")
    tool = {"type": "custom", "custom": {"name": "apply", "description": "Applies.",
                                         "format": {"type": "grammar", "grammar": GRAMMAR}}}  # fmt: skip
    asked: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Go"}], "tools": [tool]}
    asked["tool_choice"] = {"type": "custom", "custom": {"name": "apply"}}
    mock.script([CALL])
    calls, _ = await chat(callers, f"{origin}/p/{upstream}", stream=stream, **asked)
    assert calls == [("call_1", "apply", PATCH)] or (upstream == "gemini" and calls[0][1:] == ("apply", PATCH))
    if upstream == "openai":
        assert declared(mock) == [tool]
    elif upstream == "openai_responses":
        assert declared(mock) == [
            {"type": "custom", "name": "apply", "description": "Applies.", "format": {"type": "grammar", **GRAMMAR}}
        ]
        assert mock.last.body["tool_choice"] == {"type": "custom", "name": "apply"}
    else:
        (_, description, schema), *_ = read(mock.last).tools
        assert description is not None and "Applies." in description and GRAMMAR["definition"] in description
        assert schema["properties"] == {"input": {"type": "string"}}
    said = {"role": "assistant", "content": None,
            "tool_calls": [{"id": calls[0][0], "type": "custom", "custom": {"name": "apply", "input": PATCH}}]}  # fmt: skip
    result = {"role": "tool", "tool_call_id": calls[0][0], "content": "Applied."}
    asked["messages"] = [*asked["messages"], said, result]
    del asked["tool_choice"]
    mock.script([Step(text="Done.")])
    again, ending = await chat(callers, f"{origin}/p/{upstream}", stream=stream, **asked)
    assert again == [] and (ending if stream else ending.message.content) == "Done."
    raw = mock.last.raw.decode()
    assert "Applied." in raw and "naïve" in raw
    if upstream == "openai_responses":
        assert [item.get("type") for item in mock.last.body["input"]] == [None, "custom_tool_call", "custom_tool_call_output"]


@upstreams
@streams
async def test_a_responses_callers_custom_tool_is_called_and_answered(mock: Mock, callers, origin, upstream, stream):
    model = MODELS.get(upstream, "text")
    tool = {"type": "custom", "name": "apply", "description": "Applies.", "format": {"type": "grammar", **GRAMMAR}}
    client = callers.openai.with_options(base_url=f"{origin}/p/{upstream}/v1")
    asked: dict[str, Any] = {"model": model, "input": [{"role": "user", "content": "Go"}], "tools": [tool]}

    async def ask(**body: Any) -> Any:
        if not stream:
            return await client.responses.create(**body)
        pieces = ""
        async with client.responses.stream(**body) as events:
            async for event in events:
                pieces += event.delta if event.type == "response.custom_tool_call_input.delta" else ""
            final = await events.get_final_response()
        assert pieces == "".join(item.input for item in final.output if item.type == "custom_tool_call")
        return final

    mock.script([CALL])
    (call,) = (await ask(**asked)).output
    assert (call.type, call.name, call.input) == ("custom_tool_call", "apply", PATCH)
    if upstream == "openai":
        format = {"type": "grammar", "grammar": GRAMMAR}
        assert declared(mock) == [{"type": "custom", "custom": {"name": "apply", "description": "Applies.", "format": format}}]
    given = {"type": "custom_tool_call", "call_id": call.call_id, "name": "apply", "input": PATCH}
    output = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "Applied."}
    asked["input"] = [*asked["input"], given, output]
    mock.script([Step(text="Done.")])
    assert (await ask(**asked)).output_text == "Done."
    assert "Applied." in mock.last.raw.decode()
    if upstream == "openai":
        (said,) = (message for message in mock.last.body["messages"] if message["role"] == "assistant")
        assert said["tool_calls"][0]["custom"] == {"name": "apply", "input": PATCH}


async def test_a_server_that_is_not_openais_gets_a_function(mock: Mock, callers, origin):
    tool = {"type": "custom", "name": "apply"}
    client = callers.openai.with_options(base_url=f"{origin}/p/openai/v1")
    await client.responses.create(model="qwen3", input="Go", tools=[tool])
    assert declared(mock)[0]["type"] == "function"
