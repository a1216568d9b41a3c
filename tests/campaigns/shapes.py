"""What a caller of each dialect takes for a stream of its own: read strictly, and said what it comes to."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentui.vendors.sse import SseDecoder, SseEvent


class BadShape(AssertionError):
    """The stream is not what the dialect's clients can read."""


@dataclass
class Read:
    """What a stream said: its text, whether it ended, and the error that ended it."""

    text: str = ""
    finished: bool = False
    error: dict[str, Any] | None = None
    blocks: set[int] = field(default_factory=set)
    opened: bool = False
    number: int = -1


def read_stream(dialect: str, body: bytes, *, cut: bool = False) -> Read:
    """Read a stream. Raises BadShape for what the dialect's clients would not take; ``cut`` allows half an event at the end.

    Events that nobody knows pass, since clients pass them over.
    """
    decoder = SseDecoder()
    events = decoder.feed(body)
    if not cut and not decoder.is_clean:
        raise BadShape(f"half an event at the end: {body[-200:]!r}")
    read = Read()
    for event in events:
        if (read.error is not None and event.event != "response.failed") or (read.finished and dialect != "gemini"):
            raise BadShape(f"something after the end: {event}")
        try:
            _READERS[dialect](event, read)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadShape(f"{error!r} in {event}") from error
    return read


def _need(holds: object, what: str) -> None:
    if not holds:
        raise BadShape(what)


def _openai(event: SseEvent, read: Read) -> None:
    if event.data == b"[DONE]":
        read.finished = True
        return
    chunk = json.loads(event.data)
    if "error" in chunk:
        _need(chunk.keys() == {"error"} and chunk["error"].keys() == {"message", "type", "param", "code"}, f"error {chunk}")
        read.error = chunk["error"]
        return
    _need(chunk["object"] == "chat.completion.chunk" and isinstance(chunk["id"], str), f"no chunk: {chunk}")
    for choice in chunk["choices"]:
        read.text += choice["delta"].get("content") or ""


def _responses(event: SseEvent, read: Read) -> None:
    body = json.loads(event.data)
    _need(body["type"] == event.event, f"{event.event} says it is {body['type']}")
    kind = body["type"]
    if kind == "error":
        _need({"message", "code", "param"} <= body.keys() and body["message"], f"error {body}")
        read.error = body
    if kind == "response.failed":
        _need(body["response"]["status"] == "failed" and body["response"]["error"]["message"], f"failed without a word: {body}")
        read.error = body["response"]["error"]
    if "sequence_number" in body:
        _need(body["sequence_number"] > read.number, f"sequence_number {body['sequence_number']} after {read.number}")
        read.number = body["sequence_number"]
    if kind == "response.output_text.delta":
        _need(read.opened, "words before response.created")
        read.text += body["delta"]
    read.opened = read.opened or kind == "response.created"
    read.finished = kind in ("response.completed", "response.incomplete")


def _claude(event: SseEvent, read: Read) -> None:
    body = json.loads(event.data)
    _need(body["type"] == event.event, f"{event.event} says it is {body['type']}")
    match body["type"]:
        case "message_start":
            _need(not read.opened and body["message"]["role"] == "assistant", "a second message_start")
            read.opened = True
        case "content_block_start":
            _need(read.opened and body["index"] not in read.blocks and body["content_block"]["type"], "a block out of place")
            read.blocks.add(body["index"])
            read.text += body["content_block"].get("text", "")
        case "content_block_delta":
            _need(body["index"] in read.blocks, "a delta outside its block")
            read.text += body["delta"].get("text", "")
        case "content_block_stop":
            _need(body["index"] in read.blocks, "a stop outside its block")
            read.blocks.discard(body["index"])
        case "message_delta":
            _need(not read.blocks, "message_delta within a block")
        case "message_stop":
            _need(read.opened and not read.blocks, "message_stop out of place")
            read.finished = True
        case "error":
            _need(isinstance(body["error"]["type"], str) and body["error"]["message"], f"error {body}")
            read.error = body["error"]


def _gemini(event: SseEvent, read: Read) -> None:
    body = json.loads(event.data)
    if "error" in body:
        error = body["error"]
        _need(isinstance(error["code"], int) and isinstance(error["status"], str) and error["message"], f"error {body}")
        read.error = error
        return
    _need(not read.finished or not body.get("candidates"), "words after finishReason")
    for candidate in body.get("candidates", ()):
        read.text += "".join(part.get("text", "") for part in candidate.get("content", {}).get("parts", ()))
        read.finished = read.finished or "finishReason" in candidate


_READERS: dict[str, Callable[[SseEvent, Read], None]] = {
    "openai": _openai,
    "openai_responses": _responses,
    "claude": _claude,
    "gemini": _gemini,
}
