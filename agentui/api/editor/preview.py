"""What a node would send, shown without sending anything."""

import asyncio
import time
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from agentui.api.editor.sample import SampleRequest, read_sample
from agentui.api.proxy.turns import begin_looking
from agentui.errors import BadRequest
from agentui.http.route import Route, answer, read_model
from agentui.http.state import STATE, State
from agentui.jsonio import dumps
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plan import Plan, compile_plan
from agentui.pipeline.preview import Preview, preview_node
from agentui.pipeline.run import Run
from agentui.redaction import secret_headers


class PreviewRequest(BaseModel):
    """Which node of which pipeline, for which request.

    Name a saved ``pipeline`` or give a ``document``; without either the run's own pipeline is meant, else the one that the
    request would choose. Give a ``request`` or the ``run_id`` of a run to take it (and the results of its nodes) from.
    ``out`` are results of nodes by id, ``vars`` variables of the run.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    node: str
    pipeline: str | None = None
    document: dict[str, Any] | None = None
    request: SampleRequest | None = None
    run_id: str | None = None
    out: dict[str, Any] = Field(default_factory=dict)
    vars: dict[str, Any] = Field(default_factory=dict)


async def preview(request: web.Request) -> web.StreamResponse:
    """Show what a node would send or set for a request, without sending anything."""
    state = request.app[STATE]
    asked = await read_model(request, PreviewRequest, state.settings.max_body)
    keeper = state.siblings.keeper_of(asked.run_id or "")
    if keeper is not None:
        return await state.siblings.relay(request, keeper, dumps(asked.model_dump(exclude_unset=True)))
    recorded = state.history.get(asked.run_id) if asked.run_id is not None else None
    incoming, chosen = _incoming(request, state, asked, recorded)
    plan = await _plan(state, asked, recorded, chosen)
    run = _run(state, plan, incoming, recorded)
    run.run_vars = dict(asked.vars)
    await begin_looking(state, run)
    given = {**(recorded.out if recorded is not None else {}), **asked.out}
    return answer(await preview_node(run, asked.node, given))


def _incoming(request: web.Request, state: State, asked: PreviewRequest, recorded: Run | None) -> tuple[Incoming, str | None]:
    """The caller's request, and the pipeline that it names."""
    if asked.request is None:
        if recorded is None:
            raise BadRequest("Give a request, or the run_id of a run to take it from.", param="request")
        return recorded.incoming, None
    return read_sample(request, state, asked.request)


async def _plan(state: State, asked: PreviewRequest, recorded: Run | None, chosen: str | None) -> Plan:
    if asked.document is not None:
        return await asyncio.to_thread(compile_plan, asked.pipeline or "preview", asked.document, state.catalog)
    if asked.pipeline is not None:
        return state.pipelines.plan(asked.pipeline)
    if recorded is not None:
        return recorded.plan
    return state.pipelines.plan(chosen if chosen is not None else state.pipelines.active)


def _run(state: State, plan: Plan, incoming: Incoming, recorded: Run | None) -> Run:
    """A run that nobody executes; it knows the secrets of the request and of the run that the request came from."""
    redactor = (recorded.redactor if recorded is not None else state.redactor).child()
    redactor.register(*secret_headers(incoming.headers), incoming.api_key)
    return Run(plan, incoming, state.services, redactor, time.monotonic() + state.settings.run_timeout)


ROUTES = (Route("POST", "/api/preview", preview, answer=Preview, body=PreviewRequest, errors=(400, 404, 413, 415, 422)),)
