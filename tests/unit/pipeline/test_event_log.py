"""A log is written once and read by many, from any position, while it is written."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from agentui.pipeline.events import EventLog


async def everything(log: EventLog[str], start: int = 0) -> list[tuple[int, str]]:
    return [item async for item in log.read(start)]


async def test_a_closed_tape_is_read_to_its_end() -> None:
    log = EventLog[str]()
    log.put("a")
    log.put("b")
    log.close()
    assert await everything(log) == [(0, "a"), (1, "b")]
    assert log.is_closed


async def test_an_empty_tape_ends_when_it_is_closed() -> None:
    log = EventLog[str]()
    log.close()
    assert await everything(log) == []


async def test_reading_may_begin_anywhere() -> None:
    log = EventLog[str]()
    for item in "abc":
        log.put(item)
    log.close()
    assert await everything(log, 2) == [(2, "c")]
    assert await everything(log, 3) == []
    assert await everything(log, 99) == []


async def test_a_reader_waits_for_what_comes() -> None:
    log = EventLog[str]()
    reader = log.read()
    log.put("a")
    assert await anext(reader) == (0, "a")
    coming = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    assert not coming.done()
    log.put("b")
    assert await coming == (1, "b")


async def test_many_readers_hear_the_same() -> None:
    log = EventLog[str]()
    readers = [asyncio.ensure_future(everything(log)) for _ in range(10)]
    await asyncio.sleep(0)
    for item in "xyz":
        log.put(item)
        await asyncio.sleep(0)
    log.close()
    assert await asyncio.gather(*readers) == [[(0, "x"), (1, "y"), (2, "z")]] * 10


async def test_a_reader_that_leaves_disturbs_nobody() -> None:
    log = EventLog[str]()
    leaving, staying = asyncio.ensure_future(everything(log)), asyncio.ensure_future(everything(log))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    log.put("a")
    log.close()
    assert await staying == [(0, "a")]
    assert leaving.cancelled()


@given(st.lists(st.text(max_size=3), max_size=20), st.integers(0, 20), st.integers(0, 25))
def test_whatever_is_put_is_read_in_order_from_any_start(items: list[str], live_from: int, start: int) -> None:
    async def run() -> list[tuple[int, str]]:
        log = EventLog[str]()
        for item in items[:live_from]:
            log.put(item)
        reader = asyncio.ensure_future(everything(log, start))
        for item in items[live_from:]:
            await asyncio.sleep(0)
            log.put(item)
        log.close()
        return await reader

    assert asyncio.run(run()) == list(enumerate(items))[start:]
