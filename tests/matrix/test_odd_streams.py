"""Streams that are not quite as the dialect says, refusals that no retry mends, and what Claude compacted."""

import pytest

from tests.upstreams.server import API_KEY, Step
from tests.upstreams.step import Raw

BEARER = {"authorization": f"Bearer {API_KEY}"}
HELLO = {"model": "text", "messages": [{"role": "user", "content": "Hi"}]}
CHUNK = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Well."},"finish_reason":null}]}\n\n'


@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain; charset=utf-8"])
@pytest.mark.parametrize("end", [b"data: [DONE]", b"data: [DONE]\n", b"data: [DONE]\n\n"])
async def test_a_stream_without_its_last_line_or_its_type_is_whole(session, mock, origin, kind, end):
    mock.script([Step(raw=Raw(CHUNK + end, kind))])
    body = {**HELLO, "max_tokens": 9, "stream": True}
    async with session.post(f"{origin}/p/openai/v1/messages", json=body, headers={"x-api-key": API_KEY}) as reply:
        told = await reply.text()
    assert reply.status == 200, told
    assert "Well." in told and "message_stop" in told and "event: error" not in told


async def test_a_stream_that_breaks_off_is_none_all_the_same(session, mock, origin):
    mock.script([Step(raw=Raw(CHUNK + b"data: [DO", "text/event-stream"))] * 3)
    body = {**HELLO, "max_tokens": 9, "stream": True}
    async with session.post(f"{origin}/p/openai/v1/messages", json=body, headers={"x-api-key": API_KEY}) as reply:
        assert "event: error" in await reply.text()


async def test_json_that_is_called_plain_text_is_an_answer(session, mock, origin):
    whole = b'{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Well."},"finish_reason":"stop"}]}'
    mock.script([Step(raw=Raw(whole, "text/plain"))])
    body = {**HELLO, "max_tokens": 9, "stream": True}
    async with session.post(f"{origin}/p/openai/v1/messages", json=body, headers={"x-api-key": API_KEY}) as reply:
        assert "Well." in await reply.text()


async def test_clients_are_told_not_to_repeat_what_the_configuration_refuses(session, mock, origin):
    body = {"model": "m", "input": "x"}
    async with session.post(f"{origin}/p/claude/v1/embeddings", json=body, headers=BEARER) as reply:
        assert reply.status == 501
        assert reply.headers["x-should-retry"] == "false"
    async with session.post(f"{origin}/p/openai/v1/chat/completions", json={**HELLO, "messages": 1}, headers=BEARER) as reply:
        assert reply.status == 400
        assert "x-should-retry" not in reply.headers


async def test_what_claude_compacted_is_words_for_others(session, mock, origin):
    said = {"role": "assistant", "content": [{"type": "compaction", "content": "They met at sea."}]}
    body = {"model": "text", "max_tokens": 9, "messages": [*HELLO["messages"], said, {"role": "user", "content": "And?"}]}
    async with session.post(f"{origin}/p/openai/v1/messages", json=body, headers={"x-api-key": API_KEY}) as reply:
        assert reply.status == 200, await reply.text()
    assert mock.last.body["messages"][1] == {"role": "assistant", "content": "They met at sea."}
