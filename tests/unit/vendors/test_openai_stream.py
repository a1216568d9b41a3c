"""Streamed Chat Completions, both ways; what is written is what OpenAI's own SDK understands."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    RefusalDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
    UsageDelta,
)
from agentui.chat.messages import Media, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.errors import BadRequest, UpstreamInvalid, UpstreamRefused
from agentui.jsonio import Json, dumps, loads
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai.reasoning_details import details_of
from agentui.vendors.sse import SseDecoder, SseEvent, encode_event

OPENAI = OpenAI(now=lambda: 1_700_000_000.0)
DONE = SseEvent(b"[DONE]")


def chunk(delta: Json = None, finish: str | None = None, index: int = 0, **more: Json) -> SseEvent:
    choices = [] if delta is None else [{"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}]
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "m", "choices": choices, **more}
    return SseEvent(dumps(body))


def call(arguments: str, index: int | None = 0, id: str | None = None, name: str | None = None) -> Json:
    piece: dict[str, Json] = {"function": {"arguments": arguments}}
    if index is not None:
        piece["index"] = index
    if id is not None:
        piece |= {"id": id, "type": "function"}
    if name is not None:
        piece["function"]["name"] = name
    return {"tool_calls": [piece]}


def parse(*events: SseEvent) -> list[Delta]:
    """The deltas after Start."""
    parser = OPENAI.stream_parser()
    deltas = [delta for event in events for delta in parser.feed(event)]
    return [*deltas, *parser.close()][1:]


def renderer(**body: Json):
    body = {"model": "asked", "messages": [], "stream": True, **body}
    return OPENAI.stream_renderer(OPENAI.read_request("/v1/chat/completions", {}, {}, body))


def render(*deltas: Delta, **body: Json) -> list[Json]:
    """Every event's data; the SDK must understand the chunks, which must agree on who they are."""
    machine = renderer(**body)
    datas = [event.data for event in SseDecoder().feed(b"".join(machine.feed(delta) for delta in deltas))]
    chunks = [data.decode() if data == b"[DONE]" else loads(data) for data in datas]
    said = [each for each in chunks if isinstance(each, dict) and "error" not in each]
    for each in said:
        ChatCompletionChunk.model_validate(each, strict=True)
    assert len({(each["id"], each["created"], each["model"]) for each in said}) <= 1
    return chunks


def said(chunks: list[Json]) -> list[Json]:
    """The deltas of the chunks that have a choice."""
    return [each["choices"][0]["delta"] for each in chunks if isinstance(each, dict) and each["choices"]]


RECORDED = b"".join(
    encode_event(event.data)
    for event in (
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "h\u00e9 \U0001f914"}),
        chunk({"content": "line\u2028one"}),
        chunk({"content": " two\n"}),
        chunk(call("", 0, "a", "f")),
        chunk(call('{"x":')),
        chunk(call("1}")),
        chunk(call('{"y":2}', 1, "b", "g")),
        chunk({}, "tool_calls"),
        chunk(usage={"prompt_tokens": 3, "completion_tokens": 4}),
        DONE,
    )
).replace(b"\n\ndata", b"\r\n\r\n: ping\r\ndata", 2)


def deltas_of(pieces: list[bytes]) -> list[Delta]:
    decoder, parser = SseDecoder(), OPENAI.stream_parser()
    deltas = [delta for piece in pieces for event in decoder.feed(piece) for delta in parser.feed(event)]
    return [*deltas, *parser.close()]


@given(st.lists(st.integers(0, len(RECORDED)), max_size=12))
def test_any_chunking_of_a_stream_gives_the_same_deltas(cuts):
    edges = [0, *sorted(cuts), len(RECORDED)]
    assert deltas_of([RECORDED[a:b] for a, b in pairwise(edges)]) == [
        Start("c1", "m", 5),
        ThinkingDelta("h\u00e9 \U0001f914"),
        TextDelta("line\u2028one"),
        TextDelta(" two\n"),
        ToolCallDelta(0, "a", "f", ""),
        ToolCallDelta(0, arguments='{"x":'),
        ToolCallDelta(0, arguments="1}"),
        ToolCallDelta(1, "b", "g", '{"y":2}'),
        Finish("tool_calls"),
        UsageDelta(Usage(3, 4)),
        End(),
    ]


@pytest.mark.parametrize(
    "pieces",
    [
        [call("{", 0, "a", "f"), call("}"), call("{}", 1, "b", "g")],
        [call("{", None, "a", "f"), call("}", None), call("{}", None, "b", "g")],
        [call("{", 0, "a", "f"), call("}", 0, "a"), call("{}", 0, "b", "g")],
        [call("{}", 0, "a", "f"), call("{}", 0, "b", "g")],
        [call("{}", 1, "a", "f"), call("{}", 2, "b", "g")],
        [call("{", None, "a", "f"), call("}", None, "a"), call("{}", None, "b", "g")],
        [call("{", 0, "a"), call("}", 0, None, "f"), call("{}", 1, "b", "g")],
        [call("{", 0, "a", "f"), call("{", 1, "b", "g"), call("}", 0), call("}", 1)],
    ],
)
def test_tool_calls_are_told_apart_however_a_server_numbers_them(pieces):
    builder = ReplyBuilder()
    builder.feed(parse(*(chunk(piece) for piece in pieces), chunk({}, "stop"), DONE))
    choice = builder.reply().choices[0]
    assert choice == Choice((ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")), "tool_calls")


def test_a_call_without_id_gets_one():
    assert parse(chunk(call("{}", 0, None, "f")))[0] == ToolCallDelta(0, "call_c1_0_0", "f", "{}")


def test_legacy_function_calls_are_tool_calls():
    events = (chunk({"function_call": {"name": "f", "arguments": "{"}}), chunk({"function_call": {"arguments": "}"}}))
    assert parse(*events, chunk({}, "function_call")) == [
        ToolCallDelta(0, "call_c1_0_0", "f", "{"),
        ToolCallDelta(0, arguments="}"),
        Finish("tool_calls"),
        End(),
    ]


def test_a_custom_tools_text_is_told_as_json():
    pieces = [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": 'say "'}}]
    more = [{"index": 0, "custom": {"input": 'x\n"'}}]
    builder = ReplyBuilder()
    builder.feed(parse(chunk({"tool_calls": pieces}), chunk({"tool_calls": more}), chunk({}, "tool_calls")))
    assert loads(builder.reply().choices[0].tool_calls[0].arguments) == {"input": 'say "x\n"'}


@pytest.mark.parametrize(
    ("delta", "deltas"),
    [
        ({"reasoning": "t"}, [ThinkingDelta("t")]),
        ({"reasoning": "t", "reasoning_content": "t"}, [ThinkingDelta("t")]),
        ({"content": "", "role": "assistant"}, []),
        ({"content": None}, []),
        ({"content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": []}]}, [TextDelta("a")]),
        ({"refusal": "no"}, [RefusalDelta("no")]),
        (
            {"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
            [MediaDelta(Media("image", "image/png", "AA=="))],
        ),
        ({"annotations": [1]}, [OpaqueDelta("openai", "annotations", {"annotations": [1]})]),
        ({"hologram": 1}, []),
    ],
)
def test_a_delta_is_understood(delta, deltas):
    assert parse(chunk(delta)) == deltas


def test_log_probabilities_are_understood():
    logprobs = {"content": [{"token": "a", "logprob": -1, "bytes": [97], "top_logprobs": [{"token": "b", "logprob": -2.5}]}]}
    body = {"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": logprobs}]}
    assert parse(SseEvent(dumps(body))) == [TextDelta("a"), LogprobsDelta((TokenLogprob("a", -1.0, (("b", -2.5),)),))]


def test_a_refusal_ends_as_a_refusal():
    assert parse(chunk({"refusal": "no"}), chunk({}, "stop"))[1:] == [Finish("refusal"), End()]


def test_a_stream_without_end_marker_is_whole_when_every_choice_finished():
    assert parse(chunk({"content": "a"}, "stop"))[-1] == End()


def test_a_cut_stream_never_looks_finished():
    assert End() not in parse(chunk({"content": "a"}))
    assert End() not in parse(chunk({"content": "a"}, "stop"), chunk({"content": "b"}, index=1))
    assert list(OPENAI.stream_parser().close()) == []


def test_a_finish_is_told_once():
    events = parse(chunk({}, "stop"), chunk({}, "stop"), DONE, chunk({"content": "late"}))
    assert events == [Finish("stop"), End()]


def test_azures_first_chunk_does_not_start_the_answer():
    first = SseEvent(b'{"id":"","model":"","choices":[],"prompt_filter_results":[]}')
    assert next(iter(deltas_of([encode_event(first.data), encode_event(chunk({"content": "a"}).data)]))) == Start("c1", "m", 5)


@pytest.mark.parametrize(
    "event",
    [SseEvent(b'{"error":{"message":"Overloaded","code":503}}'), SseEvent(b'{"message":"Overloaded","code":503}', "error")],
)
def test_an_error_in_the_stream_is_a_failure_and_nothing_follows(event):
    (failure,) = parse(chunk({"content": "a"}), event, DONE)[1:]
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, UpstreamRefused)
    assert (failure.error.message, failure.error.status, failure.error.kind) == ("Overloaded", 503, "overloaded")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"nonsense",
        b'{"a":\xff}',
        b'{"choices":5}',
        b'{"choices":[5]}',
        b'{"choices":[{"index":"a"}]}',
        b'{"choices":[{"delta":"x"}]}',
        b'{"choices":[{"delta":{"content":5}}]}',
        b'{"choices":[{"delta":{"images":[5]}}]}',
        b'{"choices":[{"delta":{"tool_calls":{"a":1}}}]}',
        b'{"choices":[{"delta":{"tool_calls":[1]}}]}',
    ],
)
def test_data_of_another_language_is_called_so(data):
    with pytest.raises(UpstreamInvalid):
        OPENAI.stream_parser().feed(SseEvent(data))


@given(
    st.sampled_from(["content", "reasoning", "refusal", "tool_calls", "function_call", "images", "audio", "annotations"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["index", "id", "function", "name", "arguments", "custom", "type"]), inner, max_size=3
            )
        ),
        max_leaves=5,
    ),
)
def test_no_delta_breaks_the_parser(field, value):
    parser = OPENAI.stream_parser()
    try:
        parser.feed(chunk({field: value}))
        parser.feed(chunk({field: value}, "stop"))
    except UpstreamInvalid:
        return
    assert parser.close()[-1] == End()


def test_a_stream_is_written():
    chunks = render(
        Start("msg_1", "claude", 7),
        ThinkingDelta("t"),
        TextDelta("a"),
        TextDelta(""),
        ToolCallDelta(0, "x", "f"),
        ToolCallDelta(0, arguments='{"a":1}'),
        UsageDelta(Usage(3, 4)),
        Finish("tool_calls"),
        End(),
    )
    assert chunks[0] == {
        "id": "msg_1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "claude",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}],
    }
    assert said(chunks[1:]) == [
        {"reasoning_content": "t"},
        {"content": "a"},
        {"tool_calls": [{"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]},
        {},
    ]
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1] == "[DONE]"


def test_usage_is_told_last_to_who_asked():
    deltas = (Start("i"), UsageDelta(Usage(3)), TextDelta("a"), UsageDelta(Usage(None, 4, 1)), Finish("stop"), End())
    chunks = render(*deltas, stream_options={"include_usage": True})
    assert all(each["usage"] is None for each in chunks[:-2])
    assert chunks[-2]["choices"] == []
    assert chunks[-2]["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
    }
    assert not any("usage" in each for each in render(*deltas)[:-1])


def test_a_call_without_arguments_is_given_an_empty_object():
    chunks = render(ToolCallDelta(0, "x", "f"), Finish("tool_calls"), End())
    assert said(chunks)[-2] == {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("deltas", "word"),
    [
        ([RefusalDelta("no"), Finish("refusal")], "stop"),
        ([Finish("refusal")], "content_filter"),
        ([TextDelta("a"), Finish("pause")], "stop"),
        ([TextDelta("a"), Finish("malformed_call")], "stop"),
        ([TextDelta("a")], "stop"),
        ([], "stop"),
    ],
)
def test_every_whole_stream_tells_how_it_ended(deltas, word):
    chunks = render(*deltas, End(), End())
    assert chunks[-2]["choices"][0]["finish_reason"] == word
    assert chunks.count("[DONE]") == 1


def test_openais_own_sdk_puts_the_pieces_together():
    chunks = render(
        Start("i"),
        TextDelta("Hel"),
        TextDelta("lo"),
        ToolCallDelta(0, "x", "f", '{"a"'),
        ToolCallDelta(1, "y", "g"),
        ToolCallDelta(0, arguments=":1}"),
        LogprobsDelta((TokenLogprob("Hello", -0.5),)),
        Finish("tool_calls"),
        UsageDelta(Usage(3, 4)),
        End(),
        stream_options={"include_usage": True},
    )
    state = ChatCompletionStreamState()
    for each in chunks[:-1]:
        state.handle_chunk(ChatCompletionChunk.model_validate(each))
    completion = state.get_final_completion()
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason, completion.usage.total_tokens) == ("Hello", "tool_calls", 7)
    asked = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert asked == [("x", "f", '{"a":1}'), ("y", "g", "{}")]
    assert choice.logprobs.content[0].token == "Hello"


def test_each_choice_begins_with_its_role():
    chunks = render(Start("i"), TextDelta("a", 0), TextDelta("b", 1), Finish("stop", None, 0), Finish("stop", None, 1), End())
    first = {each["choices"][0]["index"]: each["choices"][0]["delta"] for each in reversed(chunks[:-1])}
    assert first == {0: {"role": "assistant", "content": ""}, 1: {"role": "assistant", "content": ""}}


def test_pictures_are_shown_and_what_has_no_place_is_not():
    picture = MediaDelta(Media("image", "image/png", "AA=="))
    sound = MediaDelta(Media("audio", "audio/wav", "AA=="))
    citation = OpaqueDelta("claude", "citation", {"a": 1})
    own = OpaqueDelta("openai", "annotations", {"annotations": []})
    assert [list(delta) for delta in said(render(picture, sound, citation, own))[1:]] == [["images"], ["annotations"]]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (BadRequest("m", param="p"), {"message": "m", "type": "invalid_request_error", "param": "p", "code": "bad_request"}),
        (
            UpstreamRefused("m", status=404, kind="not_found", vendor="openai", body={"detail": "m"}),
            {"message": "m", "type": "invalid_request_error", "param": None, "code": "model_not_found"},
        ),
        (
            UpstreamRefused("m", status=500, kind="server", vendor="openai", body={"error": {"message": "own"}}),
            {"message": "own"},
        ),
    ],
)
def test_a_failed_stream_says_so_and_has_no_end(error, shown):
    machine = renderer()
    machine.feed(TextDelta("a"))
    assert [loads(event.data) for event in SseDecoder().feed(machine.fail(error))] == [{"error": shown}]
    assert machine.feed(End()) == b""
    assert machine.fail(error) == b""


def test_a_failure_delta_fails_the_stream():
    error = UpstreamRefused("m", status=500, kind="server", vendor="claude")
    assert render(TextDelta("a"), Failure(error), End())[-1]["error"]["message"] == "m"


def test_events_of_the_same_dialect_pass_untouched():
    machine = renderer()
    data = b'{"id":"x","unknown":[1, 2],"obfuscation":"zz"}'
    assert machine.passthrough(SseEvent(data)) == b"data: " + data + b"\n\n"
    assert machine.passthrough(DONE) == b"data: [DONE]\n\n"
    assert machine.feed(End()) == b""


def test_a_passed_stream_without_end_marker_gets_one():
    machine = renderer()
    machine.passthrough(chunk({"content": "a"}, "stop"))
    assert machine.feed(End()) == b"data: [DONE]\n\n"


def test_a_quiet_stream_is_kept_alive_by_comments():
    wire = OPENAI.read_request("/v1/chat/completions", {}, {}, {"model": "m", "messages": []})
    assert OPENAI.stream_format(wire).heartbeat == b": keep-alive\n\n"


texts = st.text(min_size=1, max_size=8)
objects = st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2).map(lambda value: dumps(value).decode())
calls = st.lists(st.builds(ToolCall, st.uuids().map(str), st.text("fgh_", min_size=1, max_size=4), objects), max_size=3)
says = st.lists(st.one_of(st.builds(Text, texts), st.builds(Thinking, texts)), max_size=4).filter(
    lambda parts: all(type(a) is not type(b) for a, b in pairwise(parts))
)


def choices(parts: list[Text | Thinking], asked: list[ToolCall], reason: str, refusal: str | None) -> Choice:
    if asked:
        return Choice((*parts, *asked), "tool_calls")
    if refusal is not None:
        return Choice((*parts, Refusal(refusal)), "refusal")
    return Choice(tuple(parts), reason)


replies = st.builds(
    Reply,
    st.lists(
        st.builds(choices, says, calls, st.sampled_from(["stop", "length", "content_filter"]), st.none() | texts),
        min_size=1,
        max_size=3,
    ).map(tuple),
    st.just("i1"),
    st.just("m1"),
    st.integers(1, 2**31),
    st.builds(Usage, st.integers(0, 99), st.integers(0, 99), st.none() | st.integers(0, 9), st.none() | st.integers(0, 9)),
)


@given(replies, st.integers(1, 64))
def test_a_reply_survives_being_streamed(reply, size):
    machine = renderer(stream_options={"include_usage": True})
    wire = b"".join(machine.feed(delta) for delta in reply.deltas())
    builder = ReplyBuilder()
    builder.feed(deltas_of([wire[start : start + size] for start in range(0, len(wire), size)]))
    assert builder.reply() == reply


def detailed(**delta):
    return SseEvent(dumps({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}), "")


def test_reasoning_details_are_the_token_of_the_thought_before_the_words():
    text = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
    sealed = [{"type": "reasoning.encrypted", "data": d, "id": d, "index": 1} for d in ("a", "b")]
    parser = OpenAI().stream_parser("0f")
    deltas = [
        delta
        for event in (
            detailed(role="assistant", content=""),
            detailed(reasoning="So ", reasoning_details=[{**text, "text": "So "}]),
            detailed(reasoning_details=[{**text, "text": "be it."}]),
            detailed(reasoning_details=[{**text, "text": "", "signature": "s"}]),
            detailed(content="Yes"),
            detailed(content="."),
            detailed(reasoning_details=[sealed[0]]),
            detailed(reasoning_details=["odd", sealed[1]]),
            SseEvent(dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), ""),
        )
        for delta in parser.feed(event)
    ]
    kinds = [type(delta).__name__ for delta in deltas]
    assert kinds == ["Start", *["ThinkingDelta"] * 3, "TextDelta", "TextDelta", "ThinkingDelta", "Finish"]
    builder = ReplyBuilder()
    builder.feed(deltas)
    first, said, second = builder.reply().choices[0].parts
    assert (first.text, said.text, second.text) == ("So be it.", "Yes.", "")
    assert details_of([first]) == [{**text, "text": "So be it.", "signature": "s"}]
    assert details_of([second]) == sealed
    # What a caller has broken is no token, and any list that it makes up is its own.
    assert details_of([Thinking("", "@0f/reasoning_details:{", None, "openai"), Thinking("", "@0f/reasoning_details:{}")]) == []
