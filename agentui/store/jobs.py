"""``Job``: one transaction that somebody awaits, on its way through the store's threads."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

log = logging.getLogger("agentui.store")


@dataclass(slots=True, eq=False)
class Job:
    """A transaction function with its arguments bound. ``deadline`` is the monotonic second past which it waits for no lock.

    A thread leaves ``result`` or ``error``; ``settle`` hands it over on the event loop.
    """

    run: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    deadline: float
    result: Any = None
    error: BaseException | None = None


def settle(jobs: Sequence[Job]) -> None:
    """Wake those who wait. One who was cancelled meanwhile hears nothing, but a failure is logged."""
    for job in jobs:
        if job.future.done():
            if job.error is not None:
                log.warning("A transaction failed that nobody waits for any more: %s", job.error)
        elif job.error is not None:
            job.future.set_exception(_raisable(job.error))
        else:
            job.future.set_result(job.result)


def _raisable(error: BaseException) -> BaseException:
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("A transaction function raised StopIteration, which no future can carry.")
    wrapped.__cause__ = error
    return wrapped
