"""Trying a pipeline out: a real run, of a saved pipeline or one still being drawn, some of whose nodes are pinned.

A pinned node does not run: its OUT is given. To run from a node on, pin all nodes before it.
"""

import asyncio
from dataclasses import replace

from aiohttp import web

from agentui.api.editor.preview import read_sample
from agentui.api.proxy.routes import answer_run, check_capacity
from agentui.errors import BadRequest, NotFound
from agentui.http.route import Route, read_model
from agentui.http.state import STATE, State
from agentui.http.workers import WORKERS
from agentui.jsonio import Json, dumps
from agentui.pipeline.compile import compile_plan
from agentui.pipeline.engine import RunRequest
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plan import Plan
from agentui.schemas.editor import TryRequest
from agentui.vendors.detect import proxied_route

UNSAVED = "unsaved"
"""The id of the pipeline in a run of a document that names none."""


async def try_pipeline(request: web.Request) -> web.StreamResponse:
    """Run a saved or unsaved pipeline on a request, some nodes pinned, and answer in the request's dialect.

    What is wrong with the call itself has the editor's shape of errors, and there is no ``x-agentui-run`` then; what goes
    wrong in the run has the dialect's.
    """
    state = request.app[STATE]
    asked = await read_model(request, TryRequest, state.settings.max_body)
    workers = request.app[WORKERS]
    owner = workers.owner_of(asked.run_id or "")
    if owner is not None:
        return await workers.relay(request, owner, dumps(asked.model_dump(exclude_unset=True)))
    incoming, chosen = _incoming(request, state, asked)
    if incoming.wire is None or proxied_route(incoming.path) is None:
        raise NotFound("No pipeline runs at the request's method and path.", method=incoming.method, path=incoming.path)
    plan = await _plan(state, asked, chosen)
    unknown = sorted(asked.pins.keys() - {node.id for node in plan.nodes})
    if unknown:
        raise BadRequest(f"pins names {unknown[0]!r}, but the pipeline has no such node.", param=f"pins.{unknown[0]}")
    check_capacity(request, state)
    state.in_flight += 1
    try:
        return await answer_run(request, state, RunRequest(plan, incoming, asked.pins, "try"), incoming.wire)
    finally:
        state.in_flight -= 1


def _incoming(request: web.Request, state: State, asked: TryRequest) -> tuple[Incoming, str | None]:
    """The request, and the pipeline that it names or that it ran through."""
    named = {"x-agentui-session": asked.session, "x-agentui-branch": asked.branch}
    given = {name: value for name, value in named.items() if value is not None}
    if asked.request is not None:
        headers = {name.lower(): value for name, value in asked.request.headers.items()} | given
        return read_sample(request, asked.request.model_copy(update={"headers": headers}))
    if asked.run_id is None:
        raise BadRequest("Give a request, or the run_id of a run to take it from.", param="request")
    run = state.history.get(asked.run_id)
    headers = {name: value for name, value in run.incoming.headers.items() if name not in named} | given
    return replace(run.incoming, headers=headers), run.plan.id


async def _plan(state: State, asked: TryRequest, chosen: str | None) -> Plan:
    """What runs. Raises NotFound, InvalidPipeline."""
    if asked.document is not None:
        return await asyncio.to_thread(compile_plan, asked.pipeline or UNSAVED, asked.document, state.catalog)
    if asked.pipeline is not None:
        return state.pipelines.plan(asked.pipeline)
    return state.pipelines.plan(chosen if chosen is not None else state.pipelines.active)


ROUTES = (
    Route(
        "POST",
        "/api/try",
        try_pipeline,
        answer=dict[str, Json],
        body=TryRequest,
        errors=(400, 404, 413, 415, 422, 503),
        streams=True,
    ),
)
