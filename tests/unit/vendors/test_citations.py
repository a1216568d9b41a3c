"""Pages that an answer cites: from every dialect to callers of every dialect, whole and streamed, and where in the answer."""

from collections.abc import Mapping
from typing import Any

import pytest
from anthropic.types import Message as ClaudeMessage
from google.genai.types import GenerateContentResponse
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from agentui.chat.citations import Citation, byte_places, character_places
from agentui.chat.messages import text_message
from agentui.chat.reply import Choice, ReplyBuilder
from agentui.chat.request import ChatRequest, VendorName
from agentui.jsonio import Json, dumps, loads
from agentui.vendors.base import Vendor
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseDecoder, encode_event
from agentui.vendors.thought_marks import MARK

VENDORS: Mapping[VendorName, Vendor] = make_vendors()
BEFORE, CITED = "Grüße! ", "Es schneit 🌨."
TEXT = BEFORE + CITED
START, END = len(BEFORE), len(TEXT)
FROM, TO = len(BEFORE.encode()), len(TEXT.encode())
URL, TITLE = "https://example.org/a", "A page"
PLACED: Json = {"url": URL, "title": TITLE, "start_index": START, "end_index": END}
CLAUDES = {"type": "web_search_result_location", "url": URL, "title": TITLE, "encrypted_index": "x", "cited_text": "so"}
IN_FILE = {"type": "char_location", "document_index": 0, "document_title": "d", "cited_text": "so"}
SUPPORT = {"segment": {"startIndex": FROM, "endIndex": TO, "text": CITED}, "groundingChunkIndices": [0]}
GROUNDED = {
    "groundingChunks": [{"web": {"uri": URL, "title": TITLE}}, {"retrievedContext": {"text": "x"}}],
    "groundingSupports": [SUPPORT],
}


def openai(**message: Json) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT, **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def gemini(*before: Json, **beside: Json) -> Json:
    parts = [*before, {"text": TEXT}]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP", **beside}
    return {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r"}


CLAUDE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": BEFORE}, {"type": "text", "text": CITED, "citations": [CLAUDES, IN_FILE]}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ANNOTATED = {"type": "output_text", "text": TEXT, "annotations": [{"type": "url_citation", **PLACED}], "logprobs": []}
RESPONSE: Json = {
    "id": "resp_1",
    "created_at": 1,
    "model": "m",
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [ANNOTATED]}],
}
ANSWERS: list[tuple[str, VendorName, Json]] = [
    ("chat", "openai", openai(annotations=[{"type": "url_citation", "url_citation": PLACED}])),
    ("responses", "openai_responses", RESPONSE),
    ("claude", "claude", CLAUDE),
    ("gemini", "gemini", gemini(groundingMetadata=GROUNDED)),
    (
        "gemini behind a thought",
        "gemini",
        gemini(
            {"text": "Hm.", "thought": True},
            groundingMetadata={
                **GROUNDED,
                "groundingSupports": [{**SUPPORT, "segment": {**SUPPORT["segment"], "partIndex": 1}}],
            },
        ),
    ),
    (
        "gemini recites",
        "gemini",
        gemini(citationMetadata={"citationSources": [{"startIndex": FROM, "endIndex": TO, "uri": URL, "title": TITLE}]}),
    ),
]
"""Answers that cite one page, for which only the end of the text stands."""


def wire(caller: VendorName) -> Any:
    return VENDORS[caller].render_request(ChatRequest("agentui", "m", [text_message("user", "Is it?")]))


def told_to_gemini(candidate: Json) -> Json:
    metadata = candidate["groundingMetadata"]
    assert metadata["groundingChunks"] == [{"web": {"uri": URL, "title": TITLE}}]
    (support,) = metadata["groundingSupports"]
    assert support["groundingChunkIndices"] == [0]
    return support["segment"]


def told(caller: VendorName, body: Json) -> Json:
    """Where the page is cited, as callers of this dialect read it; the body is one that the vendor's SDK takes."""
    match caller:
        case "openai":
            ChatCompletion.model_validate(body)
            (one,) = body["choices"][0]["message"]["annotations"]
            return one["url_citation"]
        case "openai_responses":
            Response.model_validate(body)
            (one,) = body["output"][-1]["content"][0]["annotations"]
            return {name: value for name, value in one.items() if name != "type"}
        case "claude":
            ClaudeMessage.model_validate(body)
            (one,) = [one for block in body["content"] for one in block.get("citations", [])]
            return one
        case "gemini":
            GenerateContentResponse.model_validate(body)
            (candidate,) = body["candidates"]
            assert [part["text"] for part in candidate["content"]["parts"] if "thought" not in part] == [TEXT]
            return told_to_gemini(candidate)


EXPECTED: Mapping[VendorName, Json] = {
    "openai": PLACED,
    "openai_responses": PLACED,
    "claude": {"type": "web_search_result_location", "url": URL, "title": TITLE, "encrypted_index": MARK},
    "gemini": {"startIndex": FROM, "endIndex": TO},
}
PAIRS = [
    pytest.param(upstream, answer, caller, id=f"{name} to {caller}")
    for name, upstream, answer in ANSWERS
    for caller in VENDORS
    if caller != upstream
]


def quoted(upstream: VendorName) -> Json:
    """What Claude's callers read of the page itself: Claude alone tells that."""
    return {"cited_text": "so" if upstream == "claude" else ""}


@pytest.mark.parametrize(("upstream", "answer", "caller"), PAIRS)
def test_a_page_that_an_answer_cites_reaches_every_caller(upstream: VendorName, answer: Json, caller: VendorName) -> None:
    reply = VENDORS[upstream].parse_reply(answer)
    expected = EXPECTED[caller] | (quoted(upstream) if caller == "claude" else {})
    assert told(caller, VENDORS[caller].render_reply(reply, wire(caller))) == expected


def streamed(upstream: VendorName, answer: Json) -> bytes:
    """The answer as a stream, cut where the vendor might cut it."""
    match upstream:
        case "openai":
            head = {key: value for key, value in answer.items() if key != "choices"} | {"object": "chat.completion.chunk"}
            message = answer["choices"][0]["message"]
            deltas: list[Json] = [{"content": BEFORE}, {"content": CITED}, {"annotations": message["annotations"]}, {}]
            chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
            chunks[-1]["choices"][0]["finish_reason"] = "stop"
            return b"".join(encode_event(dumps(chunk)) for chunk in chunks) + encode_event(b"[DONE]")
        case "openai_responses":
            at = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
            events: list[Json] = [
                {"type": "response.created", "response": {**answer, "output": [], "status": "in_progress"}},
                *({"type": "response.output_text.delta", **at, "delta": text} for text in (BEFORE, CITED)),
                {"type": "response.output_text.annotation.added", **at, "annotation": ANNOTATED["annotations"][0]},
                {"type": "response.completed", "response": answer},
            ]
        case "claude":
            delta = {"stop_reason": "end_turn", "stop_sequence": None}
            events = [{"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}]
            for index, block in enumerate(answer["content"]):
                events.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
                # In either order.
                pieces = [{"type": "citations_delta", "citation": one} for one in block.get("citations", [])]
                pieces.insert(1, {"type": "text_delta", "text": block["text"]})
                events += [{"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces]
                events.append({"type": "content_block_stop", "index": index})
            events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
        case "gemini":
            (candidate,) = answer["candidates"]
            first = {"index": 0, "content": {"role": "model", "parts": [{"text": BEFORE}]}}
            last = {**candidate, "content": {"role": "model", "parts": [{"text": CITED}]}}
            return b"".join(encode_event(dumps({**answer, "candidates": [one]})) for one in (first, last))
    return b"".join(encode_event(dumps(event), event["type"]) for event in events)


@pytest.mark.parametrize(
    ("upstream", "answer", "caller"), [pair for pair in PAIRS if "gemini behind a thought" not in str(pair.id)]
)
def test_a_page_that_a_stream_cites_reaches_every_caller(upstream: VendorName, answer: Json, caller: VendorName) -> None:
    parser, renderer = VENDORS[upstream].stream_parser(), VENDORS[caller].stream_renderer(wire(caller))
    deltas = [delta for event in SseDecoder().feed(streamed(upstream, answer)) for delta in parser.feed(event)]
    written = b"".join(renderer.feed(delta) for delta in [*deltas, *parser.close()])
    if caller == "gemini":  # without alt=sse it is one array, whose last element says what stands beside the words
        body = loads(written)
        assert told_to_gemini(body[-1]["candidates"][0]) == EXPECTED["gemini"]
        return
    reader, builder = VENDORS[caller].stream_parser(), ReplyBuilder()
    builder.feed([delta for event in SseDecoder().feed(written) for delta in reader.feed(event)])
    reply = builder.reply()
    assert reply.text == TEXT
    (cited,) = cited_in(reply.choices[0])
    assert (cited.url, cited.title) == (URL, TITLE)
    # Of Claude's callers a citation is read as one of the whole block, and its text came in one.
    assert (cited.start, cited.end) == ((0, END) if caller == "claude" and upstream != "claude" else (START, END))


def test_pages_beside_the_choices_are_cited() -> None:
    body = openai() | {"citations": [URL, "https://b.org"], "search_results": [{"url": URL, "title": TITLE, "date": None}]}
    reply = VENDORS["openai"].parse_reply(body)
    chunk = {**body, "choices": [{"index": 0, "delta": {"content": TEXT}, "finish_reason": "stop"}]}
    parser, builder = VENDORS["openai"].stream_parser(), ReplyBuilder()
    builder.feed([*parser.feed(next(iter(SseDecoder().feed(encode_event(dumps(chunk)))))), *parser.close()])
    for one in (reply, builder.reply()):
        message = VENDORS["openai_responses"].render_reply(one, wire("openai_responses"))["output"][0]
        found = [(cited["url"], cited["title"], cited["end_index"]) for cited in message["content"][0]["annotations"]]
        assert found == [(URL, TITLE, 0), ("https://b.org", "", 0)]


def test_pages_beside_the_choices_stay_though_a_later_chunk_lists_none() -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: list[Json] = [{"index": number, "delta": {"content": "a"}, "finish_reason": None} for number in range(2)]
    ends: list[Json] = [{"index": number, "delta": {}, "finish_reason": "stop"} for number in range(2)]
    events = [{**chunk, "choices": choices, "citations": [URL]}, {**chunk, "choices": ends, "citations": None}]
    parser, builder = VENDORS["openai"].stream_parser(), ReplyBuilder()
    for event in SseDecoder().feed(b"".join(encode_event(dumps(event)) for event in events)):
        builder.feed(parser.feed(event))
    whole = {**chunk, "choices": [{"index": number, "message": {"content": "a"}} for number in range(2)], "citations": [URL]}
    for reply in (builder.reply(), VENDORS["openai"].parse_reply(whole)):
        # They are the whole answer's, and told with its first choice alone.
        assert [[one.url for one in cited_in(choice)] for choice in reply.choices] == [[URL], []]


def cited_in(choice: Choice) -> list[Citation]:
    return [one for part in choice.parts for one in getattr(part, "cited", ())]


def test_what_each_event_says_again_is_told_once() -> None:
    alone = {"groundingChunks": GROUNDED["groundingChunks"]}  # at first the page, later what rests on it
    events = [gemini(groundingMetadata=metadata) for metadata in (alone, GROUNDED, GROUNDED)]
    for event, words in zip(events, (BEFORE, CITED, ""), strict=True):
        event["candidates"][0]["content"]["parts"] = [{"text": words}]
    parser, builder = VENDORS["gemini"].stream_parser(), ReplyBuilder()
    for read in SseDecoder().feed(b"".join(encode_event(dumps(event)) for event in events)):
        builder.feed(parser.feed(read))
    builder.feed(parser.close())
    assert cited_in(builder.reply().choices[0]) == [Citation(URL, TITLE, START, END)]


@pytest.mark.parametrize(
    "metadata",
    [
        {"groundingChunks": "none"},
        {"groundingChunks": [{"web": {"uri": URL}}], "groundingSupports": [{"segment": [], "groundingChunkIndices": [0]}]},
    ],
)
def test_odd_metadata_leaves_the_answer_whole(metadata: Json) -> None:
    reply = VENDORS["gemini"].parse_reply(gemini(groundingMetadata=metadata))
    body = VENDORS["openai"].render_reply(reply, wire("openai"))
    assert reply.text == TEXT and "annotations" not in body["choices"][0]["message"]


def test_a_place_at_which_other_words_stand_is_not_told() -> None:
    odd = {**SUPPORT, "segment": {**SUPPORT["segment"], "text": "Es regnet."}}
    reply = VENDORS["gemini"].parse_reply(gemini(groundingMetadata={**GROUNDED, "groundingSupports": [odd]}))
    assert told("openai", VENDORS["openai"].render_reply(reply, wire("openai"))) == PLACED | {"start_index": 0, "end_index": 0}


def test_a_citation_that_was_written_here_never_reaches_claude() -> None:
    own = {"type": "text", "text": "Own.", "citations": [CLAUDES]}
    foreign = EXPECTED["claude"] | {"cited_text": ""}
    both = {"type": "text", "text": "Both.", "citations": [CLAUDES, foreign]}
    answer = {"role": "assistant", "content": [own, both, {"type": "text", "text": TEXT, "citations": [foreign]}]}
    messages = [{"role": "user", "content": "Is it?"}, answer, {"role": "user", "content": "Sure?"}]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    request = VENDORS["claude"].read_request("/v1/messages", {}, {}, body)
    for sent in (
        VENDORS["claude"].patch_request(request, model="m", stream=False),
        VENDORS["claude"].render_request(VENDORS["claude"].parse_request(request)),
    ):
        assert sent.body["messages"][1]["content"] == [own, {**both, "citations": [CLAUDES]}, {"type": "text", "text": TEXT}]
        assert sent.dropped == ("citations",)


@given(st.text(st.characters(codec="utf-8")), st.data())
def test_places_in_characters_and_in_bytes_are_the_same_places(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(text))))
    in_bytes = byte_places(text, places)
    assert in_bytes == {place: len(text[:place].encode()) for place in places}
    back = character_places(text, in_bytes.values())
    assert [back[in_bytes[place]] for place in places] == places
