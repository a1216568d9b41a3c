"""What a node would send, shown without sending anything.

Nodes before it that call no model run for real; of those that would, the given or recorded results stand in. Nothing here
can reach an upstream: a node that calls one is only ever asked for its ``preview``.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from agentui.api.editor.sample import SampleRequest, read_sample
from agentui.api.proxy.turns import begin_looking
from agentui.chat.deltas import Delta
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.errors import AgentUIError, BadRequest, NotFound
from agentui.http.route import Route, answer, read_model
from agentui.http.state import STATE, State
from agentui.jsonio import Json, dumps, dumps_text, loads
from agentui.pipeline.answer import Answer
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.nodecontext import NodeContext, TemplateField
from agentui.pipeline.plan import Plan, PlanNode, compile_plan
from agentui.pipeline.run import Run
from agentui.redaction import secret_headers
from agentui.templating.core.language import Segment
from agentui.templating.hadtavern.scope import Scope
from agentui.vendors.sse import SseEvent

V = TypeVar("V")


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


@dataclass(frozen=True, slots=True)
class FieldTrace:
    """Where the pieces of one rendered field came from; ``pointer`` is the place within a JSON body, null in a text."""

    field: str
    pointer: str | None
    segments: list[Segment]


@dataclass(frozen=True, slots=True)
class Preview:
    """What the node would send or set, secrets replaced.

    ``bytes`` is the size of the body, ``tokens`` about how many a model would read (null where none would, or nobody can
    tell). ``warnings`` are sentences, ``missing`` the nodes before it whose results are not
    known, ``empty`` the macros that inserted nothing, each as ``{"field", "macro"}``.
    """

    preview: Json
    bytes: int
    tokens: int | None
    warnings: list[str]
    missing: list[str]
    empty: list[dict[str, str]]
    trace: list[FieldTrace]


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
    target = next((position for position, node in enumerate(plan.nodes) if node.id == asked.node), None)
    if target is None:
        raise NotFound(f"The pipeline has no node {asked.node!r}.", node=asked.node)
    given = {**(recorded.out if recorded is not None else {}), **asked.out}
    missing = await _prepare(run, target, given)
    return answer(await _show(run, target, missing))


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


async def _prepare(run: Run, target: int, given: Mapping[str, Json]) -> list[str]:
    """Give every node before the target its OUT; the ids of those whose OUT nobody knows."""
    missing = []
    before = _before(run.plan, target)
    for position, node in enumerate(run.plan.nodes):
        if position not in before or not node.enabled:
            continue
        if node.id in given:
            _set_out(run, node.id, given[node.id])
        elif node.node.calls_upstream:
            missing.append(node.id)
        else:
            _set_out(run, node.id, await _run_node(run, node))
    return missing


def _before(plan: Plan, target: int) -> set[int]:
    """The positions of the nodes that the target waits for, near or far."""
    found = {target}
    for position in range(target - 1, -1, -1):
        if any(following in found for following in plan.nodes[position].feeds):
            found.add(position)
    return found - {target}


async def _run_node(run: Run, node: PlanNode) -> Json:
    """The OUT of a node that calls no model."""
    try:
        return dict(await node.node.run(NodeContext(run, node.id, node.type, None)))
    except AgentUIError as error:
        error.details.setdefault("node", node.id)
        error.details.setdefault("type", node.type)
        if not node.may_fail:
            raise
        return {"error": {"code": error.code, "message": error.message, "status": error.status}}


def _set_out(run: Run, node_id: str, out: Json) -> None:
    run.out[node_id] = out
    variables = out.get("vars") if isinstance(out, Mapping) else None
    if isinstance(variables, Mapping):
        run.run_vars = {**run.run_vars, **variables}


async def _show(run: Run, target: int, missing: list[str]) -> Json:
    """Ask the node for its preview and tell where the pieces came from: a ``Preview`` as JSON, secrets replaced."""
    node = run.plan.nodes[target]
    ear = _DeafAnswer(run.incoming.wants_stream) if target == run.plan.answer else None
    ctx = _TracingContext(run, node.id, node.type, ear)
    try:
        shown = await node.node.preview(ctx)
    except AgentUIError as error:
        error.details.setdefault("node", node.id)
        error.details.setdefault("type", node.type)
        raise
    members = dict(shown) if isinstance(shown, Mapping) else {}
    tokens, body = members.pop("tokens", None), members.get("body")
    found = Preview(
        preview=members if isinstance(shown, Mapping) else shown,
        bytes=0 if body is None else len(dumps(body)),
        tokens=tokens,
        warnings=_warnings(run, node.id),
        missing=missing,
        empty=ctx.empty(),
        trace=ctx.traces,
    )
    return loads(run.redactor.redact(dumps_text(asdict(found))))


def _warnings(run: Run, node_id: str) -> list[str]:
    """What the check of the pipeline said about this node, and what was noticed while rendering."""
    warnings = [str(problem) for problem in run.plan.warnings if problem.node == node_id]
    for event in run.events.items:
        if event.type == "run.warning" and isinstance(event.data, Mapping) and "message" in event.data:
            warnings.append(str(event.data["message"]))
    return list(dict.fromkeys(warnings))


class _TracingContext(NodeContext):
    """A node's context that remembers where the pieces of every rendered field came from."""

    __slots__ = ("traces",)

    def __init__(self, run: Run, node_id: str, node_type: str, answer: Answer | None) -> None:
        super().__init__(run, node_id, node_type, answer)
        self.traces: list[FieldTrace] = []

    def render(self, field: TemplateField[V], scope: Scope | None = None) -> V:
        scope = scope or self.scope()
        value = super().render(field, scope)
        if field.template.macros:
            for pointer, segments in field.template.trace(scope):
                self.traces.append(FieldTrace(field.name, pointer, segments))
        return value

    def empty(self) -> list[dict[str, str]]:
        """The macros that inserted nothing: a name that is missing, or a value that is empty."""
        return [
            {"field": trace.field, "macro": segment.macro}
            for trace in self.traces
            for segment in trace.segments
            if segment.macro is not None and segment.text in ("", "null")
        ]


class _DeafAnswer:
    """Stands where a caller would listen, so that the node knows it answers; nothing is said in a preview."""

    def __init__(self, wants_stream: bool) -> None:
        self.wants_stream = wants_stream

    def note_dropped(self, names: Sequence[str]) -> None: ...

    def note_headers(self, headers: Mapping[str, str]) -> None: ...

    async def send(self, vendor: VendorName, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None: ...

    async def reply(self, reply: Reply, body: bytes | None = None) -> None: ...

    async def document(self, body: Json) -> None: ...

    async def tokens(self, count: int, *, estimated: bool) -> None: ...

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None: ...

    async def text(self, text: str) -> None: ...


ROUTES = (Route("POST", "/api/preview", preview, answer=Preview, body=PreviewRequest, errors=(400, 404, 413, 415, 422)),)
