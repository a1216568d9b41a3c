"""Everything that happens in every run, over one connection: a browser has six for all that a page does.

A reader walks along the runs' own event lists at a steady pace, so a slow one costs a run nothing and has no queue.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial

import aiohttp
from aiohttp import web

from agentui.api.editor.combined import CombinedEvents, EventSource
from agentui.http.events import sse_event
from agentui.http.workers import RETRY_SECONDS, Workers
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.pipeline.events import RunEvent
from agentui.pipeline.history import SeenRuns
from agentui.pipeline.run import Run

PACE = 0.05
"""Seconds between two looks at the runs: short for an eye, long enough for the pieces of a fast answer to travel together."""
MAX_PIECES = 1024
"""Pieces of text in one event. A reader that has fallen further behind is told how many it missed."""
MAX_TEXT = 128 * 1024
"""Characters of text in one event; what lies beyond is missed too."""

PROCESS = new_id("live")
"""Which process the ids of this stream are from: another one's clock means nothing here."""

_BETWEEN = ","
"""Stands between the ids of the workers; none of them holds it."""

Summarise = Callable[[Run], Json]


class LiveEvents:
    """The events of the runs under way, for one reader who may know of them.

    Events ``run`` tell that a run began or ended (``{"run", "pipeline", "summary"}``), ``event`` what happened in one, as its
    own stream of events tells it, except that the pieces of text of a node which came at about the same time are one
    ``node.chunks`` whose ``data`` is ``{"pieces": [[seq, at_ms, text], ...]}``. ``missed`` (``{"run", "node", "count"}``)
    counts pieces that this reader was too slow for; ``reset`` says that nothing is known of what went before.

    An id is a moment until which everything has been told: all events of one look but the last have the id of the look before,
    so that a reader whose connection ends between two of them misses nothing when it comes back. It may hear some twice.
    """

    def __init__(self, history: SeenRuns, summarise: Summarise) -> None:
        self._history = history
        self._summarise = summarise
        self._next: dict[Run, int] = {}
        """The position behind the last event that was told of, by run under way."""
        self._newest = ""
        """The id of the last run that was taken in."""
        self._told_until = ""
        """The id until which everything has been told; '' before the first look."""

    async def read(self, last: str | None) -> AsyncGenerator[bytes, None]:
        """What happens from now on; before it, the beginning of the runs under way, or what happened since the id ``last``."""
        async with self._history.subscribe() as feed:
            since = _moment(last)
            if last is not None and since is not None:
                self._told_until = last
            if last is not None and since is None:
                yield self._event("reset", {})
            begun = self._catch_up(since)
            if not begun:
                self._told_until = _id()
            for piece in begun:
                yield piece
            while not feed.is_closed:
                # Waiting without a limit while nothing runs; else a look at every step.
                await (asyncio.sleep(PACE) if self._next else feed.wait())
                feed.clear()
                for run in self._history.since(self._newest):
                    yield self._begin(run, 0)
                # The moment is taken before anything else can happen: all that happened until then is in this look.
                id = _id()
                news = [(run, len(run.events.items)) for run, told in self._next.items() if len(run.events.items) > told]
                for run, end in news:
                    yield self._news(run, end, id if run is news[-1][0] else self._told_until)
                    # One reader's backlog must not hold up the streams that pass through meanwhile.
                    await asyncio.sleep(0)
                if news:
                    self._told_until = id

    def _catch_up(self, since: float | None) -> list[bytes]:
        """Take in the runs that are under way, and those that were so at ``since``, each from where its reader stopped."""
        begun = []
        for run in self._history.since(""):
            position = 0 if since is None else bisect_right(run.events.items, since - run.started, key=_at)
            ended_since = since is not None and position < len(run.events.items)
            if run.finished is None or ended_since:
                begun.append(self._begin(run, position))
            self._newest = run.id
        return begun

    def _begin(self, run: Run, position: int) -> bytes:
        """Take a run in and tell of it."""
        self._next[run] = position
        self._newest = run.id
        return self._event("run", self._told(run))

    def _news(self, run: Run, end: int, id: str) -> bytes:
        """What happened in a run since the last look, up to the position ``end``, as encoded events of which the last has the
        ``id``; a run that is over is let go."""
        items, start = run.events.items, self._next[run]
        told = _encoded(run, items[start:end], start)
        self._next[run] = end
        if items[end - 1].type == "run.finished":
            del self._next[run]
            told.append(("run", self._told(run)))
        return b"".join([*(self._event(*each) for each in told[:-1]), sse_event(id, *told[-1])])

    def _event(self, name: str, data: Json) -> bytes:
        return sse_event(self._told_until, name, data)

    def _told(self, run: Run) -> Json:
        return {"run": run.id, "pipeline": run.plan.id, "summary": self._summarise(run)}


def _encoded(run: Run, items: Sequence[RunEvent], start: int) -> list[tuple[str, Json]]:
    """Events by name and data, the pieces of text put together; never past an event that is none, so the order stays."""
    told: list[tuple[str, Json]] = []
    pieces: dict[str, list[tuple[int, RunEvent]]] = {}
    for sequence, event in enumerate(items, start):
        if event.type == "node.chunk" and event.node is not None:
            pieces.setdefault(event.node, []).append((sequence, event))
            continue
        told += _texts(run, pieces)
        pieces = {}
        told.append(("event", event.as_json(run.id, sequence, run.redactor)))
    return told + _texts(run, pieces)


def _texts(run: Run, pieces: dict[str, list[tuple[int, RunEvent]]]) -> list[tuple[str, Json]]:
    """The pieces of each node as one event, and how many were too many."""
    told: list[tuple[str, Json]] = []
    for node, heard in pieces.items():
        kept = _newest(heard)
        if len(kept) < len(heard):
            told.append(("missed", {"run": run.id, "node": node, "count": len(heard) - len(kept)}))
        if not kept:
            continue
        shown: list[Json] = [[sequence, _milliseconds(event), run.redactor.redact(_text(event))] for sequence, event in kept]
        sequence, event = kept[-1]
        what = {"run": run.id, "seq": sequence, "type": "node.chunks", "at_ms": _milliseconds(event), "node": node}
        told.append(("event", {**what, "data": {"pieces": shown}}))
    return told


def _newest(heard: list[tuple[int, RunEvent]]) -> list[tuple[int, RunEvent]]:
    """The last pieces, as many as one event may hold; a single one that is larger is missed like those before it."""
    size = 0
    first = len(heard)
    while first > 0 and len(heard) - first < MAX_PIECES:
        size += len(_text(heard[first - 1][1]))
        if size > MAX_TEXT:
            break
        first -= 1
    return heard[first:]


def _text(event: RunEvent) -> str:
    data = event.data() if callable(event.data) else event.data
    return str(data.get("text", "")) if isinstance(data, dict) else ""


def _milliseconds(event: RunEvent) -> float:
    return round(event.at * 1000, 3)


def _at(event: RunEvent) -> float:
    return event.at


def _id() -> str:
    """This moment, as an id to come back with."""
    return f"{PROCESS}-{time.monotonic_ns()}"


def _moment(id: str | None) -> float | None:
    """The moment that an id of this process names, in seconds of the monotonic clock."""
    name, _, moment = (id or "").rpartition("-")
    if name != PROCESS or not moment.isascii() or not moment.isdigit():
        return None
    return int(moment[:20]) / 1e9


def of_all_workers(workers: Workers, own: EventSource, path_and_query: str, request: web.Request) -> EventSource:
    """The events of this worker and of the others as one stream, which ends when this worker stops.

    ``own`` are this worker's; ``path_and_query`` is where the others send theirs, to who
    makes the ``request``. Whichever worker a reader comes back to, it
    goes on with each where it left it.
    """
    numbers = sorted((workers.own, *workers.numbers))
    sources = [
        own if number == workers.own else partial(_of_worker, workers, number, path_and_query, request) for number in numbers
    ]
    return CombinedEvents(sources, _BETWEEN).read


async def _of_worker(
    workers: Workers, number: int, path_and_query: str, request: web.Request, last: str | None
) -> AsyncGenerator[bytes, None]:
    """The events of another worker, without an end; one that went away is followed again when it is back."""
    while True:
        try:
            async for events in workers.follow(number, path_and_query, request, last):
                last = _last_id(events) or last
                yield events
        except aiohttp.ClientError:
            pass  # It is away. Its next process says that nothing is known of what went before.
        await asyncio.sleep(RETRY_SECONDS)


def _last_id(events: bytes) -> str | None:
    """The id of the last of these events that has one. Data is JSON and holds no line break: a line of ``id`` is one."""
    _, found, rest = b"\n".join((b"", events)).rpartition(b"\nid: ")
    return rest.partition(b"\n")[0].decode() if found else None
