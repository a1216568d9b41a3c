"""Whole Chat Completions answers, both ways; what is written is what OpenAI's own SDK understands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from agentui.chat.deltas import TokenLogprob, Usage
from agentui.chat.messages import Media, Opaque, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.errors import UpstreamError, UpstreamInvalid, UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.base import ModelInfo
from agentui.vendors.openai import OpenAI

OPENAI = OpenAI(now=lambda: 1_700_000_000.9)
WIRE = OPENAI.read_request("/v1/chat/completions", {}, {}, {"model": "asked", "messages": []})


def message_body(message: Json, finish: str | None = "stop", **more: Json) -> Json:
    return {
        "id": "c1",
        "model": "m",
        "created": 5,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **more,
    }


def parse_choice(message: Json, finish: str | None = "stop") -> Choice:
    return OPENAI.parse_reply(message_body(message, finish)).choices[0]


def render(*choices: Choice, **fields: Json) -> Json:
    body = OPENAI.render_reply(Reply(choices, **fields), WIRE)
    ChatCompletion.model_validate(body, strict=True)
    return body


def test_an_answer_is_understood():
    reply = OPENAI.parse_reply(
        message_body(
            {
                "role": "assistant",
                "content": "hi",
                "reasoning": "t",
                "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
            },
            "tool_calls",
            usage={
                "prompt_tokens": 10,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        )
    )
    assert reply.choices == (Choice((Thinking("t"), Text("hi"), ToolCall("x", "f", '{"a":1}')), "tool_calls"),)
    assert (reply.id, reply.model, reply.created) == ("c1", "m", 5)
    assert reply.usage == Usage(10, 7, 4, 2, 3)


def test_an_answer_of_the_same_dialect_comes_back_whole():
    body = message_body({"role": "assistant", "content": "hi", "x": 1}, service_tier="default", x_more=[1])
    assert OPENAI.render_reply(OPENAI.parse_reply(body), WIRE) is body


def test_a_refusal_is_no_empty_answer():
    choice = parse_choice({"role": "assistant", "content": None, "refusal": "I can't."})
    assert choice == Choice((Refusal("I can't."),), "refusal")


def test_stop_after_tool_calls_means_tool_calls():
    call = {"type": "function", "function": {"name": "f", "arguments": ""}}
    choice = parse_choice({"role": "assistant", "tool_calls": [call]})
    assert choice.finish == "tool_calls"
    assert choice.tool_calls == (ToolCall("call_c1_0_0", "f", "{}"),)


def test_pictures_voice_and_citations_are_understood():
    choice = parse_choice(
        {
            "role": "assistant",
            "content": None,
            "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
            "audio": {"id": "a", "data": "AA==", "transcript": "hello"},
            "annotations": [{"type": "url_citation"}],
        }
    )
    assert choice.parts == (
        Media("image", "image/png", "AA=="),
        Text("hello"),
        Opaque("openai", "audio", {"audio": {"id": "a", "data": "AA==", "transcript": "hello"}}),
        Opaque("openai", "annotations", {"annotations": [{"type": "url_citation"}]}),
    )


def test_log_probabilities_survive_both_ways():
    logprobs = (TokenLogprob("hé", -0.5, (("x", -2.0),)),)
    body = render(Choice((Text("hé"),), "stop", logprobs=logprobs))
    assert body["choices"][0]["logprobs"]["content"][0]["bytes"] == list("hé".encode())
    assert OPENAI.parse_reply(body).choices[0].logprobs == logprobs


@pytest.mark.parametrize("body", [None, [], "x", 5, {}, {"choices": None}, {"choices": [5]}, {"choices": [{}]}])
def test_what_is_no_answer_is_called_so(body):
    with pytest.raises(UpstreamInvalid):
        OPENAI.parse_reply(body)


def test_an_error_sent_with_200_is_an_error():
    with pytest.raises(UpstreamRefused) as caught:
        OPENAI.parse_reply({"error": {"message": "Too many", "code": 429}})
    assert (caught.value.status, caught.value.kind, caught.value.message) == (429, "rate_limit", "Too many")


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4))
def test_no_answer_breaks_the_parser(value):
    for field in ("content", "refusal", "tool_calls", "function_call", "images", "audio", "annotations", "reasoning_content"):
        try:
            OPENAI.parse_reply(message_body({"role": "assistant", field: value}, usage=value))
        except UpstreamError:
            continue


def test_an_answer_is_written():
    body = render(
        Choice((Thinking("t"), Text("a"), Text("b"), ToolCall(None, "f")), "tool_calls"),
        Choice((Text("c"),), "length"),
        id="msg_1",
        usage=Usage(10, 7, 4, None, 3),
    )
    call = {"id": "call_msg_1_0_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert body == {
        "id": "msg_1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "asked",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "ab",
                    "refusal": None,
                    "reasoning_content": "t",
                    "tool_calls": [call],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            },
            {
                "index": 1,
                "message": {"role": "assistant", "content": "c", "refusal": None},
                "logprobs": None,
                "finish_reason": "length",
            },
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 7,
            "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }


@pytest.mark.parametrize(
    ("choice", "message", "finish"),
    [
        (Choice((Refusal("no"),), "refusal"), {"content": None, "refusal": "no"}, "stop"),
        (Choice((), "refusal"), {"content": "", "refusal": None}, "content_filter"),
        (Choice((), "content_filter"), {"content": "", "refusal": None}, "content_filter"),
        (Choice((Text("a"),), "stop_sequence"), {"content": "a", "refusal": None}, "stop"),
        (Choice((Text("a"),), "pause"), {"content": "a", "refusal": None}, "stop"),
        (Choice((Text("a"),), "malformed_call"), {"content": "a", "refusal": None}, "stop"),
        (Choice((ToolCall("c", "f"),), "tool_calls"), {"content": None, "refusal": None}, "tool_calls"),
        (Choice((Opaque("claude", "citation", {}), Media("audio", "audio/wav", "AA==")), "stop"), {"content": ""}, "stop"),
    ],
)
def test_ends_are_told_in_this_dialects_words(choice, message, finish):
    written = render(choice)["choices"][0]
    assert written["finish_reason"] == finish
    assert written["message"].items() >= message.items()


def test_pictures_are_written_beside_the_words():
    body = render(Choice((Text("here"), Media("image", "image/png", "AA==")), "stop"))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    assert body["choices"][0]["message"]["images"] == [image]


def test_a_caller_may_always_read_the_first_choice():
    assert render()["choices"][0]["message"]["content"] == ""


def test_models_are_listed_both_ways():
    entry = {"id": "m", "object": "model", "created": 3, "owned_by": "o", "x": 1}
    models = OPENAI.models.parse_list({"object": "list", "data": [entry, {"no": "id"}]})
    assert models == [ModelInfo("m", None, 3, "o", entry, "openai")]
    assert OPENAI.models.parse_list([entry]) == models
    plain = {"id": "claude", "object": "model", "created": 0, "owned_by": "agentui"}
    assert OPENAI.models.render_list([*models, ModelInfo("claude")]) == {"object": "list", "data": [entry, plain]}
    with pytest.raises(UpstreamInvalid):
        OPENAI.models.parse_list({"models": []})


def test_the_dialect_knows_its_addresses():
    assert OPENAI.chat_endpoint("m", stream=True) == "/v1/chat/completions"
    assert OPENAI.embeddings.endpoint("m") == "/v1/embeddings"
    assert OPENAI.models.endpoint() == "/v1/models"
    assert OPENAI.auth_headers("k") == {"authorization": "Bearer k"}
    assert OPENAI.version_headers(WIRE) == {}
