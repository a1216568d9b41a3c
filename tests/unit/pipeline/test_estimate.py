"""A guess at tokens is near enough to be of use, in every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.estimates import MEDIA_TOKENS, MESSAGE_OVERHEAD
from agentui.jsonio import Json
from agentui.pipeline.tokens import estimate_tokens
from tests.unit.pipeline.parts import make_incoming


def estimate(*messages: Json, **more: Json) -> int:
    return estimate_tokens(make_incoming({"model": "m", "messages": list(messages), **more}).chat)


def user(content: Json) -> Json:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("привет", 3), ("日本語", 2), ("abcd日本語", 3)],
)
def test_text_counts_by_its_bytes_and_cjk_by_its_characters(text: str, tokens: int) -> None:
    assert estimate(user(text)) == MESSAGE_OVERHEAD + tokens


def test_every_message_has_an_overhead() -> None:
    assert estimate(user("abcd"), user("abcd")) == 2 * (MESSAGE_OVERHEAD + 1)


def test_a_picture_counts_as_one_and_not_by_its_bytes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 40_000}}
    assert estimate(user([{"type": "text", "text": "abcd"}, picture])) == MESSAGE_OVERHEAD + 1 + MEDIA_TOKENS


def test_tools_calls_and_results_count() -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "abcd", "parameters": {"type": "object"}}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
    talk = [user("abcd"), {"role": "assistant", "content": None, "tool_calls": [call]}]
    result = {"role": "tool", "tool_call_id": "c1", "content": "abcdefgh"}
    bare = estimate(user("abcd"))
    assert estimate(user("abcd"), tools=[tool]) == bare + 2 + len('{"type":"object"}') // 4
    assert estimate(*talk) == bare + MESSAGE_OVERHEAD + 3
    assert estimate(*talk, result) == bare + 2 * MESSAGE_OVERHEAD + 3 + 2


@given(st.text(max_size=200), st.text(max_size=50))
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert 1 <= estimate(user(text)) <= estimate(user(text + more))
