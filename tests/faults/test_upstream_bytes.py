"""An upstream whose very bytes are wrong, too many or odd (U13-U16, U18, U20): told in the caller's shape, or served."""

import asyncio
import gzip
import json

import pytest

from tests.faults.callers import DIALECTS, Heard, Route, ask, check_failed, check_whole, error_of, routes
from tests.faults.conftest import KINDS, House, StartHouse
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import Mock, Step

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


async def everybody_asks(house: House, kind: str) -> list[tuple[Route, Heard]]:
    """All callers, streamed and not, one after the other."""
    heard = [(route, await house.ask(route)) for route in routes(kind)]
    await house.is_quiet()
    return heard


NOT_HTTP = {
    "garbage": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "a status that is none": b"HTTP/1.1 abc OK\r\n\r\n",
    "two lengths": JSON + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "a negative length": JSON + b"Content-Length: -1\r\n\r\n",
    "length and chunks": JSON + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare line feed in a header": b"HTTP/1.1 200 OK\r\nX-A: b\nX-C: d\x00\r\n\r\n",
    "a flood of headers": b"HTTP/1.1 200 OK\r\n" + b"X-Much: 1\r\n" * 5000 + b"\r\n",
    "a huge header": b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 1_000_000 + b"\r\n\r\n",
    "a flood of interim answers": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NOT_HTTP)
async def test_what_is_not_http_is_a_bad_gateway(wild_house: House, wild: Bytes, name: str, kind: str) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(NOT_HTTP[name])
        await visit.gone()

    wild.script = script
    for route, heard in await everybody_asks(wild_house, kind):
        assert heard.status == 502, (route, heard.body)
        assert "127.0.0.1" in error_of(route.caller, heard)["message"]
    assert len(wild.visits) == len(routes(kind))


CUT = {
    "less than its length": JSON + b"Content-Length: 5000\r\n\r\n" + b'{"half": "',
    "chunks without an end": JSON + CHUNKED + b'3\r\n{"h\r\n',
    "a broken chunk": JSON + CHUNKED + b'3\r\n{"h\r\nzz\r\n',
    "a stream with a broken chunk": SSE + CHUNKED + b"9\r\ndata: {}\n\r\nzz\r\n",
    "a stream cut in a chunk": SSE + CHUNKED + b"ff\r\ndata: {",
    "a stream without length": SSE + b"Connection: close\r\n\r\ndata: {",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CUT)
async def test_an_answer_that_breaks_off_is_told(wild_house: House, wild: Bytes, name: str, kind: str) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CUT[name])
        visit.writer.close()

    wild.script = script
    for route, heard in await everybody_asks(wild_house, kind):
        if kind == "raw" and name == "a stream without length":
            # Forwarded bytes that are nobody's stream end where they ended.
            assert heard.body == b"data: {"
            continue
        check_failed(route.caller, heard, {502}, stream=route.stream, raw=kind == "raw")
    assert len(wild.visits) == len(routes(kind))


@pytest.mark.parametrize("kind", ["same", "translated"])
@pytest.mark.parametrize("declared", [True, False])
async def test_an_answer_beyond_the_cap_is_refused(start_house: StartHouse, wild: Bytes, kind: str, declared: bool) -> None:
    house = await start_house(wild.url, max_reply=20_000)

    async def script(visit: Visit) -> None:
        length = b"Content-Length: 30000\r\n\r\n" if declared else b"Connection: close\r\n\r\n"
        await visit.say(JSON + length + b'"' + b"x" * 29_998 + b'"')
        visit.writer.close()

    wild.script = script
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 502, route
        assert "larger than 20000 bytes" in error_of(route.caller, heard)["message"]


@pytest.mark.parametrize("kind", ["same", "translated"])
async def test_a_bomb_is_refused_at_the_cap(start_house: StartHouse, wild: Bytes, kind: str) -> None:
    house = await start_house(wild.url, max_reply=20_000)
    bomb = gzip.compress(bytes(50_000_000))

    async def script(visit: Visit) -> None:
        await visit.say(JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)

    wild.script = script
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 502, route
        assert "larger than 20000 bytes" in error_of(route.caller, heard)["message"]


async def test_a_bomb_that_is_forwarded_breaks_off_before_it_is_large(start_house: StartHouse, wild: Bytes) -> None:
    bomb = gzip.compress(bytes(100 * 1024 * 1024), 1)

    async def script(visit: Visit) -> None:
        await visit.say(JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)

    wild.script = script
    house = await start_house(wild.url)
    heard = await house.ask(Route("openai", "raw", stream=False))
    assert heard.broken
    assert len(heard.body) <= 40 * 1024 * 1024


async def test_words_that_are_compressed_well_are_no_bomb(start_house: StartHouse, wild: Bytes) -> None:
    words = b"".join(b'{"word": %d}\n' % (number * number) for number in range(25_000)) * 100
    packed = gzip.compress(words, 1)
    assert len(words) > 40 * 1024 * 1024

    async def script(visit: Visit) -> None:
        await visit.say(JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)

    wild.script = script
    heard = await (await start_house(wild.url)).ask(Route("openai", "raw", stream=False))
    assert heard.body == words


async def test_a_stream_may_be_longer_than_the_cap_for_whole_answers(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_reply=5_000)
    text = "0123456789" * 2_000
    mock.script([Step(chunks=(text[:10_000], text[10_000:]))] * 4)
    for dialect in DIALECTS:
        check_whole(dialect, await house.ask(Route(dialect, "same", stream=True)), text, stream=True)


async def test_a_stream_without_end_breaks_off_at_its_own_cap(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_stream=15_000)
    text = "0123456789" * 2_000
    mock.script([Step(chunks=(text[:3_000], text[3_000:]))] * 8)
    for kind in ("same", "translated"):
        for dialect in DIALECTS:
            heard = await house.ask(Route(dialect, kind, stream=True))
            check_failed(dialect, heard, {502}, stream=True)
            assert b"larger than 15000 bytes" in heard.body


@pytest.mark.parametrize("kind", ["same", "translated"])
async def test_a_line_without_end_is_given_up(start_house: StartHouse, wild: Bytes, kind: str) -> None:
    house = await start_house(wild.url, max_event=100_000)

    async def script(visit: Visit) -> None:
        await visit.say(SSE + b"\r\ndata: ")
        while True:
            await visit.say(b"x" * 10_000)

    wild.script = script
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 502, route
        assert "100000 bytes" in error_of(route.caller, heard)["message"]


def whole_openai(text: str) -> bytes:
    """An OpenAI answer."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()


@pytest.mark.parametrize("kind", ["same", "raw"])
async def test_a_connection_that_was_closed_in_between_is_replaced_without_a_word(
    wild_house: House, wild: Bytes, kind: str
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, whole_openai(f"answer {visit.number}"), Content_Type="application/json")
        visit.writer.close()

    wild.script = script
    for number in range(1, 11):
        heard = await wild_house.ask(Route("openai", kind, stream=False))
        check_whole("openai", heard, f"answer {number}", stream=False)
    assert len(wild.visits) == 10


@pytest.mark.parametrize("kind", ["same", "raw"])
async def test_http_1_0_is_understood(wild_house: House, wild: Bytes, kind: str) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + whole_openai("old"))
        visit.writer.close()

    wild.script = script
    check_whole("openai", await wild_house.ask(Route("openai", kind, stream=False)), "old", stream=False)


TORTURE = (
    b"\xef\xbb\xbf: a comment\r\n\r\nretry: 5\r\nid: 1\r\n"
    b'data:{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",\r\n'
    b'data: "choices":[{"index":0,"delta":{"content":"na\xc3\xafve "},"finish_reason":null}]}\r\r'
    b'event: message\ndata: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":"end\xe2\x80\xa8s"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
"""A stream with every line ending, a byte order mark, comments, unknown fields and data over two lines."""


@pytest.mark.parametrize("caller", DIALECTS)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_tortured_stream_is_understood_in_pieces_of_any_size(
    wild_house: House, wild: Bytes, caller: str, size: int
) -> None:
    async def script(visit: Visit) -> None:
        pieces = [TORTURE[at : at + size] for at in range(0, len(TORTURE), size)]
        chunks = [b"%x\r\n" % len(piece) + piece + b"\r\n" for piece in pieces]
        await visit.say(SSE + CHUNKED, *chunks, b"0\r\n\r\n")

    wild.script = script
    asked = ask(caller, "m", stream=True)
    heard = await wild_house.send(type(asked)(f"/p/openai{asked.path}", asked.headers, asked.body))
    check_whole(caller, heard, "naïve end\u2028s", stream=True)


async def test_an_answer_that_comes_before_the_request_was_sent_whole_is_heard(wild_house: House, wild: Bytes) -> None:
    async def refuse_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"error":{"message":"Too much.","type":"invalid_request_error","param":null,"code":null}}'
        head = b"HTTP/1.1 413 X\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
            body
        )
        writer.write(head + body)
        await writer.drain()
        writer.write_eof()
        while await reader.read(2**16):
            pass
        writer.close()

    async with await asyncio.start_server(refuse_early, "127.0.0.1", 0) as early:
        port = early.sockets[0].getsockname()[1]
        node = {"id": "n1", "type": "RawForward", "config": {"base_url": f"http://127.0.0.1:{port}"}}
        wild_house.server.put("early", {"format": 1, "name": "early", "nodes": [node], "edges": []})
        asked = ask("openai", text="x" * 900_000)
        heard = await wild_house.send(type(asked)(f"/p/early{asked.path}", asked.headers, asked.body))
        assert heard.status == 413
        assert heard.json["error"]["message"] == "Too much."
