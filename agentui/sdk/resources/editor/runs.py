"""Runs of pipelines, while they happen and afterwards. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Json, Options, Resumable
from agentui.sdk.feeds import LiveEvent, StepEvent
from agentui.sdk.shapes.editor.runs import RunSummary
from agentui.sdk.streams import AsyncEventStream, EventStream
from agentui.sdk.transport import Resource


class RunsListCall(Options):
    """What ``runs.list`` may be told."""

    limit: NotRequired[int]
    q: NotRequired[str]
    pipeline: NotRequired[str]
    state: NotRequired[str]
    before: NotRequired[str]


class RunsStreamLiveCall(Options, Resumable):
    """What ``runs.stream_live`` may be told."""

    events: NotRequired[str]


class RunsStreamEventsCall(Options, Resumable):
    """What ``runs.stream_events`` may be told."""

    after: NotRequired[int]


_LIST = Endpoint[Items[RunSummary]]("GET", "/api/runs", query=("limit", "q", "pipeline", "state", "before"), answer="whole")
_STREAM_LIVE = Endpoint[LiveEvent]("GET", "/api/runs/live", query=("events",))
_GET = Endpoint[dict[str, Json]]("GET", "/api/runs/{id}", answer="whole")
_GET_REQUEST = Endpoint[dict[str, Json]]("GET", "/api/runs/{id}/request", answer="whole")
_STREAM_EVENTS = Endpoint[StepEvent]("GET", "/api/runs/{id}/events", query=("after",))
_GET_EVENT = Endpoint[dict[str, Json]]("GET", "/api/runs/{id}/events/{sequence}", answer="whole")
_CANCEL = Endpoint[RunSummary]("POST", "/api/runs/{id}/cancel", answer="whole")


class RunsResource(Resource):
    """Runs of pipelines, while they happen and afterwards."""

    def list(self, **given: Unpack[RunsListCall]) -> Items[RunSummary]:
        """List the last runs, newest first. ``GET /api/runs``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[RunsListCall]) -> Iterator[RunSummary]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def stream_live(self, **given: Unpack[RunsStreamLiveCall]) -> EventStream[LiveEvent]:
        """Follow which runs begin, from now on or from behind Last-Event-ID; with ``events=1`` also all that happens in
        them. ``GET /api/runs/live``
        """
        return self._events(_STREAM_LIVE, (), given)

    def get(self, run_id: str, **given: Unpack[Options]) -> dict[str, Json]:
        """Read a run with all its events; large data is summarised with a link. ``GET /api/runs/{id}``"""
        return self._call(_GET, (run_id,), given)

    def get_request(self, run_id: str, **given: Unpack[Options]) -> dict[str, Json]:
        """Read the request that a run answered, with all of its body. ``GET /api/runs/{id}/request``"""
        return self._call(_GET_REQUEST, (run_id,), given)

    def stream_events(self, run_id: str, **given: Unpack[RunsStreamEventsCall]) -> EventStream[StepEvent]:
        """Follow a run's events as they happen, from its first one or from behind the one named; ends with the run. ``GET
        /api/runs/{id}/events``
        """
        return self._events(_STREAM_EVENTS, (run_id,), given)

    def get_event(self, run_id: str, sequence: int, **given: Unpack[Options]) -> dict[str, Json]:
        """Read one event of a run with all its data. ``GET /api/runs/{id}/events/{sequence}``"""
        return self._call(_GET_EVENT, (run_id, sequence), given)

    def cancel(self, run_id: str, **given: Unpack[Options]) -> RunSummary:
        """Stop a run; its upstream calls end with it. ``POST /api/runs/{id}/cancel``"""
        return self._call(_CANCEL, (run_id,), given)


class AsyncRunsResource(AsyncResource):
    """Runs of pipelines, while they happen and afterwards."""

    async def list(self, **given: Unpack[RunsListCall]) -> Items[RunSummary]:
        """List the last runs, newest first. ``GET /api/runs``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[RunsListCall]) -> AsyncIterator[RunSummary]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def stream_live(self, **given: Unpack[RunsStreamLiveCall]) -> AsyncEventStream[LiveEvent]:
        """Follow which runs begin, from now on or from behind Last-Event-ID; with ``events=1`` also all that happens in
        them. ``GET /api/runs/live``
        """
        return self._events(_STREAM_LIVE, (), given)

    async def get(self, run_id: str, **given: Unpack[Options]) -> dict[str, Json]:
        """Read a run with all its events; large data is summarised with a link. ``GET /api/runs/{id}``"""
        return await self._call(_GET, (run_id,), given)

    async def get_request(self, run_id: str, **given: Unpack[Options]) -> dict[str, Json]:
        """Read the request that a run answered, with all of its body. ``GET /api/runs/{id}/request``"""
        return await self._call(_GET_REQUEST, (run_id,), given)

    def stream_events(self, run_id: str, **given: Unpack[RunsStreamEventsCall]) -> AsyncEventStream[StepEvent]:
        """Follow a run's events as they happen, from its first one or from behind the one named; ends with the run. ``GET
        /api/runs/{id}/events``
        """
        return self._events(_STREAM_EVENTS, (run_id,), given)

    async def get_event(self, run_id: str, sequence: int, **given: Unpack[Options]) -> dict[str, Json]:
        """Read one event of a run with all its data. ``GET /api/runs/{id}/events/{sequence}``"""
        return await self._call(_GET_EVENT, (run_id, sequence), given)

    async def cancel(self, run_id: str, **given: Unpack[Options]) -> RunSummary:
        """Stop a run; its upstream calls end with it. ``POST /api/runs/{id}/cancel``"""
        return await self._call(_CANCEL, (run_id,), given)
