"""Responses API answers: streams and whole ones, read and written."""

from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from openai import APIError, AsyncOpenAI
from openai.types.responses import Response, ResponseStreamEvent

from agentui.chat.citations import Citation
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
from agentui.errors import UpstreamInvalid, UpstreamRefused, UpstreamTruncated
from agentui.jsonio import dumps, loads
from agentui.vendors.openai_responses import OpenAIResponses
from agentui.vendors.sse import SseDecoder, SseEvent, encode_event

NOW = 1_700_000_000
VENDOR = OpenAIResponses(now=lambda: NOW)
WIRE = VENDOR.read_request(
    "/v1/responses",
    {},
    {},
    {
        "model": "asked",
        "input": "hi",
        "stream": True,
        "instructions": "Be brief.",
        "temperature": 0.2,
        "tools": [{"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}],
        "reasoning": {"effort": "low"},
        "metadata": {"k": "v"},
        "max_output_tokens": 50,
    },
)
EVENTS = {get_args(event.model_fields["type"].annotation)[0]: event for event in get_args(get_args(ResponseStreamEvent)[0])}
"""The official SDK's class of each event type."""
RECORDED = (Path(__file__).parent / "cassettes" / "responses_stream.sse").read_bytes()


CITATION = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}


def understood(data, size=None):
    """The deltas of a byte stream cut into pieces of ``size`` bytes."""
    decoder, parser = SseDecoder(), VENDOR.stream_parser()
    pieces = [data] if size is None else [data[at : at + size] for at in range(0, len(data), size)]
    deltas = [delta for piece in pieces for event in decoder.feed(piece) for delta in parser.feed(event)]
    return [*deltas, *parser.close()]


def event(type, **fields):
    return SseEvent(dumps({"type": type, **fields}), type)


def told(*deltas):
    """The events that a renderer makes of deltas, as objects."""
    renderer = VENDOR.stream_renderer(WIRE)
    return events_of(b"".join(renderer.feed(delta) for delta in deltas))


def events_of(data):
    return [loads(found.data) for found in SseDecoder().feed(data)]


def built(deltas):
    builder = ReplyBuilder()
    builder.feed(deltas)
    return builder.reply()


def checked(events):
    """Assert that a stream is what the official SDK's own types say, numbered without a gap."""
    assert [found["sequence_number"] for found in events] == list(range(len(events)))
    for found in events:
        EVENTS[found["type"]].model_validate(found)
    return [found["type"].removeprefix("response.") for found in events]


def test_a_recorded_stream_is_understood():
    deltas = understood(RECORDED)
    assert deltas[0] == Start("resp_abc", "gpt-x-2026", 1_760_000_000)
    assert deltas[-2:] == [Finish("tool_calls"), End()]
    reply = built(deltas)
    assert reply.usage == Usage(input=20, output=30, cache_read=5, cache_write=1, reasoning=7)
    choice = reply.choices[0]
    assert choice.parts == (
        Thinking("First.\n\nSecond.", signature="rs_1:gAAA", signed_by="openai_responses"),
        Opaque("openai_responses", "web_search_call", {"id": "ws_1", "type": "web_search_call", "status": "completed"}),
        Text("Grüße \u2028 aus Köln."),
        Opaque(
            "openai_responses",
            "annotation",
            {"type": "url_citation", "url": "https://example.com", "title": "t", "start_index": 0, "end_index": 5},
            (Citation("https://example.com", "t", 0, 5),),
        ),
        ToolCall("call_1", "find", '{"q":"x"}'),
        ToolCall("call_2", "now", "{}"),
    )
    assert choice.logprobs == (TokenLogprob("Grüße", -0.5, (("Grüße", -0.5), ("Hallo", -1.0))),)


@given(st.integers(1, len(RECORDED)))
def test_any_chunking_gives_the_same_deltas(size):
    assert understood(RECORDED, size) == understood(RECORDED)


def test_the_final_response_alone_says_the_same():
    """Servers that send fewer events than OpenAI lose nothing, and a whole reply means what its stream means."""
    final = next(found for found in events_of(RECORDED) if found["type"] == "response.completed")
    whole = VENDOR.parse_reply(final["response"])
    streamed = built(understood(RECORDED))
    assert whole.choices == streamed.choices and whole.usage == streamed.usage and whole.id == streamed.id
    assert whole.raw == final["response"] and whole.raw_vendor == "openai_responses"
    assert VENDOR.render_reply(whole, WIRE) is whole.raw
    alone = understood(encode_event(dumps(final), "response.completed"))
    assert built(alone) == streamed


@pytest.mark.parametrize("left_out", ["output_text.delta", "output_item.added", "function_call_arguments.delta"])
def test_a_server_that_leaves_out_a_kind_of_event_loses_nothing(left_out):
    kept = b"".join(encode_event(dumps(found)) for found in events_of(RECORDED) if found["type"] != f"response.{left_out}")
    parts = built(understood(kept)).choices[0].parts
    assert set(map(str, parts)) == set(map(str, built(understood(RECORDED)).choices[0].parts))


def test_a_stream_without_its_last_event_is_never_whole():
    for stop in range(1, len(events_of(RECORDED))):
        cut = b"".join(encode_event(dumps(found)) for found in events_of(RECORDED)[:stop])
        deltas = understood(cut + b"data: [DONE]\n\n")
        assert not [delta for delta in deltas if isinstance(delta, End | Finish)]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "other"),
        ({"status": "incomplete", "incomplete_details": None}, "other"),
    ],
)
def test_reasons(response, reason):
    kind = f"response.{response['status']}"
    deltas = VENDOR.stream_parser().feed(event(kind, response={"id": "r", "output": [], **response}))
    assert deltas == [Start("r"), Finish(reason), End()]


def test_a_refusal_is_the_models_own_no():
    parser = VENDOR.stream_parser()
    deltas = [
        *parser.feed(event("response.refusal.delta", output_index=0, content_index=0, delta="I ")),
        *parser.feed(event("response.refusal.delta", output_index=0, content_index=0, delta="won't.")),
        *parser.feed(event("response.completed", response={"output": [], "status": "completed"})),
    ]
    assert deltas == [RefusalDelta("I "), RefusalDelta("won't."), Start(), Finish("refusal"), End()]


def test_raw_reasoning_is_thinking_too():
    parser = VENDOR.stream_parser()
    assert parser.feed(event("response.reasoning_text.delta", output_index=2, content_index=0, delta="Hm")) == [
        ThinkingDelta("Hm", block=2)
    ]


def test_a_picture_is_media():
    item = {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "AAAA", "output_format": "webp"}
    parser = VENDOR.stream_parser()
    assert parser.feed(event("response.output_item.done", output_index=0, item=item)) == [
        MediaDelta(Media("image", "image/webp", data="AAAA"))
    ]


def test_unknown_events_mean_nothing():
    parser = VENDOR.stream_parser()
    assert list(parser.feed(event("response.hologram.delta", delta="x"))) == []
    assert list(parser.feed(SseEvent(b"[DONE]"))) == []


@pytest.mark.parametrize(
    "data", [b"<html>", b"null", b"[]", b"{}", b'"text"', b'{"type": 5}', b'{"type": "response.completed"}']
)
def test_what_is_no_event_is_invalid(data):
    with pytest.raises(UpstreamInvalid):
        VENDOR.stream_parser().feed(SseEvent(data))


@pytest.mark.parametrize(
    ("failed", "status", "kind", "message"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}, 429, "rate_limit", "slow"),
        ({"type": "error", "code": None, "message": "boom"}, 502, "server", "boom"),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "long"}},
            400,
            "context_overflow",
            "long",
        ),
        ({"error": {"message": "plain", "type": "server_error"}}, 502, "server", "plain"),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "broke"}}},
            502,
            "server",
            "broke",
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "no"}}},
            400,
            "invalid_request",
            "no",
        ),
        (
            {"type": "response.failed", "response": {"error": None}},
            502,
            "server",
            "The upstream failed within its answer and did not say why.",
        ),
    ],
)
def test_an_error_inside_the_stream_is_a_failure_and_nothing_follows(failed, status, kind, message):
    parser = VENDOR.stream_parser()
    [failure] = parser.feed(SseEvent(dumps(failed)))
    assert isinstance(failure, Failure) and isinstance(failure.error, UpstreamRefused)
    assert (failure.error.status, failure.error.kind, failure.error.message) == (status, kind, message)
    assert VENDOR.render_error(failure.error).body["error"]["message"] == message
    assert list(parser.feed(event("response.completed", response={"output": []}))) == [] and list(parser.close()) == []


def test_a_failed_response_is_raised():
    with pytest.raises(UpstreamRefused, match="broke"):
        VENDOR.parse_reply({"status": "failed", "output": [], "error": {"code": "server_error", "message": "broke"}})


@pytest.mark.parametrize("body", [None, [], "text", {}, {"output": "text"}, {"choices": []}])
def test_what_is_no_response_is_invalid(body):
    with pytest.raises(UpstreamInvalid):
        VENDOR.parse_reply(body)


def test_a_job_in_the_background_has_not_finished():
    assert VENDOR.parse_reply({"id": "r", "status": "queued", "output": []}).choices == ()


def test_a_text_is_told_in_the_official_order():
    events = told(Start("resp_1", "m", 5), TextDelta("Hel"), TextDelta("lo"), Finish("stop"), UsageDelta(Usage(3, 2)), End())
    assert checked(events) == [
        *("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done", "completed"),
    ]
    final = events[-1]["response"]
    assert (final["id"], final["model"], final["created_at"], final["status"]) == ("resp_1", "m", 5, "completed")
    assert final["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }
    assert final["output"] == [events[-2]["item"]] and events[0]["response"]["output"] == []
    assert Response.model_validate(final).output_text == "Hello"


def test_the_response_repeats_what_was_asked():
    response = told(Start())[0]["response"]
    assert response["model"] == "asked" and response["created_at"] == NOW and response["id"].startswith("resp_")
    assert (response["instructions"], response["temperature"], response["top_p"]) == ("Be brief.", 0.2, 1.0)
    assert response["reasoning"] == {"effort": "low", "summary": None} and response["metadata"] == {"k": "v"}
    assert response["tools"][0]["name"] == "find" and response["max_output_tokens"] == 50 and response["store"] is False
    assert response["text"] == {"format": {"type": "text"}} and response["tool_choice"] == "auto"


def test_thought_text_and_calls_are_items_of_their_own():
    events = told(
        Start("msg_claude", "claude"),
        ThinkingDelta("Hm", block=0),
        ThinkingDelta("m.", block=0),
        ThinkingDelta(signature="sig", signed_by="claude", block=0),
        ThinkingDelta(redacted="xyz", signed_by="claude", block=1),
        TextDelta("Let me look."),
        ToolCallDelta(0, "call_a", "find", '{"q"'),
        ToolCallDelta(1, "call_b", "now"),
        ToolCallDelta(0, arguments=':"x"}'),
        Finish("tool_calls"),
        End(),
    )
    checked(events)
    output = events[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "reasoning", "message", "function_call", "function_call"]
    assert [item.get("encrypted_content") for item in output[:2]] == [
        "agentui:claude:signature:sig",
        "agentui:claude:redacted:xyz",
    ]
    assert [(item["call_id"], item["arguments"]) for item in output[3:]] == [("call_a", '{"q":"x"}'), ("call_b", "{}")]
    assert len({item["id"] for item in output}) == 5 and all(len(item["id"]) <= 64 for item in output)
    for index, item in enumerate(output):
        about = [found for found in events if found.get("output_index") == index]
        assert about[0]["type"] == "response.output_item.added" and about[0]["item"]["id"] == item["id"]
        assert about[-1] == {**about[-1], "type": "response.output_item.done", "item": item}
        assert all(found["item_id"] == item["id"] for found in about[1:-1])


def test_text_after_a_call_is_a_new_message():
    events = told(Start("r"), TextDelta("a"), ToolCallDelta(0, "c", "f", "{}"), TextDelta("b"), Finish("stop"), End())
    checked(events)
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["message", "function_call", "message"]


@pytest.mark.parametrize(
    ("finish", "details"),
    [
        ("length", {"reason": "max_output_tokens"}),
        ("content_filter", {"reason": "content_filter"}),
        ("refusal", {"reason": "content_filter"}),
    ],
)
def test_an_answer_cut_short_is_incomplete(finish, details):
    events = told(Start("r"), TextDelta("a"), Finish(finish), End())
    assert checked(events)[-1] == "incomplete"
    assert events[-1]["response"]["incomplete_details"] == details
    assert events[-1]["response"]["output"][0]["status"] == "incomplete"


def test_a_refusal_with_words_is_a_completed_answer():
    events = told(Start("r"), RefusalDelta("No."), Finish("refusal"), End())
    assert checked(events)[-1] == "completed"
    assert events[-1]["response"]["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_logprobs_reach_the_text_they_belong_to_even_late():
    token = TokenLogprob("a", -0.1, (("b", -2.0),))
    for deltas in (
        (LogprobsDelta((token,)), TextDelta("a"), Finish("stop")),
        (TextDelta("a"), LogprobsDelta((token,)), Finish("stop")),
        (TextDelta("a"), ToolCallDelta(0, "c", "f", "{}"), LogprobsDelta((token,)), Finish("tool_calls")),
    ):
        events = told(Start("r"), *deltas, End())
        checked(events)
        assert VENDOR.parse_reply(events[-1]["response"]).choices[0].logprobs == (token,)


def test_pictures_citations_and_own_items_are_told():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
    events = told(
        Start("r"),
        OpaqueDelta("openai_responses", "web_search_call", search),
        TextDelta("a"),
        OpaqueDelta("openai_responses", "annotation", CITATION),
        TextDelta("b"),
        OpaqueDelta("claude", "server_tool_use", {}),
        MediaDelta(Media("image", "image/png", data="AAAA")),
        Finish("stop"),
        End(),
    )
    checked(events)
    output = events[-1]["response"]["output"]
    assert output[0] == search and output[1]["content"][0]["annotations"] == [CITATION]
    assert output[1]["content"][0]["text"] == "ab" and output[2]["result"] == "AAAA"


def test_other_choices_are_not_told():
    events = told(Start("r"), TextDelta("a"), TextDelta("zz", 1), Finish("length", choice=1), Finish("stop"), End())
    assert events[-1]["type"] == "response.completed" and "zz" not in str(events)


def test_a_failure_ends_the_stream_without_a_clean_end():
    renderer = VENDOR.stream_renderer(WIRE)
    data = renderer.feed(Start("r")) + renderer.feed(TextDelta("half")) + renderer.fail(UpstreamTruncated("It broke off."))
    events = events_of(data)
    assert checked(events)[-2:] == ["error", "failed"]
    assert events[-2]["message"] == events[-2]["error"]["message"] == "It broke off."
    assert events[-2]["code"] == events[-2]["error"]["code"] == "upstream_truncated"
    failed = events[-1]["response"]
    assert failed["status"] == "failed" and failed["error"] == {"code": "server_error", "message": "It broke off."}
    assert failed["output"][0]["content"][0]["text"] == "half"
    assert renderer.feed(End()) + renderer.feed(TextDelta("more")) + renderer.fail(UpstreamTruncated("Again.")) == b""


def test_a_failure_delta_is_the_failure():
    parser = VENDOR.stream_parser()
    [failure] = parser.feed(event("error", code="rate_limit_exceeded", message="slow down", param=None))
    events = told(Start("r"), failure, End())
    assert checked(events)[-2:] == ["error", "failed"] and events[-1]["response"]["error"]["code"] == "rate_limit_exceeded"


def test_a_failure_after_passed_events_names_the_response_that_began():
    renderer = VENDOR.stream_renderer(WIRE)
    passed = b"".join(renderer.passthrough(found) for found in SseDecoder().feed(RECORDED)[:3])
    assert events_of(passed) == events_of(RECORDED)[:3]
    error, failed = events_of(renderer.fail(UpstreamTruncated("It broke off.")))
    assert (error["sequence_number"], failed["sequence_number"]) == (3, 4)
    assert failed["response"]["id"] == "resp_abc" and failed["response"]["status"] == "failed"
    EVENTS[failed["type"]].model_validate(failed)


def test_a_failure_before_anything_is_an_error_alone():
    [error] = events_of(VENDOR.stream_renderer(WIRE).fail(UpstreamTruncated("No.")))
    assert error["type"] == "error"


def test_events_pass_untouched():
    renderer = VENDOR.stream_renderer(WIRE)
    assert b"".join(renderer.passthrough(found) for found in SseDecoder().feed(RECORDED)) == RECORDED


def test_silence_is_kept_alive_by_a_comment():
    format = VENDOR.stream_format(WIRE)
    assert format.content_type.startswith("text/event-stream") and format.heartbeat is not None
    assert SseDecoder().feed(format.heartbeat) == []


def test_an_http_error_is_openais():
    error = VENDOR.parse_error(429, {"retry-after": "2"}, b'{"error":{"message":"slow","code":"rate_limit_exceeded"}}')
    assert (error.vendor, error.kind, error.retry_after) == ("openai_responses", "rate_limit", 2.0)
    answer = VENDOR.render_error(error)
    assert answer.status == 429 and answer.body["error"]["message"] == "slow"


words = st.text(min_size=1, max_size=12)
thoughts = st.builds(
    lambda text, token: Thinking(text, *token),
    words,
    st.sampled_from(
        [(None, None, None), ("sig", None, "claude"), (None, "secret:1", "claude"), ("rs_1:gA", None, "openai_responses")]
    ),
)
calls = st.builds(
    lambda id, name, arguments: ToolCall(id, name, dumps(arguments).decode()),
    st.uuids().map(str),
    st.sampled_from(["find", "now"]),
    st.dictionaries(words, words, max_size=2),
)
pictures = st.just(Media("image", "image/png", data="AAAA"))


def neighbours_differ(parts):
    """Neighbouring texts (or refusals) are one part on every wire; a text that goes on after a refusal is not."""
    return all(type(a) is not type(b) or not isinstance(a, Text | Refusal) for a, b in pairwise(parts))


replies = st.builds(
    lambda parts, finish, usage, logprobs: Reply(
        (
            Choice(
                tuple(parts),
                "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else finish,
                None,
                logprobs if any(isinstance(part, Text) for part in parts) else None,
            ),
        ),
        "resp_x",
        "model",
        7,
        usage,
    ),
    st.lists(st.builds(Text, words) | thoughts | calls | pictures, min_size=1, max_size=6).filter(neighbours_differ),
    st.sampled_from(["stop", "length", "content_filter"]),
    st.builds(Usage, *[st.integers(0, 1000)] * 5),
    st.none() | st.just((TokenLogprob("t", -0.25, (("u", -1.5),)),)),
)


@given(replies)
def test_a_reply_survives_being_streamed(reply):
    renderer = VENDOR.stream_renderer(WIRE)
    data = b"".join(renderer.feed(delta) for delta in reply.deltas())
    checked(events_of(data))
    deltas = understood(data)
    assert built(deltas) == reply
    assert deltas[-1] == End()


@given(replies)
def test_a_reply_survives_being_written_whole(reply):
    body = VENDOR.render_reply(reply, WIRE)
    Response.model_validate(body)
    again = VENDOR.parse_reply(loads(dumps(body)))
    assert (again.choices, again.usage, again.id, again.model, again.created) == (
        *(reply.choices, reply.usage, reply.id, reply.model, reply.created),
    )


@given(
    st.lists(
        st.sampled_from(
            [
                TextDelta("a"),
                RefusalDelta("r"),
                ThinkingDelta("t"),
                ToolCallDelta(0, "c", "f", "{}"),
                ToolCallDelta(1, None, "g"),
                UsageDelta(Usage(1, 1)),
                Finish("stop"),
                LogprobsDelta((TokenLogprob("a", 0.0),)),
                MediaDelta(Media("audio", data="A")),
                Start("other"),
                OpaqueDelta("openai_responses", "annotation", CITATION),
            ]
        ),
        max_size=12,
    )
)
def test_deltas_in_any_order_make_a_stream_that_the_sdk_reads(deltas):
    checked(told(*deltas, End(), TextDelta("late")))


@pytest.fixture
async def sdk(aiohttp_server):
    """The official client against a server that answers with prepared bytes."""
    answer = {}

    async def respond(request):
        answer["asked"] = await request.json()
        return web.Response(body=answer["body"], content_type=answer["type"])

    app = web.Application()
    app.router.add_post("/v1/responses", respond)
    server = await aiohttp_server(app)
    async with AsyncOpenAI(api_key="k", base_url=str(server.make_url("/v1")), max_retries=0) as client:
        yield client, answer


DELTAS = (
    Start("chatcmpl-1", "gpt"),
    ThinkingDelta("Hm.", block=0),
    TextDelta("Hel"),
    TextDelta("lo"),
    ToolCallDelta(0, "call_1", "find", '{"q":'),
    ToolCallDelta(1, "call_2", "find", "{}"),
    ToolCallDelta(0, arguments='"x"}'),
    Finish("tool_calls"),
    UsageDelta(Usage(3, 4, reasoning=1)),
    End(),
)


@pytest.mark.sdk
async def test_the_official_client_streams_our_answers(sdk):
    client, answer = sdk
    renderer = VENDOR.stream_renderer(WIRE)
    answer.update(type="text/event-stream", body=b"".join(renderer.feed(delta) for delta in DELTAS))
    stream = await client.responses.create(model="m", input="hi", stream=True)
    types = [found.type async for found in stream]
    assert types[0] == "response.created" and types[-1] == "response.completed"
    async with client.responses.stream(model="m", input="hi") as typed:
        final = await typed.get_final_response()
    assert final.output_text == "Hello" and final.usage.output_tokens_details.reasoning_tokens == 1
    assert [item.arguments for item in final.output if item.type == "function_call"] == ['{"q":"x"}', "{}"]


@pytest.mark.sdk
async def test_the_official_client_reads_our_whole_answers(sdk):
    client, answer = sdk
    reply = VENDOR.render_reply(built(DELTAS), WIRE)
    answer.update(type="application/json", body=dumps(reply))
    response = await client.responses.create(model="m", input="hi")
    assert response.output_text == "Hello" and response.status == "completed" and response.usage.total_tokens == 7


@pytest.mark.sdk
@pytest.mark.parametrize("begun", [True, False])
async def test_the_official_client_raises_on_a_stream_that_broke(sdk, begun):
    client, answer = sdk
    renderer = VENDOR.stream_renderer(WIRE)
    said = b"".join(renderer.feed(delta) for delta in DELTAS[:3]) if begun else b""
    answer.update(type="text/event-stream", body=said + renderer.fail(UpstreamTruncated("It broke off.")))
    with pytest.raises(APIError, match="It broke off"):
        async for _ in await client.responses.create(model="m", input="hi", stream=True):
            pass
    with pytest.raises(APIError, match="It broke off"):
        async with client.responses.stream(model="m", input="hi") as typed:
            await typed.get_final_response()
