"""One stream of the live streams of all workers.

Its ids hold the last id of each worker's own stream, so that a reader who comes back goes on with each where it left it,
whichever worker it then reaches.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import aiohttp

from agentui.http.workers import RETRY_SECONDS, Siblings

MAX_UNREAD = 64
"""Pieces that wait for a slow reader before the workers are made to wait."""
_BETWEEN = ","
"""Stands between the ids of the workers; none of them holds one."""

OwnEvents = Callable[[str | None], AsyncGenerator[bytes, None]]
"""This worker's own events from behind an id."""


class MergedEvents:
    """The events of this worker and its siblings, for one reader. ``path_and_query`` is where the siblings tell theirs."""

    def __init__(self, siblings: Siblings, own: OwnEvents, path_and_query: str) -> None:
        self._siblings = siblings
        self._own = own
        self._path_and_query = path_and_query
        self._heard: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(MAX_UNREAD)
        self._last: dict[int, str | None] = {}

    async def read(self, last: str | None) -> AsyncGenerator[bytes, None]:
        """What each worker tells, in the order in which it arrives, until this worker stops."""
        self._last = _parts(last, sorted((self._siblings.own, *self._siblings.numbers)))
        listening = [asyncio.create_task(self._hear_own())]
        listening += [asyncio.create_task(self._hear(number)) for number in self._siblings.numbers]
        try:
            while (heard := await self._heard.get()) is not None:
                # What one look found leaves in one piece, for one id stands for all of it.
                number, events = heard
                yield b"".join([self._renamed(number, event) for event in events.split(b"\n\n")[:-1]])
        finally:
            for task in listening:
                task.cancel()
            await asyncio.gather(*listening, return_exceptions=True)

    async def _hear_own(self) -> None:
        number = self._siblings.own
        async for events in self._own(self._last[number]):
            await self._heard.put((number, events))
        await self._heard.put(None)

    async def _hear(self, number: int) -> None:
        """Follow a sibling; one that went away is followed again when it is back."""
        while True:
            try:
                async for events in self._siblings.follow(number, self._path_and_query, self._last[number]):
                    await self._heard.put((number, events))
            except aiohttp.ClientError:
                pass  # It is away. Its next process says that nothing is known of what went before.
            await asyncio.sleep(RETRY_SECONDS)

    def _renamed(self, number: int, event: bytes) -> bytes:
        """The event, whole again, under an id that holds the last ids of all."""
        first, line_end, rest = event.partition(b"\n")
        if not first.startswith(b"id: "):
            return event + b"\n\n"
        self._last[number] = first.removeprefix(b"id: ").decode()
        id = _BETWEEN.join(self._last[each] or "" for each in sorted(self._last))
        return f"id: {id}".encode() + line_end + rest + b"\n\n"


def _parts(last: str | None, numbers: Sequence[int]) -> dict[int, str | None]:
    """The last id of each worker. An id of another number of workers is handed to each: they know what to make of it."""
    parts = (last or "").split(_BETWEEN)
    if len(parts) != len(numbers):
        return dict.fromkeys(numbers, last)
    return {number: part or None for number, part in zip(numbers, parts, strict=True)}
