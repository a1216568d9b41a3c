"""What an upstream says in each dialect, whole and streamed, and what a caller can say in every place of a request."""

import json
import re
from collections.abc import Iterator
from typing import Any

from agentui.jsonio import Json
from tests.faults.callers import Asked, ask
from tests.unit.upstream.conftest import Bytes, Visit

PIECE = 7
"""Characters of a streamed piece: few, so that whatever has a meaning in a text is cut."""

_STREAMS = re.compile(rb'(?<!\\)"stream": ?true')
"""What a body says that asks for a stream; parsing a long one would hold up the loop that the tests watch."""


def strings(value: Json) -> Iterator[str]:
    """Every text in a JSON value, names included."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from strings(inner)
        case list():
            for inner in value:
                yield from strings(inner)


def says(wild: Bytes, text: str, **headers: str) -> None:
    """Let the upstream answer everything with this text, streamed to who asks for a stream."""

    async def script(visit: Visit) -> None:
        path = visit.head.split(b" ")[1].decode()
        if "streamGenerateContent" in path or _STREAMS.search(visit.body):
            await visit.answer(200, streamed(path, text), **{"Content_Type": "text/event-stream", **headers})
        else:
            await visit.answer(200, whole(path, text), **{"Content_Type": "application/json", **headers})

    wild.script = script


def dialect_of(path: str) -> str:
    """The dialect of an upstream's path."""
    known = {"chat/completions": "openai", "responses": "openai_responses", "messages": "claude", "models/": "gemini"}
    return next(dialect for part, dialect in known.items() if part in path)


def whole(path: str, text: str) -> bytes:
    """An answer that says ``text``, in the dialect of the path."""
    match dialect_of(path):
        case "openai":
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body: Json = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        case "openai_responses":
            body = _response("completed", [_message(text, "completed")])
        case "claude":
            content = [{"type": "text", "text": text}]
            body = {**_CLAUDE, "stop_reason": "end_turn", "content": content}
        case _:
            body = _candidate(text, finishReason="STOP")
    return json.dumps(body).encode()


def streamed(path: str, text: str) -> bytes:
    """The same in events, a few characters in each."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    match dialect_of(path):
        case "openai":
            events = [_chunk({"role": "assistant", "content": ""}, None)]
            events += [_chunk({"content": piece}, None) for piece in pieces]
            return b"".join(map(_data, [*events, _chunk({}, "stop")])) + b"data: [DONE]\n\n"
        case "openai_responses":
            return b"".join(_event(event["type"], event) for event in _response_events(text, pieces))
        case "claude":
            return b"".join(_event(event["type"], event) for event in _claude_events(pieces))
    return b"".join(_data(_candidate(piece)) for piece in pieces) + _data(_candidate("", finishReason="STOP"))


def _data(event: Json) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _event(name: str, event: Json) -> bytes:
    return f"event: {name}\n".encode() + _data(event)


def _chunk(delta: Json, finish: str | None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


_CLAUDE: dict[str, Any] = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def _claude_events(pieces: list[str]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _CLAUDE}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _message(text: str, status: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "i1", "status": status, "role": "assistant", "content": [part] if text else []}


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output}


def _response_events(text: str, pieces: list[str]) -> Iterator[dict[str, Any]]:
    at = {"item_id": "i1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response("in_progress", [])},
        {"type": "response.output_item.added", "output_index": 0, "item": _message("", "in_progress")},
        {"type": "response.content_part.added", **at, "part": part},
        *({"type": "response.output_text.delta", **at, "delta": piece} for piece in pieces),
        {"type": "response.output_text.done", **at, "text": text},
        {"type": "response.content_part.done", **at, "part": {**part, "text": text}},
        {"type": "response.output_item.done", "output_index": 0, "item": _message(text, "completed")},
        {"type": "response.completed", "response": _response("completed", [_message(text, "completed")])},
    ]
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _candidate(text: str, **fields: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **fields}]}


EVERYWHERE = range(1, 9)
"""The places of ``everywhere``; each text there begins with its number."""


def everywhere(dialect: str, text: str, *, stream: bool) -> Asked:
    """A request that says ``text`` in every place where a caller can put text: instructions (1), a part of a question (2),
    an answer (3), a tool's result (4), a call's arguments (5), the last question (6), a tool's description (7) and that of
    one of its parameters (8)."""
    said = {number: f"{number} {text}" for number in EVERYWHERE}
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": said[8]}}}
    arguments = {"q": said[5]}
    plain = ask(dialect, "m", stream=stream)
    body: dict[str, Any]
    match dialect:
        case "openai":
            call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": json.dumps(arguments)}}
            messages = [
                {"role": "system", "content": said[1]},
                {"role": "user", "content": [{"type": "text", "text": said[2]}]},
                {"role": "assistant", "content": said[3], "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_1", "content": said[4]},
                {"role": "user", "content": said[6]},
            ]
            tool = {"type": "function", "function": {"name": "look", "description": said[7], "parameters": schema}}
            body = {"messages": messages, "tools": [tool]}
        case "openai_responses":
            items = [
                {"role": "user", "content": [{"type": "input_text", "text": said[2]}]},
                {"role": "assistant", "content": said[3]},
                {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": json.dumps(arguments)},
                {"type": "function_call_output", "call_id": "call_1", "output": said[4]},
                {"role": "user", "content": said[6]},
            ]
            tool = {"type": "function", "name": "look", "description": said[7], "parameters": schema}
            body = {"instructions": said[1], "input": items, "tools": [tool]}
        case "claude":
            called = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": arguments}
            result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": said[4]}
            messages = [
                {"role": "user", "content": [{"type": "text", "text": said[2]}]},
                {"role": "assistant", "content": [{"type": "text", "text": said[3]}, called]},
                {"role": "user", "content": [result, {"type": "text", "text": said[6]}]},
            ]
            tool = {"name": "look", "description": said[7], "input_schema": schema}
            body = {"system": said[1], "messages": messages, "tools": [tool]}
        case _:
            contents = [
                {"role": "user", "parts": [{"text": said[2]}]},
                {"role": "model", "parts": [{"text": said[3]}, {"functionCall": {"name": "look", "args": arguments}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": said[4]}}}]},
                {"role": "user", "parts": [{"text": said[6]}]},
            ]
            declared = {"name": "look", "description": said[7], "parameters": schema}
            body = {
                "systemInstruction": {"parts": [{"text": said[1]}]},
                "contents": contents,
                "tools": [{"functionDeclarations": [declared]}],
            }
    return Asked(plain.path, plain.headers, {**plain.body, **body})
