"""Claude's stream, both ways: any chunking gives the same deltas, and the SDK accumulates what we write."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise

import anthropic
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from anthropic.types import RawMessageStreamEvent
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    FinishReason,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    RefusalDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
    UsageDelta,
)
from agentui.chat.messages import Media, Opaque, Part, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import UpstreamInvalid, UpstreamRefused, UpstreamTruncated
from agentui.jsonio import Json, dumps, loads
from agentui.vendors.claude import Claude
from agentui.vendors.sse import SseDecoder, SseEvent, encode_event

CLAUDE = Claude()
WIRE = WireRequest("claude", "chat", "claude-x", True, "/v1/messages", {"model": "claude-x"})
SDK_EVENT: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)


def written(*events: Json) -> bytes:
    return b"".join(encode_event(dumps(event), event["type"]) for event in events)


def start(index: int, **block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index: int, kind: str, **delta: Json) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


CITATION = {"type": "char_location", "cited_text": "c", "document_index": 0}
BEGIN: Json = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "claude-x",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 1},
    },
}
RECORDED = written(
    BEGIN,
    start(0, type="thinking", thinking="", signature=""),
    {"type": "ping"},
    piece(0, "thinking_delta", thinking="h\u2028m"),
    piece(0, "signature_delta", signature="sig=="),
    stop(0),
    start(1, type="redacted_thinking", data="xx"),
    stop(1),
    start(2, type="text", text=""),
    piece(2, "text_delta", text="Héllo 🌍"),
    piece(2, "citations_delta", citation=CITATION),
    {"type": "event_of_tomorrow", "x": 1},
    piece(2, "delta_of_tomorrow", x=1),
    stop(2),
    start(3, type="server_tool_use", id="srv_1", name="web_search", input={}),
    piece(3, "input_json_delta", partial_json='{"que'),
    piece(3, "input_json_delta", partial_json='ry":"q"}'),
    stop(3),
    start(4, type="web_search_tool_result", tool_use_id="srv_1", content=[]),
    stop(4),
    start(5, type="tool_use", id="toolu_1", name="look", input={}),
    piece(5, "input_json_delta", partial_json=""),
    piece(5, "input_json_delta", partial_json='{"at":'),
    piece(5, "input_json_delta", partial_json="1}"),
    stop(5),
    start(6, type="tool_use", id="toolu_2", name="now", input={}),
    stop(6),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 9, "cache_read_input_tokens": None, "output_tokens_details": {"thinking_tokens": 4}},
    },
    {"type": "message_stop"},
)
SEARCH: Json = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
DELTAS: list[Delta] = [
    Start("msg_1", "claude-x"),
    UsageDelta(Usage(17, 1, 5, 2)),
    ThinkingDelta("h\u2028m"),
    ThinkingDelta("", "sig==", None, "claude"),
    ThinkingDelta("", None, "xx", "claude", 1),
    TextDelta("Héllo 🌍"),
    OpaqueDelta("claude", "citations", {"type": "citations_delta", "citation": CITATION}),
    OpaqueDelta("claude", "server_tool_use", SEARCH),
    OpaqueDelta("claude", "web_search_tool_result", FOUND),
    ToolCallDelta(0, "toolu_1", "look"),
    ToolCallDelta(0, arguments='{"at":'),
    ToolCallDelta(0, arguments="1}"),
    ToolCallDelta(1, "toolu_2", "now"),
    UsageDelta(Usage(17, 9, 5, 2, 4)),
    Finish("tool_calls"),
    End(),
]


def understood(*chunks: bytes) -> list[Delta]:
    """The deltas of a stream that comes in these chunks."""
    decoder, parser = SseDecoder(), CLAUDE.stream_parser()
    deltas = [delta for chunk in chunks for event in decoder.feed(chunk) for delta in parser.feed(event)]
    return [*deltas, *parser.close()]


def rendered(deltas: Iterable[Delta]) -> bytes:
    renderer = CLAUDE.stream_renderer(WIRE)
    return b"".join(renderer.feed(delta) for delta in deltas)


def events(stream: bytes) -> list[Json]:
    """The stream's events; each bears its type as its name, and the SDK knows all but pings and errors."""
    told = []
    for event in SseDecoder().feed(stream):
        data = loads(event.data)
        assert event.event == data["type"]
        if data["type"] not in ("ping", "error"):
            SDK_EVENT.validate_python(data)
        told.append(data)
    return told


def types(stream: bytes) -> list[str]:
    return [event["type"] for event in events(stream)]


def rebuilt(deltas: Iterable[Delta]) -> Reply:
    builder = ReplyBuilder()
    builder.feed(deltas)
    return builder.reply()


def test_a_recorded_stream_is_understood() -> None:
    assert understood(RECORDED) == DELTAS


@given(st.lists(st.integers(0, len(RECORDED)), max_size=30))
def test_any_chunking_gives_the_same_deltas(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(RECORDED)]
    assert understood(*(RECORDED[a:b] for a, b in pairwise(edges))) == DELTAS


def test_a_stream_and_the_whole_answer_mean_the_same() -> None:
    reply = rebuilt(DELTAS)
    whole = CLAUDE.parse_reply(
        {
            "id": "msg_1",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "h\u2028m", "signature": "sig=="},
                {"type": "redacted_thinking", "data": "xx"},
                {"type": "text", "text": "Héllo 🌍", "citations": [CITATION]},
                SEARCH,
                FOUND,
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 1}},
                {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
            ],
            "stop_reason": "tool_use",
        }
    )
    assert reply.choices == whole.choices


def test_a_stream_without_its_last_event_has_no_end() -> None:
    cut = RECORDED[: RECORDED.rindex(b"event: message_stop")]
    assert End() not in understood(cut)


def test_nothing_counts_after_the_end() -> None:
    assert understood(RECORDED, b"data: [DONE]\n\n") == DELTAS


def test_words_in_the_beginning_of_a_block_are_heard() -> None:
    stream = written(
        start(0, type="text", text="Hi"),
        start(1, type="thinking", thinking="hm", signature="s"),
        start(2, type="tool_use", id="t", name="look", input={"a": 1}),
        stop(2),
    )
    assert understood(stream) == [
        TextDelta("Hi"),
        ThinkingDelta("hm", "s", None, "claude", 1),
        ToolCallDelta(0, "t", "look"),
        ToolCallDelta(0, arguments='{"a":1}'),
    ]


def test_the_stop_sequence_is_heard() -> None:
    ended = {"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"}}
    assert understood(written(ended)) == [Finish("stop_sequence", "END")]


@pytest.mark.parametrize(
    ("event", "status", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}}, 529, "overloaded"),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "Busy."}}, 429, "rate_limit"),
        ({"type": "error", "error": {"type": "new_error", "message": "Busy."}}, 500, "server"),
        ({"error": {"message": "Busy.", "code": 500}}, 500, "server"),
    ],
)
def test_an_error_in_the_stream_is_a_failure(event: Json, status: int, kind: str) -> None:
    (failure,) = understood(encode_event(dumps(event), "error"))
    assert isinstance(failure, Failure)
    error = failure.error
    assert isinstance(error, UpstreamRefused)
    assert (error.status, error.kind, error.message, error.body) == (status, kind, "Busy.", event)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[DONE]",
        b"null",
        b"<html>",
        b'{"choices":[]}',
        b'{"type":"content_block_delta"}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}}',
        b'{"type":"message_start","message":[]}',
    ],
)
def test_what_is_not_claudes_is_refused(data: bytes) -> None:
    with pytest.raises(UpstreamInvalid):
        understood(encode_event(data))


KINDS = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "error"]
KEYS = ["type", "index", "delta", "content_block", "message", "usage", "text", "input", "error", "stop_reason", "partial_json"]
VALUES = [*KINDS, "text_delta", "input_json_delta", "tool_use", "thinking", "server_tool_use"]
near_events = st.lists(
    st.builds(
        lambda kind, fields: {**fields, "type": kind},
        st.sampled_from(KINDS),
        st.dictionaries(
            st.sampled_from(KEYS),
            st.none() | st.integers(0, 2) | st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES) | st.integers(0, 2)),
        ),
    ),
    max_size=6,
)


@given(near_events)
def test_any_events_are_understood_or_refused(given_events: list[Json]) -> None:
    try:
        deltas = understood(written(*given_events))
    except UpstreamInvalid as error:
        assert "upstream" in error.message
    else:
        assert End() not in deltas


def test_a_whole_stream_is_written_block_by_block() -> None:
    stream = rendered(
        [
            Start("chatcmpl-1", "gpt"),
            ThinkingDelta("hm", "token", None, "gemini"),
            TextDelta(""),
            TextDelta("So"),
            TextDelta(" it is"),
            ToolCallDelta(0, "call.1", "look"),
            ToolCallDelta(0, arguments="{}"),
            LogprobsDelta(()),
            Finish("tool_calls"),
            UsageDelta(Usage(10, 7, 4)),
            End(),
        ]
    )
    assert events(stream) == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_agentui_chatcmpl-1",
                "type": "message",
                "role": "assistant",
                "model": "gpt",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": 0,
                    "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 0,
                    "output_tokens": 0,
                },
            },
        },
        {"type": "ping"},
        start(0, type="thinking", thinking="", signature=""),
        piece(0, "thinking_delta", thinking="hm"),
        piece(0, "signature_delta", signature="agentui:gemini:signature:token"),
        stop(0),
        start(1, type="text", text=""),
        piece(1, "text_delta", text="So"),
        piece(1, "text_delta", text=" it is"),
        stop(1),
        start(2, type="tool_use", id="call_1", name="look", input={}),
        piece(2, "input_json_delta", partial_json="{}"),
        stop(2),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"input_tokens": 6, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": 7},
        },
        {"type": "message_stop"},
    ]


def test_words_are_written_as_they_come() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    renderer.feed(Start("1"))
    assert b'"text":"So"' in renderer.feed(TextDelta("So"))
    assert b'"partial_json":"{"' in renderer.feed(ToolCallDelta(0, "a", "look", "{"))
    assert b'"partial_json":"}"' in renderer.feed(ToolCallDelta(0, arguments="}"))


def test_interleaved_calls_are_told_one_after_another() -> None:
    stream = rendered(
        [
            Start("1"),
            ToolCallDelta(0, "a", "look", '{"x"'),
            ToolCallDelta(1, "b", "hear", '{"y"'),
            TextDelta("meanwhile"),
            ToolCallDelta(0, arguments=":{}}"),
            ToolCallDelta(1, arguments=":2}"),
            ToolCallDelta(2, "c", "now"),
            ToolCallDelta(3, "d", "smell", "{}"),
            Finish("tool_calls"),
            End(),
        ]
    )
    assert [event["index"] for event in events(stream) if event["type"] == "content_block_start"] == [0, 1, 2, 3, 4]
    assert rebuilt(understood(stream)).choices[0].parts == (
        ToolCall("a", "look", '{"x":{}}'),
        ToolCall("b", "hear", '{"y":2}'),
        Text("meanwhile"),
        ToolCall("c", "now", "{}"),
        ToolCall("d", "smell", "{}"),
    )


def test_only_the_first_choice_is_told() -> None:
    stream = rendered([Start("1"), TextDelta("a"), TextDelta("b", 1), Finish("length"), Finish("stop", choice=1), End()])
    told = rebuilt(understood(stream)).choices
    assert [(choice.text, choice.finish) for choice in told] == [("a", "length")]


def test_a_refusal_is_text_and_a_reason() -> None:
    stream = rendered([Start("1"), RefusalDelta("No"), RefusalDelta("."), Finish("stop"), End()])
    choice = rebuilt(understood(stream)).choices[0]
    assert (choice.text, choice.finish) == ("No.", "refusal")


def test_a_picture_leaves_a_note_in_the_stream() -> None:
    stream = rendered([Start("1"), MediaDelta(Media("image", "image/png", data="AAAA")), Finish("stop"), End()])
    assert rebuilt(understood(stream)).text == "[The model made something that cannot be shown here (image/png)]"


def test_a_stream_without_start_begins_with_the_first_words_and_known_tokens() -> None:
    stream = rendered(
        [UsageDelta(Usage(5, 1)), OpaqueDelta("gemini", "x", {}), TextDelta("a"), Finish("stop_sequence", "END"), End()]
    )
    told = events(stream)
    assert types(stream)[:3] == ["message_start", "ping", "content_block_start"]
    assert (told[0]["message"]["model"], told[0]["message"]["usage"]["input_tokens"]) == ("claude-x", 5)
    assert told[-2]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END"}


def test_a_failure_is_the_last_word() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    stream = renderer.feed(Start("1")) + renderer.feed(TextDelta("a")) + renderer.fail(UpstreamTruncated("Cut off."))
    assert types(stream)[-1] == "error"
    assert events(stream)[-1]["error"] == {"type": "api_error", "message": "Cut off."}
    assert renderer.feed(TextDelta("b")) + renderer.feed(End()) + renderer.fail(UpstreamTruncated("Again.")) == b""


def test_a_failure_of_claude_itself_keeps_its_body() -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}}
    assert events(rendered(understood(written(event)))) == [event]


def test_the_end_is_written_once() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    assert types(renderer.feed(End())) == ["message_start", "ping", "message_delta", "message_stop"]
    assert renderer.feed(End()) == b""


def test_claudes_own_events_pass_untouched() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    assert b"".join(renderer.passthrough(event) for event in SseDecoder().feed(RECORDED)) == RECORDED


def test_an_event_without_a_name_gets_the_one_it_says() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    assert renderer.passthrough(SseEvent(b'{"type":"ping"}')) == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert renderer.passthrough(SseEvent(b"?")) == b"data: ?\n\n"


def test_deltas_of_claude_written_anew_mean_the_same() -> None:
    assert rebuilt(understood(rendered(DELTAS))) == rebuilt(DELTAS)


texts = st.text(min_size=1, max_size=6)
claude_parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, st.text(max_size=6), texts, st.none(), st.just("claude")),
    st.builds(Thinking, st.just(""), st.none(), texts, st.just("claude")),
    st.builds(
        ToolCall,
        st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True),
        texts,
        st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2).map(lambda value: dumps(value).decode()),
    ),
    st.builds(
        Opaque,
        st.just("claude"),
        st.just("server_tool_use"),
        st.just({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}}),
    ),
)
counts = st.integers(0, 1000)
FINISHES: list[FinishReason] = ["length", "tool_calls", "refusal", "pause", "stop_sequence"]


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    parts: list[Part] = []
    for part in draw(st.lists(claude_parts, max_size=6)):
        # Neighbouring texts are one text once they are streamed.
        if not (isinstance(part, Text) and parts and isinstance(parts[-1], Text)):
            parts.append(part)
    reason: FinishReason = draw(st.sampled_from(FINISHES))
    choice = Choice(tuple(parts), reason, "END" if reason == "stop_sequence" else None)
    read, write, fresh = draw(counts), draw(counts), draw(counts)
    usage = Usage(fresh + read + write, draw(counts), read, write, draw(st.none() | counts))
    return Reply((choice,), "msg_" + draw(st.from_regex(r"[a-z]{1,5}", fullmatch=True)), "m", None, usage)


@given(replies())
def test_any_reply_survives_being_streamed(reply: Reply) -> None:
    stream = rendered(reply.deltas())
    again = rebuilt(understood(stream))
    assert (again.id, again.model, again.usage) == (reply.id, reply.model, reply.usage)
    assert [choice.finish for choice in again.choices] == [reply.choices[0].finish]
    assert again.choices == reply.choices
    assert types(stream)[-1] == "message_stop"


call_deltas = st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3)), max_size=20)


@given(call_deltas)
def test_no_interleaving_loses_a_piece_of_a_call(pieces: Sequence[tuple[int, str]]) -> None:
    calls = {
        index: '{"a":"' + "".join(text for number, text in pieces if number == index).replace('"', "").replace("\\", "") + '"}'
        for index in {number for number, _ in pieces}
    }
    deltas: list[Delta] = []
    left = dict(calls)
    for index, text in pieces:
        first = calls[index] is left[index]
        taken = min(len(left[index]), len(text) + 1)
        deltas.append(ToolCallDelta(index, f"id{index}" if first else None, "look" if first else None, left[index][:taken]))
        left[index] = left[index][taken:]
    deltas += [ToolCallDelta(index, arguments=rest) for index, rest in left.items()]
    told = rebuilt(understood(rendered([*deltas, Finish("tool_calls"), End()])))
    assert {call.id: call.arguments for choice in told.choices for call in choice.tool_calls} == {
        f"id{index}": arguments for index, arguments in calls.items()
    }


@asynccontextmanager
async def sdk_hearing(stream: bytes) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """A real SDK before a server that answers with this stream."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=stream, content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with (
        TestServer(app) as server,
        anthropic.AsyncAnthropic(api_key="k", base_url=str(server.make_url("")), max_retries=0) as client,
    ):
        yield client


@pytest.mark.sdk
async def test_the_sdk_accumulates_what_we_write() -> None:
    stream = rendered(
        [
            Start("1", "gpt"),
            ThinkingDelta("foreign", "token", None, "gemini", 0),
            ThinkingDelta("own", "sig", None, "claude", 1),
            TextDelta("Hé"),
            TextDelta("llo"),
            ToolCallDelta(0, "a", "look", '{"x":'),
            ToolCallDelta(1, "b", "now"),
            ToolCallDelta(0, arguments="1}"),
            Finish("tool_calls"),
            UsageDelta(Usage(10, 7, 4)),
            End(),
        ]
    )
    async with (
        sdk_hearing(stream) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "q"}]) as heard,
    ):
        message = await heard.get_final_message()
    assert [block.model_dump(exclude_none=True) for block in message.content] == [
        {"type": "thinking", "thinking": "foreign", "signature": "agentui:gemini:signature:token"},
        {"type": "thinking", "thinking": "own", "signature": "sig"},
        {"type": "text", "text": "Héllo"},
        {"type": "tool_use", "id": "a", "name": "look", "input": {"x": 1}},
        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
    ]
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 6, 7)


@pytest.mark.sdk
async def test_the_sdk_raises_our_error_event() -> None:
    renderer = CLAUDE.stream_renderer(WIRE)
    stream = renderer.feed(Start("1")) + renderer.feed(TextDelta("a")) + renderer.fail(UpstreamTruncated("Cut off."))
    async with sdk_hearing(stream) as client:
        with pytest.raises(anthropic.APIStatusError, match="Cut off"):
            async with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "q"}]) as heard:
                await heard.get_final_message()
