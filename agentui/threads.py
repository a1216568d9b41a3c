"""Long work, done in threads so that others are served meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

LONG = 128 * 1024
"""Bytes of JSON that take some ten milliseconds to read, to check or to write in another dialect."""


class _Job(NamedTuple):
    """Work, and whom to tell what came of it."""

    work: Callable[[], Any]
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class _Workers:
    """A few threads that do one job after another. They keep no process from ending: those of ``concurrent.futures`` are waited
    for, and one that works on what a caller made to be slow would outlive every SIGTERM."""

    def __init__(self, count: int, name: str) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._names = [f"{name} {number}" for number in range(count)]
        self._begun = 0

    async def do(self, work: Callable[[], T]) -> T:
        """What ``work`` gives. Work that nobody waits for any more is not begun."""
        if self._begun < len(self._names):
            Thread(target=self._run, name=self._names[self._begun], daemon=True).start()
            self._begun += 1
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, copy_context(), loop, future))
        return await future

    def _run(self) -> None:
        while True:
            # In a function of its own, for what a job holds would be held until the next one comes.
            self._do_next()

    def _do_next(self) -> None:
        job = self._jobs.get()
        if job.future.cancelled():
            return
        try:
            result = job.context.run(job.work)
        except BaseException as error:  # noqa: BLE001  # whoever waits hears it
            _tell(job, job.future.set_exception, error)
        else:
            _tell(job, job.future.set_result, result)


def _tell(job: _Job, tell: Callable[[Any], None], outcome: Any) -> None:
    """Hand over what came of a job, unless nobody waits for it; a loop that is closed has nobody who does."""

    def hand_over() -> None:
        if not job.future.cancelled():
            tell(outcome)

    with suppress(RuntimeError):
        job.loop.call_soon_threadsafe(hand_over)


_WORKERS = _Workers(2, "agentui long work")
"""They share one interpreter, so more would be no quicker; and malloc keeps for each thread what it freed."""
_SEARCHES = _Workers(2, "agentui searches")
"""For work with regular expressions that people wrote: a slow one takes seconds, for which only others of its kind wait."""

_SLOTS: Final[WeakValueDictionary[tuple[int, str], asyncio.Lock]] = WeakValueDictionary()
"""What work for one chat waits for, by its event loop and the chat."""


async def apart(size: int, work: Callable[[], T]) -> T:
    """What ``work`` gives; in a thread where it goes over more than LONG bytes."""
    return work() if size <= LONG else await in_thread(work)


async def in_thread(work: Callable[[], T]) -> T:
    """What long ``work`` gives, done in one of the few threads for such."""
    return await _WORKERS.do(work)


async def in_search_thread(work: Callable[[], T], chat: str = "") -> T:
    """What work gives that searches by regular expressions of people; done in threads that nothing else waits for.

    Work for one ``chat`` has one of the threads at a time: others need not wait for all that a slow one asks for.
    """
    if not chat:
        return await _SEARCHES.do(work)
    named = id(asyncio.get_running_loop()), chat
    slot = _SLOTS.get(named)
    if slot is None:
        slot = _SLOTS[named] = asyncio.Lock()
    await slot.acquire()
    is_begun = False

    def begin() -> T:
        nonlocal is_begun
        is_begun = True
        return work()

    def release(done: "asyncio.Task[T]") -> None:
        slot.release()
        if not done.cancelled():
            done.exception()  # nobody may be left who hears it

    job = asyncio.ensure_future(_SEARCHES.do(begin))
    job.add_done_callback(release)
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        # What a thread has begun goes on when nobody waits any more: the slot is free once that has ended.
        if not is_begun:
            job.cancel()
        raise
