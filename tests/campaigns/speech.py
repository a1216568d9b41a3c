"""An upstream for crowds: raw bytes on a real socket, and the streamed answers of two dialects."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.unit.upstream.conftest import Bytes, Script, Visit

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
NUMBER = re.compile(rb"number<(\d+)>")


@asynccontextmanager
async def upstream(script: Script) -> AsyncIterator[Bytes]:
    """An upstream that says the bytes of a script, with room for a crowd that comes at once."""
    server = Bytes(script=script)
    listener = await asyncio.start_server(server.connected, "127.0.0.1", 0, backlog=4096)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        tasks = [task for task in server.tasks if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()


def number_of(visit: Visit) -> int:
    """Which of the crowd asks."""
    found = NUMBER.search(visit.body)
    assert found is not None, visit.body
    return int(found[1])


@dataclass(frozen=True)
class Speech:
    """A streamed answer in the dialect that a path belongs to, in HTTP chunks."""

    dialect: str

    def begin(self) -> bytes:
        """Headers and what comes before the first words."""
        if self.dialect == "openai":
            return SSE + self._chunk({"role": "assistant", "content": ""})
        usage = {"input_tokens": 1, "output_tokens": 1}
        message: dict[str, object] = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
        }
        block: dict[str, object] = {"index": 0, "content_block": {"type": "text", "text": ""}}
        start: dict[str, object] = {"message": {**message, "stop_sequence": None, "usage": usage}}
        return SSE + self._event("message_start", start) + self._event("content_block_start", block)

    def say(self, text: str) -> bytes:
        """Words."""
        if self.dialect == "openai":
            return self._chunk({"content": text})
        return self._event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}})

    def end(self) -> bytes:
        """The end, and that of the HTTP body."""
        if self.dialect == "openai":
            return self._chunk({}, "stop") + _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"
        finish: dict[str, object] = {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}
        last = self._event("message_delta", finish) + self._event("message_stop", {})
        return self._event("content_block_stop", {"index": 0}) + last + b"0\r\n\r\n"

    def _chunk(self, delta: object, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return _framed(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _event(self, name: str, data: dict[str, object]) -> bytes:
        return _framed(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())


def _framed(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def speech_for(visit: Visit) -> Speech:
    """The dialect of the path that was asked."""
    return Speech("claude" if b"/v1/messages" in visit.head.partition(b"\r\n")[0] else "openai")
