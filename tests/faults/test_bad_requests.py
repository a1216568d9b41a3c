"""Requests that cannot be served: refused early, in the shape of their route, and never sent on (C3-C8)."""

import asyncio
import gzip
import json
import re

import pytest
from yarl import URL

from tests.faults.callers import ANOTHER, DIALECTS, Asked, Heard, Route, ask, check_error, error_of, talking
from tests.faults.conftest import KINDS, PATIENCE, House, StartHouse
from tests.upstreams.server import API_KEY, Mock


async def refused(house: House, mock: Mock, dialect: str, data: bytes, **headers: str) -> Heard:
    """Send bytes as a body by every way, and see that nothing reached the upstream."""
    asked = ask(dialect, stream=dialect == "gemini")
    heard = None
    for pipeline in ("same", "raw", ANOTHER[dialect]):
        path = f"/p/{pipeline}{asked.path}"
        sent = {"content-type": "application/json", **headers}
        heard = await house.send(Asked(path, asked.headers, asked.body), data=data, headers=sent)
        error_of(dialect, heard)
    assert mock.requests == []
    await house.is_quiet()
    assert heard is not None
    return heard


BROKEN = {
    "nothing": b"",
    "a space": b" ",
    "half": b'{"model": "text", "mess',
    "no JSON": b"model=text",
    "a list": b"[]",
    "a text": b'"text"',
    "a number": b"1",
    "null": b"null",
    "two documents": b"{}{}",
    "a comma too many": b'{"model": "text",}',
    "single quotes": b"{'model': 'text'}",
    "bad UTF-8": b'{"model": "te\xffxt", "messages": []}',
    "a byte order mark": b"\xff\xfe{\x00}\x00",
    "NaN": b'{"model": "text", "temperature": NaN}',
    "Infinity": b'{"model": "text", "temperature": -Infinity}',
    "a lone surrogate as bytes": b'{"model": "te\xed\xa0\x80xt"}',
    "deep lists": b'{"model": "text", "messages": ' + b"[" * 101 + b"]" * 101 + b"}",
    "very deep lists": b"[" * 100_000,
    "very deep objects": b'{"a":' * 100_000,
    "a control character": b'{"model": "te\x00xt"}',
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_is_no_json_object_is_refused(house: House, mock: Mock, dialect: str) -> None:
    for name, body in BROKEN.items():
        assert (await refused(house, mock, dialect, body)).status == 400, name


def with_field(dialect: str, **fields: object) -> bytes:
    """A plain body with other fields."""
    return json.dumps({**ask(dialect).body, **fields}).encode()


WRONG_FIELDS = [
    *((dialect, {"stream": value}) for dialect in ("openai", "openai_responses", "claude") for value in ("yes", 1, [], {}, "")),
    *((dialect, {"model": value}) for dialect in ("openai", "openai_responses", "claude") for value in (None, 1, [], {}, "")),
    *(("openai", {"messages": value}) for value in (None, "hi", {}, 3)),
    *(("claude", {"messages": value}) for value in (None, "hi", {}, 3)),
    *(("openai_responses", {"input": value}) for value in (3, {}, True)),
    *(("gemini", {"contents": value}) for value in (3, True)),
]


async def test_fields_of_the_wrong_type_are_refused(house: House, mock: Mock) -> None:
    for dialect, fields in WRONG_FIELDS:
        assert (await refused(house, mock, dialect, with_field(dialect, **fields))).status == 400, (dialect, fields)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
async def test_another_content_type_is_refused(house: House, mock: Mock, dialect: str, kind: str) -> None:
    body = json.dumps(ask(dialect).body).encode()
    heard = await refused(house, mock, dialect, body, **{"content-type": kind})
    assert heard.status == 415
    assert "application/json" in error_of(dialect, heard)["message"]


@pytest.mark.parametrize("dialect", ["openai", "openai_responses", "claude"])
async def test_a_name_that_no_model_has_is_refused_before_it_is_looked_at(house: House, mock: Mock, dialect: str) -> None:
    """By every provider: which family a name is of took seconds for some of 64 KB."""
    asked = ask(dialect)
    names = ("/gpt-5" * 50_000 + "-chat", "gemini-3" * 50_000, "x" * 1001)
    for pipeline in ("openai", "openai_responses", "claude", "gemini"):
        for name in names:
            sent = Asked(f"/p/{pipeline}{asked.path}", asked.headers, {**asked.body, "model": name})
            heard = await house.send(sent)
            assert heard.status == 400, (pipeline, heard.body[:200])
            assert "1000 characters" in error_of(dialect, heard)["message"]
    assert mock.requests == []


SERVED = {
    "a number of 20 000 digits": b'{"x": ' + b"9" * 20_000 + b"}",
    "many fields": json.dumps({f"field{number}": number for number in range(50_000)}).encode(),
    "odd keys": b'{"__proto__": {"a": 1}, "constructor": 1, "\\u0000": 2, "": 3}',
    "wide numbers": b'{"a": 1e400, "b": -0.0, "c": 1E-400, "d": 18446744073709551616}',
}


@pytest.mark.parametrize("name", SERVED)
async def test_odd_json_is_served_or_refused_and_never_breaks_anything(house: House, mock: Mock, name: str) -> None:
    for route in (Route(dialect, kind, stream=False) for kind in KINDS for dialect in DIALECTS):
        asked = ask(route.caller)
        body = json.dumps(asked.body).encode()[:-1] + b"," + SERVED[name].strip()[1:]
        heard = await house.send(house.at(route, asked), data=body, headers={"content-type": "application/json"})
        assert heard.status in (200, 400), (route, heard.body)
        if heard.status != 200:
            error_of(route.caller, heard)
    for request in mock.requests:
        assert request.body is not None, "the upstream was sent something that is not JSON"


async def test_of_two_equal_keys_the_last_one_counts_for_everybody(house: House, mock: Mock) -> None:
    body = b'{"model": "hang", "model": "text", "messages": [{"role": "user", "content": "a", "content": "b"}]}'
    asked = ask("openai")
    heard = await house.send(Asked("/p/claude" + asked.path, asked.headers, {}), data=body, headers=JSON_TYPE)
    assert heard.status == 200
    assert mock.last.body["model"] == "text"
    assert b'"b"' in mock.last.raw
    assert b'"a"' not in mock.last.raw


JSON_TYPE = {"content-type": "application/json"}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_body_that_is_too_large_is_refused_before_it_is_read(start_house: StartHouse, mock: Mock, dialect: str) -> None:
    house = await start_house(mock.origin, max_body=10_000)
    asked = ask(dialect)
    for framing in ("Content-Length: 10001\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n2800\r\n" + " " * 0x2800 + "\r\n"):
        async with talking(house.origin) as (reader, writer):
            head = f"POST {asked.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            writer.write((head + framing).encode())
            status, body = await read_answer(reader)
        assert status == 413
        assert "10000 bytes" in check_error(dialect, body, 413)["message"]
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_body_that_does_not_come_is_given_up(start_house: StartHouse, mock: Mock, dialect: str) -> None:
    house = await start_house(mock.origin, body_timeout=0.2)
    asked = ask(dialect)
    for framing in ("Content-Length: 5000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        async with talking(house.origin) as (reader, writer):
            head = f"POST {asked.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            writer.write((head + framing).encode())
            status, body = await read_answer(reader)
        assert status == 408
        check_error(dialect, body, 408)
    assert mock.requests == []
    await house.is_quiet()


ASKING = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 4000 + b"\r\n"
DRIBBLES = {
    "nothing": [b""],
    "half a line": [b"POST /v1/mess", b""],
    "half a header": [ASKING, b""],
    "a byte every so often": [ASKING[at : at + 1] for at in range(len(ASKING))],
    "a header every so often": [ASKING, *(b"X-%d: y\r\n" % number for number in range(100))],
    "half a header behind a request": [b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + ASKING, b""],
}


@pytest.mark.parametrize("name", DRIBBLES)
async def test_a_header_that_does_not_come_is_given_up_and_others_are_served(
    start_house: StartHouse, mock: Mock, name: str
) -> None:
    house = await start_house(mock.origin, keep_alive=0.4)

    async def dribble() -> bytes:
        """Say little by little what there is to say; what was heard until the connection was closed."""
        async with talking(house.origin) as (reader, writer):
            hearing = asyncio.ensure_future(reader.read())
            for piece in DRIBBLES[name]:
                writer.write(piece)
                done, _ = await asyncio.wait([hearing], timeout=0.02)
                if done:
                    break
            async with asyncio.timeout(PATIENCE):
                try:
                    return await hearing
                except ConnectionError:
                    return b""

    slow = asyncio.gather(*(dribble() for _ in range(20)))
    served = 0
    while not slow.done():  # which is asked at least once, on however slow a machine
        heard = await house.ask(Route("claude", "same", stream=False))
        assert heard.status == 200
        served += 1
        await asyncio.sleep(0.02)
    assert all(heard.count(b"HTTP/1.1 ") == name.count("behind") for heard in await slow)
    assert len(mock.requests) == served
    assert house.server.state.in_flight == 0


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_body_that_comes_byte_by_byte_is_given_up(start_house: StartHouse, mock: Mock, dialect: str) -> None:
    house = await start_house(mock.origin, body_timeout=0.3)
    asked = ask(dialect)
    async with talking(house.origin) as (reader, writer):
        head = f"POST {asked.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: 5000\r\n\r\n")
        answering = asyncio.ensure_future(read_answer(reader))
        sent = 0
        while not answering.done():
            writer.write(b"{")
            sent += 1
            await asyncio.sleep(0.02)
        status, body = await answering
    assert sent < 5000
    assert status == 408
    check_error(dialect, body, 408)
    assert mock.requests == []
    await house.is_quiet()


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, object]:
    """Status and JSON of an answer with a length."""
    async with asyncio.timeout(PATIENCE):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:"))
        return int(head.split(" ")[1]), json.loads(await reader.readexactly(length))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_body_whose_framing_is_broken_is_a_bad_request(house: House, mock: Mock, dialect: str) -> None:
    asked = ask(dialect)
    async with talking(house.origin) as (reader, writer):
        head = f"POST {asked.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nzz\r\n")
        status, body = await read_answer(reader)
    assert status == 400
    assert body["error"]["message"]  # type: ignore[index]  # whichever shape: the parser or the route refused it
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("encoding", "data"), [("gzip", b"not gzip"), ("deflate", b"\xff\xff"), ("gzip", gzip.compress(b"{", mtime=0)[:-5])]
)
async def test_a_body_whose_compression_is_broken_is_refused_and_is_no_fault_of_ours(
    house: House, mock: Mock, caplog: pytest.LogCaptureFixture, dialect: str, encoding: str, data: bytes
) -> None:
    heard = await house.send(ask(dialect), data=data, headers={**JSON_TYPE, "content-encoding": encoding})
    assert 400 <= heard.status < 500
    assert mock.requests == []
    await house.is_quiet()
    assert [record.getMessage() for record in caplog.records if record.exc_info or record.levelname == "ERROR"] == []


async def test_a_compressed_bomb_is_refused_at_the_cap(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_body=100_000)
    bomb = gzip.compress(b" " * 20_000_000)
    assert len(bomb) < 100_000
    heard = await house.send(ask("claude"), data=bomb, headers={**JSON_TYPE, "content-encoding": "gzip"})
    assert heard.status == 413
    error_of("claude", heard)
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_another_method_names_the_one_that_works(house: House, dialect: str) -> None:
    asked = ask(dialect)
    for method in ("PUT", "DELETE", "PATCH"):
        url = URL(house.origin + asked.path, encoded=True)
        async with house.session.request(method, url, headers=asked.headers) as reply:
            assert reply.status == 405
            assert "POST" in check_error(dialect, await reply.json(), 405)["message"]


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/v1/chat/completions/more", "editor"),
        ("/v1/messages/nonsense", "claude"),
        ("/v1/responses/resp_1/nonsense", "openai_responses"),
        ("/v1beta/models/text", "gemini"),
        ("/v1beta/models/text:nonsense", "gemini"),
        ("/v1/nothing", "editor"),
        ("/nothing", "editor"),
        ("/api/nothing", "editor"),
        ("//v1/messages", "editor"),
    ],
)
async def test_an_unknown_path_is_not_found_in_the_shape_of_its_family(
    house: House, mock: Mock, path: str, dialect: str
) -> None:
    async with house.session.post(URL(house.origin + path, encoded=True), json={"contents": []}) as reply:
        assert reply.status in (404, 405), await reply.text()
        check_error(dialect, await reply.json(), reply.status)
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_unknown_pipeline_is_not_found(house: House, mock: Mock, dialect: str) -> None:
    for name in ("nobody", "..", "%2e%2e", "..%2f..%2fetc", "a%00b", "x" * 5000):
        asked = ask(dialect)
        heard = await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
        assert heard.status in (400, 404), (name, heard.body)
        assert heard.headers["content-type"].startswith("application/json")
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_beyond_its_capacity_the_server_is_busy_at_once(start_house: StartHouse, mock: Mock, dialect: str) -> None:
    house = await start_house(mock.origin, max_in_flight=1)
    first = asyncio.ensure_future(house.ask(Route("openai", "same", stream=False), "hang"))
    await mock.was_asked()
    for stream in (False, True):
        heard = await house.ask(Route(dialect, "raw", stream))
        assert heard.status == 503
        assert heard.headers["retry-after"] == "1"
        error_of(dialect, heard)
    assert len(mock.requests) == 1
    mock.release()
    assert (await first).status == 200
    assert (await house.ask(Route(dialect, "raw", stream=False))).status == 200


SECRET = "sk-canary-0123456789abcdefghij"
MALFORMED = {
    "a bare line feed": b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\nX: y\r\n\r\n",
    "a NUL": b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\x00\r\n\r\n",
    "a name with a space": b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api Key : %s\r\n\r\n",
    "no name": b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n: %s\r\n\r\n",
    "garbage": b"\x16\x03\x01\x02\x00 %s\r\n\r\n",
    "a bad method": b"P@ST /v1/messages?key=%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a bad version": b"POST /v1/messages?key=%s HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "no version": b"POST /v1/messages?key=%s\r\n\r\n",
    "two lengths": b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "length and chunks": b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bad length": b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\nContent-Length: -1\r\n\r\n",
    "a long line": b"POST /" + b"x" * 9000 + b"?key=%s HTTP/1.1\r\nHost: a\r\n\r\n",
    "a long header": b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 9000 + b"\r\nX-Api-Key: %s\r\n\r\n",
    "many headers": b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "two hosts": b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nX-Api-Key: %s\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_malformed_http_is_refused_without_repeating_it(
    house: House, mock: Mock, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    async with talking(house.origin) as (reader, writer), asyncio.timeout(PATIENCE):
        writer.write(MALFORMED[name].replace(b"%s", SECRET.encode()))
        answer = await reader.read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert re.match(rb"HTTP/\d\.\d 4\d\d ", head), answer
    assert json.loads(body)["error"]["message"]
    assert SECRET.encode() not in answer
    assert SECRET not in caplog.text
    assert "xxxx" not in caplog.text
    assert mock.requests == []


async def test_after_all_that_the_server_still_serves(house: House) -> None:
    for data in MALFORMED.values():
        async with talking(house.origin) as (_, writer):
            writer.write(data)
    for dialect in DIALECTS:
        assert (await house.ask(Route(dialect, "same", stream=True))).status == 200


async def test_a_key_may_be_long_but_not_a_header(house: House, mock: Mock) -> None:
    heard = await house.ask(Route("openai", "same", stream=False), key=API_KEY + "x" * 9000)
    assert heard.status == 400
    assert mock.requests == []
