"""The four kinds of callers: how each asks, what an error must look like to it, and what would look like a clean end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from agentui.vendors.sse import SseDecoder
from tests.faults.hygiene import check_hygiene
from tests.upstreams.server import API_KEY

DIALECTS = ("openai", "openai_responses", "claude", "gemini")
ANOTHER = {"openai": "claude", "openai_responses": "gemini", "claude": "openai", "gemini": "openai_responses"}
"""Whom a translated request of each dialect is sent to, so that each stands on both sides."""

_PATHS = {"openai": "/v1/chat/completions", "openai_responses": "/v1/responses", "claude": "/v1/messages"}
_ENDS = {
    "openai": (b"[DONE]",),
    "openai_responses": (b"response.completed", b"response.incomplete"),
    "claude": (b"message_stop",),
    "gemini": (b"finishReason",),
}
IN_STREAM = {
    "openai": b'data: {"error":',
    "openai_responses": b"event: error\n",
    "claude": b"event: error\n",
    "gemini": b'"error":',
}
"""What an error within a stream holds."""


@dataclass(frozen=True)
class Asked:
    """One request as a caller sends it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class Heard:
    """What came back. ``broken`` is true when the connection broke off before the answer's end."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes = b""
    broken: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(dialect: str, model: str = "text", *, stream: bool = False, text: str = "Hello", key: str = API_KEY) -> Asked:
    """A plain request of one user text."""
    bearer = {"authorization": f"Bearer {key}"}
    said = {"role": "user", "content": text}
    match dialect:
        case "openai":
            return Asked(_PATHS[dialect], bearer, {"model": model, "messages": [said], "stream": stream})
        case "openai_responses":
            return Asked(_PATHS[dialect], bearer, {"model": model, "input": text, "stream": stream})
        case "claude":
            headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
            return Asked(_PATHS[dialect], headers, {"model": model, "max_tokens": 256, "messages": [said], "stream": stream})
    operation = "streamGenerateContent?alt=sse" if stream else "generateContent"
    contents = [{"role": "user", "parts": [{"text": text}]}]
    return Asked(f"/v1beta/models/{model}:{operation}", {"x-goog-api-key": key}, {"contents": contents})


async def send(session: aiohttp.ClientSession, origin: str, asked: Asked, **more: Any) -> Heard:
    """Send a request and hear the whole answer, as far as it comes."""
    headers = {**asked.headers, **more.pop("headers", {})}
    sent = more or {"json": asked.body}
    url = URL(origin + asked.path, encoded=True)
    async with session.post(url, headers=headers, allow_redirects=False, **sent) as reply:
        heard = Heard(reply.status, reply.headers)
        try:
            async for piece in reply.content.iter_any():
                heard.body += piece
        except aiohttp.ClientError:
            heard.broken = True
    return heard


@asynccontextmanager
async def asking(origin: str, asked: Asked) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A request on a socket of its own, whose answer nobody has read yet."""
    body = json.dumps(asked.body).encode()
    async with talking(origin) as (reader, writer):
        lines = [f"POST {asked.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        lines += [f"{name}: {value}" for name, value in asked.headers.items()]
        lines += [f"Content-Length: {len(body)}", "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        yield reader, writer


@asynccontextmanager
async def talking(origin: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(origin.rpartition(":")[2]), limit=2**16)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def error_of(dialect: str, heard: Heard) -> dict[str, Any]:
    """The error that an answer holds. Fails unless it has exactly the dialect's shape."""
    label = (dialect, heard.status, heard.body[:500])
    assert heard.status >= 400, label
    assert heard.status != 500, label
    assert not heard.broken, label
    check_hygiene(heard.status, heard.headers, heard.body)
    return check_error(dialect, heard.json, heard.status)


def check_error(dialect: str, body: Any, status: int) -> dict[str, Any]:
    """The ``error`` of a body in this dialect's shape; ``dialect`` may be ``editor``."""
    error: dict[str, Any] = body["error"]
    assert isinstance(error["message"], str), body
    assert error["message"], body
    match dialect:
        case "openai" | "openai_responses":
            assert body.keys() == {"error"}, body
            assert error.keys() == {"message", "type", "param", "code"}, body
        case "claude":
            assert body["type"] == "error", body
            assert isinstance(error["type"], str), body
        case "gemini":
            assert error["code"] == status, body
            assert isinstance(error["status"], str), body
        case "editor":
            assert error.keys() == {"code", "message", "details"}, body
    return error


def looks_finished(dialect: str, body: bytes) -> bool:
    """Whether a stream holds what its dialect's clients take for the end."""
    return any(end in body for end in _ENDS[dialect])


def check_failed(dialect: str, heard: Heard, statuses: set[int], *, stream: bool, raw: bool = False) -> None:
    """Fail unless the caller was told, in its own way, that there is no whole answer.

    Before the answer began that is a status and the dialect's error; after it an error event, or for forwarded bytes a
    broken connection.
    """
    label = (dialect, heard.status, heard.broken, heard.body[-500:])
    if heard.status != 200:
        assert heard.status in statuses, label
        error_of(dialect, heard)
        return
    if raw:
        assert heard.broken, label
        assert not stream or not looks_finished(dialect, heard.body), label
        return
    assert stream, label
    assert not looks_finished(dialect, heard.body), label
    assert heard.headers["content-type"].startswith("text/event-stream"), label
    assert not heard.broken, label
    assert IN_STREAM[dialect] in heard.body[-8000:], label


def check_whole(dialect: str, heard: Heard, text: str, *, stream: bool) -> None:
    """Fail unless this is a whole answer that says ``text``."""
    label = (dialect, heard.status, heard.body[-500:])
    assert heard.status == 200, label
    assert not heard.broken, label
    assert said_in(dialect, heard.body, stream=stream) == text, label
    if stream:
        assert looks_finished(dialect, heard.body), label


def said_in(dialect: str, body: bytes, *, stream: bool) -> str:
    """The text of an answer, whole or streamed."""
    if not stream:
        return _WHOLE[dialect](json.loads(body))
    events = [json.loads(event.data) for event in SseDecoder().feed(body) if event.data != b"[DONE]"]
    return "".join(_PIECE[dialect](event) for event in events)


def _text_of_response(body: Any) -> str:
    return "".join(
        part["text"] for item in body["output"] if item["type"] == "message" for part in item["content"] if "text" in part
    )


def _text_of_gemini(body: Any) -> str:
    parts = [part for candidate in body.get("candidates", ()) for part in candidate.get("content", {}).get("parts", ())]
    return "".join(part.get("text", "") for part in parts)


_WHOLE: dict[str, Callable[[Any], str]] = {
    "openai": lambda body: body["choices"][0]["message"]["content"],
    "openai_responses": _text_of_response,
    "claude": lambda body: "".join(block.get("text", "") for block in body["content"]),
    "gemini": _text_of_gemini,
}
_PIECE: dict[str, Callable[[Any], str]] = {
    "openai": lambda event: "".join(choice["delta"].get("content") or "" for choice in event.get("choices", ())),
    "openai_responses": lambda event: event["delta"] if event["type"] == "response.output_text.delta" else "",
    "claude": lambda event: event["delta"].get("text", "") if event["type"] == "content_block_delta" else "",
    "gemini": _text_of_gemini,
}


@dataclass(frozen=True)
class Route:
    """One way through the proxy."""

    caller: str
    kind: str
    stream: bool
    label: str = field(default="", compare=False)


def routes(kind: str) -> list[Route]:
    """Every caller, streamed and not, by one kind of pipeline: ``same``, ``translated`` or ``raw``."""
    return [Route(caller, kind, stream) for caller in DIALECTS for stream in (False, True)]
