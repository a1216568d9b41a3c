"""Gemini streams and whole answers, read and written."""

import base64
import json
import re
from itertools import pairwise

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.deltas import (
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
from agentui.chat.messages import Media, Opaque, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import Busy, UpstreamInvalid, UpstreamRefused, UpstreamTruncated
from agentui.jsonio import dumps
from agentui.vendors.gemini import Gemini
from agentui.vendors.gemini.call_marks import call_mark
from agentui.vendors.sse import SseDecoder, SseEvent

GEMINI = Gemini()
SSE = WireRequest("gemini", "chat", "asked-model", True, "/v1beta/models/m:streamGenerateContent", {}, {"alt": "sse"})
ARRAY = WireRequest("gemini", "chat", "asked-model", True, "/v1beta/models/m:streamGenerateContent", {})


def event(*parts, finish=None, index=0, **members):
    """One event with one candidate."""
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": index}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **members}


def heard(*bodies, close=True):
    """Every delta of a stream of these bodies, without its start."""
    parser = GEMINI.stream_parser()
    deltas = [delta for body in bodies for delta in parser.feed(SseEvent(dumps(body)))]
    return [delta for delta in [*deltas, *(parser.close() if close else ())] if not isinstance(delta, Start)]


def written(*deltas, wire=SSE):
    """The bytes of a stream of these deltas."""
    renderer = GEMINI.stream_renderer(wire)
    return b"".join(renderer.feed(delta) for delta in deltas)


def responses(data: bytes):
    """The responses that an SSE stream holds, each one valid for the SDK."""
    bodies = [json.loads(one.data) for one in SseDecoder().feed(data)]
    for body in bodies:
        types.GenerateContentResponse.model_validate(body)
    return bodies


RECORDED = [
    event(
        {"text": "Let me think… \u2028", "thought": True},
        responseId="r1",
        modelVersion="gemini-3-pro",
        usageMetadata={"promptTokenCount": 12, "totalTokenCount": 12},
    ),
    event({"text": "\U0001f600 Grüße"}, responseId="r1", modelVersion="gemini-3-pro"),
    event({"functionCall": {"name": "weather", "args": {"city": "Zürich"}, "id": "w1"}, "thoughtSignature": "c2ln"}),
    event({"functionCall": {"name": "time", "args": {}, "id": "t1"}}),
    event(
        {"text": "", "thoughtSignature": "czI="},
        finish="STOP",
        usageMetadata={
            "promptTokenCount": 12,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 4,
            "totalTokenCount": 37,
        },
    ),
]
HEARD = [
    ThinkingDelta("Let me think… \u2028", block=0),
    UsageDelta(Usage(12)),
    TextDelta("\U0001f600 Grüße"),
    ToolCallDelta(0, "w1", "weather", '{"city":"Zürich"}', "c2ln", "gemini"),
    ToolCallDelta(1, "t1", "time", "{}"),
    ThinkingDelta("", "czI=", None, "gemini", 1),
    UsageDelta(Usage(12, 25, 4, None, 5)),
    Finish("tool_calls"),
    End(),
]


def test_a_recorded_stream():
    assert heard(*RECORDED) == HEARD


def test_the_start_tells_id_and_model():
    assert GEMINI.stream_parser().feed(SseEvent(dumps(RECORDED[0])))[0] == Start("r1", "gemini-3-pro")


STREAM = b"".join(b"data: " + dumps(body) + b"\r\n\r\n" for body in RECORDED)


@given(st.lists(st.integers(0, len(STREAM)), max_size=40).map(sorted))
def test_any_chunking_gives_the_same_deltas(cuts):
    decoder, parser = SseDecoder(), GEMINI.stream_parser()
    edges = [0, *cuts, len(STREAM)]
    events = [one for start, end in pairwise(edges) for one in decoder.feed(STREAM[start:end])]
    deltas = [delta for one in events for delta in parser.feed(one)] + [*parser.close()]
    assert deltas[1:] == HEARD


@pytest.mark.parametrize("length", range(1, len(RECORDED)))
def test_a_stream_cut_before_its_finish_never_looks_whole(length):
    deltas = heard(*RECORDED[:length])
    assert not any(isinstance(delta, End | Finish) for delta in deltas)


def test_an_empty_stream_is_not_whole():
    assert heard() == []


def test_older_models_repeat_the_finish_in_every_event():
    assert heard(event({"text": "a"}, finish="STOP"), event({"text": "b"}, finish="STOP")) == [
        TextDelta("a"),
        TextDelta("b"),
        Finish("stop"),
        End(),
    ]


def test_every_candidate_must_have_finished():
    first = event({"text": "a"}, finish="STOP")
    second = event({"text": "b"}, index=1)
    assert heard(first, second) == [TextDelta("a"), TextDelta("b", 1), Finish("stop")]
    assert heard(first, second, event(finish="MAX_TOKENS", index=1))[-3:] == [Finish("stop"), Finish("length", None, 1), End()]


def test_a_blocked_prompt_is_a_whole_answer():
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
    assert heard(body) == [UsageDelta(Usage(3)), Finish("content_filter"), End()]


def test_a_call_without_an_id_gets_one():
    calls = [delta.id for delta in heard(event({"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}})) if delta]
    assert all(re.fullmatch("call_[0-9a-f]{24}", id) for id in calls)
    assert len(set(calls)) == 2


def test_streamed_arguments_are_put_together():
    def piece(**members):
        return event({"functionCall": members})

    deltas = heard(
        piece(name="f", id="c", willContinue=True),
        piece(partialArgs=[{"jsonPath": "$.a.b[0]['x y']", "stringValue": "Zü", "willContinue": True}], willContinue=True),
        piece(partialArgs=[{"jsonPath": "$.a.b[0]['x y']", "stringValue": "rich"}], willContinue=True),
        piece(
            partialArgs=[
                {"jsonPath": "$.n", "numberValue": 3.0},
                {"jsonPath": "$.t", "boolValue": False},
                {"jsonPath": "$.z", "nullValue": "NULL_VALUE"},
            ],
            willContinue=True,
        ),
        piece(),
        event({"text": "!"}, finish="STOP"),
    )
    arguments = '{"a":{"b":[{"x y":"Zürich"}]},"n":3,"t":false,"z":null}'
    assert deltas == [ToolCallDelta(0, "c", "f", arguments), TextDelta("!"), Finish("tool_calls"), End()]


@pytest.mark.parametrize("path", ["", "$", "a", "$.a[*]", "$..a", "$.a[5]", "$.s.x", "$.a[0"])
def test_a_strange_argument_path_is_not_geminis(path):
    pieces = [{"jsonPath": "$.s", "stringValue": "x"}, {"jsonPath": path, "stringValue": "y"}]
    with pytest.raises(UpstreamInvalid):
        heard(event({"functionCall": {"name": "f", "partialArgs": pieces}}))


def test_pictures_sources_and_closed_parts():
    body = event({"inlineData": {"mimeType": "image/png", "data": "-_8="}}, {"executableCode": {"code": "1"}}, finish="STOP")
    body["candidates"][0]["groundingMetadata"] = {"webSearchQueries": ["x"]}
    assert heard(body)[:3] == [
        MediaDelta(Media("image", "image/png", data="+/8=")),
        OpaqueDelta("gemini", "executableCode", {"executableCode": {"code": "1"}}),
        OpaqueDelta("gemini", "groundingMetadata", {"groundingMetadata": {"webSearchQueries": ["x"]}}),
    ]


def test_log_probabilities():
    body = event({"text": "a"}, finish="STOP")
    body["candidates"][0]["logprobsResult"] = {
        "chosenCandidates": [{"token": "a", "logProbability": -0.5, "tokenId": 7}, {"token": "b"}],
        "topCandidates": [{"candidates": [{"token": "a", "logProbability": -0.5}, {"token": "c", "logProbability": -2}]}],
    }
    tokens = (TokenLogprob("a", -0.5, (("a", -0.5), ("c", -2))), TokenLogprob("b", 0.0))
    assert heard(body)[1] == LogprobsDelta(tokens)


def test_an_error_inside_a_stream_is_a_failure_and_no_end():
    error = {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
    for body in (error, [error]):
        deltas = heard(RECORDED[1], body)
        assert isinstance(deltas[-1], Failure)
        assert isinstance(deltas[-1].error, UpstreamRefused)
        assert (deltas[-1].error.status, deltas[-1].error.message) == (503, "Overloaded.")


@pytest.mark.parametrize("data", [b"not json", b"null", b"[]", b"3", b'{"candidates": 3}', b'{"candidates": [3]}', b'"x"'])
def test_what_is_not_geminis_is_refused(data):
    with pytest.raises(UpstreamInvalid):
        GEMINI.stream_parser().feed(SseEvent(data))


def test_a_foreign_end_marker_means_nothing():
    assert GEMINI.stream_parser().feed(SseEvent(b"[DONE]")) == []


def test_every_finish_reason_of_the_sdk_is_known():
    known = {
        reason.value: heard(event({"text": "a"}, finish=reason.value))[-2].reason
        for reason in types.FinishReason
        if reason.value != "FINISH_REASON_UNSPECIFIED"
    }
    assert known.pop("STOP") == "stop"
    assert known.pop("MAX_TOKENS") == "length"
    assert known.pop("CONTINUATION") == "pause"
    assert {known.pop("MALFORMED_FUNCTION_CALL"), known.pop("UNEXPECTED_TOOL_CALL")} == {"malformed_call"}
    filtered = {name for name, reason in known.items() if reason == "content_filter"}
    assert filtered >= {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"}
    assert {known[name] for name in known.keys() - filtered} == {"other"}


def test_a_finish_reason_of_tomorrow_is_other():
    assert heard(event(finish="BRAND_NEW"))[-2:] == [Finish("other"), End()]


# --- writing -----------------------------------------------------------------------------------------------------


def test_a_stream_of_another_vendor_is_written_as_gemini_does():
    data = written(
        Start("r1", "their-model"),
        ThinkingDelta("hm", "sig", None, "claude"),
        TextDelta("Hi"),
        ToolCallDelta(0, "c1", "f"),
        ToolCallDelta(1, "c2", "g", "{}"),
        ToolCallDelta(0, arguments='{"a":'),
        ToolCallDelta(0, arguments="1}"),
        Finish("tool_calls"),
        UsageDelta(Usage(10, 7, 4, None, 2)),
        End(),
    )
    assert data.startswith(b'data: {"candidates"')
    assert data.endswith(b"}\r\n\r\n")
    bodies = responses(data)
    assert {(body["responseId"], body["modelVersion"]) for body in bodies} == {("r1", "their-model")}
    assert [body["candidates"][0]["content"]["parts"] for body in bodies] == [
        [{"text": "hm", "thought": True}],
        [{"text": "Hi"}],
        [
            {"functionCall": {"name": "f", "args": {"a": 1}, "id": "c1"}, "thoughtSignature": call_mark(ToolCall("c1", "f"))},
            {"functionCall": {"name": "g", "args": {}, "id": "c2"}, "thoughtSignature": call_mark(ToolCall("c2", "g"))},
        ],
        [{"text": ""}],
    ]
    assert [body["candidates"][0].get("finishReason") for body in bodies] == [None, None, None, "STOP"]
    assert bodies[-1]["usageMetadata"] == {
        "promptTokenCount": 10,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4,
        "totalTokenCount": 17,
    }


def test_text_after_a_whole_call_comes_after_it():
    data = written(Start(), ToolCallDelta(0, "c", "f", "{}"), TextDelta("then"), Finish("tool_calls"), End())
    assert [list(part) for body in responses(data) for part in body["candidates"][0]["content"]["parts"]] == [
        ["functionCall", "thoughtSignature"],
        ["text"],
        ["text"],
    ]


def test_geminis_own_signatures_are_written():
    data = written(
        ThinkingDelta("", "c2ln", None, "gemini"), ToolCallDelta(0, "c", "f", "{}", "czI=", "gemini"), Finish("tool_calls")
    )
    assert [body["candidates"][0]["content"]["parts"] for body in responses(data)] == [
        [{"text": "", "thoughtSignature": "c2ln"}],
        [{"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": "czI="}],
    ]


@pytest.mark.parametrize(("reason", "name"), [("tool_calls", "MALFORMED_FUNCTION_CALL"), ("length", "MAX_TOKENS")])
def test_a_broken_call_is_not_passed_on(reason, name):
    data = written(Start(), ToolCallDelta(0, "c", "rm", '{"path": "/'), Finish(reason), End())
    (body,) = responses(data)
    assert body["candidates"][0]["finishReason"] == name
    assert "rm" in body["candidates"][0]["finishMessage"]


def test_a_refusal_is_text_that_ended_for_safety():
    bodies = responses(written(RefusalDelta("No."), Finish("stop"), End()))
    assert bodies[0]["candidates"][0]["content"]["parts"] == [{"text": "No."}]
    assert bodies[1]["candidates"][0]["finishReason"] == "SAFETY"


def test_an_array_is_streamed_without_alt_sse():
    pieces = []
    renderer = GEMINI.stream_renderer(ARRAY)
    for delta in (Start("r", "m"), TextDelta("a"), TextDelta("b"), Finish("stop"), End()):
        pieces.append(renderer.feed(delta))
    assert pieces[1].startswith(b"[{")
    assert pieces[2].startswith(b",\n{")
    bodies = json.loads(b"".join(pieces))
    assert [body["candidates"][0]["content"]["parts"][0]["text"] for body in bodies] == ["a", "b", ""]


def test_an_array_that_fails_ends_with_the_error():
    renderer = GEMINI.stream_renderer(ARRAY)
    data = renderer.feed(TextDelta("a")) + renderer.fail(UpstreamTruncated("It broke off.")) + renderer.feed(End())
    assert json.loads(data)[1] == {"error": {"code": 502, "message": "It broke off.", "status": "UNAVAILABLE"}}


def test_a_failing_stream_ends_with_the_error():
    renderer = GEMINI.stream_renderer(SSE)
    data = renderer.fail(Busy("Full.", retry_after=1.5)) + renderer.feed(TextDelta("late")) + renderer.feed(End())
    (one,) = SseDecoder().feed(data)
    assert json.loads(one.data)["error"]["code"] == 503


def test_own_events_pass_untouched():
    renderer = GEMINI.stream_renderer(SSE)
    data = dumps({**RECORDED[0], "unknown": "kept"})
    assert renderer.passthrough(SseEvent(data)) + renderer.feed(End()) == b"data: " + data + b"\r\n\r\n"


def test_own_events_are_put_into_an_array_for_who_asked_for_one():
    renderer = GEMINI.stream_renderer(ARRAY)
    events = [SseEvent(b'{"a":\n1}'), SseEvent(b"[DONE]"), SseEvent(b'{"b":2}')]
    data = b"".join(renderer.passthrough(one) for one in events) + renderer.feed(End())
    assert json.loads(data) == [{"a": 1}, {"b": 2}]


def test_an_empty_array_is_closed():
    assert json.loads(GEMINI.stream_renderer(ARRAY).feed(End())) == []


def test_formats():
    assert GEMINI.stream_format(SSE).content_type == "text/event-stream"
    assert GEMINI.stream_format(ARRAY).content_type == "application/json"
    assert GEMINI.stream_format(SSE).heartbeat is None


# --- whole answers -----------------------------------------------------------------------------------------------

ANSWER = {
    "candidates": [
        {
            "content": {"parts": [{"text": "t", "thought": True}, {"text": "a"}, {"functionCall": {"name": "f", "args": {}}}]},
            "finishReason": "STOP",
            "safetyRatings": [],
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "toolUsePromptTokenCount": 4, "totalTokenCount": 7},
    "modelVersion": "gemini-2.5-pro",
    "responseId": "r",
    "unknown": 1,
}


def test_a_whole_answer_is_understood_and_given_back_as_it_was():
    reply = GEMINI.parse_reply(ANSWER)
    (choice,) = reply.choices
    assert (reply.text, choice.finish, reply.usage) == ("a", "tool_calls", Usage(5, 2))
    assert choice.parts[0] == Thinking("t")
    assert choice.tool_calls[0].id
    assert GEMINI.render_reply(reply, SSE) is ANSWER


def test_a_blocked_prompt_is_a_filtered_choice():
    reply = GEMINI.parse_reply({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    assert reply.choices == (Choice((), "content_filter"),)


@pytest.mark.parametrize("body", [None, [], {}, "x", {"candidates": []}, {"candidates": "x"}, {"id": "x", "choices": []}])
def test_what_is_no_answer_is_refused(body):
    with pytest.raises(UpstreamInvalid):
        GEMINI.parse_reply(body)


def test_an_error_in_an_answer_is_the_upstreams_own():
    with pytest.raises(UpstreamRefused) as caught:
        GEMINI.parse_reply({"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}})
    assert (caught.value.status, caught.value.message) == (400, "Bad.")


def test_an_answer_of_another_vendor():
    parts = (
        Thinking("hm", "s", None, "claude"),
        Text("Hi"),
        ToolCall("c1", "f", '{"a":1}'),
        ToolCall("c2", "g", "{"),
        Opaque("claude", "x", {}),
    )
    logprobs = (TokenLogprob("Hi", -0.1, (("Ho", -3.0),)),)
    body = GEMINI.render_reply(Reply((Choice(parts, "tool_calls", None, logprobs),), usage=Usage(3, 4)), SSE)
    types.GenerateContentResponse.model_validate(body)
    (candidate,) = body["candidates"]
    assert candidate["content"]["parts"] == [
        {"text": "hm", "thought": True},
        {"text": "Hi"},
        {"functionCall": {"name": "f", "args": {"a": 1}, "id": "c1"}, "thoughtSignature": call_mark(ToolCall("c1", "f"))},
    ]
    assert candidate["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert candidate["logprobsResult"]["topCandidates"] == [{"candidates": [{"token": "Ho", "logProbability": -3.0}]}]
    assert body["modelVersion"] == "asked-model"
    assert body["usageMetadata"] == {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}


def test_an_empty_answer_has_an_empty_text():
    body = GEMINI.render_reply(Reply((Choice((), "stop"),)), SSE)
    assert types.GenerateContentResponse.model_validate(body).text == ""


SIGNATURES = st.binary(min_size=1, max_size=9).map(lambda data: base64.b64encode(data).decode())
JSON_OBJECTS = st.dictionaries(st.text(max_size=4), st.integers(-5, 5) | st.text(max_size=4) | st.none(), max_size=3)
ANSWER_PARTS = st.one_of(
    st.builds(Text, st.text(min_size=1)),
    st.builds(Thinking, st.text(min_size=1)),
    st.builds(lambda words, sig: Thinking(words, sig, None, "gemini"), st.text(), SIGNATURES),
    st.builds(lambda n, args: ToolCall(f"id{n}", "f", dumps(args).decode()), st.integers(0, 9), JSON_OBJECTS),
    st.builds(lambda sig: ToolCall("id", "g", "{}", sig, "gemini"), SIGNATURES),
    st.builds(lambda data: Media("image", "image/png", data=base64.b64encode(data).decode()), st.binary(max_size=6)),
    st.just(Opaque("gemini", "executableCode", {"executableCode": {"code": "1"}})),
)


def _joins(before, after) -> bool:
    """Parts that any stream joins: texts, and thoughts that no signature parts."""
    if isinstance(before, Text):
        return isinstance(after, Text)
    return isinstance(before, Thinking) and isinstance(after, Thinking) and not before.signature and bool(after.text)


@st.composite
def choices(draw):
    parts = []
    for part in draw(st.lists(ANSWER_PARTS, max_size=6)):
        if not parts or not _joins(parts[-1], part):
            parts.append(part)
    if draw(st.booleans()):
        parts.append(Opaque("gemini", "groundingMetadata", {"groundingMetadata": {"webSearchQueries": ["x"]}}))
    called = any(isinstance(part, ToolCall) for part in parts)
    finish = draw(
        st.sampled_from(["length", "content_filter", "pause", "other", "malformed_call", "tool_calls" if called else "stop"])
    )
    logprobs = draw(st.none() | st.just((TokenLogprob("a", -1.0, (("b", -2.0),)),)))
    return Choice(tuple(parts), finish, None, logprobs)


COUNTS = st.integers(0, 1000)
USAGES = st.builds(lambda i, o, r, c: Usage(i, o + r, c, None, r), COUNTS, COUNTS, COUNTS, COUNTS)
REPLIES = st.builds(
    lambda told, usage: Reply(tuple(told), "r1", "m1", None, usage),
    st.lists(choices(), min_size=1, max_size=3),
    st.none() | USAGES,
)


def _around(reply: Reply, chunk: int) -> Reply:
    """The reply after a Gemini stream was written and read in pieces."""
    data = written(*reply.deltas())
    responses(data)
    decoder, parser, builder = SseDecoder(), GEMINI.stream_parser(), ReplyBuilder()
    for start in range(0, len(data), chunk):
        for one in decoder.feed(data[start : start + chunk]):
            builder.feed(parser.feed(one))
    ending = parser.close()
    assert ending[-1] == End()
    builder.feed(ending)
    return builder.reply()


@given(REPLIES, st.integers(1, 400))
def test_an_answer_survives_a_stream(reply, chunk):
    assert _around(reply, chunk) == reply


@given(REPLIES)
def test_an_answer_survives_being_written_whole(reply):
    body = GEMINI.render_reply(reply, SSE)
    types.GenerateContentResponse.model_validate(body)
    again = GEMINI.parse_reply(body)
    assert (again.choices, again.usage, again.id, again.model) == (reply.choices, reply.usage, reply.id, reply.model)


def test_a_refusal_in_a_whole_answer():
    body = GEMINI.render_reply(Reply((Choice((Refusal("No."),), "stop"),)), SSE)
    assert body["candidates"][0]["finishReason"] == "SAFETY"
