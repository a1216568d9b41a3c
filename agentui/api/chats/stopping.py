"""Stopping what a session generates, wherever it is generated: by this process, by another worker of this machine, or by a
process on another machine that shares the database."""

from aiohttp import web

from agentui.api.chats.protocol import BODY, data_answer, now_ms, path_id, read, read_form, route
from agentui.api.keys import HISTORY, LIVE, STORE
from agentui.chats.codes import failure
from agentui.chats.conversations import ActiveRun, active_runs
from agentui.errors import NotFound
from agentui.http.route import Route
from agentui.http.workers import WORKERS, is_from_worker
from agentui.jsonio import InvalidJson, dumps, loads
from agentui.schemas.forms import Data
from agentui.schemas.live import CancelForm, Stopped, StoppedRun


async def cancel(request: web.Request) -> web.StreamResponse:
    """Stop what a session generates, on whichever process; the words that arrived are kept. Turns end a moment later."""
    id, form = path_id(request), await read_form(request, CancelForm, optional=True)
    app, workers = request.app, request.app[WORKERS]
    found = await read(request, active_runs, id, form.branch_id, now_ms())
    stopped = [_told(run) for run in found if _stop(app, run.latest_floor_id, run.active_run_id)]
    if not is_from_worker(request):
        elsewhere = {workers.owner_of(run.active_run_id) for run in found} - {None}
        if elsewhere:
            for told in await workers.post_each(elsewhere, request, request.get(BODY, b"")):
                stopped += [StoppedRun(**each) for each in told["data"]["stopped"]]
        stopped += await _stopped_far(app, [run for run in found if _told(run) not in stopped])
    return data_answer(Stopped(id, stopped))


def stop_told(app: web.Application, message: str) -> None:
    """Another process asks for the stop of a turn that may be this one's; whatever else is told means nothing."""
    try:
        told = loads(message)
    except InvalidJson:
        return
    match told:
        case {"stop": {"floor_id": str(floor_id), "run_id": str(run_id)}}:
            _stop(app, floor_id, run_id)


async def _stopped_far(app: web.Application, runs: list[ActiveRun]) -> list[StoppedRun]:
    """Ask the processes that share the database to stop turns; those turns that are not this process's own."""
    stopped = []
    for run in runs:
        if _is_here(app, run):
            continue
        asked = dumps({"stop": {"floor_id": run.latest_floor_id, "run_id": run.active_run_id}}).decode()
        if await app[STORE].tell_others(asked):
            stopped.append(_told(run))
    return stopped


def _told(run: ActiveRun) -> StoppedRun:
    return StoppedRun(run.branch_id, run.latest_floor_id, run.active_run_id)


def _is_here(app: web.Application, run: ActiveRun) -> bool:
    """Whether this process generates a turn, or has."""
    if app[LIVE].active.of_floor(run.latest_floor_id) is not None:
        return True
    try:
        app[HISTORY].get(run.active_run_id)
    except NotFound:
        return False
    return True


def _stop(app: web.Application, floor_id: str, run_id: str) -> bool:
    """Stop a turn of this process; False where there is nothing to stop (any more)."""
    progress = app[LIVE].active.of_floor(floor_id)
    if progress is not None:
        if progress.stop is None:
            return False
        progress.stop()
        return True
    try:
        run = app[HISTORY].get(run_id)
    except NotFound:
        return False
    if run.task is None:
        return False
    run.stop(failure("generation_cancelled", "The generation was stopped."))
    return True


ROUTES: tuple[Route, ...] = (
    route("POST", "/sessions/{id}/active-run/cancel", cancel, Data[Stopped], body=CancelForm, body_optional=True, writes=False),
)
