"""What a caller sends beside words is kept with the turn."""

import base64

import pytest

from tests.turns.house import KEY, House, Json

PIXELS = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
URL = "data:image/png;base64," + base64.b64encode(PIXELS).decode()


async def send(house: House, messages: Json, **more: Json) -> str:
    """A turn of the session ``s``: its floor."""
    body = {"model": "text", "messages": messages, **more}
    headers = {**KEY, "x-agentui-session": "s"}
    url = f"{house.server.origin}/p/plain/v1/chat/completions"
    async with house.memory.http.post(url, json=body, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return answer.headers["x-agentui-floor"]


async def said(house: House, floor: str, kind: str = "input") -> Json:
    """The message on a floor's page."""
    [message] = await house.memory.get(f"/messages?page_id={await house.memory.page(floor, kind)}")
    return message


async def test_a_picture_stays_with_its_message_and_is_given_back(house: House) -> None:
    asked = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}]
    message = await said(house, await send(house, [{"role": "user", "content": asked}]))
    text, image = message["parts"]
    assert (message["content"], text) == ("What is it?", {"type": "text", "text": "What is it?"})
    assert image | {"blob": "..."} == {
        "type": "image",
        "media_type": "image/png",
        "detail": "low",
        "blob": "...",
        "size": len(PIXELS),
    }
    path = f"{house.server.origin}/messages/{message['id']}/blobs/{image['blob']}"
    async with house.memory.http.get(path) as answer:
        assert (answer.status, answer.content_type) == (200, "application/octet-stream")
        assert answer.headers["content-disposition"] == "attachment"
        assert await answer.read() == PIXELS
    status, body = await house.memory.call("GET", f"/messages/{message['id']}/blobs/{'0' * 64}")
    assert (status, body["error"]["code"]) == (404, "not_found")


async def test_the_results_of_tools_are_kept_and_words_alone_are_not_told_twice(house: House) -> None:
    asked = {"role": "user", "content": "How warm is it?"}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    first = await said(house, await send(house, [asked]))
    assert (first["content"], first["parts"]) == ("How warm is it?", None)
    history = [
        asked,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "12"},
    ]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    second = await said(house, await send(house, history, tools=tools))
    assert second["parts"] == [{"type": "tool_result", "call_id": "c1", "content": [{"type": "text", "text": "12"}]}]


@pytest.mark.parametrize(("pipeline", "dialect"), [("claude", "openai"), ("plain", "claude"), ("raw", "claude")])
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answers_thoughts_and_tool_calls_are_kept(house: House, pipeline: str, dialect: str, stream: bool) -> None:
    got = await house.turn(pipeline=pipeline, dialect=dialect, model="thinking-tool", stream=stream, session="s")
    message = await said(house, got.headers["x-agentui-floor"], "output")
    thought, call = message["parts"]
    assert (thought["type"], thought["text"], thought["signed_by"]) == ("thinking", "I need the tool.", "claude")
    assert thought["signature"]
    assert (call["type"], call["name"], set(call)) == ("tool_call", call["name"], {"type", "id", "name", "arguments"})
    [shown] = [page for page in await timeline(house, got.headers["x-agentui-session"]) if page["role"] == "assistant"]
    assert shown["parts"] == message["parts"]


async def timeline(house: House, session: str) -> Json:
    """The messages of a session's last floor."""
    return (await house.memory.get(f"/sessions/{session}/timeline"))["floors"][-1]["messages"]
