"""Looking at a pipeline that is being drawn: its check, and what a node would send, shown without sending anything."""

import asyncio
import time
from urllib.parse import urlencode

from aiohttp import web

from agentui.api.keys import CATALOG, HISTORY, PIPELINES, SERVICES
from agentui.api.proxy.incoming import read_incoming
from agentui.errors import BadRequest
from agentui.http.keys import REDACTOR, SETTINGS
from agentui.http.route import Route, answer, read_model
from agentui.http.state import STATE
from agentui.http.workers import WORKERS
from agentui.jsonio import dumps
from agentui.pipeline.compile import Verdict, check_document, compile_plan
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plan import Plan
from agentui.pipeline.preview import Preview, preview_node
from agentui.pipeline.run import Run
from agentui.redaction import secret_headers
from agentui.schemas.editor import PreviewRequest, SampleRequest, ValidateRequest
from agentui.turns.proxied import open_read_memory


async def validate(request: web.Request) -> web.Response:
    """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to."""
    document = (await read_model(request, ValidateRequest)).document
    return answer(await asyncio.to_thread(check_document, document, request.app[CATALOG], request.app[SERVICES]))


async def preview(request: web.Request) -> web.StreamResponse:
    """Show what a node would send or set for a request, without sending anything."""
    app = request.app
    asked = await read_model(request, PreviewRequest, app[SETTINGS].max_body)
    owner = app[WORKERS].owner_of(asked.run_id or "")
    if owner is not None:
        return await app[WORKERS].relay(request, owner, dumps(asked.model_dump(exclude_unset=True)))
    recorded = app[HISTORY].get(asked.run_id) if asked.run_id is not None else None
    incoming, chosen = _incoming(request, asked, recorded)
    plan = await _plan(app, asked, recorded, chosen)
    run = _run(app, plan, incoming, recorded)
    run.run_vars = dict(asked.vars)
    run.memory = await open_read_memory(app[STATE].turns, run)
    given = {**(recorded.out if recorded is not None else {}), **asked.out}
    return answer(await preview_node(run, asked.node, given))


def _incoming(request: web.Request, asked: PreviewRequest, recorded: Run | None) -> tuple[Incoming, str | None]:
    """The caller's request, and the pipeline that it names."""
    if asked.request is None:
        if recorded is None:
            raise BadRequest("Give a request, or the run_id of a run to take it from.", param="request")
        return recorded.incoming, None
    return read_sample(request, asked.request)


async def _plan(app: web.Application, asked: PreviewRequest, recorded: Run | None, chosen: str | None) -> Plan:
    pipelines = app[PIPELINES]
    if asked.document is not None:
        return await asyncio.to_thread(compile_plan, asked.pipeline or "preview", asked.document, app[CATALOG])
    if asked.pipeline is not None:
        return pipelines.plan(asked.pipeline)
    if recorded is not None:
        return recorded.plan
    return pipelines.plan(chosen if chosen is not None else pipelines.active)


def _run(app: web.Application, plan: Plan, incoming: Incoming, recorded: Run | None) -> Run:
    """A run that nobody executes; it knows the secrets of the request and of the run that the request came from."""
    redactor = (recorded.redactor if recorded is not None else app[REDACTOR]).child()
    redactor.register(*secret_headers(incoming.headers), incoming.api_key)
    return Run(plan, incoming, app[SERVICES], redactor, time.monotonic() + app[SETTINGS].run_timeout)


def read_sample(request: web.Request, sample: SampleRequest) -> tuple[Incoming, str | None]:
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
    vendors, token = request.app[SERVICES].vendors, request.app[SETTINGS].own_token
    return read_incoming(vendors, token, method=sample.method, url=url, path=path, query=query, headers=headers, body=body)


ROUTES = (
    Route("POST", "/api/validate", validate, answer=Verdict, body=ValidateRequest, errors=(400, 413, 415)),
    Route("POST", "/api/preview", preview, answer=Preview, body=PreviewRequest, errors=(400, 404, 413, 415, 422)),
)
