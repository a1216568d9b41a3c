"""Long work, done in threads so that others are served meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

LONG = 128 * 1024
"""Bytes of JSON that take some ten milliseconds to read, to check or to write in another dialect."""
_THREADS = ThreadPoolExecutor(2, "agentui long work")
"""They share one interpreter, so more would be no quicker; and malloc keeps for each thread what it freed."""
_SEARCHES = ThreadPoolExecutor(2, "agentui searches")
"""For work with regular expressions that people wrote: a slow one takes seconds, for which only others of its kind wait."""


async def apart(size: int, work: Callable[[], T]) -> T:
    """What ``work`` gives; in a thread where it goes over more than LONG bytes."""
    return work() if size <= LONG else await in_thread(work)


async def in_thread(work: Callable[[], T]) -> T:
    """What long ``work`` gives, done in one of the few threads for such."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, copy_context().run, work)


async def in_search_thread(work: Callable[[], T]) -> T:
    """What work gives that searches by regular expressions of people; done in threads that nothing else waits for."""
    return await asyncio.get_running_loop().run_in_executor(_SEARCHES, copy_context().run, work)
