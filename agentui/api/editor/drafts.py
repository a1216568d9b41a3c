"""A pipeline that is being drawn: its check, what a node of it would send, and a run to try it out.

A check and a preview send nothing. A try is a real run, some of whose nodes may be pinned: a pinned node does not run, its OUT
is given. To run from a node on, pin all nodes before it.
"""

import asyncio
import time
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from aiohttp import web

from agentui.accounts.restrictions import check_editing
from agentui.api.editor.runs import seen_runs
from agentui.api.keys import CATALOG, OWN, PIPELINES, SERVICES, TURNS
from agentui.api.proxy.asked import check_asked
from agentui.api.proxy.incoming import caller_key, read_incoming
from agentui.api.proxy.routes import ProxiedRun, answer_run, plan_named
from agentui.documents.document import is_own_id
from agentui.errors import BadRequest, NotFound
from agentui.http.credentials import OWN_KEYS, without_own_keys
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, REDACTOR, SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.rights import check_right
from agentui.http.route import Route, answer, read_model
from agentui.http.workers import WORKERS
from agentui.jsonio import Json, dumps, work_of
from agentui.pipeline.assets import check_assets
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plans.compile import Verdict, check_document, compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.preview import Preview, preview_node
from agentui.pipeline.run import Run
from agentui.redaction import written_keys
from agentui.schemas.editor import PreviewRequest, SampleRequest, TryRequest, ValidateRequest
from agentui.threads import apart
from agentui.turns.proxied import open_read_memory
from agentui.vendors.detect import proxied_route

UNSAVED = "unsaved"
"""The id of the pipeline in a run of a document that names none."""


async def validate(request: web.Request) -> web.Response:
    """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to."""
    asked = await read_model(request, ValidateRequest)
    document, services = asked.document, request.app[SERVICES]
    circle = None if asked.pipeline is None else partial(request.app[PIPELINES].circle, asked.pipeline)
    # Which secrets the server has is for those alone whose pipelines may use them.
    has_secret = None if request[PRINCIPAL].may_edit else _untold
    stray = None
    if asked.pipeline is not None and is_own_id(asked.pipeline):
        account = request[PRINCIPAL].account
        own = request.app[OWN]
        await own.ready(account)
        circle, has_secret = partial(own.circle, account, asked.pipeline), partial(own.has_secret, account)
        stray = own.stray(document)
    verdict = await asyncio.to_thread(check_document, document, request.app[CATALOG], services, circle, has_secret)
    if stray is not None:
        verdict = replace(verdict, valid=False, problems=(stray, *verdict.problems))
    missing = await check_assets(document, services.assets(request[PRINCIPAL].account))
    return answer(replace(verdict, problems=(*verdict.problems, *missing)))


def _untold(secret: str) -> bool:
    """Whether there is a secret, to who is not told that one is missing: yes."""
    return True


async def preview(request: web.Request) -> web.StreamResponse:
    """Show what a node would send or set for a request, without sending anything."""
    app = request.app
    asked = await read_model(request, PreviewRequest, app[SETTINGS].max_body)
    elsewhere = await _from_its_worker(request, asked)
    if elsewhere is not None:
        return elsewhere
    recorded = None if asked.run_id is None and asked.request is not None else _recorded(request, asked.run_id)
    if asked.request is not None:
        incoming, chosen = await _read_sample(request, asked.request)
    else:
        assert recorded is not None
        incoming, chosen = await _recorded_request(recorded), None
    # Of a run that names no pipeline the plan as it ran is meant, not as the pipeline is now.
    is_as_it_ran = recorded is not None and asked.document is None and asked.pipeline is None
    if recorded is not None and is_as_it_ran:
        check_asked(request[PRINCIPAL], recorded.plan.id, incoming, is_named=True)
        plan = recorded.plan
        if is_own_id(plan.id):  # what it calls and reads is found now
            await app[OWN].ready(request[PRINCIPAL].account)
    else:
        plan = await _plan(request, asked, chosen, incoming)
    # Nobody executes this run.
    redactor = request[RUN_REDACTOR] = app[REDACTOR].child()
    incoming.register_keys(redactor)
    if not request[PRINCIPAL].may_edit:
        redactor.register_later(partial(written_keys, dict(plan.document)))
    deadline = time.monotonic() + app[SETTINGS].run_timeout
    run = Run(request[PRINCIPAL], plan, incoming, app[SERVICES], redactor, deadline, run_vars=asked.vars)
    run.memory = await open_read_memory(app[TURNS], run)
    given = {**(await _recorded_out(recorded) if recorded is not None else {}), **asked.out}
    return answer(await preview_node(run, asked.node, given))


async def try_pipeline(request: web.Request) -> web.StreamResponse:
    """Run a saved or unsaved pipeline on a request, some nodes pinned, and answer in the request's dialect.

    What is wrong with the call itself has the editor's shape of errors, and there is no ``x-agentui-run`` then; what goes
    wrong in the run has the dialect's.
    """
    app = request.app
    app[LIMITS].check_rate(request)
    asked = await read_model(request, TryRequest, app[SETTINGS].max_body)
    elsewhere = await _from_its_worker(request, asked)
    if elsewhere is not None:
        return elsewhere
    named = {"x-agentui-session": asked.session, "x-agentui-branch": asked.branch}
    given = {name: value for name, value in named.items() if value is not None}
    if asked.request is not None:
        headers = {name.lower(): value for name, value in asked.request.headers.items()} | given
        incoming, chosen = await _read_sample(request, asked.request.model_copy(update={"headers": headers}))
    else:
        run = _recorded(request, asked.run_id)
        recorded = await _recorded_request(run)
        own = {name.lower(): value for name, value in asked.headers.items()}
        headers = {name: value for name, value in recorded.headers.items() if name not in named} | own | given
        sent = without_own_keys(request[OWN_KEYS], headers)
        incoming, chosen = recorded.with_headers(sent, caller_key(sent, recorded.query_params)), run.plan.id
    if incoming.wire is None or proxied_route(incoming.path) is None:
        raise NotFound("No pipeline runs at the request's method and path.", method=incoming.method, path=incoming.path)
    plan = await _plan(request, asked, chosen, incoming)
    unknown = sorted(asked.pins.keys() - {node.id for node in plan.every_node()})
    if unknown:
        raise BadRequest(f"pins names {unknown[0]!r}, but the pipeline has no such node.", param=f"pins.{unknown[0]}")
    with app[LIMITS].under_way():
        return await answer_run(request, ProxiedRun(plan, incoming, incoming.wire, asked.pins, "try"))


async def _from_its_worker(request: web.Request, asked: PreviewRequest | TryRequest) -> web.StreamResponse | None:
    """The answer of the worker that has the run which was named, where that is another one."""
    workers = request.app[WORKERS]
    owner = workers.owner_of(asked.run_id or "")
    if owner is None:
        return None
    return await workers.relay(request, owner, dumps(asked.model_dump(exclude_unset=True)))


def _recorded(request: web.Request, id: str | None) -> Run:
    """The run to take the request from. Raises BadRequest where none was named, NotFound."""
    if id is None:
        raise BadRequest("Give a request, or the run_id of a run to take it from.", param="request")
    return seen_runs(request).get(id)


async def _recorded_request(run: Run) -> Incoming:
    """The request that a run answered, without its caller's keys: who asks here is somebody else."""
    return await asyncio.to_thread(run.incoming.without_keys, run.redactor)


async def _recorded_out(run: Run) -> dict[str, Json]:
    """The results of the run's nodes, without keys."""
    out: dict[str, Json] = await asyncio.to_thread(run.redactor.redact_json, dict(run.out))
    return out


async def _plan(request: web.Request, asked: PreviewRequest | TryRequest, chosen: str | None, incoming: Incoming) -> Plan:
    """What runs: the document, the pipeline that was named, the one that the request chose, or the active one.

    A document may name the server's keys, and so is for those alone who may edit pipelines; one under an id of the caller's own
    reads the caller's keys and no others, and is for everybody.

    Raises NotFound, InvalidPipeline, 403 ``account_forbidden``, 403 ``client_api_key_restricted``.
    """
    app = request.app
    if asked.document is not None and asked.pipeline is not None and is_own_id(asked.pipeline):
        account = request[PRINCIPAL].account
        check_editing(request[PRINCIPAL])
        check_asked(request[PRINCIPAL], asked.pipeline, incoming, is_named=True)
        await app[OWN].ready(account)
        return await asyncio.to_thread(app[OWN].compile, account, asked.pipeline, asked.document)
    if asked.document is not None:
        check_right(request, "edit")
        return await asyncio.to_thread(compile_plan, asked.pipeline or UNSAVED, asked.document, app[CATALOG])
    pipelines = app[PIPELINES]
    named = asked.pipeline if asked.pipeline is not None else chosen
    id = pipelines.active if named is None else named
    check_asked(request[PRINCIPAL], id, incoming, is_named=named is not None)
    return await plan_named(request, id)


async def _read_sample(request: web.Request, sample: SampleRequest) -> tuple[Incoming, str | None]:
    """A caller's request as the editor gives it, read as if it had come over HTTP by itself, and the pipeline that it names
    (None: the active one). A query may also stand in the path.

    Raises WrongContentType and BadRequest as ``read_incoming`` does.
    """
    path, _, written = sample.path.partition("?")
    query = sample.query if isinstance(sample.query, str) else urlencode(sample.query)
    query = "&".join(part for part in (written, query) if part)
    headers = {"content-type": "application/json"} | {name.lower(): value for name, value in sample.headers.items()}
    url = f"{request.url.origin()}{path}" + (f"?{query}" if query else "")
    body = b"" if sample.body is None else dumps(sample.body)
    vendors, own_keys = request.app[SERVICES].vendors, request[OWN_KEYS]
    read = partial(read_incoming, vendors, own_keys, method=sample.method, url=url, path=path, query=query)
    return await apart(work_of(body), partial(read, headers=headers, body=body))


ROUTES = (
    Route("POST", "/api/validate", validate, answer=Verdict, body=ValidateRequest, errors=(400, 413, 415)),
    Route("POST", "/api/preview", preview, answer=Preview, body=PreviewRequest, errors=(400, 403, 404, 413, 415, 422)),
    Route(
        "POST",
        "/api/try",
        try_pipeline,
        answer=dict[str, Json],
        body=TryRequest,
        errors=(400, 403, 404, 413, 415, 422, 429, 503),
        streams=True,
    ),
)
