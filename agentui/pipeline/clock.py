"""The time that a run has until its answer begins."""

import asyncio


class RunClock:
    """Cancels the task that it was made in once the time is over.

    ``asyncio.timeout`` takes only a ``CancelledError`` for its own work. Nodes of a chain run in the run's own task, and one
    that fails while it is cancelled (it could not clean up, say) would hide that the time was over.
    """

    __slots__ = ("_cancelling", "_handle", "_task", "has_rung")

    def __init__(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[object] | None = task
        # Who else asks for the task's end asks beside the clock, which takes back its own cancellation alone.
        self._cancelling = task.cancelling()
        self._handle: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(seconds, self._ring)
        self.has_rung = False
        """Whether the time is over."""

    @property
    def is_running(self) -> bool:
        """Whether it will cancel the task."""
        return self._handle is not None

    def release(self) -> None:
        """Let the task take as long as it likes; nothing where the time is over."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def stop(self) -> bool:
        """The work is over. True where the clock has ended it and nobody else has: the cancellation is taken back then."""
        self.release()
        task, self._task = self._task, None
        return self.has_rung and task is not None and task.uncancel() <= self._cancelling

    def _ring(self) -> None:
        self._handle = None
        self.has_rung = True
        if self._task is not None:
            self._task.cancel()
