"""``LedgerWriter``: writes what calls came to beside the requests, and all that wait together."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy.exc import DBAPIError

from agentui.errors import AgentUIError, BadRequest, Busy
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
_FOR_EVER: Final = (BadRequest, DBAPIError, ArithmeticError, TypeError, ValueError)
"""What a store and its drivers raise for values that they will take at no other time either."""

log = logging.getLogger("agentui.usage")


class LedgerWriter:
    """Calls that are over, on their way into the ledger and their budgets. ``close`` writes the last of them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.waiting: list[Settlement] = []
        self._written = 0
        self._is_failing = False
        self._tried = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def check_room(self) -> None:
        """Raise Busy where so many wait that no further call can be counted."""
        if len(self.waiting) >= MOST_WAITING:
            raise Busy("Calls can be counted no more, for the store cannot be written; no model is asked until it can.")

    def put(self, settlement: Settlement) -> None:
        """Write what a call came to, soon."""
        self.waiting.append(settlement)
        if self._task is None or self._task.done():
            self._tried = asyncio.Event()
            self._task = asyncio.get_running_loop().create_task(self._work(), name="writing the ledger")

    async def flush(self) -> None:
        """Wait until what waits now is written, or was tried to be; what comes meanwhile is not waited for."""
        wanted = self._written + len(self.waiting)
        while self._written < wanted and not self._is_failing:
            await self._tried.wait()

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
                await self._write(batch)
            except AgentUIError as error:
                log.warning("The ledger cannot be written now: %s", error.message)
                self._end_try(is_failing=True)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                del self.waiting[: len(batch)]
                self._written += len(batch)
                self._end_try(is_failing=False)
                pause = _FIRST_PAUSE

    def _end_try(self, *, is_failing: bool) -> None:
        """Let those go on who wait for a try."""
        self._is_failing = is_failing
        tried, self._tried = self._tried, asyncio.Event()
        tried.set()

    async def _write(self, batch: Sequence[Settlement]) -> None:
        """Write some, or all but those that no database takes: one that is wrong for ever would stop all that come behind it.
        Its budgets are settled without its row. Raises the error of a store that may take them later."""
        try:
            await self._store.write(settle, batch, self._clock.now_ms())
        except _FOR_EVER as error:
            if len(batch) > 1:
                for each in batch:
                    await self._write([each])
            elif batch[0].row is not None:
                log.error("A call to a model is missing in the ledger, which cannot hold it: %s", error)
                await self._write([replace(batch[0], row=None)])
            else:
                log.error("A call to a model could not be settled: %s", error)
