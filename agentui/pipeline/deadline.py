"""The moment at which a run is over, whoever is still working on it."""

import asyncio


class Deadline:
    """Cancels the task that makes it, once, ``seconds`` from now, unless it is stopped before.

    ``asyncio.timeout`` does the same and more, and costs four times as much; every request has one of these.
    """

    def __init__(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[object] | None = task
        self._cancels_before = task.cancelling()
        self._timer = asyncio.get_running_loop().call_later(max(0.0, seconds), self._ring)
        self._has_passed = False

    @property
    def is_running(self) -> bool:
        """True while it may still cancel."""
        return not self._has_passed and not self._timer.cancelled()

    def stop(self) -> None:
        """Never cancel."""
        self._timer.cancel()
        self._task = None  # it keeps the error that ended it, whose frames know this deadline

    def was_the_cause(self) -> bool:
        """Whether a CancelledError of the task is this deadline's doing and nobody else's; ask once, where it arrives.

        Takes the cancellation back.
        """
        return self._has_passed and self._task is not None and self._task.uncancel() <= self._cancels_before

    def _ring(self) -> None:
        if self._task is not None:
            self._has_passed = True
            self._task.cancel()
