"""The proxied routes: a caller's request through a pipeline and back in the caller's dialect."""

from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

from aiohttp import web

from agentui.api.keys import ASSEMBLER, ENGINE, OWN, PIPELINES, SERVICES, TURNS
from agentui.api.ops.telemetry import TELEMETRY
from agentui.api.proxy.answer import AnswerWriter
from agentui.api.proxy.asked import check_asked
from agentui.api.proxy.detached import complete
from agentui.api.proxy.incoming import read_incoming
from agentui.api.proxy.repeats import claim_of, replay
from agentui.api.proxy.targets import HttpTarget, Recorder, Tee
from agentui.chat.request import WireRequest
from agentui.documents.document import is_own_id
from agentui.errors import NotFound
from agentui.http.credentials import OWN_KEYS
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.reading import PREFIXES, is_form, read_body, split_prefix, stream_body
from agentui.http.writing import send_whole
from agentui.jsonio import Json, work_of
from agentui.pipeline.engine import OpenMemory, RunRequest
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.memory import NOTHING, RunMemory
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run, RunOrigin
from agentui.threads import apart
from agentui.turns.proxied import open_memory
from agentui.turns.repeats import HEADER, Claim, Saved
from agentui.upstream.http.request import BodyStream
from agentui.vendors.detect import METHOD_PATH, PROXIED_PATHS
from agentui.vendors.passed import PASSED, passed_route


def add_proxy_routes(router: web.UrlDispatcher) -> None:
    """Register the proxied routes."""
    for path in (*PROXIED_PATHS, METHOD_PATH):
        for prefix in PREFIXES:
            router.add_post(prefix + path, proxy)
    for route in PASSED:
        for prefix in PREFIXES:
            router.add_route(route.method, prefix + route.path, pass_through)


async def proxy(request: web.Request) -> web.StreamResponse:
    """Run a pipeline on this request and answer in the caller's dialect."""
    app = request.app
    settings, limits = app[SETTINGS], app[LIMITS]
    limits.check_rate(request)
    with limits.under_way():
        body = await read_body(request, settings.max_body, settings.body_timeout)
        asked = await _read_request(request, body)
        claim = claim_of(request, asked.incoming) if HEADER in asked.incoming.headers else None
        if claim is None:
            return await answer_run(request, asked)
        return await _answer_once(request, asked, claim)


async def pass_through(request: web.Request) -> web.StreamResponse:
    """Hand this request to the upstream of a pipeline, and its answer back, both while they come."""
    app = request.app
    settings, limits = app[SETTINGS], app[LIMITS]
    limits.check_rate(request)
    with limits.under_way():
        body, upload = b"", None
        route = passed_route(split_prefix(request.path).path, request.method)
        if route is None or route.body == "none":
            pass  # a body that means nothing is not read
        elif _is_upload(request):
            upload = stream_body(request, settings.max_upload, settings.body_timeout)
        else:
            body = await read_body(request, settings.max_body, settings.body_timeout)
        return await answer_run(request, await _read_request(request, body, upload))


def _is_upload(request: web.Request) -> bool:
    """Whether a body can be passed on while it comes: a form that says how long it is, and is not compressed."""
    is_plain = request.headers.get("Content-Encoding", "identity").strip().lower() == "identity"
    return is_form(request.headers.get("Content-Type", "")) and request.content_length is not None and is_plain


class ProxiedRun(NamedTuple):
    """What is to run on a request, which its dialect spells as ``wire``. ``pins`` and ``origin`` are as in ``RunRequest``."""

    plan: Plan
    incoming: Incoming
    wire: WireRequest
    pins: Mapping[str, Json] = NOTHING
    origin: RunOrigin = "client"


async def answer_run(request: web.Request, asked: ProxiedRun) -> web.StreamResponse:
    """Run what was asked and answer in the caller's dialect; a failure after the answer began is told inside it."""
    app = request.app
    settings = app[SETTINGS]
    target = HttpTarget(request, settings)
    writer = AnswerWriter(app[SERVICES].vendors[asked.wire.vendor], asked.wire, target)
    await _run(request, asked, writer, _memory_of(app))
    assert target.response is not None
    return await send_whole(request, target.response, settings.write_timeout)


async def _answer_once(request: web.Request, asked: ProxiedRun, claim: Claim) -> web.StreamResponse:
    """Answer a turn whose request has a key: as it was answered before, else by a run that goes on when its caller leaves.

    Raises ApiError as ``TurnService.answered`` does.
    """
    app = request.app
    settings = app[SETTINGS]
    saved = await app[TURNS].answered(request[PRINCIPAL].account, claim)
    if saved is not None:
        return await replay(request, saved)
    caller, recorder = HttpTarget(request, settings), Recorder()
    tee = Tee(caller, recorder)
    writer = AnswerWriter(app[SERVICES].vendors[asked.wire.vendor], asked.wire, tee)

    async def save_answer() -> Saved:
        assert writer.run is not None
        return await recorder.saved(writer.run)

    memory = partial(_memory_of(app), claim=claim, save_answer=save_answer)
    work = _run(request, asked, writer, memory)
    await complete(request, work, tee, lambda: writer.run)
    assert caller.response is not None
    return await send_whole(request, caller.response, settings.write_timeout)


def _memory_of(app: web.Application) -> "partial[Coroutine[Any, Any, RunMemory | None]]":
    """What opens the memory of a request's run."""
    return partial(open_memory, app[TURNS], app[ASSEMBLER], matching=app[SETTINGS].turn_matching)


async def _run(request: web.Request, asked: ProxiedRun, writer: AnswerWriter, memory: OpenMemory) -> None:
    """Run what was asked, and let telemetry and the request's own log know."""
    app = request.app

    def begin(run: Run) -> None:
        writer.run = run
        request[RUN_REDACTOR] = run.redactor
        app[TELEMETRY].follow(request, run)

    run_request = RunRequest(request[PRINCIPAL], asked.plan, asked.incoming, asked.pins, asked.origin, memory, begin)
    result = await app[ENGINE].run(run_request, writer)
    if result.error is not None:
        app[TELEMETRY].count_error(result.error.code)


async def plan_named(request: web.Request, id: str) -> Plan:
    """The plan of a pipeline that a request names: the server's, or the caller's own. Raises NotFound, InvalidPipeline,
    Forbidden where accounts have none, and the store's errors."""
    if not is_own_id(id):
        return request.app[PIPELINES].plan(id)
    account = request[PRINCIPAL].account
    await request.app[OWN].ready(account, id)
    return request.app[OWN].plan(account, id)


async def _read_request(request: web.Request, body: bytes, upload: BodyStream | None = None) -> ProxiedRun:
    """What is to run on this request."""
    app, url = request.app, request.rel_url
    read = partial(
        read_incoming,
        app[SERVICES].vendors,
        request[OWN_KEYS],
        method=request.method,
        url=f"{request.scheme}://{request.host}{url}",
        path=unquote(url.raw_path),
        query=url.raw_query_string,
        headers=_headers(request),
        body=body,
        upload=upload,
    )
    incoming, pipeline = await apart(work_of(body), read)
    if incoming.wire is None:
        raise NotFound("This path is in none of the dialects that agentui speaks.")
    pipelines = app[PIPELINES]
    chosen = pipelines.active if pipeline is None else pipeline
    check_asked(request[PRINCIPAL], chosen, incoming, is_named=pipeline is not None)
    return ProxiedRun(await plan_named(request, chosen), incoming, incoming.wire)


def _headers(request: web.Request) -> dict[str, str]:
    """Header names in lower case; repeated ones joined as HTTP allows."""
    given = request.headers
    headers = {name.lower(): value for name, value in given.items()}
    return headers if len(headers) == len(given) else {name: ", ".join(given.getall(name)) for name in headers}
