"""``LazyStore``: a store that opens when somebody first needs it, so that a server without sessions never touches it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from agentui.errors import Busy
from agentui.store.base import Store
from agentui.store.opening import StoreDoor

if TYPE_CHECKING:
    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


class LazyStore:
    """Loads and opens the store behind ``door`` at the first read or write, and then awaits ``opened(store)`` before anybody
    is served.

    Where opening fails, that caller gets the error, and the next one tries again.
    """

    def __init__(self, door: StoreDoor, opened: Callable[[Store], Awaitable[None]]) -> None:
        self._door = door
        self._opened = opened
        self._opening = asyncio.Lock()
        self._store: Store | None = None
        self._is_open = False

    async def read(self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs) -> T:
        """As the store does; raises what its ``start`` raises, too."""
        return await (await self._ready()).read(transaction, *args, **kwargs)

    async def write(self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs) -> T:
        """As the store does; raises what its ``start`` raises, too."""
        return await (await self._ready()).write(transaction, *args, **kwargs)

    def start_write(
        self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """As the store does, which has to be open; raises Busy where it is not."""
        if self._store is None or not self._is_open:
            raise Busy("The store is closed.", retry_after=1)
        return self._store.start_write(transaction, *args, **kwargs)

    @property
    def is_open(self) -> bool:
        """Whether it is open, so that what comes next waits for nobody."""
        return self._is_open

    @property
    def writes(self) -> int:
        """As the store says; 0 before it is loaded."""
        return 0 if self._store is None else self._store.writes

    def claim(self) -> None:
        """Keep other processes out from now on, and open nothing yet. Raises StoreInUse."""
        self._door.claim()

    async def start(self) -> None:
        """Open now, unless it is open."""
        await self._ready()

    async def ping(self) -> None:
        """Open the store, unless it is open, and read nothing. Raises what a read raises."""
        await self.read(_nothing)

    async def _ready(self) -> Store:
        """The store, open."""
        if self._is_open and self._store is not None:
            return self._store
        async with self._opening:
            return await self._open()

    async def _open(self) -> Store:
        if self._store is None:
            # In a thread: the event loop goes on while Python reads the code.
            self._store = await asyncio.to_thread(self._door.load)
        # Somebody may have opened it while we waited for our turn.
        if self._is_open:
            return self._store
        await self._store.start()
        try:
            await self._opened(self._store)
        except BaseException:
            await self._store.close()
            raise
        self._is_open = True
        return self._store

    async def close(self) -> None:
        """Close, if it was opened, and let others in."""
        async with self._opening:
            self._is_open = False
            if self._store is not None:
                await self._store.close()
            self._door.release()

    @property
    def status(self) -> dict[str, Any]:
        """As the store says, and whether it is open."""
        known = self._door.status if self._store is None else self._store.status
        return {**known, "open": self._is_open}


def _nothing(db: "Connection") -> None:
    db.exec_driver_sql("SELECT 1")
