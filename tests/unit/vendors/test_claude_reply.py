"""Whole answers in Claude's dialect, both ways; the SDK reads what we write."""

import pytest
from anthropic.types import Message as SdkMessage

from agentui.chat.deltas import FinishReason, Usage
from agentui.chat.messages import Media, Opaque, Part, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.claude import Claude

CLAUDE = Claude()
WIRE = WireRequest("claude", "chat", "claude-x", False, "/v1/messages", {"model": "claude-x"})

ANSWER: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "So", "citations": [{"type": "char_location", "cited_text": "c"}]},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": [1]}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3},
        "service_tier": "standard",
    },
}


def render(*parts: Part, **fields: Json) -> SdkMessage:
    """What a Claude caller's SDK makes of an answer from elsewhere."""
    finish = fields.pop("finish", "stop")
    reply = Reply((Choice(parts, finish, fields.pop("stop_sequence", None)),), **{"id": "x:1", "model": "gpt", **fields})
    return SdkMessage.model_validate(CLAUDE.render_reply(reply, WIRE))


def test_an_answer_is_understood() -> None:
    reply = CLAUDE.parse_reply(ANSWER)
    assert reply == Reply(
        (
            Choice(
                (
                    Thinking("hm", "sig", None, "claude"),
                    Thinking("", None, "xx", "claude"),
                    Text("So"),
                    Opaque(
                        "claude",
                        "citations",
                        {"type": "citations_delta", "citation": {"type": "char_location", "cited_text": "c"}},
                    ),
                    Opaque("claude", "server_tool_use", ANSWER["content"][3]),
                    ToolCall("toolu_1", "look", '{"at":[1]}'),
                ),
                "tool_calls",
            ),
        ),
        "msg_1",
        "claude-x",
        None,
        Usage(input=17, output=7, cache_read=5, cache_write=2, reasoning=3),
        ANSWER,
        "claude",
    )


def test_claudes_own_answer_comes_back_untouched() -> None:
    assert CLAUDE.render_reply(CLAUDE.parse_reply(ANSWER), WIRE) is ANSWER


def test_an_answer_taken_apart_and_written_anew_says_the_same() -> None:
    reply = CLAUDE.parse_reply(ANSWER)
    anew = CLAUDE.render_reply(Reply(reply.choices, reply.id, reply.model, None, reply.usage), WIRE)
    assert anew["content"] == ANSWER["content"]
    assert (anew["id"], anew["stop_reason"]) == ("msg_1", "tool_use")
    assert {**ANSWER["usage"], **anew["usage"]} == ANSWER["usage"]


@pytest.mark.parametrize(
    "body", [None, [], "x", {}, {"error": {}}, {"content": "x"}, {"content": [1]}, {"content": [{"type": "text"}]}]
)
def test_what_is_no_answer_is_refused(body: Json) -> None:
    with pytest.raises(UpstreamInvalid):
        CLAUDE.parse_reply(body)


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("stop_sequence", "stop_sequence"),
        ("tool_use", "tool_calls"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("because", "other"),
        (None, None),
    ],
)
def test_stop_reasons_are_understood(stop_reason: str | None, finish: FinishReason | None) -> None:
    assert CLAUDE.parse_reply({**ANSWER, "stop_reason": stop_reason}).choices[0].finish == finish


@pytest.mark.parametrize(
    ("finish", "stop_reason"),
    [
        ("stop", "end_turn"),
        ("stop_sequence", "stop_sequence"),
        ("length", "max_tokens"),
        ("tool_calls", "tool_use"),
        ("content_filter", "refusal"),
        ("refusal", "refusal"),
        ("pause", "pause_turn"),
        ("malformed_call", "end_turn"),
        ("other", "end_turn"),
        (None, "end_turn"),
    ],
)
def test_finishes_are_told(finish: FinishReason | None, stop_reason: str) -> None:
    assert render(Text("x"), finish=finish).stop_reason == stop_reason


def test_the_reason_follows_from_what_was_said_where_the_upstream_says_only_stop() -> None:
    assert render(ToolCall("a", "look")).stop_reason == "tool_use"
    assert render(Refusal("No.")).stop_reason == "refusal"


def test_an_answer_from_elsewhere_is_a_message() -> None:
    message = render(
        Thinking("gem", "token", None, "gemini"),
        Thinking("", "token", None, "gemini"),
        Thinking("", None, "sealed", "openai"),
        Text(""),
        Text("So"),
        Opaque("gemini", "grounding", {}),
        ToolCall("call:1", "look.at", '{"x":1}'),
        ToolCall(None, "now", ""),
        finish="tool_calls",
        usage=Usage(input=10, output=7, cache_read=4, reasoning=2),
    )
    assert (message.id, message.model, message.stop_reason, message.stop_sequence) == (
        "msg_agentui_x_1",
        "gpt",
        "tool_use",
        None,
    )
    assert [block.model_dump(exclude_none=True) for block in message.content] == [
        {"type": "thinking", "thinking": "gem", "signature": "agentui:gemini:signature:token"},
        {"type": "text", "text": "So"},
        {"type": "tool_use", "id": "call_1", "name": "look.at", "input": {"x": 1}},
        {"type": "tool_use", "id": "toolu_msg_agentui_x_1_1", "name": "now", "input": {}},
    ]
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (6, 4, 7)
    assert usage.output_tokens_details is not None
    assert usage.output_tokens_details.thinking_tokens == 2


def test_the_stop_sequence_is_told_only_with_its_reason() -> None:
    assert render(Text("x"), finish="stop_sequence", stop_sequence="END").stop_sequence == "END"
    assert render(Text("x"), finish="length", stop_sequence="END").stop_sequence is None


def test_a_picture_leaves_a_note() -> None:
    message = render(Media("image", "image/png", data="AAAA"), Media("image", url="https://x/y.png"))
    assert [block.text for block in message.content if block.type == "text"] == [
        "[The model made something that cannot be shown here (image/png)]",
        "[The model made something that cannot be shown here (image): https://x/y.png]",
    ]


def test_an_answer_without_id_gets_the_same_one_for_the_same_request() -> None:
    message = render(Text("x"), id=None)
    assert message.id == render(Text("y"), id=None).id
    assert message.id.startswith("msg_")


def test_no_answer_at_all_is_an_empty_message() -> None:
    message = SdkMessage.model_validate(CLAUDE.render_reply(Reply(()), WIRE))
    assert (message.content, message.model, message.usage.output_tokens) == ([], "claude-x", 0)
