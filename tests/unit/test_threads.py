"""Long work in threads: which of it waits for which."""

import asyncio
from threading import Event

from agentui.threads import in_search_thread, in_thread


async def test_slow_searches_hold_up_no_other_work() -> None:
    go_on = Event()
    slow = [asyncio.ensure_future(in_search_thread(go_on.wait)) for _ in range(8)]
    try:
        assert await in_thread(lambda: "done") == "done"
    finally:
        go_on.set()
    assert all(await asyncio.gather(*slow))
