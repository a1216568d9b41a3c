"""Pages that Claude or Gemini cite, as callers of chat completions read them."""

import pytest
from openai.types.chat import ChatCompletion

from agentui.chat.messages import text_message
from agentui.chat.request import ChatRequest
from agentui.jsonio import Json, dumps, loads
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseDecoder, encode_event

VENDORS = make_vendors()
PAGE = {"start_index": 0, "end_index": 0, "url": "https://example.org/a", "title": "A page"}
TOLD = [{"type": "url_citation", "url_citation": PAGE}]
WIRE = VENDORS["openai"].render_request(ChatRequest("agentui", "m", [text_message("user", "Is it?")]))

CITED = {
    "type": "web_search_result_location",
    "url": PAGE["url"],
    "title": "A page",
    "encrypted_index": "x",
    "cited_text": "so",
}
IN_FILE = {"type": "char_location", "document_index": 0, "document_title": "d", "cited_text": "so"}
CLAUDE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "It is so.", "citations": [CITED, IN_FILE]}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def gemini(**beside: Json) -> Json:
    candidate = {"index": 0, "content": {"role": "model", "parts": [{"text": "It is so."}]}, "finishReason": "STOP", **beside}
    return {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r"}


GROUNDED = gemini(
    groundingMetadata={
        "groundingChunks": [{"web": {"uri": PAGE["url"], "title": "A page"}}, {"retrievedContext": {"text": "x"}}],
        "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 9}, "groundingChunkIndices": [0]}],
    }
)
RECITED = gemini(
    citationMetadata={"citationSources": [{"startIndex": 0, "endIndex": 9, "uri": PAGE["url"], "title": "A page"}]}
)
ANSWERS = [("claude", CLAUDE), ("gemini", GROUNDED), ("gemini", RECITED)]


@pytest.mark.parametrize(("upstream", "answer"), ANSWERS, ids=["claude", "gemini grounded", "gemini recited"])
def test_pages_that_an_answer_cites_reach_chat_callers(upstream: str, answer: Json) -> None:
    reply = VENDORS[upstream].parse_reply(answer)  # type: ignore[index]  # its names are literals
    body = VENDORS["openai"].render_reply(reply, WIRE)
    assert body["choices"][0]["message"]["annotations"] == TOLD
    ChatCompletion.model_validate(body)


def claude_events() -> list[tuple[str, Json]]:
    start = {**CLAUDE, "content": [], "stop_reason": None}
    block = {"type": "text", "text": ""}
    return [
        ("message_start", {"message": start}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "It is so."}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "citations_delta", "citation": CITED}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}),
        ("message_stop", {}),
    ]


STREAMS = {
    "claude": b"".join(encode_event(dumps({"type": name, **data}), name) for name, data in claude_events()),
    "gemini": encode_event(dumps(GROUNDED)),
}


@pytest.mark.parametrize("upstream", STREAMS)
def test_pages_that_a_stream_cites_reach_chat_callers(upstream: str) -> None:
    parser = VENDORS[upstream].stream_parser()  # type: ignore[index]  # its names are literals
    renderer = VENDORS["openai"].stream_renderer(WIRE)
    deltas = [delta for event in SseDecoder().feed(STREAMS[upstream]) for delta in parser.feed(event)]
    written = b"".join(renderer.feed(delta) for delta in [*deltas, *parser.close()])
    chunks = [loads(event.data) for event in SseDecoder().feed(written) if event.data != b"[DONE]"]
    told = [one for chunk in chunks for choice in chunk["choices"] for one in choice["delta"].get("annotations", [])]
    assert told == TOLD
