"""The proxied routes: a caller's request through a pipeline and back in the caller's dialect."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

from aiohttp import web

from agentui.api.keys import ENGINE, PIPELINES, SERVICES, TURNS
from agentui.api.ops.telemetry import TELEMETRY
from agentui.api.proxy.answer import AnswerWriter
from agentui.api.proxy.detached import DETACHED
from agentui.api.proxy.incoming import read_incoming
from agentui.api.proxy.repeats import claim_of, replay
from agentui.api.proxy.targets import HttpTarget, Recorder, Tee
from agentui.chat.request import WireRequest
from agentui.errors import NotFound
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.reading import read_body
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
    settings, limits = request.app[SETTINGS], request.app[LIMITS]
    limits.check_rate(request)
    with limits.under_way():
        body = await read_body(request, settings.max_body, settings.body_timeout)
        asked, wire = _read_request(request, body)
        claim = claim_of(request, asked.incoming) if HEADER in asked.incoming.headers else None
        if claim is None:
            return await answer_run(request, asked, wire)
        return await _answer_once(request, asked, wire, claim)


async def answer_run(request: web.Request, asked: RunRequest, wire: WireRequest) -> web.StreamResponse:
    """Run what was asked and answer in the dialect of ``wire``; a failure after the answer began is told inside it."""
    target = HttpTarget(request, request.app[SETTINGS])
    writer = AnswerWriter(request.app[SERVICES].vendors[wire.vendor], wire, target)
    await _run(request, replace(asked, memory=partial(open_memory, request.app[TURNS])), writer)
    assert target.response is not None
    return target.response


async def _answer_once(request: web.Request, asked: RunRequest, wire: WireRequest, claim: Claim) -> web.StreamResponse:
    """Answer a turn whose request has a key: as it was answered before, else by a run that goes on when its caller leaves.

    Raises ApiError as ``TurnService.answered`` does.
    """
    app = request.app
    settings, limits, telemetry = app[SETTINGS], app[LIMITS], app[TELEMETRY]
    saved = await app[TURNS].answered(claim)
    if saved is not None:
        return await replay(request, saved)
    caller, recorder = HttpTarget(request, settings), Recorder()
    tee = Tee(caller, recorder)
    writer = AnswerWriter(app[SERVICES].vendors[wire.vendor], wire, tee)

    async def save_answer() -> Saved:
        assert writer.run is not None
        return await recorder.saved(writer.run)

    def leave() -> Callable[[Run], None]:
        tee.leave()
        limits.in_flight += 1
        telemetry.detach(request)
        return end

    def end(run: Run) -> None:
        limits.in_flight -= 1
        telemetry.count(run)

    memory = partial(open_memory, app[TURNS], claim=claim, save_answer=save_answer)
    work = _run(request, replace(asked, memory=memory), writer)
    await app[DETACHED].complete(work, find_run=lambda: writer.run, on_leave=leave, seconds=settings.run_timeout)
    assert caller.response is not None
    return caller.response


async def _run(request: web.Request, asked: RunRequest, writer: AnswerWriter) -> None:
    """Run what was asked, and let telemetry and the request's own log know."""

    def begin(run: Run) -> None:
        writer.run = run
        request[RUN_REDACTOR] = run.redactor
        request.app[TELEMETRY].follow(request, run)

    result = await request.app[ENGINE].run(replace(asked, on_begin=begin), writer)
    if result.error is not None:
        request.app[TELEMETRY].count_error(result.error.code)


def _read_request(request: web.Request, body: bytes) -> tuple[RunRequest, WireRequest]:
    """What is to run on this request, and the request as its dialect spells it."""
    app, url = request.app, request.rel_url
    incoming, pipeline = read_incoming(
        app[SERVICES].vendors,
        app[SETTINGS].own_token,
        method=request.method,
        url=f"{request.scheme}://{request.host}{url}",
        path=unquote(url.raw_path),
        query=url.raw_query_string,
        headers=_headers(request),
        body=body,
    )
    if incoming.wire is None:
        raise NotFound("This path is in none of the dialects that agentui speaks.")
    pipelines = app[PIPELINES]
    plan = pipelines.plan(pipeline if pipeline is not None else pipelines.active)
    return RunRequest(plan, incoming), incoming.wire


def _headers(request: web.Request) -> dict[str, str]:
    """Header names in lower case; repeated ones joined as HTTP allows."""
    given = request.headers
    headers = {name.lower(): value for name, value in given.items()}
    return headers if len(headers) == len(given) else {name: ", ".join(given.getall(name)) for name in headers}
