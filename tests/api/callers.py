"""Callers of the four dialects: how each asks, and where each finds its answer. Nothing here uses agentui's own code."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.upstreams.server import API_KEY

Json = Any
DIALECTS = ("openai", "openai_responses", "claude", "gemini")


@dataclass
class Got:
    """An answer as it came, header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def events(self) -> list[Json]:
        """The JSON data of every event of a stream; OpenAI's end marker as the text ``[DONE]``."""
        found: list[Json] = []
        for line in self.body.decode().split("\n"):
            if line.startswith("data:"):
                data = line.removeprefix("data:").strip()
                found.append("[DONE]" if data == "[DONE]" else json.loads(data))
        return found


@dataclass(frozen=True)
class Caller:
    """One dialect's client. ``key`` goes where that dialect's clients put it; "" sends none."""

    dialect: str
    origin: str
    key: str = API_KEY
    prefix: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""

    def key_header(self) -> dict[str, str]:
        """The key as this dialect's clients send it."""
        if not self.key:
            return {}
        match self.dialect:
            case "claude":
                return {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
            case "gemini":
                return {"x-goog-api-key": self.key}
        return {"authorization": f"Bearer {self.key}"}

    def path(self, model: str, stream: bool = False) -> str:
        """Where this dialect posts a chat."""
        match self.dialect:
            case "openai":
                return "/v1/chat/completions"
            case "openai_responses":
                return "/v1/responses"
            case "claude":
                return "/v1/messages"
        return f"/v1beta/models/{model}:{'streamGenerateContent' if stream else 'generateContent'}"

    def body(self, text: str, model: str, stream: bool = False, **more: Json) -> dict[str, Json]:
        """A chat of one user message."""
        asks: dict[str, Json] = {"stream": True} if stream else {}
        match self.dialect:
            case "openai":
                return {"model": model, "messages": [{"role": "user", "content": text}], **asks, **more}
            case "openai_responses":
                return {"model": model, "input": text, **asks, **more}
            case "claude":
                return {"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": text}], **asks, **more}
        return {"contents": [{"role": "user", "parts": [{"text": text}]}], **more}

    async def ask(self, text: str = "Hello", model: str = "text", *, stream: bool = False, **more: Json) -> Got:
        """Ask and hear the whole answer."""
        query = self.query + ("&alt=sse" if stream and self.dialect == "gemini" else "")
        body = self.body(text, model, stream, **more)
        return await self.post(self.path(model, stream), body, query.lstrip("&"))

    async def post(self, path: str, body: Json, query: str = "") -> Got:
        """Post JSON."""
        return await self._send("POST", path, json.dumps(body).encode(), query)

    async def get(self, path: str, query: str = "") -> Got:
        """Get a page."""
        return await self._send("GET", path, None, query)

    async def _send(self, method: str, path: str, data: bytes | None, query: str) -> Got:
        headers = {**self.key_header(), **self.headers}
        if data is not None:
            headers.setdefault("content-type", "application/json")
        url = f"{self.origin}{self.prefix}{path}" + (f"?{query}" if query else "")
        async with aiohttp.ClientSession() as session, session.request(method, url, data=data, headers=headers) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return Got(answer.status, headers, await answer.read())


def text_of(dialect: str, body: Json) -> str:
    """The words of a whole answer, where this dialect's clients look for them."""
    match dialect:
        case "openai":
            return str(body["choices"][0]["message"]["content"])
        case "openai_responses":
            return "".join(part["text"] for item in body["output"] if item["type"] == "message" for part in item["content"])
        case "claude":
            return "".join(block["text"] for block in body["content"] if block["type"] == "text")
    return "".join(part["text"] for part in body["candidates"][0]["content"]["parts"])


def streamed_text(dialect: str, events: list[Json]) -> str:
    """The words of a stream."""
    return "".join(_pieces(dialect, events))


def _pieces(dialect: str, events: list[Json]) -> Iterator[str]:
    for event in events:
        match dialect, event:
            case "openai", {"choices": [{"delta": {"content": str(text)}}]}:
                yield text
            case "openai_responses", {"type": "response.output_text.delta", "delta": text}:
                yield text
            case "claude", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                yield text
            case "gemini", {"candidates": [{"content": {"parts": parts}}]}:
                yield from (part["text"] for part in parts)


def is_whole(dialect: str, events: list[Json]) -> bool:
    """Whether the stream ended as this dialect ends one."""
    match dialect, events[-1] if events else None:
        case "openai", "[DONE]":
            return True
        case "openai_responses", {"type": "response.completed"}:
            return True
        case "claude", {"type": "message_stop"}:
            return True
        case "gemini", {"candidates": [{"finishReason": "STOP"}]}:
            return True
    return False


def error_of(dialect: str, body: Json) -> str:
    """The message of an error in this dialect's shape; fails where the shape is another's."""
    match dialect, body:
        case "openai" | "openai_responses", {"error": {"message": str(message), "type": str(), "param": _, "code": _}}:
            return message
        case "claude", {"type": "error", "error": {"type": str(), "message": str(message)}}:
            return message
        case "gemini", {"error": {"code": int(), "message": str(message), "status": str()}}:
            return message
    raise AssertionError(f"not an error of {dialect}: {body}")
