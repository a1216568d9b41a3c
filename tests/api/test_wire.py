"""Requests for the proxied routes on the wire: versions of HTTP, expectations, spellings of a path, connections."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server, StartServer

Json = Any
SAYS: Json = {
    "format": 1,
    "name": "says",
    "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "a word"}]}}],
}
PLAIN = "/v1/chat/completions"
ROUNDABOUT = "/v1/chat/%63ompletions"
"""The same path in an unusual spelling."""
CHANGING = {"date", "x-request-id", "x-agentui-run", "content-length"}


async def raw(
    server: Server, head: str, body: Json, *, path: str = PLAIN, method: str = "POST"
) -> tuple[str, list[str], bytes]:
    """One request as these bytes, and all that comes until the connection ends: status line, header lines, the rest."""
    sent = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.origin).port)
    head = head if "Host:" in head else f"{head}Host: localhost\r\n"
    line, _, rest = head.partition("\r\n")
    message = f"{method} {path} {line}\r\n{rest}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    writer.write(message.encode() + sent)
    try:
        async with asyncio.timeout(60):
            came = await reader.read()
    finally:
        writer.close()
    top, _, content = came.partition(b"\r\n\r\n")
    status, *headers = top.decode().split("\r\n")
    return status, headers, content


def asking(*, stream: bool = False) -> Json:
    return {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}


def by_name(lines: list[str]) -> dict[str, str]:
    """Headers by lower-case name; none may stand twice."""
    pairs = [line.split(": ", 1) for line in lines]
    names = [name.lower() for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return {name.lower(): value for name, value in pairs}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("prefix", ["", "/p/default"])
async def test_both_spellings_of_a_path_give_the_same_answer(start_server: StartServer, stream: bool, prefix: str) -> None:
    server = await start_server({"default": SAYS})
    close = "HTTP/1.1\r\nConnection: close\r\n"
    answers = [await raw(server, close, asking(stream=stream), path=prefix + path) for path in (PLAIN, ROUNDABOUT)]
    (short, its_headers, its_body), (long, other_headers, other_body) = answers
    assert short == long == "HTTP/1.1 200 OK"
    first, second = by_name(its_headers), by_name(other_headers)
    assert first.keys() == second.keys() >= {"x-request-id", "x-content-type-options", "x-agentui-run", "x-agentui-pipeline"}
    assert {name: first[name] for name in first.keys() - CHANGING} == {name: second[name] for name in second.keys() - CHANGING}
    assert b"a word" in its_body and b"a word" in other_body


@pytest.mark.parametrize("path", [PLAIN, ROUNDABOUT])
async def test_both_spellings_of_a_path_pass_the_guard(start_server: StartServer, path: str) -> None:
    server = await start_server({"default": SAYS}, token="the-servers-token")
    closing = "HTTP/1.1\r\nConnection: close\r\n"
    asked = asking()
    assert (await raw(server, closing, asked, path=path))[0].split()[1] == "401"
    bearer = f"{closing}x-agentui-token: the-servers-token\r\n"
    assert (await raw(server, bearer, asked, path=path))[0].split()[1] == "200"
    assert (await raw(server, f"{bearer}Host: evil.example\r\n", asked, path=path))[0].split()[1] == "421"
    assert (await raw(server, f"{bearer}Origin: http://evil.example\r\n", asked, path=path))[0].split()[1] == "403"
    status, headers, _ = await raw(server, bearer, asked, path=path, method="PUT")
    assert status.split()[1] == "405"
    assert by_name(headers)["x-request-id"].startswith("req_")


async def test_a_caller_who_expects_to_be_told_to_go_on_is_told(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    interim, _, rest = await raw(server, "HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\n", asking())
    assert interim == "HTTP/1.1 100 Continue"
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n") and b"a word" in rest


async def test_a_connection_serves_again_unless_the_caller_closes_it(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    body = json.dumps(asking()).encode()
    request = f"POST {PLAIN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.origin).port)
    writer.write(f"{request}\r\n".encode() + body + f"{request}Connection: close\r\n\r\n".encode() + body)
    async with asyncio.timeout(60):
        came = await reader.read()
    writer.close()
    first, second = came.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert b"connection:" not in first.lower().partition(b"\r\n\r\n")[0]
    assert b"connection: close" in second.lower().partition(b"\r\n\r\n")[0]


async def test_http_1_0_gets_a_length_or_the_connections_end(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    status, headers, body = await raw(server, "HTTP/1.0\r\n", asking())
    assert status == "HTTP/1.0 200 OK"
    assert int(by_name(headers)["content-length"]) == len(body)
    assert json.loads(body)["choices"][0]["message"]["content"] == "a word"
    status, headers, body = await raw(server, "HTTP/1.0\r\nConnection: keep-alive\r\n", asking(stream=True))
    assert status == "HTTP/1.0 200 OK"
    assert by_name(headers).keys().isdisjoint({"transfer-encoding", "content-length", "connection"})
    assert body.startswith(b"data: {") and body.endswith(b"data: [DONE]\n\n")


async def test_http_1_0_may_keep_its_connection(start_server: StartServer) -> None:
    server = await start_server({"default": SAYS})
    body = json.dumps(asking()).encode()
    head = f"POST {PLAIN} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.origin).port)
    writer.write(f"{head}Connection: keep-alive\r\n\r\n".encode() + body + f"{head}\r\n".encode() + body)
    async with asyncio.timeout(60):
        came = await reader.read()
    writer.close()
    first, second = came.split(b"HTTP/1.0 200 OK\r\n")[1:]
    assert b"connection: keep-alive" in first.lower().partition(b"\r\n\r\n")[0]
    assert b"connection:" not in second.lower().partition(b"\r\n\r\n")[0]
