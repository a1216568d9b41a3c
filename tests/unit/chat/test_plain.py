"""A conversation of plain words is the same conversation as its messages, in every dialect."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.chat.messages import Media, Message, Text, text_message
from agentui.chat.plain import PlainMessages, as_plain, join_messages, plain_message
from agentui.chat.request import ChatRequest, VendorName, WireRequest
from agentui.jsonio import Json
from agentui.vendors.claude import Claude
from agentui.vendors.gemini import Gemini
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses

Talk = list[tuple[str, str]]

VENDORS = {vendor.name: vendor for vendor in (OpenAI(now=lambda: 0), OpenAIResponses(), Claude(), Gemini())}
PATHS: dict[VendorName, str] = {
    "openai": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
}
WORDS = st.sampled_from(["Hello", "json, please ", " \n", "\u00a0", "x"]) | st.text(min_size=1, max_size=5)
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), WORDS), min_size=1, max_size=6)
PAIRS = list(product(VENDORS, VENDORS))


def body_of(vendor: VendorName, talk: Talk, *, lists: bool = False) -> dict[str, Json]:
    """A request of these roles and words; ``lists`` writes them as lists of one part where the dialect has both forms."""
    leading = "" if vendor == "openai" or talk[0][0] != "system" else talk[0][1]
    rest = talk[1:] if leading else talk
    if vendor == "gemini":
        names = {"user": "user", "assistant": "model", "system": "user"}
        contents = [{"role": names[role], "parts": [{"text": text}]} for role, text in rest]
        return {"contents": contents} | ({"systemInstruction": {"parts": [{"text": leading}]}} if leading else {})
    kind = "input_text" if vendor == "openai_responses" else "text"
    messages = [{"role": role, "content": [{"type": kind, "text": text}] if lists else text} for role, text in rest]
    if vendor == "openai_responses":
        return {"model": "m", "input": messages} | ({"instructions": leading} if leading else {})
    return {"model": "m", "messages": messages} | ({"system": leading} if leading else {})


def parsed(vendor: VendorName, body: dict[str, Json]) -> ChatRequest:
    return VENDORS[vendor].parse_request(VENDORS[vendor].read_request(PATHS[vendor], {}, {}, body))


def spelled_out(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same conversation message by message, which takes the long road."""
    return tuple(messages)


def in_blocks(wire: WireRequest) -> WireRequest:
    """A request with Claude's string contents as the text blocks that they stand for."""
    messages = wire.body.get("messages")
    if wire.vendor != "claude" or messages is None:
        return wire
    blocks = [
        {**turn, "content": [{"type": "text", "text": turn["content"]}]} if isinstance(turn["content"], str) else turn
        for turn in messages
    ]
    return replace(wire, body={**wire.body, "messages": blocks})


@pytest.mark.parametrize(("caller", "upstream"), PAIRS)
@settings(max_examples=60, deadline=None)
@given(talk=TALKS, lists=st.booleans(), wants_json=st.booleans())
def test_plain_words_are_rendered_as_their_messages_are(
    caller: VendorName, upstream: VendorName, talk: Talk, lists: bool, wants_json: bool
) -> None:
    body = body_of(caller, talk, lists=lists)
    if caller == "openai" and wants_json:
        body["response_format"] = {"type": "json_object"}
    chat = parsed(caller, body)
    assert as_plain(chat.messages) is not None
    for asked in (chat, replace(chat, vendor="agentui", unmodelled=())):
        short = VENDORS[upstream].render_request(asked)
        long = VENDORS[upstream].render_request(replace(asked, messages=spelled_out(asked.messages)))
        assert in_blocks(short) == in_blocks(long)


@pytest.mark.parametrize("vendor", VENDORS)
@settings(max_examples=60, deadline=None)
@given(talk=TALKS, lists=st.booleans())
def test_plain_words_are_read_as_other_messages_are(vendor: VendorName, talk: Talk, lists: bool) -> None:
    body = body_of(vendor, talk, lists=lists)
    picture: dict[VendorName, Json] = {
        "openai": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]},
        "openai_responses": {"role": "user", "content": [{"type": "input_image", "image_url": "https://x.example/a.png"}]},
        "claude": {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}]},
        "gemini": {"role": "user", "parts": [{"fileData": {"fileUri": "https://x.example/a.png", "mimeType": "image/png"}}]},
    }
    key = {"openai_responses": "input", "gemini": "contents"}.get(vendor, "messages")
    seen = parsed(vendor, {**body, key: [*body[key], picture[vendor]]}).messages
    assert isinstance(seen[-1].parts[0], Media)
    assert as_plain(seen) is None
    assert parsed(vendor, body).messages == seen[:-1]


@pytest.mark.parametrize(
    ("vendor", "message"),
    [
        ("openai", {"role": "user", "content": "Hi", "name": "ann"}),
        ("openai", {"role": "user", "content": ""}),
        ("openai", {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}),
        ("openai", {"role": "user", "content": [{"type": "text", "text": ""}]}),
        ("openai", {"role": "user", "content": [{"type": "refusal", "refusal": "Hi"}]}),
        ("openai", {"role": "tool", "content": "Hi"}),
        ("claude", {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}),
        ("claude", {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]}),
        ("claude", {"role": "user", "content": ""}),
        ("gemini", {"role": "function", "parts": [{"text": "Hi"}]}),
        ("gemini", {"role": "user", "parts": [{"text": "Hi", "thoughtSignature": "cw=="}]}),
        ("gemini", {"parts": [{"text": "Hi"}]}),
        ("openai_responses", {"role": "user", "content": "Hi", "id": "msg_1"}),
        ("openai_responses", {"role": "user", "content": ""}),
        ("openai_responses", {"type": "function_call_output", "call_id": "c", "output": "Hi"}),
    ],
)
def test_whatever_holds_more_than_words_takes_the_long_road(vendor: VendorName, message: Json) -> None:
    key = {"openai_responses": "input", "gemini": "contents"}.get(vendor, "messages")
    chat = parsed(vendor, {"model": "m", key: [message]})
    assert as_plain(chat.messages) is None
    assert len(chat.messages) == 1


def test_a_callers_own_messages_go_back_as_they_came() -> None:
    own = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    chat = parsed("openai", {"model": "m", "messages": own})
    messages = join_messages([plain_message("system", "First."), chat.messages])
    body = VENDORS["openai"].render_request(replace(chat, messages=messages)).body
    assert body["messages"] == [{"role": "system", "content": "First."}, *own]
    assert body["messages"][1] is own[0]


def test_a_developers_words_are_a_system_message_to_others() -> None:
    talk = [{"role": role, "content": "Hi"} for role in ("user", "developer", "user")]
    body = VENDORS["openai_responses"].render_request(parsed("openai", {"model": "m", "messages": talk})).body
    assert [item["role"] for item in body["input"]] == ["user", "system", "user"]


def test_rendering_leaves_the_callers_body_alone() -> None:
    talk = [{"role": role, "content": f"{role} "} for role in ("assistant", "user", "user", "assistant")]
    chat = parsed("openai", {"model": "m", "messages": talk, "response_format": {"type": "json_object"}})
    for vendor in VENDORS.values():
        vendor.render_request(chat)
        vendor.render_request(replace(chat, vendor="agentui"))
    assert talk == [{"role": role, "content": f"{role} "} for role in ("assistant", "user", "user", "assistant")]


def test_it_is_a_sequence_of_messages() -> None:
    plain = PlainMessages(["system", "user"], ["Be brief.", "Hi"], [None, {"role": "user", "content": "Hi"}], "openai")
    own = Message("user", (Text("Hi"),), None, {"role": "user", "content": "Hi"}, "openai")
    assert (len(plain), plain[1], plain[-1:]) == (2, own, (own,))
    assert [*plain] == [text_message("system", "Be brief."), own]
    assert plain == (text_message("system", "Be brief."), own)
    assert plain != (own,)
    assert plain != "Hi"
    assert "Be brief." in repr(plain)


def test_conversations_of_two_callers_are_joined_message_by_message() -> None:
    mine, theirs = (PlainMessages(["user"], ["Hi"], [{"of": vendor}], vendor) for vendor in ("openai", "claude"))
    joined = join_messages([mine, theirs, plain_message("user", "Bye")])
    assert as_plain(joined) is None
    assert [message.raw_vendor for message in joined] == ["openai", "claude", None]


def test_picking_keeps_what_belongs_together() -> None:
    plain = parsed("openai", {"model": "m", "messages": [{"role": "user", "content": text} for text in "abc"]}).messages
    chosen = as_plain(plain)
    assert chosen is not None
    picked = chosen.picked([0, 2])
    assert picked == (plain[0], plain[2])
    assert [easy["content"] for easy in picked.easy()] == ["a", "c"]
