"""``LazyStore``: a store that opens when somebody first needs it, so that a server without sessions never touches it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from agentui.store.base import Store

P = ParamSpec("P")
T = TypeVar("T")


class LazyStore:
    """Opens ``store`` at the first read or write, and then awaits ``opened(store)`` before anybody is served.

    Where opening fails, that caller gets the error, and the next one tries again.
    """

    def __init__(self, store: Store, opened: Callable[[Store], Awaitable[None]]) -> None:
        self._store = store
        self._opened = opened
        self._opening = asyncio.Lock()
        self._is_open = False
        self.writes = 0
        """How often this process has written: what was read stays true while it stands still, if nobody else writes."""

    async def read(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As the store does; raises what its ``start`` raises, too."""
        await self.start()
        return await self._store.read(transaction, *args, **kwargs)

    async def write(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As the store does; raises what its ``start`` raises, too."""
        await self.start()
        # A caller who is cancelled does not stop the write; it counts when it is done, not when nobody waits any more.
        work = asyncio.ensure_future(self._store.write(transaction, *args, **kwargs))
        work.add_done_callback(self._count)
        return await asyncio.shield(work)

    def _count(self, work: "asyncio.Future[Any]") -> None:
        self.writes += 1

    def claim(self) -> None:
        """Keep other processes out from now on, and open nothing yet. Raises StoreInUse."""
        self._store.claim()

    async def start(self) -> None:
        """Open now, unless it is open."""
        if not self._is_open:
            async with self._opening:
                await self._open()

    async def _open(self) -> None:
        # Somebody may have opened it while we waited for our turn.
        if self._is_open:
            return
        await self._store.start()
        try:
            await self._opened(self._store)
        except BaseException:
            await self._store.close()
            raise
        self._is_open = True

    async def close(self) -> None:
        """Close, if it was opened, and let others in."""
        async with self._opening:
            self._is_open = False
            await self._store.close()

    @property
    def status(self) -> dict[str, Any]:
        """As the store says, and whether it is open."""
        return {**self._store.status, "open": self._is_open}
