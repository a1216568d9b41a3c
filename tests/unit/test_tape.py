"""A tape is written once and read by many, from any position, while it is written."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from agentui.tape import Tape


async def everything(tape: Tape[str], start: int = 0) -> list[tuple[int, str]]:
    return [item async for item in tape.read(start)]


async def test_a_closed_tape_is_read_to_its_end() -> None:
    tape = Tape[str]()
    tape.put("a")
    tape.put("b")
    tape.close()
    assert await everything(tape) == [(0, "a"), (1, "b")]
    assert tape.is_closed


async def test_an_empty_tape_ends_when_it_is_closed() -> None:
    tape = Tape[str]()
    tape.close()
    assert await everything(tape) == []


async def test_reading_may_begin_anywhere() -> None:
    tape = Tape[str]()
    for item in "abc":
        tape.put(item)
    tape.close()
    assert await everything(tape, 2) == [(2, "c")]
    assert await everything(tape, 3) == []
    assert await everything(tape, 99) == []


async def test_a_reader_waits_for_what_comes() -> None:
    tape = Tape[str]()
    reader = tape.read()
    tape.put("a")
    assert await anext(reader) == (0, "a")
    coming = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    assert not coming.done()
    tape.put("b")
    assert await coming == (1, "b")


async def test_many_readers_hear_the_same() -> None:
    tape = Tape[str]()
    readers = [asyncio.ensure_future(everything(tape)) for _ in range(10)]
    await asyncio.sleep(0)
    for item in "xyz":
        tape.put(item)
        await asyncio.sleep(0)
    tape.close()
    assert await asyncio.gather(*readers) == [[(0, "x"), (1, "y"), (2, "z")]] * 10


async def test_a_reader_that_leaves_disturbs_nobody() -> None:
    tape = Tape[str]()
    leaving, staying = asyncio.ensure_future(everything(tape)), asyncio.ensure_future(everything(tape))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    tape.put("a")
    tape.close()
    assert await staying == [(0, "a")]
    assert leaving.cancelled()


@given(st.lists(st.text(max_size=3), max_size=20), st.integers(0, 20), st.integers(0, 25))
def test_whatever_is_put_is_read_in_order_from_any_start(items: list[str], live_from: int, start: int) -> None:
    async def run() -> list[tuple[int, str]]:
        tape = Tape[str]()
        for item in items[:live_from]:
            tape.put(item)
        reader = asyncio.ensure_future(everything(tape, start))
        for item in items[live_from:]:
            await asyncio.sleep(0)
            tape.put(item)
        tape.close()
        return await reader

    assert asyncio.run(run()) == list(enumerate(items))[start:]
