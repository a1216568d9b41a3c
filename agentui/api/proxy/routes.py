"""The proxied routes: a caller's request through a pipeline and back in the caller's dialect."""

import asyncio
import time
from functools import partial
from urllib.parse import unquote

from aiohttp import web

from agentui.api.proxy.answer import ProxyAnswer
from agentui.api.proxy.incoming import read_incoming
from agentui.api.proxy.recording import RecordedAnswer
from agentui.api.proxy.repeats import claim_of, replay
from agentui.api.proxy.turns import Keeping, begin_keeping, drop, keep
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, Busy, NodeFailed, NotFound, let_go
from agentui.http.errors import error_response, redacted
from agentui.http.guard import RUN_REDACTOR
from agentui.http.limits import LIMITS
from agentui.http.reading import read_body
from agentui.http.state import STATE, State
from agentui.pipeline.executor import describe_error
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plan import Plan
from agentui.pipeline.run import Run
from agentui.turns.repeats import HEADER, Claim
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
        run, wire = _read_run(request, state, body)
        claim = claim_of(request, run) if HEADER in run.incoming.headers else None
        if claim is None:
            return await answer_run(request, state, run, wire)
        return await _answer_once(request, state, run, wire, claim)
    finally:
        state.in_flight -= 1


async def _answer_once(request: web.Request, state: State, run: Run, wire: WireRequest, claim: Claim) -> web.StreamResponse:
    """Answer a turn whose request has a key: as it was answered before, else by a run that goes on when its caller leaves.

    Raises ApiError as ``TurnService.answered`` does.
    """
    saved = await state.turns.answered(claim)
    if saved is not None:
        return await replay(request, state, saved)
    vendor = state.services.vendors[wire.vendor]
    answer = RecordedAnswer(claim, request, vendor, wire, run, state.settings)
    return await state.unattended.see_through(request, state, run, answer, answer_run(request, state, run, wire, answer))


def check_capacity(request: web.Request, state: State) -> None:
    """Raise Busy when as many requests are under way as may be."""
    if state.in_flight >= state.settings.max_in_flight:
        request.app[LIMITS].hits["in_flight"] += 1
        raise Busy("The server is at capacity; try again in a moment.", retry_after=1)


def _read_run(request: web.Request, state: State, body: bytes) -> tuple[Run, WireRequest]:
    """A run of the pipeline that the request names, and the request as its dialect spells it."""
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
    return make_run(state, incoming, plan), incoming.wire


def make_run(state: State, incoming: Incoming, plan: Plan) -> Run:
    """A run that knows the secrets of its request."""
    redactor = state.redactor.child()
    redactor.register_headers(incoming.headers)
    redactor.register(incoming.api_key, incoming.query_params.get("key", ""))
    deadline = time.monotonic() + state.settings.run_timeout
    return Run(plan, incoming, state.services, redactor, deadline, state.workers.new_run_id())


async def answer_run(
    request: web.Request, state: State, run: Run, wire: WireRequest, answer: ProxyAnswer | None = None
) -> web.StreamResponse:
    """Execute a new run and answer in the dialect of ``wire``; a failure after the answer began is told inside it."""
    run.task = asyncio.current_task()
    request[RUN_REDACTOR] = run.redactor
    state.telemetry.follow(request, run)
    state.history.add(run)
    vendor = state.services.vendors[wire.vendor]
    if answer is None:
        answer = ProxyAnswer(request, vendor, wire, run, state.settings)
    keeping: Keeping | None = None
    try:
        try:
            keeping = await begin_keeping(state, run, answer.claim)
            if keeping is not None:
                answer.note_headers(keeping.headers())
                run.conclude = partial(keep, keeping, run, answer)
            await state.executor.run(run, answer)
            return await answer.finish()
        except asyncio.CancelledError:
            if run.stop_reason is None:
                raise
            _go_on()
            try:
                raise run.stop_reason from None
            finally:
                run.stop_reason = None  # it knows this frame, which knows the run
    except AgentUIError as error:
        let_go(error)
        if keeping is not None:
            await drop(keeping, run, error)
        run.finish("failed", describe_error(error))
        state.telemetry.count_error(error.code)
        _name_node(error)
        if answer.has_begun:
            return await answer.fail(redacted(error, run.redactor))
        response = error_response(error, vendor, run.redactor)
        response.headers.update({"x-agentui-run": run.id, "x-agentui-pipeline": run.plan.id})
        response.headers.update(keeping.headers() if keeping is not None else {})
        return response
    except BaseException as error:
        if answer.has_begun:
            answer.abort()
        if keeping is not None:
            await drop(keeping, run, error)
        run.finish("cancelled")  # nothing, where the executor has said how it ended
        raise


def _go_on() -> None:
    """The cancellation has done its work: from here on the task tells its caller of it."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


def _name_node(error: AgentUIError) -> None:
    """Say in the message which node failed: the vendors' shapes have no room for details."""
    if isinstance(error, NodeFailed) and "node" in error.details:
        error.message = f"Node {error.details['node']!r}: {error.message}"


def _headers(request: web.Request) -> dict[str, str]:
    """Header names in lower case; repeated ones joined as HTTP allows."""
    given = request.headers
    headers = {name.lower(): value for name, value in given.items()}
    return headers if len(headers) == len(given) else {name: ", ".join(given.getall(name)) for name in headers}
