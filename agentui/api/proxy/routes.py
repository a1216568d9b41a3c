"""The proxied routes: a caller's request through a pipeline and back in the caller's dialect."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

from aiohttp import web

from agentui.api.proxy.answer import AnswerWriter
from agentui.api.proxy.incoming import read_incoming
from agentui.api.proxy.repeats import claim_of, replay
from agentui.api.proxy.targets import HttpTarget, Recorder, Tee
from agentui.chat.request import WireRequest
from agentui.errors import Busy, NotFound
from agentui.http.guard import RUN_REDACTOR
from agentui.http.limits import LIMITS
from agentui.http.reading import read_body
from agentui.http.state import STATE, State
from agentui.pipeline.engine import RunRequest
from agentui.pipeline.run import Run
from agentui.turns.proxied import open_memory
from agentui.turns.repeats import HEADER, Claim, Saved
from agentui.vendors.detect import METHOD_PATH, PROXIED_PATHS


def add_proxy_routes(app: web.Application) -> None:
    """Register the proxied routes."""
    for path in (*PROXIED_PATHS, METHOD_PATH):
        app.router.add_post(path, proxy)
        app.router.add_post("/p/{pipeline}" + path, proxy)


async def proxy(request: web.Request) -> web.StreamResponse:
    """Run a pipeline on this request and answer in the caller's dialect."""
    state = request.app[STATE]
    request.app[LIMITS].check_rate(request)
    check_capacity(request, state)
    state.in_flight += 1
    try:
        body = await read_body(request, state.settings.max_body, state.settings.body_timeout)
        asked, wire = _read_request(request, state, body)
        claim = claim_of(request, asked.incoming) if HEADER in asked.incoming.headers else None
        if claim is None:
            return await answer_run(request, state, asked, wire)
        return await _answer_once(request, state, asked, wire, claim)
    finally:
        state.in_flight -= 1


async def answer_run(request: web.Request, state: State, asked: RunRequest, wire: WireRequest) -> web.StreamResponse:
    """Run what was asked and answer in the dialect of ``wire``; a failure after the answer began is told inside it."""
    target = HttpTarget(request, state.settings)
    writer = AnswerWriter(state.services.vendors[wire.vendor], wire, target)
    await _run(request, state, replace(asked, memory=partial(open_memory, state.turns)), writer)
    assert target.response is not None
    return target.response


async def _answer_once(
    request: web.Request, state: State, asked: RunRequest, wire: WireRequest, claim: Claim
) -> web.StreamResponse:
    """Answer a turn whose request has a key: as it was answered before, else by a run that goes on when its caller leaves.

    Raises ApiError as ``TurnService.answered`` does.
    """
    saved = await state.turns.answered(claim)
    if saved is not None:
        return await replay(request, state, saved)
    caller, recorder = HttpTarget(request, state.settings), Recorder()
    tee = Tee(caller, recorder)
    writer = AnswerWriter(state.services.vendors[wire.vendor], wire, tee)

    async def save_answer() -> Saved:
        assert writer.run is not None
        return await recorder.saved(writer.run)

    def leave() -> Callable[[Run], None]:
        tee.leave()
        state.in_flight += 1
        state.telemetry.detach(request)
        return end

    def end(run: Run) -> None:
        state.in_flight -= 1
        state.telemetry.count(run)

    memory = partial(open_memory, state.turns, claim=claim, save_answer=save_answer)
    work = _run(request, state, replace(asked, memory=memory), writer)
    await state.detached.see_through(work, find_run=lambda: writer.run, on_leave=leave, seconds=state.settings.run_timeout)
    assert caller.response is not None
    return caller.response


async def _run(request: web.Request, state: State, asked: RunRequest, writer: AnswerWriter) -> None:
    """Run what was asked, and let telemetry and the request's own log know."""

    def begin(run: Run) -> None:
        writer.run = run
        request[RUN_REDACTOR] = run.redactor
        state.telemetry.follow(request, run)

    result = await state.engine.run(replace(asked, on_begin=begin), writer)
    if result.error is not None:
        state.telemetry.count_error(result.error.code)


def check_capacity(request: web.Request, state: State) -> None:
    """Raise Busy when as many requests are under way as may be."""
    if state.in_flight >= state.settings.max_in_flight:
        request.app[LIMITS].hits["in_flight"] += 1
        raise Busy("The server is at capacity; try again in a moment.", retry_after=1)


def _read_request(request: web.Request, state: State, body: bytes) -> tuple[RunRequest, WireRequest]:
    """What is to run on this request, and the request as its dialect spells it."""
    url = request.rel_url
    incoming, pipeline = read_incoming(
        state.services.vendors,
        state.settings.own_token,
        method=request.method,
        url=f"{request.scheme}://{request.host}{url}",
        path=unquote(url.raw_path),
        query=url.raw_query_string,
        headers=_headers(request),
        body=body,
    )
    if incoming.wire is None:
        raise NotFound("This path is in none of the dialects that agentui speaks.")
    plan = state.pipelines.plan(pipeline if pipeline is not None else state.pipelines.active)
    return RunRequest(plan, incoming), incoming.wire


def _headers(request: web.Request) -> dict[str, str]:
    """Header names in lower case; repeated ones joined as HTTP allows."""
    given = request.headers
    headers = {name.lower(): value for name, value in given.items()}
    return headers if len(headers) == len(given) else {name: ", ".join(given.getall(name)) for name in headers}
