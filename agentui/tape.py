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
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_closed(self) -> bool:
        """True when nothing more will come."""
        return self._closed

    def put(self, item: T) -> None:
        """Append an item and wake the readers."""
        self.items.append(item)
        if self._waiting:
            self._wake()

    def close(self) -> None:
        """Say that nothing more will come; readers end after the last item."""
        self._closed = True
        self._wake()

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
            self._waiting.append(waiter)
            await waiter

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
