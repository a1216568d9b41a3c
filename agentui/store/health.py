"""``StoreHealth``: whether the memory's database answers, for those who ask often."""

import asyncio
import time

from sqlalchemy import Connection

from agentui.errors import AgentUIError
from agentui.store.base import Store

PING_SECONDS = 2.0
"""How long a database may take to answer before it counts as out of reach."""
FRESH_SECONDS = 1.0
"""How long what the database said counts: anybody may ask, so not every question reaches it."""


class StoreHealth:
    """Asks the store at most once at a time, and once in ``FRESH_SECONDS``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asking: asyncio.Task[bool] | None = None
        self._known: tuple[float, bool] | None = None

    async def answers(self) -> bool:
        """True when the store answered just now, or does within ``PING_SECONDS``."""
        if self._known is not None and time.monotonic() - self._known[0] < FRESH_SECONDS:
            return self._known[1]
        # One who leaves does not end what others wait for.
        asking = self._begin()
        done, _ = await asyncio.wait({asking}, timeout=PING_SECONDS)
        return bool(done) and asking.result()

    def answered(self) -> bool:
        """Whether the store answered when it was asked last, for those who cannot wait; it is asked anew for the next one. True
        before it was ever asked."""
        if self._known is None or time.monotonic() - self._known[0] >= FRESH_SECONDS:
            self._begin()
        return self._known is None or self._known[1]

    def _begin(self) -> asyncio.Task[bool]:
        """The question under way, or a new one."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return self._asking

    async def stop(self) -> None:
        """Wait no longer for an answer."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask(self) -> bool:
        try:
            await self._store.read(_nothing)
        except AgentUIError:
            answers = False
        else:
            answers = True
        self._known = (time.monotonic(), answers)
        return answers


def _nothing(db: Connection) -> None:
    db.exec_driver_sql("SELECT 1")
