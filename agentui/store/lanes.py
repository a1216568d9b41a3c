"""``Lane``: a thread with a connection of its own, working through a queue of jobs."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from agentui.store.jobs import Job, settle

C = TypeVar("C")
Queue = SimpleQueue[Job | None]


class Lane(Generic[C]):
    """Opens a connection in its thread and gives ``work`` up to ``most`` waiting jobs at a time.

    Jobs come back with a result or an error and are settled on the event loop. Lanes may share a queue.
    """

    def __init__(
        self,
        queue: Queue,
        connection: Callable[[], AbstractContextManager[C]],
        work: Callable[[C, Sequence[Job]], None],
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
        self._thread = threading.Thread(target=self._run, args=(loop, opened), name="agentui store", daemon=True)
        self._thread.start()
        await opened

    def end(self) -> None:
        """Ask for an end after what is queued. Of lanes that share a queue any may hear it: end all, then join all."""
        if self._thread is not None:
            self._queue.put(None)

    async def join(self) -> None:
        """Wait until the thread has closed its connection."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self, loop: asyncio.AbstractEventLoop, opened: asyncio.Future[None]) -> None:
        try:
            with self._connection() as connection:
                loop.call_soon_threadsafe(_tell, opened, None)
                self._work_off(loop, connection)
        except Exception as error:  # noqa: BLE001 - the one who opens the lane hears it, whatever it is
            loop.call_soon_threadsafe(_tell, opened, error)

    def _work_off(self, loop: asyncio.AbstractEventLoop, connection: C) -> None:
        is_last = False
        while not is_last:
            jobs, is_last = self._next()
            try:
                if jobs:
                    self._work(connection, jobs)
            except Exception as error:  # noqa: BLE001 - a lane that died would leave everybody waiting for ever
                for job in jobs:
                    job.error = job.error or error
            loop.call_soon_threadsafe(settle, jobs)

    def _next(self) -> tuple[list[Job], bool]:
        """Wait for a job, and take along those that wait already; True with the last ones."""
        job = self._queue.get()
        jobs: list[Job] = []
        while job is not None:
            jobs.append(job)
            if len(jobs) == self._most:
                return jobs, False
            try:
                job = self._queue.get_nowait()
            except Empty:
                return jobs, False
        return jobs, True


def _tell(opened: asyncio.Future[None], error: Exception | None) -> None:
    if opened.done():
        if error is not None:
            raise error
    elif error is not None:
        opened.set_exception(error)
    else:
        opened.set_result(None)
