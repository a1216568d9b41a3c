"""Several streams of events as one, which goes on with each of them where its reader left it.

ids of the streams    a-7   b-3        one event of the first:   id: a-8,b-3
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

MAX_UNREAD = 64
"""Pieces that wait for a slow reader before the streams are made to wait."""

EventSource = Callable[[str | None], AsyncGenerator[bytes, None]]
"""Encoded events from behind an id, in pieces of whole events; None begins at the beginning."""


class CombinedEvents:
    """The events of all sources in the order in which they arrive, until one of the sources ends.

    The ids hold the last id of each source, with ``between`` between them, which no id of a source may hold. So a reader who
    comes back goes on with each where it left it. An empty part stands for a source of which nothing is known yet.
    """

    def __init__(self, sources: Sequence[EventSource], between: str) -> None:
        self._sources = sources
        self._between = between
        self._received: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(MAX_UNREAD)
        self._last: list[str | None] = []

    async def read(self, last: str | None) -> AsyncGenerator[bytes, None]:
        """The events behind the id ``last``. What a source raises, this raises too."""
        self._last = self._parts(last)
        listening = [asyncio.create_task(self._receive(number)) for number in range(len(self._sources))]
        try:
            while (received := await self._received.get()) is not None:
                # What a source sends in one piece leaves in one piece, for one id may stand for all of it.
                number, events = received
                yield b"".join([self._renamed(number, event) for event in events.split(b"\n\n")[:-1]])
            for task in listening:
                if task.done():
                    task.result()
        finally:
            for task in listening:
                task.cancel()
            await asyncio.gather(*listening, return_exceptions=True)

    async def _receive(self, number: int) -> None:
        try:
            async with aclosing(self._sources[number](self._last[number])) as source:
                async for events in source:
                    await self._received.put((number, events))
        except Exception:
            await self._received.put(None)
            raise
        await self._received.put(None)

    def _renamed(self, number: int, event: bytes) -> bytes:
        """The event, whole again, under an id that holds the last ids of all."""
        first, line_end, rest = event.partition(b"\n")
        if not first.startswith(b"id: "):
            return event + b"\n\n"
        self._last[number] = first.removeprefix(b"id: ").decode()
        id = self._between.join(each or "" for each in self._last)
        return f"id: {id}".encode() + line_end + rest + b"\n\n"

    def _parts(self, last: str | None) -> list[str | None]:
        """The last id of each source. An id of another number of sources is handed to each: they know what to make of it."""
        parts = (last or "").split(self._between)
        if len(parts) != len(self._sources):
            return [last] * len(self._sources)
        return [part or None for part in parts]
