"""An upstream that speaks OpenAI's dialect: it answers chats with what it is told to, and remembers as a test scripts it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from agentui.jsonio import dumps_text, loads

Json = Any


def remember_all(asked: Json) -> Json:
    """What a plain model would answer: a summary of each floor, and each sentence of the user's as a fact."""
    answer: dict[str, list[Json]] = {"microSummaries": [], "factsAdd": []}
    for floor in asked["floors"]:
        said = [each["text"] for each in floor["said"] if each["speaker"] == "user"]
        answer["microSummaries"].append({"floor": floor["floor"], "summary": f"Said: {' '.join(said)}"})
        answer["factsAdd"] += [{"value": text, "quote": text} for text in said]
    return answer


@dataclass
class Scribe:
    """What the upstream answers, and what it was asked. ``open`` holds calls about memories back while it is not set; ``came``
    is set when one arrives."""

    origin: str = ""
    answer: Callable[[Json], Json] = remember_all
    status: int = 200
    reply: str = "So it is."
    asked: list[Json] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, answer: Json) -> None:
        """Answer calls about memories with this: JSON, or a text as it is."""
        self.answer = lambda _: answer

    async def handle(self, request: web.Request) -> web.Response:
        """A chat completion."""
        body = await request.json()
        messages = body["messages"]
        text = self.reply
        if messages[0]["role"] in ("system", "developer") and "You keep the memory" in str(messages[0]["content"]):
            content = messages[-1]["content"]
            asked = loads(content if isinstance(content, str) else content[0]["text"])
            self.asked.append(asked)
            self.systems.append(str(messages[0]["content"]))
            self.keys.append(request.headers.get("authorization", ""))
            self.came.set()
            await self.open.wait()
            if self.status != 200:
                error = {"error": {"message": f"No, {self.status}.", "type": "x", "code": None}}
                return web.json_response(error, status=self.status)
            answer = self.answer(asked)
            text = answer if isinstance(answer, str) else dumps_text(answer)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        told = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        return web.json_response({**told, "usage": usage})


@asynccontextmanager
async def scribing() -> AsyncIterator[Scribe]:
    """A running one, which answers at once."""
    scribe = Scribe()
    scribe.open.set()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", scribe.handle)
    async with TestServer(app) as server:
        scribe.origin = str(server.make_url("")).rstrip("/")
        yield scribe
        scribe.open.set()
