"""An append-only list that can be read while it is written, from any position, by any number of readers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Tape(Generic[T]):
    """One writer, many readers. Keeps everything until it is dropped itself."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self._closed = False
        self.waiting: list[asyncio.Future[None]] = []
        """Readers who have read everything; ``wake`` them after an ``items.append`` that goes past ``put``."""

    @property
    def is_closed(self) -> bool:
        """True when nothing more will come."""
        return self._closed

    def put(self, item: T) -> None:
        """Append an item and wake the readers."""
        self.items.append(item)
        if self.waiting:
            self.wake()

    def close(self) -> None:
        """Say that nothing more will come; readers end after the last item."""
        self._closed = True
        if self.waiting:
            self.wake()

    async def read(self, start: int = 0) -> AsyncIterator[tuple[int, T]]:
        """Yield ``(position, item)`` from ``start`` on, waiting for new items until the tape is closed."""
        position = start
        while True:
            while position < len(self.items):
                yield position, self.items[position]
                position += 1
            if self._closed:
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting.append(waiter)
            await waiter

    def wake(self) -> None:
        """Let the waiting readers look for new items."""
        waiting, self.waiting = self.waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
