"""What the canvas hears of a run, and what the history keeps of it.

    run.started  node.started  node.attempt  node.request  node.chunk  node.tool  node.log  node.finished  node.skipped
    node.failed  node.omitted  run.warning  run.finished

An event holds references, not copies; it becomes JSON (and loses every secret) only when somebody reads it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Generic, Literal, NamedTuple, TypeVar

from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.redaction import LONGEST, Redactor
from agentui.templating.core.weight import Scale, beginning, is_heavier

T = TypeVar("T")

EventType = Literal[
    "run.started",
    "run.warning",
    "run.finished",
    "node.started",
    "node.attempt",
    "node.request",
    "node.chunk",
    "node.tool",
    "node.log",
    "node.finished",
    "node.skipped",
    "node.failed",
    "node.omitted",
]

INLINE_LIMIT = 8 * 1024
SUMMARY = 500
"""Characters of what is too large to be shown in place."""
WRITTEN_LIMIT = 1024 * 1024
BEGINNING = 4 * LONGEST
"""Characters that are written of what is larger than that: a secret in the summary must be whole to be found."""
MAX_DEPTH_SHOWN = 400


class RunEvent(NamedTuple):
    """One thing that happened. ``at`` is seconds since the run began; ``data`` must not change afterwards;
    a function without arguments is called when somebody reads the event. ``pinned`` marks the end of a node that did not run,
    because its OUT was given; ``port`` says by which the node left, where another one would have led elsewhere."""

    type: EventType
    at: float
    node: str | None = None
    data: Json | Callable[[], Json] = None
    pinned: bool = False
    port: str | None = None

    def as_json(self, run_id: str, sequence: int, redactor: Redactor, *, whole: bool = False) -> dict[str, Json]:
        """The event for a reader, secrets replaced. Data over 8 KiB is summarised with a link unless ``whole``;
        of what is very large only the beginning is written for that, and ``bytes`` is an estimate."""
        shown: dict[str, Json] = {"run": run_id, "seq": sequence, "type": self.type, "at_ms": round(self.at * 1000, 3)}
        if self.node is not None:
            shown["node"] = self.node
        if self.pinned:
            shown["pinned"] = True
        if self.port is not None:
            shown["port"] = self.port
        data = self.data() if callable(self.data) else self.data
        if data is not None:
            is_large = not whole and is_heavier(data, WRITTEN_LIMIT)
            raw = redactor.redact(dumps(beginning(data, BEGINNING) if is_large else data).decode())
            size = Scale(MAX_DEPTH_SHOWN).weigh(data) if is_large else len(raw.encode("utf-8", "replace"))
            if whole or size <= INLINE_LIMIT:
                shown["data"] = parsed(raw)
            else:
                shown["data"] = {"summary": raw[:SUMMARY], "bytes": size, "link": f"/api/runs/{run_id}/events/{sequence}"}
        return shown


new_event: Callable[[tuple[EventType, float, str | None, Json | Callable[[], Json], bool, str | None]], RunEvent]
new_event = partial(tuple.__new__, RunEvent)
"""An event of its six members. A dozen are made for every request, and this is a third of what a call of the class costs."""


def parsed(raw: str) -> Json:
    """Redacted JSON as a value; as text where a secret of digits stood in a number and its mask broke the JSON."""
    try:
        return loads(raw)
    except InvalidJson:
        return {"text": raw}


class EventLog(Generic[T]):
    """An append-only list that can be read while it is written: one writer, many readers, each from any position."""

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
        """Yield ``(position, item)`` from ``start`` on, waiting for new items until the log is closed."""
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
