"""Long work in threads: which of it waits for which."""

import asyncio
import signal
import subprocess
import sys
from contextvars import ContextVar
from threading import Event

import pytest

from agentui.threads import in_search_thread, in_thread

ENDLESS = """
import asyncio, sys
from agentui.serving.stopping import StopSignals, run
from agentui.threads import in_search_thread, in_thread

def in_chat(work):
    return in_search_thread(work, "chat")

def work():
    while True:
        pass

async def serve():
    stop = StopSignals()
    stop.listen()
    waiting = [asyncio.create_task(place(work)) for place in (in_thread, in_search_thread, in_chat) for _ in range(3)]
    print("serving", flush=True)
    await stop.asked.wait()
    for each in waiting:
        each.cancel()
    await asyncio.wait(waiting)

run(serve())
print("ended")
"""


async def test_slow_searches_hold_up_no_other_work() -> None:
    go_on = Event()
    slow = [asyncio.ensure_future(in_search_thread(go_on.wait)) for _ in range(8)]
    try:
        assert await in_thread(lambda: "done") == "done"
    finally:
        go_on.set()
    assert all(await asyncio.gather(*slow))


async def test_work_has_the_callers_context_and_its_error_is_the_callers() -> None:
    who: ContextVar[str] = ContextVar("who")
    who.set("Ada")
    assert await in_thread(who.get) == "Ada"
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_work_that_nobody_waits_for_is_not_begun() -> None:
    go_on, begun = Event(), Event()
    slow = [asyncio.ensure_future(in_search_thread(go_on.wait)) for _ in range(2)]
    left = asyncio.ensure_future(in_search_thread(begun.set))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.wait([left])
    go_on.set()
    assert all(await asyncio.gather(*slow))
    assert await in_search_thread(lambda: "done") == "done"
    assert not begun.is_set()


def test_a_polite_kill_ends_a_process_whose_threads_work_for_ever() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "serving\n"
            process.send_signal(signal.SIGTERM)
            said, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, said, errors) == (0, "ended\n", "")


async def test_searches_of_one_chat_leave_a_thread_to_others() -> None:
    go_on = Event()
    slow = [asyncio.ensure_future(in_search_thread(go_on.wait, "slow")) for _ in range(3)]
    try:
        slow.pop().cancel()
        assert await in_search_thread(lambda: "done", "quick") == "done"
    finally:
        go_on.set()
    assert all(await asyncio.gather(*slow))


async def test_a_slot_is_taken_as_long_as_its_thread_works() -> None:
    go_on, begun, order = Event(), Event(), list[str]()

    def first() -> None:
        begun.set()
        go_on.wait()
        order.append("first")

    one = asyncio.ensure_future(in_search_thread(first, "chat"))
    await in_thread(begun.wait)
    one.cancel()
    second = asyncio.ensure_future(in_search_thread(lambda: order.append("second"), "chat"))
    await in_search_thread(lambda: None, "other")
    assert order == [] and one.cancelled()
    go_on.set()
    await second
    assert order == ["first", "second"]
    await in_search_thread(lambda: order.append("third"), "chat")
    assert order[-1] == "third"
