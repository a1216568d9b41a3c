"""Requests whose end two servers may see at different places: refused, and nothing after them is believed (T21)."""

import asyncio
import json
import re
from dataclasses import dataclass

import pytest
from multidict import CIMultiDict

from tests.faults.callers import DIALECTS, ask, talking
from tests.faults.conftest import PATIENCE, House
from tests.faults.hygiene import check_hygiene
from tests.upstreams.server import Mock

STATUS_LINE = re.compile(rb"HTTP/\d\.\d (\d{3}) ")


@dataclass(frozen=True)
class Wire:
    """One dialect's request in the bytes of HTTP."""

    head: bytes
    body: bytes

    @property
    def length(self) -> bytes:
        return str(len(self.body)).encode()

    @property
    def chunks(self) -> bytes:
        return b"%x\r\n%s\r\n0\r\n\r\n" % (len(self.body), self.body)

    @property
    def whole(self) -> bytes:
        """A good request, to stand where no request should be seen."""
        return self.head + b"Content-Length: " + self.length + b"\r\n\r\n" + self.body


def wire(dialect: str) -> Wire:
    asked = ask(dialect)
    lines = [f"POST {asked.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in asked.headers.items()]
    return Wire("\r\n".join([*lines, ""]).encode(), json.dumps(asked.body).encode())


def refused_and_closed(w: Wire) -> dict[str, bytes]:
    """What is answered with one refusal, after which the connection is closed."""
    length, chunked = b"Content-Length: " + w.length + b"\r\n", b"Transfer-Encoding: chunked\r\n"
    cases = {
        # two ways to say how long the body is
        "a length and chunks": w.head + length + chunked + b"\r\n" + w.chunks,
        "chunks and a length": w.head + chunked + b"Content-Length: 4\r\n\r\n" + w.chunks,
        "a length that hides a request": w.head + b"Content-Length: 5\r\n" + chunked + b"\r\n0\r\n\r\n",
        "two equal lengths": w.head + length + length + b"\r\n" + w.body,
        "two lengths": w.head + length + b"Content-Length: 1\r\n\r\n" + w.body,
        "a list of lengths": w.head + b"Content-Length: " + w.length + b", " + w.length + b"\r\n\r\n" + w.body,
        # lengths that are none
        "a length with a sign": w.head + b"Content-Length: +" + w.length + b"\r\n\r\n" + w.body,
        "a negative length": w.head + b"Content-Length: -1\r\n\r\n",
        "a length in hex": w.head + b"Content-Length: 0x10\r\n\r\n" + w.body,
        "a length with an underscore": w.head + b"Content-Length: 1_0\r\n\r\n" + w.body,
        "a length with a space": w.head + b"Content-Length: 1 0\r\n\r\n" + w.body,
        "a length of nothing": w.head + b"Content-Length: \r\n\r\n" + w.body,
        "a length beyond numbers": w.head + b"Content-Length: 99999999999999999999999\r\n\r\n" + w.body,
        "a length in wide digits": w.head + "Content-Length: １０\r\n\r\n".encode() + w.body,
        "a name with a space": w.head + b"Content-Length : " + w.length + b"\r\n\r\n" + w.body,
        # transfer codings
        "no coding": w.head + b"Transfer-Encoding: identity\r\n\r\n" + w.chunks,
        "an unknown coding": w.head + b"Transfer-Encoding: xchunked\r\n\r\n" + w.chunks,
        "compressed and chunked": w.head + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + w.chunks,
        "chunked and compressed": w.head + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + w.chunks,
        "chunked twice over": w.head + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + w.chunks,
        "chunked said twice": w.head + chunked + chunked + b"\r\n" + w.chunks,
        "chunked and not": w.head + chunked + b"Transfer-Encoding: identity\r\n\r\n" + w.chunks,
        "a vertical tab": w.head + b"Transfer-Encoding:\x0bchunked\r\n\r\n" + w.chunks,
        "quotes": w.head + b'Transfer-Encoding: "chunked"\r\n\r\n' + w.chunks,
        "a coding's name with a space": w.head + b"Transfer-Encoding : chunked\r\n\r\n" + w.chunks,
        "a folded coding": w.head + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + w.chunks,
        "chunks in HTTP/1.0": w.head.replace(b"HTTP/1.1", b"HTTP/1.0") + chunked + b"\r\n" + w.chunks,
        # chunks
        "a huge chunk": w.head + chunked + b"\r\nffffffffffffffffff\r\n" + w.body,
        "a negative chunk": w.head + chunked + b"\r\n-1\r\n" + w.body,
        "a chunk with a prefix": w.head + chunked + b"\r\n0x10\r\n" + w.body,
        "a chunk with a space": w.head + chunked + b"\r\n%x \r\n%s\r\n0\r\n\r\n" % (len(w.body), w.body),
        "chunks with bare line feeds": w.head + chunked + b"\r\n%x\n%s\n0\n\n" % (len(w.body), w.body),
        "a chunk longer than said": w.head + chunked + b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(w.body) - 1, w.body),
        "a chunk without an end": w.head + chunked + b"\r\n%x\r\n%s0\r\n\r\n" % (len(w.body), w.body),
        "a line feed in a chunk's extension": w.head + chunked + b"\r\n%x;a\nb\r\n%s\r\n0\r\n\r\n" % (len(w.body), w.body),
        "a length behind the chunks": w.head
        + chunked
        + b"\r\n%x\r\n%s\r\n0\r\nContent-Length: 7\r\n\r\n" % (len(w.body), w.body),
        # lines and characters
        "a folded header": w.head + b"X-A: b\r\n c\r\n" + length + b"\r\n" + w.body,
        "a fold before any header": w.head.replace(b"Host", b" Host") + length + b"\r\n" + w.body,
        "bare line feeds": (w.head + length + b"\r\n").replace(b"\r\n", b"\n") + w.body,
        "one bare line feed": w.head + b"X-A: b\n" + length + b"\r\n" + w.body,
        "a bare carriage return": w.head + b"X-A: b\r" + length + b"\r\n" + w.body,
        "a NUL in a value": w.head + b"X-A: b\x00c\r\n" + length + b"\r\n" + w.body,
        "a NUL in a name": w.head + b"X\x00A: b\r\n" + length + b"\r\n" + w.body,
        "a NUL in the path": w.head.replace(b"POST /", b"POST /\x00", 1) + length + b"\r\n" + w.body,
        "a line feed in the path": w.head.replace(b"POST /", b"POST /\n", 1) + length + b"\r\n" + w.body,
        "a header without a colon": w.head + b"X-A\r\n" + length + b"\r\n" + w.body,
        "a header without a name": w.head + b": x\r\n" + length + b"\r\n" + w.body,
        "a space before the method": b" " + w.whole,
        "tabs in the first line": w.whole.replace(b" ", b"\t", 2),
        "a carriage return in the method": w.whole.replace(b"POST", b"PO\rST", 1),
        # names and versions
        "two hosts": w.head + b"Host: evil.example\r\n" + length + b"\r\n" + w.body,
        "one host twice": w.head + b"Host: localhost\r\n" + length + b"\r\n" + w.body,
        "no host": w.head.replace(b"Host: localhost\r\n", b"") + length + b"\r\n" + w.body,
        "HTTP/2 in plain": w.whole.replace(b"HTTP/1.1", b"HTTP/2.0", 1),
        "HTTP/1.2": w.whole.replace(b"HTTP/1.1", b"HTTP/1.2", 1),
        "HTTP/2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a tunnel": b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a tunnel elsewhere": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        "a body after the end": w.whole.replace(b"Host", b"Connection: close\r\nHost", 1),
    }
    return {name: case + w.whole for name, case in cases.items()}


def turned_away(w: Wire) -> dict[str, tuple[int, bytes]]:
    """What is refused although everybody would agree where it ends."""
    foreign = w.whole.replace(b"POST /", b"POST http://evil.example/", 1)
    return {
        "another server's address": (421, foreign),
        "another server's address and name": (421, foreign.replace(b"Host: localhost", b"Host: evil.example", 1)),
        "our address and another name": (
            421,
            w.whole.replace(b"POST /", b"POST http://localhost/", 1).replace(b"Host: localhost", b"Host: evil.example", 1),
        ),
        "an address with a user": (421, w.whole.replace(b"POST /", b"POST http://localhost@evil.example/", 1)),
        "an address with a user of ours": (421, w.whole.replace(b"POST /", b"POST http://a@localhost/", 1)),
        "an unknown expectation": (417, w.head + b"Expect: <b>all</b>\r\nContent-Length: " + w.length + b"\r\n\r\n" + w.body),
        "a trace": (405, w.head.replace(b"POST", b"TRACE", 1) + b"\r\n"),
    }


def odd_but_clear(w: Wire) -> dict[str, tuple[int, int, bytes]]:
    """What may be said so: how many answers there are, how many calls of the model, and the bytes."""
    chunked = b"Transfer-Encoding: chunked\r\n"
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    return {
        "an extension of a chunk": (1, 1, w.head + chunked + b"\r\n%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(w.body), w.body)),
        "chunks in capitals": (1, 1, w.head + b"TRANSFER-ENCODING:\tChUnKeD\r\n\r\n" + w.chunks),
        "empty lines first": (1, 1, b"\r\n\r\n" + w.whole),
        "our own address": (1, 1, w.whole.replace(b"POST /", b"POST http://localhost/", 1)),
        "a request in a body": (1, 0, health + b"Content-Length: %d\r\n\r\n" % len(w.whole) + w.whole),
        "one after the other": (2, 1, health + b"\r\n" + w.whole),
        "an upgrade to nothing": (
            1,
            1,
            w.head + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: " + w.length + b"\r\n\r\n" + w.body,
        ),
    }


async def hear(house: House, sent: bytes, *, to_its_end: bool) -> bytes:
    """Everything that comes back: until the server closes, or until it answers what was asked last on purpose."""
    async with talking(house.origin) as (reader, writer), asyncio.timeout(PATIENCE):
        if to_its_end:
            writer.write(sent)
            return await reader.read()
        writer.write(sent + b"GET /ui/the-end HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return await reader.read()


def check_refusal(name: str, answer: bytes, status: int | None = None) -> None:
    """Fail unless the first answer is a clean refusal."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
    headers = CIMultiDict((key.decode(), value.decode()) for key, _, value in lines)
    told = int(head.split(b" ")[1])
    assert told == status or (status is None and told in (400, 421)), (name, answer)
    body = rest[: int(headers["content-length"])]
    check_hygiene(told, headers, body)
    assert (b"evil" not in body and b"<b>" not in body) or told == 421, (name, body)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_request_that_may_be_read_in_two_ways_is_refused_and_nothing_follows_it(
    house: House, mock: Mock, dialect: str
) -> None:
    cases = refused_and_closed(wire(dialect))
    assert len(cases) >= 50
    one_is_whole = {"a body after the end"}
    for name, sent in cases.items():
        before = len(mock.requests)
        answer = await hear(house, sent, to_its_end=True)
        assert len(STATUS_LINE.findall(answer)) == 1, (name, answer)
        if name not in one_is_whole:
            check_refusal(name, answer)
        assert len(mock.requests) - before <= (name in one_is_whole), name
    await house.is_quiet()
    assert (await house.send(ask(dialect))).status == 200


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_request_for_another_server_or_in_another_manner_is_turned_away_once(
    house: House, mock: Mock, dialect: str
) -> None:
    for name, (status, sent) in turned_away(wire(dialect)).items():
        answer = await hear(house, sent, to_its_end=False)
        statuses = [int(found) for found in STATUS_LINE.findall(answer)]
        # The request after it is still itself, or the connection was closed.
        assert statuses in ([status], [status, 404]), (name, answer)
        check_refusal(name, answer, status)
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_is_odd_but_clear_is_answered_as_often_as_it_was_asked(house: House, mock: Mock, dialect: str) -> None:
    for name, (answers, calls, sent) in odd_but_clear(wire(dialect)).items():
        before = len(mock.requests)
        answer = await hear(house, sent, to_its_end=False)
        assert [int(found) for found in STATUS_LINE.findall(answer)] == [200] * answers + [404], (name, answer)
        assert len(mock.requests) - before == calls, name
