"""``LazyDesk``: the desk that opens turns, whose code is loaded when the first request needs the memory."""

import asyncio
from typing import TYPE_CHECKING

from agentui.settings import Settings
from agentui.store.base import Store
from agentui.store.lazy import LazyStore

if TYPE_CHECKING:
    from agentui.turns.service import TurnDesk


class LazyDesk:
    """Makes one ``TurnDesk`` on the store, at its first use. ``owner`` names this process in the branches' locks."""

    def __init__(self, store: LazyStore, owner: str, settings: Settings) -> None:
        self._store = store
        self._owner = owner
        self._settings = settings
        self._made: TurnDesk | None = None
        self._loading = asyncio.Lock()

    async def get(self) -> "TurnDesk":
        """The desk."""
        if self._made is not None:
            return self._made
        async with self._loading:
            # In a thread: the event loop goes on while Python reads the code.
            kind = await asyncio.to_thread(_load)
            if self._made is None:
                self._made = self._make(kind)
            return self._made

    async def recover(self, store: Store) -> None:
        """Let the turns fail that dead processes left behind in a store that has just opened."""
        await (await self.get()).recover(store)

    async def close(self) -> None:
        """End what is under way in the background."""
        if self._made is not None:
            await self._made.close()

    def _make(self, kind: "type[TurnDesk]") -> "TurnDesk":
        settings = self._settings
        return kind(
            self._store,
            self._owner,
            queue_seconds=settings.generation_queue,
            is_alone=settings.database_url is None,
            lease_seconds=settings.generation_lease,
            answer_seconds=settings.idempotency_age,
            answer_bytes=settings.idempotency_bytes,
        )


def _load() -> "type[TurnDesk]":
    """The class, with all that it imports: SQLAlchemy first of all, which an idle server does without."""
    from agentui.turns.service import TurnDesk

    return TurnDesk
