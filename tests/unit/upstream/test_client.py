"""The upstream client against servers that behave, misbehave and vanish."""

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from agentui.errors import (
    BadRequest,
    Busy,
    NotFound,
    UpstreamError,
    UpstreamInvalid,
    UpstreamTimeout,
    UpstreamTruncated,
    UpstreamUnavailable,
    UpstreamUnreachable,
)
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from tests.certificates import self_signed
from tests.unit.upstream.conftest import PATIENCE, Bytes, Visit, serving

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
SECRET = "sk-secret-1234567890"


def post(server: Bytes | str, **more: object) -> UpstreamCall:
    url = (server if isinstance(server, str) else server.url) + f"/v1/chat?key={SECRET}"
    fields: dict[str, object] = {"headers": {"authorization": f"Bearer {SECRET}"}, "body": b'{"a":1}'} | more
    return UpstreamCall("POST", url, **fields)  # type: ignore[arg-type]  # the tests' own shorthand


async def fails(upstream: Upstream, call: UpstreamCall, kind: type[UpstreamError]) -> UpstreamError:
    with pytest.raises(kind) as caught:
        await upstream.send(call)
    assert SECRET not in str(caught.value) and "/v1/chat" not in str(caught.value)
    return caught.value


# -- what a call is and what comes back


async def test_a_reply_has_status_headers_in_lower_case_and_the_whole_body(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(201, b"hello", X_Request_ID="r1", Set_Cookie="a=b")

    server.script = script
    reply = await upstream.send(post(server))
    assert (reply.status, reply.body, reply.headers["x-request-id"]) == (201, b"hello", "r1")
    assert "set-cookie" not in reply.headers


async def test_the_request_goes_out_as_it_was_given_and_asks_for_no_compression(server: Bytes, upstream: Upstream) -> None:
    server.script = Visit.answer
    await upstream.send(
        post(server, headers={"x-api-key": "k", "Accept-Encoding": "br", "Host": "evil", "Connection": "close"})
    )
    head = server.visits[0].head.lower()
    assert head.startswith(b"post /v1/chat?key=")
    assert b"x-api-key: k\r\n" in head and b"accept-encoding: identity\r\n" in head
    assert b"evil" not in head and b"br\r\n" not in head and b"connection: close" not in head
    assert server.visits[0].body == b'{"a":1}'


async def test_a_body_of_several_megabytes_arrives_whole_and_without_a_warning(server: Bytes, upstream: Upstream) -> None:
    server.script = Visit.answer
    body = b"x" * 3_000_000
    await upstream.send(post(server, body=body))
    assert server.visits[0].body == body


async def test_connections_are_reused_and_cookies_are_not(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(Set_Cookie="session=1; Path=/")

    server.script = script
    await upstream.send(post(server))
    await upstream.send(post(server))
    assert server.connections == 1
    assert b"cookie" not in server.visits[1].head.lower()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_client_error_is_handed_out_after_one_attempt(server: Bytes, upstream: Upstream, status: int) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(status, b'{"error":1}')

    server.script = script
    reply = await upstream.send(post(server))
    assert (reply.status, reply.body, len(server.visits)) == (status, b'{"error":1}', 1)


@pytest.mark.parametrize(
    "name,value", [("x\r\ny", "v"), ("x", "a\r\nb: c"), ("x", "a\0b"), ("x", "a\nb"), ("", "v"), ("x y", "v")]
)
async def test_a_header_with_a_line_break_is_refused_before_anything_is_sent(
    server: Bytes, upstream: Upstream, name: str, value: str
) -> None:
    with pytest.raises(BadRequest):
        await upstream.send(post(server, headers={name: value}))
    assert server.connections == 0


# -- streams


async def test_chunks_arrive_as_they_are_sent(server: Bytes, upstream: Upstream) -> None:
    heard = asyncio.Event()

    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await heard.wait()
        await visit.say(b"6\r\n world\r\n0\r\n\r\n")

    server.script = script
    pieces = []
    async with upstream.open(post(server)) as stream:
        assert (stream.status, stream.content_type) == (200, "text/event-stream")
        async for piece in stream.chunks():
            pieces.append(piece)
            heard.set()
    assert pieces == [b"hello", b" world"]


async def test_no_chunk_is_larger_than_64_kb_and_nothing_is_lost(server: Bytes, upstream: Upstream) -> None:
    body = bytes(range(256)) * 4000

    async def script(visit: Visit) -> None:
        await visit.answer(200, body)

    server.script = script
    async with upstream.open(post(server)) as stream:
        pieces = [piece async for piece in stream.chunks()]
    assert max(map(len, pieces)) <= 65536 and b"".join(pieces) == body


async def test_leaving_a_stream_early_closes_the_upstream(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await visit.gone()

    server.script = script
    async with upstream.open(post(server)) as stream:
        async for _ in stream.chunks():
            break
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


async def test_an_upstream_is_held_back_while_nobody_reads(server: Bytes, upstream: Upstream) -> None:
    sent = 0

    async def script(visit: Visit) -> None:
        nonlocal sent
        await visit.say(CHUNKED)
        while True:
            await visit.say(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            sent += 65536

    server.script = script
    async with upstream.open(post(server)) as stream:
        await anext(stream.chunks())
        before = -1
        # Until no buffer on the way takes any more.
        async with asyncio.timeout(PATIENCE):
            while sent != before:
                before = sent
                await asyncio.sleep(0.3)


async def test_two_spellings_of_a_header_go_out_as_one(server: Bytes, upstream: Upstream) -> None:
    server.script = Visit.answer
    await upstream.send(post(server, headers={"X-Api-Key": "old", "x-api-key": "new"}))
    assert server.visits[0].head.lower().count(b"x-api-key") == 1 and b"new" in server.visits[0].head


async def test_an_answer_to_a_request_that_is_still_being_sent_is_heard(server: Bytes, upstream: Upstream) -> None:
    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await writer.drain()
        left.set()
        await done.wait()
        writer.close()

    left, done = asyncio.Event(), asyncio.Event()
    listener = await asyncio.start_server(early, "127.0.0.1", 0)
    reply = await upstream.send(post(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", body=b"x" * 20_000_000))
    assert (reply.status, reply.body) == (413, b"big")
    done.set()
    listener.close()
    await listener.wait_closed()


async def silent(visit: Visit) -> None:
    await visit.gone()


async def headers_only(visit: Visit) -> None:
    await visit.say(CHUNKED)
    await visit.gone()


async def half_a_reply(visit: Visit) -> None:
    await visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await visit.gone()


@pytest.mark.parametrize("script", [silent, headers_only, half_a_reply])
async def test_cancelling_closes_the_upstream_in_every_phase(
    server: Bytes, upstream: Upstream, script: Callable[[Visit], object]
) -> None:
    arrived = asyncio.Event()

    async def noted(visit: Visit) -> None:
        arrived.set()
        await script(visit)  # type: ignore[misc]  # every script is a coroutine function

    server.script = noted
    task = asyncio.create_task(upstream.send(post(server)))
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)
    assert len(server.visits) == 1


async def test_cancelling_while_the_request_is_still_being_sent_closes_the_connection(upstream: Upstream) -> None:
    closed, begun = asyncio.Event(), asyncio.Event()

    async def never_reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        begun.set()
        while await reader.read(1 << 20) if closed.is_set() else await paused(reader):
            pass
        writer.close()

    async def paused(reader: asyncio.StreamReader) -> bool:
        await cancelled.wait()
        try:
            while await reader.read(1 << 20):
                pass
        except ConnectionError:
            pass
        closed.set()
        return False

    cancelled = asyncio.Event()
    listener = await asyncio.start_server(never_reads, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    task = asyncio.create_task(upstream.send(post(f"http://127.0.0.1:{port}", body=b"x" * 30_000_000)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    cancelled.set()
    await asyncio.wait_for(closed.wait(), PATIENCE)
    listener.close()
    await listener.wait_closed()


# -- clocks


async def test_an_upstream_that_never_answers_is_a_timeout_naming_the_host(server: Bytes, upstream: Upstream) -> None:
    server.script = silent
    error = await fails(upstream, post(server, timeouts=Timeouts(first_byte=0.1), node="n1"), UpstreamTimeout)
    assert error.details == {"host": server.url[7:], "phase": "first_byte", "node": "n1"}
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)
    assert len(server.visits) == 1


async def test_headers_that_come_in_the_last_moment_count(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        visit.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        time.sleep(1.1)  # noqa: ASYNC251  # the clock rings in the turn of the event loop that reads them
        await asyncio.sleep(0.05)
        await visit.say(b"hello")
        await visit.gone()

    server.script = script
    assert (await upstream.send(post(server, timeouts=Timeouts(first_byte=1.0)))).body == b"hello"


async def test_silence_in_the_middle_is_a_timeout(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await visit.gone()

    server.script = script
    got = []
    with pytest.raises(UpstreamTimeout):
        async with upstream.open(post(server, timeouts=Timeouts(idle=0.1))) as stream:
            async for piece in stream.chunks():
                got.append(piece)
    assert got == [b"hello"]
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


async def test_silence_is_noticed_in_an_answer_without_length_too(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.0 200 OK\r\n\r\nhello")
        await visit.gone()

    server.script = script
    await fails(upstream, post(server, timeouts=Timeouts(idle=0.1)), UpstreamTimeout)


async def test_a_slow_reader_is_not_mistaken_for_a_silent_upstream(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await asyncio.sleep(0.05)
        await visit.say(b"5\r\nhello\r\n0\r\n\r\n")

    server.script = script
    got = []
    async with upstream.open(post(server, timeouts=Timeouts(idle=0.7))) as stream:
        async for piece in stream.chunks():
            if not got:
                await asyncio.sleep(1)
            got.append(piece)
    assert b"".join(got) == b"hellohello"


@pytest.mark.parametrize("script", [silent, headers_only])
async def test_the_deadline_ends_a_call_in_any_phase(
    server: Bytes, upstream: Upstream, script: Callable[[Visit], object]
) -> None:
    server.script = script  # type: ignore[assignment]  # every script is a coroutine function
    error = await fails(upstream, post(server, deadline=time.monotonic() + 0.1), UpstreamTimeout)
    assert "time for this call ran out" in error.message


async def test_a_deadline_that_has_passed_sends_nothing(server: Bytes, upstream: Upstream) -> None:
    await fails(upstream, post(server, deadline=time.monotonic() - 1), UpstreamTimeout)
    assert server.connections == 0


async def test_a_host_that_does_not_accept_is_a_connect_timeout(upstream: Upstream) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = []
        for _ in range(4):  # fill the backlog, so that the next connection waits
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(address)
            fillers.append(filler)
        error = await fails(upstream, post(f"http://127.0.0.1:{address[1]}", timeouts=Timeouts(connect=0.2)), UpstreamTimeout)
        assert error.details["phase"] == "connect"
        for filler in fillers:
            filler.close()


# -- answers that break


BROKEN_BEFORE = {
    "not HTTP": b"SSH-2.0-OpenSSH_9\r\n\r\n",
    "no status": b"HTTP/1.1 abc\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab",
    "header flood": b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: 1\r\n" % n for n in range(5000)) + b"\r\n",
    "long header": b"HTTP/1.1 200 OK\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
    "interim flood": b"HTTP/1.1 102 Processing\r\n\r\n" * 10_000,
}


@pytest.mark.parametrize("name", BROKEN_BEFORE)
async def test_broken_headers_are_invalid_and_not_tried_again(server: Bytes, upstream: Upstream, name: str) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(BROKEN_BEFORE[name])
        await visit.gone()

    server.script = script
    await fails(upstream, post(server, timeouts=Timeouts(first_byte=5, idle=5)), UpstreamInvalid)
    assert len(server.visits) == 1


BROKEN_AFTER = {
    "bad chunk size": (CHUNKED + b"5\r\nhello\r\nZZZ\r\n", UpstreamInvalid),
    "chunk without end": (CHUNKED + b"5\r\nhelloXXXX", UpstreamInvalid),
    "no last chunk": (CHUNKED + b"5\r\nhello\r\n", UpstreamTruncated),
    "half a chunk": (CHUNKED + b"5\r\nhe", UpstreamTruncated),
    "too short": (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", UpstreamTruncated),
}


@pytest.mark.parametrize("name", BROKEN_AFTER)
@pytest.mark.parametrize("end", ["close", "reset"])
async def test_an_answer_that_breaks_off_never_looks_finished(server: Bytes, upstream: Upstream, name: str, end: str) -> None:
    text, kind = BROKEN_AFTER[name]

    async def script(visit: Visit) -> None:
        await visit.say(text)
        await asyncio.sleep(0.05)
        if end == "reset":
            visit.reset()
        visit.writer.close()

    server.script = script
    await fails(upstream, post(server), kind)
    assert len(server.visits) == 1


async def test_a_broken_chunk_is_heard_of_although_the_connection_stays_open(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await asyncio.sleep(0.05)
        await visit.say(b"ZZZ\r\n")
        await visit.gone()

    server.script = script
    await fails(upstream, post(server), UpstreamInvalid)


async def test_interim_answers_are_skipped(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await visit.answer(200, b"real")

    server.script = script
    assert (await upstream.send(post(server))).body == b"real"


async def test_more_than_the_cap_is_refused_before_it_is_read(server: Bytes) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")
        await visit.gone()

    server.script = script
    async with Upstream(max_reply=2 * 1024 * 1024) as upstream:
        error = await fails(upstream, post(server), UpstreamInvalid)
    assert "larger than 2 MB" in error.message
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


async def test_more_than_the_cap_without_a_length_is_refused_while_it_is_read(server: Bytes) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED)
        while not visit.writer.is_closing():
            await visit.say(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    server.script = script
    async with Upstream(max_reply=1024 * 1024) as upstream:
        await fails(upstream, post(server), UpstreamInvalid)
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


async def test_a_redirect_is_refused_naming_the_new_origin_only(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(307, b"", Location=f"https://user:pw@other.example:8443/x?key={SECRET}")

    server.script = script
    error = await fails(upstream, post(server), UpstreamInvalid)
    assert "redirects to https://other.example:8443;" in error.message and "base_url" in error.message
    assert "pw" not in error.message and len(server.visits) == 1


@pytest.mark.parametrize("location", [None, "http://[", "", "//"])
async def test_a_redirect_to_nowhere_is_invalid(server: Bytes, upstream: Upstream, location: str | None) -> None:
    async def script(visit: Visit) -> None:
        await (visit.answer(302, b"") if location is None else visit.answer(302, b"", Location=location))

    server.script = script
    await fails(upstream, post(server), UpstreamInvalid)


# -- compression nobody asked for


@pytest.mark.parametrize(
    "encoding,packed",
    [
        ("gzip", gzip.compress(b"hello" * 1000, mtime=0)),
        ("gzip", gzip.compress(b"hello" * 500, mtime=0) + gzip.compress(b"hello" * 500, mtime=0)),
        ("x-gzip", gzip.compress(b"hello" * 1000, mtime=0)),
        ("deflate", zlib.compress(b"hello" * 1000)),
        ("deflate", zlib.compress(b"hello" * 1000)[2:-4]),
        ("identity", b"hello" * 1000),
    ],
)
async def test_compressed_answers_are_read_all_the_same(
    server: Bytes, upstream: Upstream, encoding: str, packed: bytes
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, packed, Content_Encoding=encoding)

    server.script = script
    assert (await upstream.send(post(server))).body == b"hello" * 1000


async def test_a_bomb_ends_at_the_cap(server: Bytes, upstream: Upstream) -> None:
    machine = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(machine.compress(b"\0" * 1_000_000) for _ in range(100)) + machine.flush()

    async def script(visit: Visit) -> None:
        await visit.answer(200, bomb, Content_Encoding="gzip")

    server.script = script
    error = await fails(upstream, post(server), UpstreamInvalid)
    assert "grows without end" in error.message


async def test_a_large_answer_ends_at_the_cap(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, b"x" * (32 * 1024 * 1024 + 1))

    server.script = script
    error = await fails(upstream, post(server), UpstreamInvalid)
    assert "larger than 32 MB" in error.message


@pytest.mark.parametrize(
    "encoding,packed,kind",
    [
        ("gzip", b"not gzip at all", UpstreamInvalid),
        ("gzip", gzip.compress(b"hello" * 1000, mtime=0)[:-9], UpstreamTruncated),
        ("br", b"\x0b\x02\x80hello\x03", UpstreamInvalid),
        ("gzip, gzip", b"", UpstreamInvalid),
    ],
)
async def test_damaged_or_unknown_compression_is_an_error(
    server: Bytes, upstream: Upstream, encoding: str, packed: bytes, kind: type[UpstreamError]
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, packed, Content_Encoding=encoding)

    server.script = script
    await fails(upstream, post(server), kind)


# -- trying again


@pytest.mark.parametrize("status,attempts", [(500, 3), (502, 3), (503, 3), (529, 3), (408, 3), (429, 2)])
async def test_a_passing_failure_is_tried_again_and_then_handed_out(
    server: Bytes, upstream: Upstream, status: int, attempts: int
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(status, b"sorry")

    server.script = script
    heard: list[Attempt] = []
    reply = await upstream.send(post(server, on_attempt=heard.append))
    assert (reply.status, reply.body, len(server.visits)) == (status, b"sorry", attempts)
    assert [attempt.number for attempt in heard] == list(range(1, attempts + 1))
    assert [attempt.status for attempt in heard] == [status] * attempts
    assert [attempt.wait is None for attempt in heard] == [False] * (attempts - 1) + [True]
    assert all(a.started <= a.connected <= a.first_byte for a in heard if a.connected and a.first_byte)


async def test_a_flap_is_hidden(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(500 if visit.number == 1 else 200)

    server.script = script
    assert (await upstream.send(post(server))).status == 200
    assert server.visits[0].body == server.visits[1].body


async def test_retries_can_be_turned_off(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(500)

    server.script = script
    assert (await upstream.send(post(server, retries=False))).status == 500
    assert len(server.visits) == 1


async def test_a_long_retry_after_goes_to_the_caller_at_once(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(429, b"later", Retry_After="6")

    server.script = script
    reply = await upstream.send(post(server))
    assert (reply.status, reply.headers["retry-after"], len(server.visits)) == (429, "6", 1)


async def test_a_short_retry_after_is_waited_for(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await (visit.answer(429, b"", retry_after_ms="300") if visit.number == 1 else visit.answer())

    server.script = script
    heard: list[Attempt] = []
    assert (await upstream.send(post(server, on_attempt=heard.append))).status == 200
    assert heard[0].wait == pytest.approx(0.3)


async def test_no_retry_begins_beyond_the_deadline(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(503, b"", Retry_After="3")

    server.script = script
    assert (await upstream.send(post(server, deadline=time.monotonic() + 2))).status == 503
    assert len(server.visits) == 1


async def test_retries_have_a_budget(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(408)

    server.script = script
    await asyncio.gather(*(upstream.send(post(server)) for _ in range(30)))
    assert 30 < len(server.visits) <= 30 + 9


async def test_what_one_upstream_costs_in_retries_takes_none_from_another(
    server: Bytes, upstream: Upstream, closed_port: int
) -> None:
    server.script = Visit.answer
    good = [upstream.send(post(server)) for _ in range(50)]
    await asyncio.gather(*good)
    dead = f"http://127.0.0.1:{closed_port}"
    heard: list[Attempt] = []
    for _ in range(8):
        await fails(upstream, post(dead, on_attempt=heard.append), UpstreamUnreachable)
    assert len(heard) <= 8 + 4, "the other's fifty requests earn it no retries"

    async def flaps(visit: Visit) -> None:
        await visit.answer(408 if visit.number % 2 else 200)

    async for other in serving():
        other.script = flaps
        assert (await upstream.send(post(other))).status == 200, "and one that is dead takes none away"


async def test_a_refused_connection_names_the_host_and_is_tried_twice(closed_port: int, upstream: Upstream) -> None:
    heard: list[Attempt] = []
    error = await fails(upstream, post(f"http://127.0.0.1:{closed_port}", on_attempt=heard.append), UpstreamUnreachable)
    assert error.details["host"] == f"127.0.0.1:{closed_port}" and "refused" in error.message
    assert len(heard) == 2 and heard[0].connected is None and heard[0].error == error.message


async def test_a_connection_closed_under_us_is_replaced_without_a_word(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        if visit.number % 2:
            await visit.answer()
        else:
            visit.reset()  # the second request on each connection finds it closed

    server.script = script
    heard: list[Attempt] = []
    for _ in range(10):
        assert (await upstream.send(post(server, retries=False, on_attempt=heard.append))).status == 200
    assert server.connections > 1
    assert [attempt.wait for attempt in heard if attempt.error] == [0.0] * (len(heard) - 10)


async def test_a_fresh_connection_closed_without_an_answer_is_a_truncated_one(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        visit.writer.close()

    server.script = script
    await fails(upstream, post(server, retries=False), UpstreamTruncated)
    assert len(server.visits) == 1


async def test_an_idempotent_request_is_not_repeated_behind_our_back(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        visit.writer.close()

    server.script = script
    with pytest.raises(UpstreamTruncated):
        await upstream.send(UpstreamCall("GET", server.url + "/v1/models", retries=False))
    assert len(server.visits) == 1


async def test_an_answer_nobody_asked_for_is_never_given_to_the_next_request(server: Bytes, upstream: Upstream) -> None:
    asked, refused = asyncio.Event(), asyncio.Event()

    async def script(visit: Visit) -> None:
        if visit.number == 1:
            await visit.answer(200, b"first")
            await asked.wait()
            await visit.answer(200, b"stray")
            await visit.gone()
            refused.set()
        else:
            await visit.answer(200, b"second")

    server.script = script
    assert (await upstream.send(post(server))).body == b"first"
    asked.set()
    await refused.wait()
    assert (await upstream.send(post(server))).body == b"second"


# -- limits


async def test_an_origin_at_its_limit_is_busy_and_others_are_not(server: Bytes) -> None:
    go, full = asyncio.Event(), asyncio.Event()

    async def script(visit: Visit) -> None:
        if visit.number == 2:
            full.set()
        await go.wait()
        await visit.answer()

    server.script = script
    async with Upstream(max_in_flight=2, max_queued=0) as upstream:
        calls = [asyncio.create_task(upstream.send(post(server))) for _ in range(2)]
        await full.wait()
        with pytest.raises(Busy) as caught:
            await upstream.send(post(server, node="n2"))
        assert caught.value.retry_after == 1.0 and caught.value.details["node"] == "n2"
        go.set()
        assert [reply.status for reply in await asyncio.gather(*calls)] == [200, 200]
        assert (await upstream.send(post(server))).status == 200


async def test_a_dead_origin_is_left_alone_after_a_while(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(500)

    server.script = script
    for _ in range(20):
        await upstream.send(post(server, retries=False))
    with pytest.raises(UpstreamUnavailable) as caught:
        await upstream.send(post(server))
    assert 0 < (caught.value.retry_after or 0) <= 5 and len(server.visits) == 20


# -- where calls may go


class Fixed(AbstractResolver):
    """Every name leads to the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=a, port=port, family=socket.AF_INET6 if ":" in a else socket.AF_INET, proto=0, flags=0
            )
            for a in self.addresses
        ]

    async def close(self) -> None:
        pass


async def test_a_name_that_leads_to_a_metadata_service_is_never_called() -> None:
    async with Upstream(resolver=Fixed("169.254.169.254", "::ffff:169.254.169.254")) as upstream:
        error = await fails(upstream, post("http://models.example"), UpstreamUnreachable)
    assert "models.example leads to a link-local address" in error.message


async def test_of_several_addresses_only_allowed_ones_are_used(server: Bytes) -> None:
    server.script = Visit.answer
    port = server.url.rpartition(":")[2]
    async with Upstream(resolver=Fixed("169.254.169.254", "127.0.0.1")) as upstream:
        assert (await upstream.send(post(f"http://models.example:{port}"))).status == 200


async def test_private_addresses_can_be_closed_but_for_named_origins(server: Bytes) -> None:
    server.script = Visit.answer
    port = server.url.rpartition(":")[2]
    async with Upstream(allow_private=False, named_origins={"demo": server.url}) as upstream:
        assert (await upstream.send(post(upstream.resolve("demo")))).status == 200
        await fails(upstream, post(f"http://localhost:{port}"), UpstreamUnreachable)
        await fails(upstream, post("http://127.0.0.1:1"), UpstreamUnreachable)
    assert len(server.visits) == 1


async def test_a_name_without_an_address_is_unreachable(upstream: Upstream) -> None:
    for host in ("no-such-host.invalid", "a..b", "x" * 64 + ".example"):
        error = await fails(upstream, post(f"http://{host}"), UpstreamUnreachable)
        assert host in error.message


async def test_named_origins_stand_for_their_url() -> None:
    upstream = Upstream(named_origins={"demo": "http://127.0.0.1:7861/"})
    assert upstream.resolve("demo") == "http://127.0.0.1:7861"
    assert upstream.resolve("demo/v1beta") == "http://127.0.0.1:7861/v1beta"
    assert upstream.resolve("https://api.example/v1") == "https://api.example/v1"
    with pytest.raises(NotFound, match="demo"):
        upstream.resolve("localhost:8000")


# -- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost with its key, in one file."""
    return self_signed(tmp_path_factory.mktemp("tls") / "server.pem")


@pytest.fixture
async def tls_server(certificate: Path) -> AsyncIterator[Bytes]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async for server in serving(context):
        yield server


async def test_a_certificate_that_nobody_signed_is_refused(tls_server: Bytes, upstream: Upstream) -> None:
    tls_server.script = Visit.answer
    error = await fails(upstream, post(tls_server), UpstreamUnreachable)
    assert error.message.startswith(f"The certificate of {tls_server.url[8:]} was not accepted")
    assert tls_server.visits == []


async def test_a_trusted_certificate_for_another_name_is_refused(tls_server: Bytes, certificate: Path) -> None:
    tls_server.script = Visit.answer
    async with Upstream(ssl_context=ssl.create_default_context(cafile=str(certificate))) as upstream:
        assert (await upstream.send(post(tls_server))).status == 200
        await fails(upstream, post(tls_server.url.replace("localhost", "127.0.0.1")), UpstreamUnreachable)


async def test_tls_connections_are_reused_and_carry_large_bodies(tls_server: Bytes, certificate: Path) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, visit.body)

    tls_server.script = script
    async with Upstream(ssl_context=ssl.create_default_context(cafile=str(certificate))) as upstream:
        for body in (b"small", b"x" * 3_000_000, b"small again"):
            assert (await upstream.send(post(tls_server, body=body))).body == body
    assert tls_server.connections == 1


async def test_cancelling_closes_a_tls_upstream_too(tls_server: Bytes, certificate: Path) -> None:
    tls_server.script = half_a_reply
    async with Upstream(ssl_context=ssl.create_default_context(cafile=str(certificate))) as upstream:
        async with upstream.open(post(tls_server)) as stream:
            assert await anext(stream.chunks()) == b"half"
        await asyncio.wait_for(tls_server.aborted.wait(), PATIENCE)


async def test_plain_text_behind_https_is_a_tls_error(upstream: Upstream) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(plain, "127.0.0.1", 0)
    error = await fails(upstream, post(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}"), UpstreamUnreachable)
    assert "certificate" in error.message
    listener.close()
    await listener.wait_closed()
