"""The watch over a stream's caller: pieces and heartbeats may wait for it at the same time."""

import asyncio

from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from agentui.api.proxy.targets import _StreamWatch
from agentui.settings import Settings


class Caller(asyncio.Transport):
    """A caller's connection."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = asyncio.Event()

    def abort(self) -> None:
        self.broken.set()


class Answer(web.StreamResponse):
    """An answer whose heartbeats are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.beats: asyncio.Queue[bytes] = asyncio.Queue()

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        self.beats.put_nowait(bytes(data))


async def test_who_takes_one_of_two_writes_and_not_the_other_is_dropped() -> None:
    caller = Caller()
    settings = Settings(heartbeat=0.01, write_timeout=0.05)
    request = make_mocked_request("POST", "/v1/chat/completions", transport=caller)
    watch = _StreamWatch(request, Answer(), b": beat", settings)
    watch.note(writing=True)
    watch.note(writing=True)
    watch.note(writing=False)
    async with asyncio.timeout(60):
        await caller.broken.wait()


async def test_who_has_taken_everything_is_kept_alive() -> None:
    caller, answer = Caller(), Answer()
    settings = Settings(heartbeat=0.01, write_timeout=0.05)
    request = make_mocked_request("POST", "/v1/chat/completions", transport=caller)
    watch = _StreamWatch(request, answer, b": beat", settings)
    for writing in (True, True, False, False):
        watch.note(writing=writing)
    async with asyncio.timeout(60):
        assert [await answer.beats.get() for _ in range(10)] == [b": beat"] * 10
    watch.stop()
    assert not caller.broken.is_set()
