"""``ProcessLock``: an advisory lock of PostgreSQL that ends with the process that holds it.

Whoever finds another process's lock free knows that this process is dead, or has lost its connection a moment ago: then it
takes its lock again at once. So a lock has to be found free twice, ``GRACE_SECONDS`` apart. A server that has just started has
lost everybody's locks; for ``RESTART_SECONDS`` from then on no lock counts as free. So has one that dropped its connections
because one of its processes died, and that one's start lies long ago: who has just lost its own lock judges nobody either.

It needs a connection of its own to the database itself: behind a pooler that shares connections among transactions such locks
mean nothing. On the same connection the process receives what others ``tell`` it.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

from sqlalchemy import Connection, text

log = logging.getLogger("agentui.store")

GRACE_SECONDS: Final = 0.4
RESTART_SECONDS: Final = 5
PING_SECONDS: Final = 5.0
"""Between two looks whether the connection is there still."""
_RETRY_SECONDS: Final = 0.05

_CHANNEL: Final = "agentui"
_TELL = text("SELECT pg_notify(:channel, :message)")
_IS_FREE = text(
    "SELECT pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :restart)"
    " AND pg_try_advisory_xact_lock_shared(:key)"
)


class ProcessLock:
    """Holds the lock ``key``, a number of this process alone. ``connect`` makes a connection of the driver, ``on_message``
    is called with what any process of the database tells."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], on_message: Callable[[str], None]) -> None:
        self.key = secrets.randbits(62)
        self._connect = connect
        self._on_message = on_message
        self._connection: Any = None
        self._lost = asyncio.Event()
        self._lost_at = float("-inf")
        self._keeping: asyncio.Task[None] | None = None

    @property
    def was_lost_lately(self) -> bool:
        """True while others may have lost theirs in the same moment."""
        return time.monotonic() - self._lost_at < RESTART_SECONDS

    async def take(self) -> None:
        """Connect and take the lock. Raises what the driver raises."""
        await self._take()
        self._keeping = asyncio.get_running_loop().create_task(self._keep(), name="process lock")

    async def release(self) -> None:
        """Let it go with its connection."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
            self._keeping = None
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _take(self) -> None:
        connection = await self._connect()
        try:
            await connection.execute("SELECT pg_advisory_lock($1)", self.key)
            await connection.add_listener(_CHANNEL, lambda *told: self._on_message(told[-1]))
        except BaseException:
            connection.terminate()
            raise
        self._lost.clear()
        connection.add_termination_listener(lambda _: self._note_lost())
        self._connection = connection

    def _note_lost(self) -> None:
        self._lost_at = time.monotonic()
        self._lost.set()

    async def _keep(self) -> None:
        """Take the lock again whenever its connection breaks."""
        while True:
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await self._lost.wait()
            except TimeoutError:
                if await self._answers():
                    continue
                self._note_lost()
            self._connection.terminate()
            log.warning("The connection that says that this process lives is lost; it is made anew.")
            while not await self._taken_again():  # noqa: ASYNC110 - the database tells nobody that it is back
                await asyncio.sleep(_RETRY_SECONDS)

    async def _answers(self) -> bool:
        try:
            await self._connection.execute("SELECT 1", timeout=PING_SECONDS)
        except Exception as error:  # noqa: BLE001 - the driver has many ways to say that a connection is broken
            log.debug("The connection of the process lock does not answer: %s", error)
            return False
        return True

    async def _taken_again(self) -> bool:
        try:
            await self._take()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next try may succeed
            log.debug("The process lock is taken again later: %s", error)
            return False
        return True


def tell(db: Connection, message: str) -> None:
    """Tell all processes something, with the commit."""
    db.execute(_TELL, {"channel": _CHANNEL, "message": message})


def free_locks(db: Connection, keys: Collection[int]) -> set[int]:
    """Those of some processes' locks that nobody holds right now."""
    return {key for key in keys if db.execute(_IS_FREE, {"key": key, "restart": RESTART_SECONDS}).scalar_one()}
