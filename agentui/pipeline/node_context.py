"""All that a node may touch while it runs."""

import asyncio
import time
from collections import ChainMap
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast

from agentui.documents.document import is_own_id
from agentui.errors import NotFound, Problem, TemplateProblem
from agentui.jsonio import Json
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.macros import RunMacros
from agentui.pipeline.memory import NO_TIERS, NOTHING, NoMemory
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import PresetFields, Run, Services
from agentui.pipeline.sink import Sink
from agentui.pipeline.walk.frame import Frame, LoopExit
from agentui.secrets.store import Secret
from agentui.templating.core.language import Template
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.conditions import Condition
from agentui.templating.hadtavern.scope import Scope
from agentui.threads import LONG, in_thread
from agentui.variables.scopes import Scope as Tier

CHUNK_EVENT_SECONDS = 0.05
"""How long pieces of a stream are gathered for one event while somebody watches."""
UNWATCHED_EVENT_SECONDS = 1.0
"""The same while nobody does: an event costs as much as passing the piece on."""
MOST_GATHERED = 4096
"""Characters after which an event is made all the same; much larger ones are not shown in place."""

NO_TEXTS: Mapping[str, str] = {}

V_co = TypeVar("V_co", covariant=True)
V = TypeVar("V")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TemplateField(Generic[V_co]):
    """A field of a node's configuration, compiled; ``name`` is its path there. ``constant`` is what a text without macros
    always renders to, None for all else."""

    name: str
    template: Template[Scope, V_co]
    constant: V_co | None = None


class NodeContext:
    """One node in one run. ``sink`` takes the answer when this node answers, else it is None.

    ``frame`` is the walk that the node belongs to, the run's own where none is given; ``node_id`` is its id with the path of
    the walk before it. ``port`` is the port that the node leaves by, None while it has chosen none;
    ``came_from`` are the ids of the nodes that led to one that joins branches; ``catches`` says that an edge leads on from its
    failure; ``is_handed_on`` that another node may give this one's answer as its own.
    ``incoming`` is the caller's request; ``services`` are vendors, upstream and secrets; ``used_secrets`` are those that this
    node's templates have read.
    """

    # What few nodes change stands here, where it costs a node nothing.
    port: str | None = None
    came_from: tuple[str, ...] = ()
    catches = False
    is_handed_on = False
    used_secrets: tuple[Secret, ...] = ()
    _scope: Scope | None = None
    _gathered = ""
    _gathered_at = 0.0
    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, run: Run, node_id: str, node_type: str, sink: Sink | None, frame: Frame | None = None) -> None:
        self.run = run
        self.frame = frame = run.frame if frame is None else frame
        self.node_id = frame.path + node_id if frame.path else node_id
        self.node_type = node_type
        self.sink = sink
        self.incoming: Incoming = frame.incoming or run.incoming
        self.services: Services = run.services

    @property
    def body(self) -> Plan:
        """The nodes that stand in this one; of a type that ``holds_body``."""
        return self.frame.plan.bodies[self.node_id.removeprefix(self.frame.path)]

    @property
    def is_own(self) -> bool:
        """Whether the node stands in a pipeline that is an account's own and not the server's."""
        return is_own_id(self.frame.plan.id)

    def plan_of(self, id: str) -> Plan:
        """The plan of another pipeline for one of this node's: the account's own call their own, the server's the server's.
        Raises NotFound, and InvalidPipeline."""
        if is_own_id(id) != self.is_own:
            raise NotFound(
                f"There is no pipeline {id!r:.200} for this one: yours and the server's call their own.", pipeline=id
            )
        return self.services.own.plan(self.run.account, id) if self.is_own else self.services.plans(id)

    def preset_of(self, id: str) -> PresetFields:
        """A preset for this node, as ``plan_of`` has it."""
        if is_own_id(id) != self.is_own:
            raise NotFound(
                f"There is no preset {id!r:.200} for this one: your pipelines and the server's name their own.", preset=id
            )
        return self.services.own.preset(self.run.account, id) if self.is_own else self.services.preset(id)

    async def begin_call(self) -> None:
        """A model is about to be asked. Where a loop around the node has spent its budget, its iteration ends here, and this
        never returns."""
        if self.frame.allowance is not None:
            await self.frame.allowance.begin_call()

    def leave_loop(self, how: LoopExit) -> None:
        """End the iteration in which the node stands once it is done; with "break" the loop, too. For a type that
        ``ends_iteration``."""
        self.frame.left_by = how

    def leave_by(self, port: str) -> None:
        """Choose the port that the node leaves by when it is done."""
        self.port = port

    def beside(self, sink: Sink | None) -> "NodeContext":
        """The same node for one of several calls that it makes: with a sink of its own, and its own ``used_secrets``. Close it
        when its templates are rendered."""
        other = copy(self)
        other.sink = sink
        other.used_secrets = ()
        other._scope = None
        other._gathered = ""
        return other

    @property
    def deadline(self) -> float:
        """When the run must be over, on the monotonic clock."""
        return self.run.deadline

    def scope(self, own: Mapping[str, Json] = NOTHING, prompt: Mapping[str, Json] | None = None) -> Scope:
        """What this node's templates see. ``own`` are names that only this node has (``pm``)."""
        plain = not own and prompt is None
        if plain and self._scope is not None:
            return self._scope
        run, frame = self.run, self.frame
        if frame.loop is not None:
            own = {"loop": frame.loop, **own}
        variables: Mapping[str, Json] = NOTHING
        context: Mapping[str, Json] = frame.context or run.context
        tiers: Any = NO_TIERS  # by their names, which are texts; to a Mapping's type that is something else
        if run.memory is not None:
            staged = run.memory.staged()
            variables, tiers = staged.view()
            if staged.state:
                context = ChainMap({"state": staged.state}, cast(dict[str, Json], context))
        scope = Scope(
            run_vars=frame.run_vars,
            variables=variables,
            tiers=tiers,
            context=context,
            out=frame.seen,
            own=own,
            prompt=prompt,
            secret=self._secret,
            warn=self.warn,
            made=run.redactor.register_made,
            expand=self.expand,
        )
        if plain:
            self._scope = scope
        return scope

    def stage(self, tier: Tier, path: str, value: Json) -> None:
        """Write a stored variable, or into one by a path; durable, with its keys masked, when the run's turn commits.

        Raises CannotStage where the run has no such tier, or the path or value cannot be kept.
        """
        memory = self.run.memory or NoMemory()
        kept = self.run.redactor.redact_json(value)
        if kept != value:
            self.warn(f"Variable {path[:200]!r} holds a key. It is stored with the key masked.")
        source = {"toolName": self.node_type, "providerId": self.node_id}
        memory.staged().stage(tier, path, value, kept=kept, reason=f"node:{self.node_type}", source=source)

    async def apart(self, work: Callable[[], T], size: int = 0) -> T:
        """What ``work`` makes of templates and what they see; in a thread where they see much, so that others are served
        meanwhile. ``size`` is what it goes over beside, in characters."""
        run = self.run
        seen = size + len(self.incoming.body)
        if run.memory is not None:
            seen += run.memory.staged().durable_size
        if seen <= LONG and self.frame.weight_within(LONG) <= LONG:
            return work()
        self._loop = asyncio.get_running_loop()
        try:
            return await in_thread(work)
        finally:
            self._loop = None

    def render(self, field: TemplateField[V], scope: Scope | None = None) -> V:
        """Render a field: text, or JSON. Raises TemplateProblem naming pipeline, node, field, line and column."""
        if field.constant is not None:
            return field.constant
        try:
            return field.template.render(scope or self.scope())
        except TemplateRenderError as error:
            problem = Problem(
                "template.render", error.message, node=self.node_id, field=field.name, line=error.line, column=error.column
            )
            raise TemplateProblem(problem, pipeline=self.run.plan.id) from error

    async def compute(self, field: TemplateField[V], scope: Scope | None = None) -> V:
        """What a template, a condition, or a formula with names gives now; in a thread where it sees much, or searches for what
        may take a while. Raises TemplateProblem as ``render`` does."""
        searches = isinstance(field.template, Condition) and field.template.searches
        return await self.apart(partial(self.render, field, scope), LONG + 1 if searches else 0)

    async def operands(self, field: TemplateField[bool]) -> list[Json]:
        """What the names in a condition are now, for who wants to know why it holds or not."""
        condition = field.template
        assert isinstance(condition, Condition)
        return await self.apart(lambda: condition.operands(self.scope()))

    def emit_chunk(self, text: str) -> None:
        """Let watchers see more of this node's text. Pieces are gathered so that a fast stream makes few events."""
        self._gathered += text
        now = time.monotonic()
        if not self._gathered_at and not self.run.is_watched:
            # The first words are waited for: their event is made when they are on their way.
            self._gathered_at = now
            asyncio.get_running_loop().call_soon(self.flush_chunks)
        waited = now - self._gathered_at
        if waited < CHUNK_EVENT_SECONDS:
            return
        if waited >= UNWATCHED_EVENT_SECONDS or len(self._gathered) >= MOST_GATHERED or self.run.is_watched:
            self._gathered_at = now
            self.flush_chunks()

    def flush_chunks(self) -> None:
        """Hand over the pieces that were gathered, but for what may be the first half of a key that a model repeats: each
        event is shown without keys, and half of one would not be known."""
        text = self._gathered
        held = self.run.redactor.unfinished(text) if text else 0
        self._gathered = text[len(text) - held :]
        if len(text) > held:
            self.run.emit("node.chunk", self.node_id, {"text": text[: len(text) - held]})

    def close(self) -> None:
        """The node is done: hand over what was gathered, and let go of what refers back to this context."""
        if self._gathered:
            text, self._gathered = self._gathered, ""
            self.run.emit("node.chunk", self.node_id, {"text": text})
        self._scope = None

    def _secret(self, name: str) -> str:
        """Read a provider key for a template and remember that it was used here. A pipeline of an account reads that account's
        keys alone: it may call any address, and whoever wrote it needs no right.

        Raises NotFound when there is none of that name.
        """
        secret = self.run.keys.get(name)
        if secret is None and self.is_own:
            secret = self.services.own.secret(self.run.account, name)
        elif secret is None:
            secret = self.services.secrets.get(name)
        self.run.redactor.register(secret.value)
        self.used_secrets = (*self.used_secrets, secret)
        return secret.value

    def expand(self, source: str, values: Mapping[str, str] = NO_TEXTS) -> str:
        """Replace SillyTavern's macros; ``values`` are what read-only ones give to this text alone. Raises CannotStage where
        they write what cannot be kept."""
        if "{{" not in source and "<" not in source:
            return source
        run = self.run
        if run.macros is None:
            run.macros = RunMacros(run.incoming, self.frame.run_vars, run.memory, run.redactor, run.session or "", run.chat)
        return run.macros.expand(source, self.warn, self.stage, values)

    def warn(self, message: str) -> None:
        """Tell who looks at the run of something doubtful."""
        warn = partial(self.run.emit, "run.warning", self.node_id, {"message": message})
        if self._loop is None:
            warn()
        else:
            self._loop.call_soon_threadsafe(warn)  # readers of events wait in the loop
