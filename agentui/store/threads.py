"""SQLite's threads: each has a connection of its own and works through a queue of transactions that somebody awaits."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

C = TypeVar("C")

log = logging.getLogger("agentui.store")


@dataclass(slots=True, eq=False)
class Pending:
    """A transaction on its way through a thread. ``deadline`` is the monotonic second past which it waits for no lock,
    ``is_freeing`` says that on a full disk it may use the reserve.

    The thread leaves ``result`` or ``error``; ``settle`` hands it over on the event loop.
    """

    run: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    deadline: float
    is_freeing: bool = False
    result: Any = None
    error: BaseException | None = None


Queue = SimpleQueue[Pending | None]


class StoreThread(Generic[C]):
    """Opens a connection in its thread and gives ``work`` up to ``most`` waiting transactions at a time.

    They come back with a result or an error and are settled on the event loop. Threads may share a queue.
    """

    def __init__(
        self,
        queue: Queue,
        connection: Callable[[], AbstractContextManager[C]],
        work: Callable[[C, Sequence[Pending]], None],
        most: int = 1,
    ) -> None:
        self._queue = queue
        self._connection = connection
        self._work = work
        self._most = most
        self._thread: threading.Thread | None = None

    async def open(self) -> None:
        """Start the thread and wait until it has its connection. Raises what the connection raised."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = loop.create_future()
        thread = threading.Thread(target=self._run, args=(loop, opened), name="agentui store", daemon=True)
        thread.start()
        self._thread = thread
        await opened

    def end(self) -> None:
        """Ask for an end after what is queued. Of threads that share a queue any may get it: end all, then join all."""
        if self._thread is not None:
            self._queue.put(None)

    async def join(self) -> None:
        """Wait until the thread has closed its connection."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self, loop: asyncio.AbstractEventLoop, opened: asyncio.Future[None]) -> None:
        try:
            with self._connection() as connection:
                loop.call_soon_threadsafe(_report, opened, None)
                self._work_off(loop, connection)
        except Exception as error:  # noqa: BLE001 - the one who opens the thread gets it, whatever it is
            loop.call_soon_threadsafe(_report, opened, error)

    def _work_off(self, loop: asyncio.AbstractEventLoop, connection: C) -> None:
        is_last = False
        while not is_last:
            batch, is_last = self._next()
            try:
                if batch:
                    self._work(connection, batch)
            except Exception as error:  # noqa: BLE001 - a thread that died would leave everybody waiting for ever
                for each in batch:
                    each.error = each.error or error
            loop.call_soon_threadsafe(settle, batch)
            batch = []  # what it read is its caller's: until the next one comes this thread would keep it, too

    def _next(self) -> tuple[list[Pending], bool]:
        """Wait for a transaction, and take along those that wait already; True with the last ones."""
        next = self._queue.get()
        batch: list[Pending] = []
        while next is not None:
            batch.append(next)
            if len(batch) == self._most:
                return batch, False
            try:
                next = self._queue.get_nowait()
            except Empty:
                return batch, False
        return batch, True


def settle(batch: Sequence[Pending]) -> None:
    """Wake those who wait. One who was cancelled meanwhile gets nothing, but a failure is logged."""
    for each in batch:
        if each.future.done():
            if each.error is not None:
                log.warning("A transaction failed that nobody waits for any more: %s", each.error)
        elif each.error is not None:
            each.future.set_exception(_raisable(each.error))
        else:
            each.future.set_result(each.result)


def _raisable(error: BaseException) -> BaseException:
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("A transaction function raised StopIteration, which no future can carry.")
    wrapped.__cause__ = error
    return wrapped


def _report(opened: asyncio.Future[None], error: Exception | None) -> None:
    if opened.done():
        if error is not None:
            raise error
    elif error is not None:
        opened.set_exception(error)
    else:
        opened.set_result(None)
