"""Whether the machine has let this process run: what a clock says of a process that stood still is no finding."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

TICK = 0.02
STANDSTILL = 0.2
"""Seconds of standing still from which on a timeout says nothing."""


class Lag:
    """Counts the seconds in which the event loop came late although the process did not compute: others had the machine."""

    def __init__(self) -> None:
        self.lost = 0.0

    def stood_still_since(self, lost: float) -> bool:
        """Whether the process stood still since ``lost`` was that much."""
        return self.lost - lost > STANDSTILL

    async def watch(self) -> None:
        """Look at the clocks, until cancelled."""
        while True:
            wall, computed = time.monotonic(), time.process_time()
            await asyncio.sleep(TICK)
            late = time.monotonic() - wall - TICK
            self.lost += max(0.0, late - (time.process_time() - computed))


@asynccontextmanager
async def watching_lag() -> AsyncIterator[Lag]:
    """A lag that is kept up to date."""
    lag = Lag()
    task = asyncio.create_task(lag.watch())
    try:
        yield lag
    finally:
        task.cancel()
