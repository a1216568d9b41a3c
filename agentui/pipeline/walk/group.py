"""Tasks that end together: the first failure cancels the others."""

import asyncio
from collections.abc import Callable, Coroutine


class Group:
    """Tasks for one to wait for, of which the first failure cancels the others.

    Before Python 3.13 ``asyncio.TaskGroup`` cancels the task that waits, too, when one of its own fails, and leaves that
    counted: an ``asyncio.timeout`` around it takes its own end for somebody else's. It also loses a cancellation that comes
    while its tasks end. Both would let a run go on, or end, without an answer.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: asyncio.Future[None] | None = None
        self._failure: BaseException | None = None
        self._is_ending = False

    def start(self, work: Coroutine[object, object, None], name: str) -> None:
        """Do the work in a task, which is cancelled at once where the others are."""
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._note)
        if self._is_ending:
            task.cancel()

    async def join(self) -> None:
        """Wait until all tasks are over. Raises CancelledError where the waiting one was cancelled meanwhile, else the first
        failure."""
        is_cancelled = False
        while self._tasks:
            self._idle = self._loop.create_future()
            try:
                await self._idle
            except asyncio.CancelledError:
                is_cancelled = True
                if not self._is_ending:
                    self._end()
        failure, self._failure = self._failure, None
        try:
            if is_cancelled:
                if failure is not None:
                    drop_frames(failure)
                raise asyncio.CancelledError
            if failure is not None:
                raise failure
        finally:
            # Its frames know the group and the run: they would wait for the garbage collector together.
            del failure

    def _end(self) -> None:
        self._is_ending = True
        for task in self._tasks:
            task.cancel()

    def _note(self, task: asyncio.Task[None]) -> None:
        """A task is over: well, by a failure, or cancelled."""
        self._tasks.discard(task)
        if not task.cancelled():
            failure = task.exception()
        else:
            # What ends by a cancellation that nobody asked for has not done its work.
            failure = None if task.cancelling() else RuntimeError(f"The task {task.get_name()!r} was cancelled by nobody.")
        if failure is not None and self._is_ending:
            drop_frames(failure)
        elif failure is not None:
            self._failure = failure
            self._end()
        if not self._tasks and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)


async def in_group(begin: Callable[[Group], None]) -> None:
    """Do what ``begin`` starts in a group. Raises as ``Group.join`` does, after the other tasks have ended."""
    group = Group()
    begin(group)
    await group.join()


def drop_frames(error: BaseException) -> None:
    """Take the frames out of an error that has been dealt with, and out of the errors that led to it.

    Where a frame still knows its error, the two would hold all that the frame refers to, a request and its run, until the
    garbage collector comes by; and it seldom does.
    """
    known = {id(error)}
    waiting = [error]
    while waiting:
        error = waiting.pop()
        error.__traceback__ = None
        for other in (error.__cause__, error.__context__):
            if other is not None and id(other) not in known:
                known.add(id(other))
                waiting.append(other)
