"""The cache of items made here: found by id, bounded, oldest out first."""

from dataclasses import replace

import pytest

from agentui.chat.deltas import End, Finish, Start, TextDelta, ToolCallDelta
from agentui.chat.messages import Opaque, Text, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import WireRequest
from agentui.jsonio import loads
from agentui.vendors.openai_responses import OpenAIResponses
from agentui.vendors.openai_responses.cache import ItemCache
from agentui.vendors.sse import SseDecoder

CALLER = OpenAIResponses().read_request("/v1/responses", {}, {}, {"model": "m", "input": "Hi"}).caller


def item(id: str, text: str = "") -> dict:
    return {"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def request(vendor: OpenAIResponses, *items, **more):
    return vendor.read_request("/v1/responses", {}, {}, {"model": "m", "input": list(items), **more})


def reference(id: str) -> dict:
    return {"type": "item_reference", "id": id}


def found(cache: ItemCache, *ids: str) -> list[bool]:
    wire = request(OpenAIResponses(), *(reference(id) for id in ids))
    return [item["type"] == "message" for item in cache.expand(wire).body["input"]]


def test_the_oldest_go_first_when_there_are_too_many():
    cache = ItemCache(max_items=2)
    cache.put(CALLER, [item("a"), item("b")])
    cache.put(CALLER, [item("c")])
    assert found(cache, "a", "b", "c") == [False, True, True]


def test_the_oldest_go_first_when_they_are_too_large():
    cache = ItemCache(max_bytes=500)
    cache.put(CALLER, [item("a", "x" * 200), item("b", "x" * 200)])
    assert found(cache, "a", "b") == [False, True]
    cache.put(CALLER, [item("c", "x" * 1000)])
    assert found(cache, "b", "c") == [True, False]


def test_an_item_that_is_put_again_counts_once():
    cache = ItemCache(max_bytes=500)
    for _ in range(9):
        cache.put(CALLER, [item("a", "x" * 200)])
    cache.put(CALLER, [item("b", "x" * 50)])
    assert found(cache, "a", "b") == [True, True]


def test_an_item_of_one_caller_is_given_to_no_other():
    vendor = OpenAIResponses()

    def asked(*items: dict, **headers: str) -> WireRequest:
        return vendor.read_request("/v1/responses", {}, headers, {"model": "m", "input": list(items) or "Hi"})

    answer = vendor.render_reply(Reply((Choice((Text("Only for Bob."),), "stop"),)), asked(authorization="Bearer sk-bob"))
    pointing = reference(answer["output"][0]["id"])
    assert vendor.parse_request(asked(pointing, authorization="Bearer sk-bob")).needs_state is None
    for headers in ({}, {"authorization": "Bearer sk-eve"}, {"x-api-key": "sk-bob"}):
        chat = vendor.parse_request(asked(pointing, **headers))
        assert chat.needs_state is not None and "Bob" not in str(chat.messages)


def test_a_request_without_known_references_is_left_alone():
    cache = ItemCache()
    cache.put(CALLER, [item("a"), {"type": "message"}])
    for given in ([reference("z")], [item("a")], "words"):
        wire = request(OpenAIResponses(), input=given) if isinstance(given, str) else request(OpenAIResponses(), *given)
        assert cache.expand(wire) is wire


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_made_here_is_understood_by_reference(streamed):
    vendor = OpenAIResponses()
    asked = request(vendor, {"role": "user", "content": "hi"})
    if streamed:
        renderer = vendor.stream_renderer(asked)
        for delta in (Start("r"), TextDelta("Look."), ToolCallDelta(0, "call_1", "find", "{}"), Finish("tool_calls")):
            renderer.feed(delta)
        (last,) = SseDecoder().feed(renderer.feed(End()))
        ids = [one["id"] for one in loads(last.data)["response"]["output"]]
    else:
        reply = Reply((Choice((Text("Look."), ToolCall("call_1", "find", "{}")), "tool_calls"),), "r")
        ids = [one["id"] for one in vendor.render_reply(reply, asked)["output"]]
    assert len(ids) == 2
    chat = vendor.parse_request(request(vendor, *(reference(id) for id in ids)))
    assert chat.needs_state is None
    assert [message.parts for message in chat.messages] == [(Text("Look."),), (ToolCall("call_1", "find", "{}"),)]


def test_two_answers_of_one_id_have_items_of_their_own():
    vendor = OpenAIResponses()
    asked = request(vendor, {"role": "user", "content": "hi"})
    reply = Reply((Choice((Text("One."),), "stop"),), "chatcmpl-1")
    first = vendor.render_reply(reply, asked)["output"][0]["id"]
    vendor.render_reply(replace(reply, choices=(Choice((Text("Two."),), "stop"),)), asked)
    chat = vendor.parse_request(request(vendor, reference(first)))
    assert chat.messages[0].text == "One."


def test_openais_own_answers_are_not_kept():
    vendor = OpenAIResponses()
    body = {"object": "response", "output": [item("msg_theirs", "Hi.")], "status": "completed"}
    vendor.render_reply(vendor.parse_reply(body), request(vendor))
    chat = vendor.parse_request(request(vendor, reference("msg_theirs")))
    assert chat.needs_state == "input"
    assert chat.messages[0].parts == (Opaque("openai_responses", "item_reference", reference("msg_theirs")),)


@pytest.mark.parametrize(
    ("more", "field"),
    [({"previous_response_id": "resp_1"}, "previous_response_id"), ({"conversation": "c"}, "conversation"), ({}, None)],
)
def test_the_field_that_leans_on_something_kept_is_named(more, field):
    vendor = OpenAIResponses()
    assert vendor.parse_request(request(vendor, {"role": "user", "content": "hi"}, **more)).needs_state == field


def test_openai_gets_the_items_that_it_cannot_know_and_not_their_foreign_thoughts():
    cache = ItemCache()
    vendor = OpenAIResponses(cache)
    made = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "agentui:claude:signature:abc"}
    cache.put(CALLER, [item("msg_1", "Hi."), made])
    wire = request(vendor, {"role": "user", "content": "hi"}, reference("rs_1"), reference("msg_1"), brand_new=1)
    patched = vendor.patch_request(wire, model="other", stream=False)
    assert patched.body == {
        "model": "other",
        "input": [{"role": "user", "content": "hi"}, item("msg_1", "Hi.")],
        "brand_new": 1,
    }
