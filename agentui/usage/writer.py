"""``LedgerWriter``: writes what calls came to beside the requests, and all that wait together."""

import asyncio
import logging
from typing import Final

from agentui.errors import AgentUIError, Busy
from agentui.ids import Clock
from agentui.store.base import Store
from agentui.usage.budgets import Settlement, settle

MOST_WAITING: Final = 10_000
"""Lines that may wait while the store cannot be written; a server that could count no further calls makes none."""
MOST_AT_ONCE: Final = 500
LAST_SECONDS: Final = 10.0
"""How long a server that stops tries to write the last ones."""
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0

log = logging.getLogger("agentui.usage")


class LedgerWriter:
    """Calls that are over, on their way into the ledger and their budgets. ``close`` writes the last of them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.waiting: list[Settlement] = []
        self._task: asyncio.Task[None] | None = None

    def check_room(self) -> None:
        """Raise Busy where so many wait that no further call can be counted."""
        if len(self.waiting) >= MOST_WAITING:
            raise Busy("Calls can be counted no more, for the store cannot be written; no model is asked until it can.")

    def put(self, settlement: Settlement) -> None:
        """Write what a call came to, soon."""
        self.waiting.append(settlement)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work(), name="writing the ledger")

    async def flush(self) -> None:
        """Wait until what waits now is written, or was tried to be."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Write what waits. What cannot be written in ``LAST_SECONDS`` is lost, and the log says how much that is."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=LAST_SECONDS)
            self._task.cancel()
        if self.waiting:
            log.error("%d calls to models are missing in the ledger: the store could not be written.", len(self.waiting))

    async def _work(self) -> None:
        pause = _FIRST_PAUSE
        while self.waiting:
            batch = self.waiting[:MOST_AT_ONCE]
            try:
                await self._store.write(settle, batch, self._clock.now_ms())
            except AgentUIError as error:
                log.warning("The ledger cannot be written now: %s", error.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                del self.waiting[: len(batch)]
                pause = _FIRST_PAUSE
