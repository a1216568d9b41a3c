"""A caller's connection on the wire: however requests arrive, each is answered, in its order."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server, StartServer

Json = Any
SAYS: Json = {
    "format": 1,
    "name": "says",
    "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "{{ chat.last_user }}!"}]}}],
}
PATH = "/v1/chat/completions"


def post(said: str, *fields: str, path: str = PATH, stream: bool = False) -> bytes:
    """A request as it goes over the wire."""
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": said}]}).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "".join(f"{line}\r\n" for line in (*lines, *fields, "")).encode() + body


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection, for ten seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.origin).port)
    try:
        async with asyncio.timeout(60):
            yield reader, writer
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> tuple[int, Json]:
    """The next whole answer: its status and its JSON."""
    head = await reader.readuntil(b"\r\n\r\n")
    lowered = head.lower()
    at = lowered.index(b"content-length:") + 15
    body = await reader.readexactly(int(lowered[at : lowered.index(b"\r\n", at)]))
    return int(head.split()[1]), json.loads(body)


async def said(reader: asyncio.StreamReader) -> str:
    """What the next answer says."""
    status, body = await answer(reader)
    assert status == 200, body
    return str(body["choices"][0]["message"]["content"])


@pytest.mark.parametrize("at", [1, 10, 60, -40, -1])
async def test_a_request_may_come_in_two_pieces(start_server: StartServer, at: int) -> None:
    server = await start_server({"default": SAYS})
    message = post("one")
    async with connected(server) as (reader, writer):
        writer.write(message[:at])
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(message[at:] + post("two"))
        assert [await said(reader), await said(reader)] == ["one!", "two!"]


async def test_a_body_may_come_long_after_its_head_and_in_many_pieces(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    long = "x" * 300_000
    head, blank, body = post(long).partition(b"\r\n\r\n")
    async with connected(server) as (reader, writer):
        writer.write(head + blank)
        for at in range(0, len(body), 40_000):
            await asyncio.sleep(0.01)
            writer.write(body[at : at + 40_000])
        assert await said(reader) == f"{long}!"
        writer.write(post("again"))
        assert await said(reader) == "again!"


async def test_requests_that_come_before_the_last_answer_are_answered_in_order(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    words = [f"{number} " + "y" * 10_000 for number in range(60)]
    async with connected(server) as (reader, writer):
        writer.write(b"".join(map(post, words)))
        assert [await said(reader) for _ in words] == [f"{word}!" for word in words]


async def test_a_connection_goes_from_plain_requests_to_any_other_and_back(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with connected(server) as (reader, writer):
        writer.write(post("one") + health + post("two"))
        assert await said(reader) == "one!"
        assert (await answer(reader))[1]["status"] == "ok"
        assert await said(reader) == "two!"


async def test_what_is_no_http_is_refused_as_ever(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    async with connected(server) as (reader, writer):
        writer.write(post("one"))
        assert await said(reader) == "one!"
        writer.write(b"POST /v1/messages HTTP/1.1\r\nHost : localhost\r\n\r\n")
        status, body = await answer(reader)
        assert (status, body["error"]["code"]) == (400, "malformed_http")
        assert await reader.read() == b""


async def test_after_a_refusal_the_rest_of_the_body_is_taken_and_the_connection_closed(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS}, max_body=1000)
    message = post("z" * 200_000)
    async with connected(server) as (reader, writer):
        writer.write(message[:5000])
        assert (await answer(reader))[0] == 413
        # Who sends everything first must not be reset before it has read why it was refused.
        writer.write(message[5000:])
        await writer.drain()
        assert await reader.read() == b""


async def test_a_connection_that_nobody_uses_is_closed(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS}, keep_alive=0.2)
    async with connected(server) as (reader, writer):
        assert await reader.read() == b""
    async with connected(server) as (reader, writer):
        writer.write(post("one"))
        assert await said(reader) == "one!"
        assert await reader.read() == b""


async def test_a_stream_comes_in_chunks(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    async with connected(server) as (reader, writer):
        writer.write(post("one", "Connection: close", stream=True))
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert b"transfer-encoding: chunked" in head and b"connection: close" in head
        pieces = []
        while size := int(await reader.readline(), 16):
            pieces.append((await reader.readexactly(size + 2))[:-2])
        assert await reader.read() == b"\r\n"
    assert b"one!" in b"".join(pieces) and b"".join(pieces).endswith(b"data: [DONE]\n\n")
