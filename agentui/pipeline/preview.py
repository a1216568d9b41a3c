"""What a node would send, shown without sending anything.

Nodes before it that call no model run for real; of those that would, the given results stand in. Nothing here can reach an
upstream: a node that calls one is only ever asked for its ``preview``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from agentui.errors import AgentUIError, NotFound
from agentui.jsonio import Json, dumps, dumps_text, loads
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.plans.plan import Plan, PlanNode
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink, Sink
from agentui.pipeline.walk.executor import describe_error
from agentui.pipeline.walk.frame import Frame
from agentui.pipeline.walk.reach import EVERY_PORT, Reach, is_failure, port_of
from agentui.templating.core.language import Segment
from agentui.templating.hadtavern.scope import Scope

V = TypeVar("V")


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


async def preview_node(run: Run, node: str, given: Mapping[str, Json]) -> Json:
    """What a node would send or set in this run, which nobody executes: a ``Preview`` as JSON.

    ``given`` are results of nodes by id. Raises NotFound where the plan has no such node, and what its templates, and the
    nodes before it, raise; then with the node's id and type in the details.
    """
    way = _way_to(run.plan, node)
    if not way:
        raise NotFound(f"The pipeline has no node {node!r}.", node=node)
    frame, missing = run.frame, list[str]()
    for target in way[:-1]:
        missing += await _prepare(run, frame, target, given)
        frame = await _first_iteration(run, frame, target)
    missing += await _prepare(run, frame, way[-1], given)
    return await _show(run, frame, way[-1], missing)


def _way_to(plan: Plan, node: str) -> list[int]:
    """The position of a node, behind those of the loops in which it stands; [] where there is none of the id."""
    for position, each in enumerate(plan.nodes):
        if each.id == node:
            return [position]
        if each.id in plan.bodies and (inside := _way_to(plan.bodies[each.id], node)):
            return [position, *inside]
    return []


async def _first_iteration(run: Run, frame: Frame, holder: int) -> Frame:
    """The walk in which a node of a loop would run first."""
    node = frame.plan.nodes[holder]
    loop = await node.node.first_iteration(NodeContext(run, node.id, node.type, None, frame))
    return Frame(frame.plan.bodies[node.id], f"{frame.path}{node.id}#1/", frame.run_vars, loop, frame)


async def _prepare(run: Run, frame: Frame, target: int, given: Mapping[str, Json]) -> list[str]:
    """Give the nodes before the target their OUT, as far as they would be reached; where the target itself would not be, all of
    them. Returns the ids of those whose OUT nobody knows."""
    plan = frame.plan
    before = plan.before(target)
    missing: list[str] = []
    reach = Reach(plan.nodes)
    reached = {position for position in before if plan.nodes[position].waits_for == 0}
    for position in sorted(before):
        if position in reached:
            port = await _settle(run, frame, position, given, missing)
            failed = is_failure(frame.out.get(plan.nodes[position].id))
            reached.update(reach.leave(position, port, failed=failed)[0])
    if target not in reached and before:
        for position in sorted(before - reached):
            await _settle(run, frame, position, given, missing)
    return missing


async def _settle(run: Run, frame: Frame, position: int, given: Mapping[str, Json], missing: list[str]) -> str:
    """Give one node its OUT, where anybody knows it. Returns the port that it leaves by."""
    node = frame.plan.nodes[position]
    if not node.enabled:
        return EVERY_PORT
    if node.id in given:
        run.set_out(frame, node.id, given[node.id])
        return port_of(node, given[node.id])
    if node.node.calls_upstream or node.id in frame.plan.bodies:  # a loop may call anybody
        missing.append(node.id)
        return EVERY_PORT
    ctx = NodeContext(run, node.id, node.type, None, frame)
    ctx.came_from = _came_from(frame, position)
    try:
        out: Json = dict(await node.node.rehearse(ctx))
    except AgentUIError as error:
        error.details.setdefault("node", node.id)
        error.details.setdefault("type", node.type)
        if not (node.may_fail or node.catches):
            raise
        out = {"error": describe_error(error)}
        run.set_out(frame, node.id, out)
        return port_of(node, out)
    run.set_out(frame, node.id, out)
    return ctx.port or node.default_port


def _came_from(frame: Frame, position: int) -> tuple[str, ...]:
    """The ids of the nodes that lead to one, of those whose OUT is known."""
    return tuple(node.id for node in frame.plan.nodes if position in node.feeds and node.id in frame.out)


async def _show(run: Run, frame: Frame, target: int, missing: list[str]) -> Json:
    """Ask the node for its preview and tell where the pieces came from."""
    node = frame.plan.nodes[target]
    sink = NullSink(wants_stream=run.incoming.wants_stream) if target in frame.plan.answers else None
    ctx = _TracingContext(run, node.id, node.type, sink, frame)
    ctx.came_from = _came_from(frame, target)
    try:
        shown = await node.node.preview(ctx)
    except AgentUIError as error:
        error.details.setdefault("node", node.id)
        error.details.setdefault("type", node.type)
        raise
    return await ctx.apart(partial(_told, run, node, ctx, shown, missing))


def _told(run: Run, node: PlanNode, ctx: "_TracingContext", shown: Json, missing: list[str]) -> Json:
    """What a node has shown, as a ``Preview`` in JSON, secrets replaced."""
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
    return loads(run.redactor.redact(dumps_text(found)))


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

    def __init__(self, run: Run, node_id: str, node_type: str, sink: Sink | None, frame: Frame) -> None:
        super().__init__(run, node_id, node_type, sink, frame)
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
