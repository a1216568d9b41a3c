"""Connections: how answers end, which of them outlive one, and what they may never hold."""

import asyncio
import socket
import struct
import time
from itertools import pairwise

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.errors import BadRequest, UpstreamError, UpstreamInvalid, UpstreamTimeout, UpstreamTruncated
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.connection import MAX_EVENTS_HELD, MAX_PIECE, Connection
from agentui.upstream.http.pool import Pool
from agentui.upstream.http.request import Origin
from agentui.upstream.policy import AddressPolicy, PolicyResolver
from tests.unit.upstream.conftest import PATIENCE, Bytes, Script, Visit

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def post(server: Bytes) -> UpstreamCall:
    return UpstreamCall("POST", server.url + "/v1/chat", {"x-api-key": "k"}, b"{}")


def saying(*pieces: bytes, then_close: bool = False) -> Script:
    async def script(visit: Visit) -> None:
        await visit.say(*pieces)
        if then_close:
            visit.writer.close()

    return script


# -- where an answer ends


class Wire(asyncio.Transport):
    """A transport whose other end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reading = self.is_there = True

    def write(self, data: object) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return not self.is_there

    def abort(self) -> None:
        self.is_there = False

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True


ANSWERS = {
    "length": OK + b"Content-Length: 10\r\nX-A: 1\r\n\r\nhelloworld",
    "chunks": OK + b"Transfer-Encoding: chunked\r\nx-a: 1\r\n\r\n5\r\nhello\r\n5;e=1\r\nworld\r\n0\r\nX-A: trailer\r\n\r\n",
    "after interim ones": b"HTTP/1.1 103 H\r\nX-A: 9\r\n\r\n"
    + OK
    + b"X-A: 1\r\nX-A: 2\r\nContent-Length: 10\r\n\r\nhelloworld",
    "no length": b"HTTP/1.0 200 OK\r\nX-A:  1 \r\n\r\nhelloworld",
}


@pytest.mark.parametrize("name", ANSWERS)
@given(cuts=st.sets(st.integers(1, 130)))
@settings(max_examples=60)
def test_an_answer_is_the_same_however_it_is_cut(name: str, cuts: set[int]) -> None:
    async def run() -> None:
        answer = ANSWERS[name]
        connection = Connection(Origin(False, "h", 80), lambda _: None)
        connection.connection_made(Wire())
        connection.send(b"GET / HTTP/1.1\r\n\r\n", None)
        edges = [0, *sorted(cut for cut in cuts if cut < len(answer)), len(answer)]
        for start, end in pairwise(edges):
            connection.data_received(answer[start:end])
        if name == "no length":
            assert not connection.is_complete
            connection.connection_lost(None)
        await connection.head_received()
        assert (connection.status, connection.headers["x-a"], connection.is_complete) == (200, "1", True)
        assert connection.take() == b"helloworld" and connection.take() == b""
        assert connection.is_reusable is (name != "no length")

    asyncio.run(run())


async def test_of_an_event_stream_little_is_read_at_once_and_little_is_held() -> None:
    wire = Wire()
    connection = Connection(Origin(False, "h", 80), lambda _: None)
    connection.connection_made(wire)
    connection.send(b"GET / HTTP/1.1\r\n\r\n", None)
    connection.data_received(OK + b"Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert len(connection.get_buffer(-1)) == MAX_EVENTS_HELD
    event = b"data: " + b"x" * 1014 + b"\n\n"
    for number in range(1, 7):
        connection.data_received(b"%x\r\n" % len(event) + event + b"\r\n")
        assert wire.is_reading is (number * len(event) <= MAX_EVENTS_HELD)
    assert len(connection.take()) <= MAX_EVENTS_HELD
    connection.take()
    assert wire.is_reading
    connection.data_received(b"0\r\n\r\n")
    connection.take_all(MAX_PIECE)
    connection.reset()
    # The next answer may be another kind of body.
    assert len(connection.get_buffer(-1)) > MAX_EVENTS_HELD


@given(st.lists(st.integers(1, 3 * MAX_PIECE), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_pieces_are_never_too_large_nor_lost_and_reading_pauses_while_much_is_held(sizes: list[int]) -> None:
    async def run() -> None:
        wire = Wire()
        connection = Connection(Origin(False, "h", 80), lambda _: None)
        connection.connection_made(wire)
        connection.send(b"GET / HTTP/1.1\r\n\r\n", None)
        connection.data_received(CHUNKED)
        sent, got = b"", b""
        for number, size in enumerate(sizes):
            body = bytes([number]) * size
            sent += body
            connection.data_received(b"%x\r\n" % size + body + b"\r\n")
            assert wire.is_reading is (len(sent) - len(got) <= MAX_PIECE)
            if number % 2:
                got += connection.take()
        while piece := connection.take():
            assert len(piece) <= MAX_PIECE
            got += piece
        assert got == sent and wire.is_reading

    asyncio.run(run())


async def test_an_answer_without_length_ends_with_its_connection(server: Bytes, upstream: Upstream) -> None:
    server.script = saying(OK + b"Connection: close\r\n\r\nhello", then_close=True)
    assert (await upstream.send(post(server))).body == b"hello"


async def test_an_answer_without_length_that_is_reset_broke_off(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(OK + b"\r\nhello")
        await asyncio.sleep(0.05)
        linger = struct.pack("ii", 1, 0)  # closing without lingering is what makes a reset of it
        visit.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        visit.reset()

    server.script = script
    with pytest.raises(UpstreamTruncated):
        await upstream.send(post(server))


async def test_what_arrived_before_an_answer_broke_off_is_handed_out_first(server: Bytes, upstream: Upstream) -> None:
    server.script = saying(CHUNKED + b"5\r\nhello\r\n", then_close=True)
    got = []
    with pytest.raises(UpstreamTruncated):
        async with upstream.open(post(server)) as stream:
            await asyncio.sleep(0.05)
            async for piece in stream.chunks():
                got.append(piece)
    assert got == [b"hello"]


async def test_the_answer_to_a_head_has_no_body_and_none_is_waited_for(server: Bytes, upstream: Upstream) -> None:
    server.script = saying(OK + b"Content-Length: 500\r\n\r\n")
    for _ in range(2):
        reply = await upstream.send(UpstreamCall("HEAD", server.url))
        assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize(
    "rest",
    [b"0\r\nX: " + b"x" * 200_000, b"0\r\n" + b"X: y\r\n" * 500 + b"\r\n", b"5;" + b"e" * 1_000_000],
    ids=["long trailer", "many trailers", "endless extension"],
)
async def test_what_is_no_body_has_its_limits_after_the_headers_too(server: Bytes, upstream: Upstream, rest: bytes) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED + rest)
        await visit.gone()

    server.script = script
    with pytest.raises(UpstreamInvalid):
        await upstream.send(post(server))


async def test_a_deadline_passes_for_a_slow_reader_of_an_upstream_that_never_ends(server: Bytes, upstream: Upstream) -> None:
    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED)
        while True:
            await visit.say(b"4000\r\n" + bytes(0x4000) + b"\r\n")

    server.script = script
    call = UpstreamCall("POST", server.url, deadline=time.monotonic() + 0.3)
    with pytest.raises(UpstreamTimeout, match="time for this call ran out"):
        async with upstream.open(call) as stream:
            await asyncio.sleep(0.1)
            for _ in range(100):
                assert await stream.next()
                await asyncio.sleep(0.02)
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


async def test_a_stream_cannot_be_read_after_it_was_left(server: Bytes, upstream: Upstream) -> None:
    server.script = saying(OK + b"Content-Length: 5\r\n\r\nhello")
    async with upstream.open(post(server)) as stream:
        pass
    with pytest.raises(RuntimeError, match="left"):
        await stream.read()


# -- which connections are used again


@pytest.mark.parametrize(
    "answer,connections",
    [
        (OK + b"Content-Length: 2\r\n\r\nok", 1),
        (OK + b"Content-Length: 0\r\n\r\n", 1),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 1),
        (CHUNKED + b"2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n", 1),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 1),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 3),
        (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok", 3),
        (OK + b"Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray", 3),
        (OK + b"Content-Length: 2\r\n\r\nok and garbage", 3),
    ],
)
async def test_a_connection_is_kept_when_both_sides_know_where_the_answer_ends(
    server: Bytes, upstream: Upstream, answer: bytes, connections: int
) -> None:
    server.script = saying(answer)
    for _ in range(3):
        assert (await upstream.send(post(server))).body in (b"ok", b"")
    assert server.connections == connections


async def test_the_connection_that_was_used_last_is_used_again_first(server: Bytes, upstream: Upstream) -> None:
    gates = {1: asyncio.Event(), 2: asyncio.Event()}
    arrived = asyncio.Semaphore(0)

    async def script(visit: Visit) -> None:
        arrived.release()
        if visit.number in gates:
            await gates[visit.number].wait()
        await visit.answer()

    server.script = script
    calls = [asyncio.create_task(upstream.send(post(server)))]
    await arrived.acquire()
    calls.append(asyncio.create_task(upstream.send(post(server))))
    await arrived.acquire()
    for number in (2, 1):
        gates[number].set()
        await calls[number - 1]
    await upstream.send(post(server))
    assert server.visits[2].writer is server.visits[0].writer


async def test_when_a_kept_connection_was_stale_the_next_try_uses_none_of_the_others(server: Bytes, upstream: Upstream) -> None:
    together = asyncio.Barrier(3)

    async def script(visit: Visit) -> None:
        if visit.number <= 3:
            await together.wait()
            await visit.answer()
        elif visit.number == 4:
            visit.reset()
        else:
            await visit.answer(200, b"fresh")

    server.script = script
    await asyncio.gather(*(upstream.send(post(server)) for _ in range(3)))
    heard: list[Attempt] = []
    call = UpstreamCall("POST", server.url, retries=False, on_attempt=heard.append)
    assert (await upstream.send(call)).body == b"fresh"
    assert len(heard) == 2 and server.connections == 4


async def test_an_idle_connection_is_dropped_after_a_while(server: Bytes) -> None:
    origin = Origin(False, "127.0.0.1", int(server.url.rpartition(":")[2]))
    pool = Pool(PolicyResolver(AddressPolicy()), keep_alive=0.1)
    server.script = Visit.answer
    connection = await pool.connect(origin)
    connection.send(b"GET / HTTP/1.1\r\n\r\n", None)
    await connection.head_received()
    while not connection.is_complete:
        await connection.arrival()
    pool.release(connection)
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)
    assert pool.acquire(origin) is None
    await pool.close()


async def test_closing_ends_calls_under_way(server: Bytes) -> None:
    arrived = asyncio.Event()

    async def script(visit: Visit) -> None:
        await visit.say(OK + b"\r\nno length")
        arrived.set()
        await visit.gone()

    server.script = script
    upstream = Upstream()
    await upstream.start()
    task = asyncio.create_task(upstream.send(post(server)))
    await arrived.wait()
    await upstream.close()
    with pytest.raises(UpstreamError):
        await task
    await asyncio.wait_for(server.aborted.wait(), PATIENCE)


# -- what goes out, and where to


@pytest.mark.parametrize("method", ["", "GET /", "GET\r\nX: y", "G T"])
async def test_a_method_that_is_none_is_refused_before_anything_is_sent(server: Bytes, upstream: Upstream, method: str) -> None:
    with pytest.raises(BadRequest):
        await upstream.send(UpstreamCall(method, server.url))
    assert server.connections == 0


async def test_a_request_says_where_it_goes_how_long_it_is_and_who_asks(server: Bytes, upstream: Upstream) -> None:
    server.script = Visit.answer
    await upstream.send(UpstreamCall("POST", server.url + "/a b?q=ü#fragment", {"X-Name": "ü"}))
    head = server.visits[0].head
    assert head.startswith(b"POST /a%20b?q=%C3%BC HTTP/1.1\r\nHost: " + server.url[7:].encode() + b"\r\n")
    assert b"\r\ncontent-length: 0\r\n" in head and b"\r\nuser-agent: agentui/" in head
    assert "\r\nx-name: ü\r\n".encode() in head


class Counting(AbstractResolver):
    """Every name leads here, after a moment."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        self.asked += 1
        await asyncio.sleep(0.05)
        if host == "gone.example":
            raise OSError("no such name")
        return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0)]

    async def close(self) -> None:
        pass


async def test_a_name_is_looked_up_once_for_all_who_ask_and_a_caller_who_leaves_takes_it_from_nobody(server: Bytes) -> None:
    server.script = Visit.answer
    resolver = Counting()
    url = server.url.replace("127.0.0.1", "models.example")
    async with Upstream(resolver=resolver) as upstream:
        calls = [asyncio.create_task(upstream.send(UpstreamCall("GET", url))) for _ in range(5)]
        await asyncio.sleep(0.01)
        calls.pop(0).cancel()
        assert [reply.status for reply in await asyncio.gather(*calls)] == [200] * 4
        assert (await upstream.send(UpstreamCall("GET", url))).status == 200
    assert resolver.asked == 1


async def test_a_failed_look_up_is_not_remembered() -> None:
    resolver = Counting()
    async with Upstream(resolver=resolver) as upstream:
        for _ in range(2):
            with pytest.raises(UpstreamError, match=r"gone\.example could not be resolved"):
                await upstream.send(UpstreamCall("GET", "http://gone.example/"))
    assert resolver.asked == 2
