"""A watchdog: which code held the event loop, told by its stack."""

import asyncio
import gc
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

ALLOWED = 0.05
"""Seconds of its own computing that one piece of work may hold the loop."""
LOOKS = 0.005


@dataclass
class Watchdog:
    """Watches the loop of the thread that makes it. ``longest`` is the most that it computed without a look at anybody else, in
    seconds of the processor, so that a busy machine is no finding; ``held`` has the stacks seen beyond ``ALLOWED``."""

    longest: float = 0.0
    held: dict[str, float] = field(default_factory=dict)
    _thread: int = field(default_factory=threading.get_ident)
    _since: float = field(default_factory=time.thread_time)
    _is_over: bool = False

    async def beat(self) -> None:
        """Tell that the loop is free, until cancelled."""
        while True:
            now = time.thread_time()
            self.longest = max(self.longest, now - self._since)
            self._since = now
            await asyncio.sleep(0)
            await asyncio.sleep(0.001)

    def look(self) -> None:
        """See what runs while the loop is not free."""
        clock = time.pthread_getcpuclockid(self._thread)
        while not self._is_over:
            taken = time.clock_gettime(clock) - self._since
            if taken > ALLOWED:
                stack = "".join(traceback.format_stack(sys._current_frames()[self._thread], 12))
                self.held[stack] = max(self.held.get(stack, 0.0), taken)
            time.sleep(LOOKS)

    def end(self) -> None:
        """Look no longer."""
        self._is_over = True

    @property
    def report(self) -> str:
        """The stacks that held the loop for longest."""
        worst = sorted(self.held.items(), key=lambda seen: -seen[1])[:5]
        return "\n".join(f"{taken * 1000:.0f} ms:\n{stack}" for stack, taken in worst)


@asynccontextmanager
async def watching() -> AsyncIterator[Watchdog]:
    """A watchdog over this loop. What earlier tests have left is kept out of the garbage collector, then and later: looking
    through all of it would be taken for somebody's work."""
    gc.collect()
    gc.freeze()
    dog = Watchdog()
    looking = threading.Thread(target=dog.look, daemon=True)
    looking.start()
    beating = asyncio.create_task(dog.beat())
    try:
        yield dog
    finally:
        beating.cancel()
        dog.end()
        await asyncio.to_thread(looking.join)
