"""The threads in which transactions of SQLite run."""

import asyncio
import contextlib
from collections.abc import Sequence

from agentui.store.threads import Pending, Queue, StoreThread


async def test_what_waits_is_taken_along_up_to_the_bound() -> None:
    queue, sizes = Queue(), list[int]()

    def work(_: None, batch: Sequence[Pending]) -> None:
        sizes.append(len(batch))

    loop = asyncio.get_running_loop()
    waiting = [Pending(lambda _: None, loop.create_future(), 0.0) for _ in range(5)]
    for pending in waiting:
        queue.put(pending)
    thread: StoreThread[None] = StoreThread(queue, contextlib.nullcontext, work, most=2)
    await thread.open()
    await asyncio.gather(*(pending.future for pending in waiting))
    thread.end()
    await thread.join()
    assert sizes == [2, 2, 1]
