"""An answer given on piece by piece, within the read that brings each."""

import asyncio
import gzip

import pytest

from agentui.errors import UpstreamTimeout, UpstreamTruncated
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from tests.unit.upstream.conftest import Bytes, Visit
from tests.unit.upstream.test_client import CHUNKED, post


async def test_pieces_are_given_in_the_read_that_brings_them(server: Bytes, upstream: Upstream) -> None:
    """The waiting task is not woken: nobody but the loop's own callback runs."""
    heard = asyncio.Event()
    givers = []
    pieces = []

    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"5\r\nhello\r\n")
        await heard.wait()
        heard.clear()
        await visit.say(b"6\r\n world\r\n")
        await heard.wait()
        await visit.say(b"1\r\n!\r\n0\r\n\r\n")

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        givers.append(asyncio.current_task())
        heard.set()
        return True

    server.script = script
    async with upstream.open(post(server)) as stream:
        assert not await stream.relay(take)
        assert await stream.next() == b""
        assert stream.is_over
    assert pieces == [b"hello", b" world", b"!"]
    assert givers[1] is None


async def test_who_takes_can_stop_and_go_on(server: Bytes, upstream: Upstream) -> None:
    """Nothing is given meanwhile and nothing is lost, whether the stop comes in the read or before it."""
    more = asyncio.Event()
    pieces = []

    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"3\r\none\r\n")
        await more.wait()
        await visit.say(b"3\r\ntwo\r\n")
        await asyncio.sleep(0.05)
        await visit.say(b"5\r\nthree\r\n0\r\n\r\n")

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        more.set()
        return piece == b"one"

    server.script = script
    async with upstream.open(post(server)) as stream:
        assert await stream.relay(take)
        assert pieces == [b"one", b"two"]
        await asyncio.sleep(0.15)
        assert pieces == [b"one", b"two"]
        assert [piece async for piece in stream.chunks()] == [b"three"]


async def test_what_the_taker_raises_is_raised_by_the_relay(server: Bytes, upstream: Upstream) -> None:
    """And the connection lives until the stream is left."""
    more = asyncio.Event()

    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED, b"3\r\none\r\n")
        await more.wait()
        await visit.say(b"3\r\ntwo\r\n")
        await visit.gone()

    def take(piece: bytes) -> bool:
        more.set()
        if piece == b"two":
            raise KeyError("two")
        return True

    server.script = script
    async with upstream.open(post(server)) as stream:
        with pytest.raises(KeyError, match="two"):
            await stream.relay(take)


async def test_silence_and_a_cut_are_errors(server: Bytes, upstream: Upstream) -> None:
    """Each piece begins the silence anew."""
    pieces = []

    async def script(visit: Visit) -> None:
        await visit.say(CHUNKED)
        for _ in range(6):
            await asyncio.sleep(0.3)
            await visit.say(b"1\r\nx\r\n")
        await visit.gone()

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        return True

    server.script = script
    async with upstream.open(post(server, timeouts=Timeouts(idle=1.5))) as stream:
        with pytest.raises(UpstreamTimeout):
            await stream.relay(take)
    assert len(pieces) == 6

    async def cut(visit: Visit) -> None:
        await visit.say(CHUNKED, b"1\r\nx\r\n")
        visit.reset()

    server.script = cut
    with pytest.raises(UpstreamTruncated):
        async with upstream.open(post(server)) as stream:
            await stream.relay(take)


async def test_what_is_compressed_is_given_in_plain(server: Bytes, upstream: Upstream) -> None:
    """By the waiting task, for the bytes of a read are not yet a piece."""
    body = gzip.compress(b"words " * 1000)
    pieces = []

    async def script(visit: Visit) -> None:
        await visit.answer(200, body, Content_Encoding="gzip")

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        return True

    server.script = script
    async with upstream.open(post(server)) as stream:
        assert not await stream.relay(take)
    assert b"".join(pieces) == b"words " * 1000
