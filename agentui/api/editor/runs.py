"""The runs: the last ones, their events as they happen, and stopping one.

Everybody sees the runs of their own account; admins see those of all.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from functools import partial, wraps
from typing import TypeAlias, get_args

from aiohttp import web

from agentui.api.editor.changes import FEED
from agentui.api.editor.combined import CombinedEvents, EventSource
from agentui.api.editor.live import LiveEvents, of_all_workers
from agentui.api.keys import HISTORY
from agentui.errors import BadRequest, Conflict, NotFound
from agentui.http.events import send_events, sse_event
from agentui.http.keys import PRINCIPAL
from agentui.http.rights import Handler
from agentui.http.route import EVENT_STREAM, Route, answer, whole_number
from agentui.http.workers import WORKERS, is_from_worker
from agentui.jsonio import Json, dumps, dumps_text
from agentui.pipeline.events import BEGINNING, INLINE_LIMIT, SUMMARY, RunEvent, parsed
from agentui.pipeline.history import RunSummary, SeenRuns
from agentui.pipeline.result import RunState
from agentui.pipeline.run import Run
from agentui.principal import NO_RESTRICTIONS
from agentui.redaction import mask_url, without_written_keys
from agentui.store.paging import MAX_PART_BYTES
from agentui.templating.core.weight import is_heavier

DEFAULT_LIMIT = 50
MAX_LIMIT = 1000
STOP_SECONDS = 2.0
_EVENTS_AT_ONCE = 100

NEXT = "x-agentui-next"
"""The header that tells the last run of a list that ends before its time."""

_LIVE = "/api/runs/live"
_LIVE_EVENTS = f"{_LIVE}?events=1"
"""Where another worker sends all that happens in its runs."""

EventJson: TypeAlias = dict[str, Json]


async def list_runs(request: web.Request) -> web.Response:
    """List the last runs, newest first. Where one answer cannot hold them all, ``x-agentui-next`` is the id to go on from
    with ``before``."""
    history, workers = seen_runs(request), request.app[WORKERS]
    query = request.query
    wanted = query.get("state")
    if wanted is not None and wanted not in get_args(RunState):
        raise BadRequest(f"state must be one of {', '.join(get_args(RunState))}.", param="state")
    limit = whole_number(query.get("limit", str(DEFAULT_LIMIT)), "limit", least=1, most=MAX_LIMIT)
    summaries = history.list(limit, query.get("q", ""), query.get("pipeline"), _as_state(wanted), query.get("before"))
    lines = [_shown(summary, history.get(summary.id)) for summary in summaries]
    if workers.numbers and not is_from_worker(request):
        for more in await workers.ask_all(request.path_qs, request):
            lines += more
        lines = sorted(lines, key=lambda line: str(line["id"]), reverse=True)[:limit]
    shown = _beginning(lines)
    response = answer(shown)
    if len(shown) < len(lines):
        response.headers[NEXT] = str(shown[-1]["id"])
    return response


def _beginning(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The first lines, as many as one answer may hold; at least one. A caller's model may be megabytes long."""
    left = MAX_PART_BYTES
    for number, line in enumerate(lines):
        left -= len(dumps(line))
        if left < 0:
            return lines[: max(number, 1)]
    return lines


def _by_its_worker(handler: Handler) -> Handler:
    """The same, by the worker that has the run."""

    @wraps(handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        workers = request.app[WORKERS]
        number = workers.owner_of(request.match_info["id"])
        if number is None or is_from_worker(request):
            return await handler(request)
        return await workers.relay(request, number)

    return handle


@_by_its_worker
async def get_run(request: web.Request) -> web.Response:
    """Read a run with all its events; large data is summarised with a link."""
    run = _run(request)
    events: list[EventJson] = []
    for sequence, event in enumerate(tuple(run.events.items)):
        events.append(await _shown_event(run, sequence, event))
        if sequence % _EVENTS_AT_ONCE == 0 or "link" in (events[-1].get("data") or {}):
            # A long run must not hold up the streams that pass through meanwhile.
            await asyncio.sleep(0)
    document = run.plan.document
    if not request[PRINCIPAL].may_edit:
        # A run registers the keys of the nodes that it came to; the others stand here as they were written.
        document = await asyncio.to_thread(without_written_keys, dict(document))
    shown = await _of_request(run, lambda: _redacted({"request": _request(run), "document": document}, run))
    return answer({**_shown(RunSummary.of(run), run), **shown, "events": events})


@_by_its_worker
async def get_run_request(request: web.Request) -> web.Response:
    """Read the request that a run answered, with all of its body."""
    run = _run(request)
    return answer(await _of_request(run, lambda: _redacted(_request(run, whole=True), run)))


@_by_its_worker
async def get_run_event(request: web.Request) -> web.Response:
    """Read one event of a run with all its data."""
    run = _run(request)
    sequence = whole_number(request.match_info["sequence"], "sequence")
    if sequence >= len(run.events.items):
        raise NotFound(f"The run {run.id!r} has no event {sequence}.", run=run.id)
    return answer(await _shown_event(run, sequence, run.events.items[sequence], whole=True))


@_by_its_worker
async def stream_run_events(request: web.Request) -> web.StreamResponse:
    """Follow a run's events as they happen, from its first one or from behind the one named; ends with the run."""
    run = _run(request)
    start = _start(request)
    if run.events.is_closed and start >= len(run.events.items):
        # A browser's EventSource reconnects after every end, but not after a 204.
        return web.Response(status=204)
    return await send_events(request, _run_events(run, start))


async def stream_live_runs(request: web.Request) -> web.StreamResponse:
    """Follow which runs begin, from now on or from behind Last-Event-ID; with ``events=1`` also all that happens in them."""
    if request.query.get("events", "0") not in ("0", "1"):
        raise BadRequest("events must be 0 or 1.", param="events")
    own: EventSource = partial(_live_runs, seen_runs(request))
    if request.query.get("events") == "1":
        own = _live_events(seen_runs(request))
    if not is_from_worker(request):
        own = _with_other_workers(request, own, request.path_qs)
    return await send_events(request, own(request.headers.get("Last-Event-ID")))


async def stream_events(request: web.Request) -> web.StreamResponse:
    """Follow everything that a page shows as it happens, over one connection: the events of ``/api/changes`` and of
    ``/api/runs/live?events=1``.

    An id is the id of the one, a semicolon, and the id of the other. Either may be empty: that stream then begins as it does
    without an id.
    """
    runs = _with_other_workers(request, _live_events(seen_runs(request)), _LIVE_EVENTS)
    may = request[PRINCIPAL].restrictions or NO_RESTRICTIONS
    combined = CombinedEvents([partial(request.app[FEED].read, may=may), runs], ";")
    return await send_events(request, combined.read(request.headers.get("Last-Event-ID")))


def _live_events(history: SeenRuns) -> EventSource:
    return LiveEvents(history, lambda run: _shown(RunSummary.of(run), run)).read


def _with_other_workers(request: web.Request, own: EventSource, path_and_query: str) -> EventSource:
    workers = request.app[WORKERS]
    return of_all_workers(workers, own, path_and_query, request) if workers.numbers else own


@_by_its_worker
async def cancel_run(request: web.Request) -> web.Response:
    """Stop a run; its upstream calls end with it."""
    run = _run(request)
    if run.finished is not None:
        raise Conflict(f"The run {run.id!r} is over already ({run.state}).", run=run.id)
    if run.task is None:
        raise Conflict(f"The run {run.id!r} cannot be stopped from here.", run=run.id)
    task = run.task
    run.stop()
    await asyncio.wait({task}, timeout=STOP_SECONDS)
    return answer(_shown(RunSummary.of(run), run), status=202)


def seen_runs(request: web.Request) -> SeenRuns:
    """The runs that the caller may know of."""
    principal = request[PRINCIPAL]
    return request.app[HISTORY].seen_by(None if principal.role == "admin" else principal.account)


def _run(request: web.Request) -> Run:
    return seen_runs(request).get(request.match_info["id"])


def _as_state(text: str | None) -> RunState | None:
    return next((state for state in get_args(RunState) if state == text), None)


async def _shown_event(run: Run, sequence: int, event: RunEvent, *, whole: bool = False) -> EventJson:
    """An event as JSON; one that takes long is written in a thread."""
    show = partial(event.as_json, run.id, sequence, run.redactor, whole=whole)
    is_short = not callable(event.data) and not is_heavier(event.data, INLINE_LIMIT)
    return show() if is_short else await asyncio.to_thread(show)


async def _of_request(run: Run, show: Callable[[], Json]) -> Json:
    """What is shown of a run's request; in a thread, where its body is long."""
    return show() if len(run.incoming.body) <= INLINE_LIMIT else await asyncio.to_thread(show)


def _shown(summary: RunSummary, run: Run) -> dict[str, Json]:
    """A summary without the run's secrets (a model's name or an error's text may hold one)."""
    shown: dict[str, Json] = _redacted(asdict(summary), run)
    return shown


def _request(run: Run, *, whole: bool = False) -> dict[str, Json]:
    """The caller's request. A body over 8 KiB is summarised with a link unless ``whole``."""
    incoming = run.incoming
    size = len(incoming.body)
    body: Json = incoming.json if incoming.json is not None else incoming.body.decode("utf-8", "replace") or None
    if size > INLINE_LIMIT and not whole:
        start = run.redactor.redact(incoming.body[:BEGINNING].decode("utf-8", "replace"))[:SUMMARY]
        body = {"summary": start, "bytes": size, "link": f"/api/runs/{run.id}/request"}
    return {
        "method": incoming.method,
        "path": incoming.path,
        "query": mask_url(f"?{incoming.query}")[1:],
        "headers": dict(incoming.headers),
        "body": body,
    }


def _redacted(value: Json, run: Run) -> Json:
    """A value without the run's secrets."""
    return parsed(run.redactor.redact(dumps_text(value)))


def _start(request: web.Request) -> int:
    """Where to begin: behind ``Last-Event-ID`` (a browser that reconnects) or ``?after=``."""
    last = request.headers.get("Last-Event-ID") or request.query.get("after")
    return 0 if last is None else whole_number(last, "after") + 1


async def _run_events(run: Run, start: int) -> AsyncGenerator[bytes, None]:
    async for sequence, event in run.events.read(start):
        yield sse_event(str(sequence), event.type, await _shown_event(run, sequence, event))


async def _live_runs(history: SeenRuns, last: str | None) -> AsyncGenerator[bytes, None]:
    async with history.subscribe() as feed:
        for run in history.since(last) if last else ():
            yield _begun(run)
        async for run in feed:
            yield _begun(run)


def _begun(run: Run) -> bytes:
    return sse_event(run.id, "run", {"run": run.id, "pipeline": run.plan.id})


_ONE = "/api/runs/{id}"

ROUTES = (
    Route(
        "GET",
        "/api/runs",
        list_runs,
        answer=list[RunSummary],
        query={
            "limit": f"How many at most, {DEFAULT_LIMIT} unless told.",
            "q": "Words that must all be found in the id, pipeline, model, path, state, chat, client or error.",
            "pipeline": "Only runs of this pipeline.",
            "state": "Only runs in this state.",
            "before": "Only runs that began before the one with this id.",
        },
        errors=(400,),
    ),
    Route(
        "GET",
        _LIVE,
        stream_live_runs,
        content_type=EVENT_STREAM,
        query={"events": "1: also every event of every run under way."},
        headers={"Last-Event-ID": "The id after which to begin."},
        errors=(400,),
    ),
    Route(
        "GET",
        "/api/events",
        stream_events,
        content_type=EVENT_STREAM,
        headers={"Last-Event-ID": "The id after which to begin."},
    ),
    Route("GET", _ONE, get_run, answer=dict[str, Json], errors=(404,)),
    Route("GET", f"{_ONE}/request", get_run_request, answer=dict[str, Json], errors=(404,)),
    Route(
        "GET",
        f"{_ONE}/events",
        stream_run_events,
        content_type=EVENT_STREAM,
        query={"after": "The sequence number after which to begin."},
        headers={"Last-Event-ID": "The same, as browsers send it when they reconnect."},
        errors=(400, 404),
    ),
    Route("GET", f"{_ONE}/events/{{sequence}}", get_run_event, answer=dict[str, Json], errors=(400, 404)),
    Route("POST", f"{_ONE}/cancel", cancel_run, answer=RunSummary, status=202, errors=(404, 409)),
)
