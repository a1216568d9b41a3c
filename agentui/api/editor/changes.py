"""Which documents changed, as it happens: saved here, edited on the disk, or by somebody else."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web

from agentui.api.keys import PIPELINES, PRESETS
from agentui.documents.folder import FolderLibrary
from agentui.errors import NotFound
from agentui.http.events import send_events, sse_event
from agentui.http.keys import PRINCIPAL
from agentui.http.route import EVENT_STREAM, Route
from agentui.ids import new_id
from agentui.pipeline.library import PipelineLibrary
from agentui.presets import PresetLibrary
from agentui.principal import NO_RESTRICTIONS, Restrictions

KEPT = 256
"""How many changes a reader may miss before it is told to read everything anew."""

Kind = Literal["pipeline", "preset", "active", "reset"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change. ``etag`` and ``valid`` are null for a document that is gone.

    ``active``: ``id`` serves callers who name no pipeline from now on (null: none does). ``reset``: changes were missed (the
    server began anew, or there were too many), so read the lists.
    """

    kind: Kind
    id: str | None
    etag: str | None = None
    valid: bool | None = None


class ChangeFeed:
    """The last changes, numbered, for any number of readers. Changes may come from any thread."""

    def __init__(self, pipelines: PipelineLibrary, presets: PresetLibrary) -> None:
        self._pipelines = pipelines
        self._name = new_id("changes")
        self._loop = asyncio.get_running_loop()
        self._recent: deque[Change] = deque(maxlen=KEPT)
        self._count = 0
        self._news = asyncio.Event()
        self._is_closed = False
        self._active = self._active_now()
        pipelines.subscribe(self._receive_pipelines)
        presets.subscribe(lambda ids: self._receive("preset", presets, ids))

    def close(self) -> None:
        """The server stops: let every reader end."""
        self._is_closed = True
        self._news.set()

    async def read(self, last: str | None, may: Restrictions = NO_RESTRICTIONS) -> AsyncGenerator[bytes, None]:
        """The changes behind the one with this id as events, then those to come; of pipelines what one ``may`` see.

        Without an id it begins with what is active, so that there is an id to come back with.
        """
        position = self._position(last)
        if position is None:
            position = self._count
            active = self._active if self._active is not None and may.allows_pipeline(self._active) else None
            yield self._event(position, Change("active", active) if last is None else Change("reset", None))
        while not self._is_closed:
            first = self._count - len(self._recent)
            if position < first:
                position = self._count
                yield self._event(position, Change("reset", None))
            elif position < self._count:
                change = self._recent[position - first]
                position += 1
                if change.id is None or change.kind == "preset" or may.allows_pipeline(change.id):
                    yield self._event(position, change)
                elif change.kind == "active":
                    yield self._event(position, Change("active", None))
            else:
                await self._news.wait()

    def last(self) -> str:
        """The id of the last change: who read a list now and comes with it misses nothing."""
        return f"{self._name}-{self._count}"

    def _event(self, position: int, change: Change) -> bytes:
        shown = {"kind": change.kind, "id": change.id, "etag": change.etag, "valid": change.valid}
        return sse_event(f"{self._name}-{position}", "change", shown)

    def _position(self, last: str | None) -> int | None:
        """How many changes the reader of this id has received; None where the id is not one of ours."""
        name, _, number = (last or "").rpartition("-")
        if name != self._name or not number.isascii() or not number.isdigit():
            return None
        return min(int(number[:15]), self._count)

    def _receive_pipelines(self, ids: frozenset[str]) -> None:
        self._receive("pipeline", self._pipelines, ids)
        active = self._active_now()
        if active != self._active:
            self._active = active
            self._put(Change("active", active))

    def _receive(self, kind: Kind, library: FolderLibrary[Any], ids: frozenset[str]) -> None:
        for id in sorted(ids):
            if id in library:
                entry = library.entry(id)
                self._put(Change(kind, id, entry.etag, entry.is_valid))
            else:
                self._put(Change(kind, id))

    def _active_now(self) -> str | None:
        try:
            return self._pipelines.active
        except NotFound:
            return None

    def _put(self, change: Change) -> None:
        try:
            self._loop.call_soon_threadsafe(self._take, change)
        except RuntimeError:
            return  # The loop is closed: nobody reads any more.

    def _take(self, change: Change) -> None:
        self._recent.append(change)
        self._count += 1
        # Those who wait receive it; those who come later wait for the next one.
        self._news.set()
        self._news = asyncio.Event()


FEED: web.AppKey[ChangeFeed] = web.AppKey("changes", ChangeFeed)


async def open_feed(app: web.Application) -> None:
    """Begin to listen, when the libraries have been loaded."""
    app[FEED] = ChangeFeed(app[PIPELINES], app[PRESETS])


async def stream_changes(request: web.Request) -> web.StreamResponse:
    """Follow which pipelines and presets change, appear or go, and which pipeline is active."""
    may = request[PRINCIPAL].restrictions or NO_RESTRICTIONS
    return await send_events(request, request.app[FEED].read(request.headers.get("Last-Event-ID"), may))


ROUTES = (
    Route(
        "GET",
        "/api/changes",
        stream_changes,
        content_type=EVENT_STREAM,
        headers={"Last-Event-ID": "The change after which to begin."},
    ),
)
