"""One run of a plan: its identity, its clock, what its nodes gave out, and its events."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic, time_ns
from typing import Literal, Protocol

from agentui.accounts.vendor_objects import VendorObjects
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName, WireRequest
from agentui.documents.document import is_own_id
from agentui.errors import AgentUIError, NotFound
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.pipeline.assets import AssembledPrompt, AssetReader, no_assets
from agentui.pipeline.caches.answer_cache import AnswerCache
from agentui.pipeline.caches.refusals import Refusals
from agentui.pipeline.caches.thought_cache import ThoughtCache
from agentui.pipeline.caches.tool_steps import ToolSteps
from agentui.pipeline.clock import RunClock
from agentui.pipeline.context import MacroContext
from agentui.pipeline.events import EventLog, EventType, RunEvent, new_event
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.macros import ChatMacros, RunMacros
from agentui.pipeline.memory import RunMemory
from agentui.pipeline.metering import Meter, NoMeter, Purpose
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.result import RunState
from agentui.pipeline.walk.budget import tokens_of
from agentui.pipeline.walk.frame import Frame
from agentui.principal import Principal
from agentui.redaction import Redactor
from agentui.secrets.store import Secret, SecretStore
from agentui.tools.grant import ToolGrant
from agentui.tools.sources import ToolSources
from agentui.tools.vars.working import RuleSource, WorkingVariables, shipped_rules
from agentui.upstream.call import Attempt
from agentui.upstream.client import Upstream
from agentui.upstream.health import TargetHealth
from agentui.upstream.http.exchange import Timeouts
from agentui.vendors.base import Vendors

MOST_MODELS = 20
"""Models that are told of one run, by the first ``MAX_MODEL`` characters of their names."""
MAX_MODEL = 200
MOST_FOLDED = 1_000
"""Events of one iteration that may wait."""

RunOrigin = Literal["client", "try"]
"""Who asked for a run: a client of the proxied routes, or somebody who tries a pipeline out."""


class RunTrace(Protocol):
    """What a run tells a trace of it while it calls upstreams; the rest of a trace is made of the run's events."""

    def begin_attempt(self, node: str, wire: WireRequest | None, number: int) -> Mapping[str, str]:
        """An attempt at asking ``wire`` begins: the headers that name it to the upstream."""

    def end_attempt(self, node: str, attempt: Attempt) -> None:
        """It has an answer's headers, or none."""

    def tell_cost(self, node: str, nano: int | None) -> None:
        """The call has cost so many nano-dollars; None where nobody knows."""


class PresetFields(Protocol):
    """What nodes take of a preset."""

    @property
    def provider(self) -> Literal["caller", VendorName]:
        """The dialect."""

    @property
    def base_url(self) -> str:
        """Where the API lives."""

    @property
    def endpoint(self) -> str:
        """Path and query."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers to send, as templates."""

    @property
    def proxy(self) -> str:
        """The proxy to go through."""

    @property
    def model(self) -> str:
        """The model."""


def no_presets(id: str) -> PresetFields:
    """What knows no preset. Raises NotFound."""
    raise NotFound(f"There is no preset {id!r:.200} here.")


class OwnThings(Protocol):
    """What an account has of its own, which pipelines of its own alone may have. Each raises NotFound where it has none."""

    def held(self, account: str) -> object:
        """What keeps an account's things at hand while somebody has it."""

    def plan(self, account: str, id: str) -> Plan:
        """The plan of a pipeline. Raises InvalidPipeline where it never was a good one."""

    def preset(self, account: str, id: str) -> PresetFields:
        """A preset. Raises InvalidPipeline where it never was a good one."""

    def secret(self, account: str, name: str) -> Secret:
        """A key. Raises NodeFailed where it cannot be opened."""


class NothingOwn:
    """Accounts have nothing of their own."""

    def held(self, account: str) -> object:
        """Nothing."""
        return None

    def plan(self, account: str, id: str) -> Plan:
        """Raises NotFound."""
        return no_plan(id)

    def preset(self, account: str, id: str) -> PresetFields:
        """Raises NotFound."""
        return no_presets(id)

    def secret(self, account: str, name: str) -> Secret:
        """Raises NotFound."""
        raise NotFound(f"You have no secret {name!r}.", name=name)


def no_plan(id: str) -> Plan:
    """There are no pipelines but those that are run. Raises NotFound."""
    raise NotFound(f"There is no pipeline {id!r}.", pipeline=id)


@dataclass(frozen=True)
class Services:
    """What nodes may reach, the same for every run."""

    vendors: Vendors
    upstream: Upstream
    secrets: SecretStore
    thought_cache: ThoughtCache
    timeouts: Timeouts
    max_event: int
    max_reply: int = 32 * 1024 * 1024
    max_stream: int = 128 * 1024 * 1024
    tools: ToolSources = field(default_factory=ToolSources)
    """Gives the tools that nodes may name."""
    tool_steps: ToolSteps = field(default_factory=ToolSteps)
    rules: RuleSource = shipped_rules
    """The skill rules that models with tools are told of."""
    follows_all_references: bool = False
    """Whether references in what came from outside are followed (``References``)."""
    assets: Callable[[str], AssetReader] = no_assets
    """Gives the library of an account."""
    plans: Callable[[str], Plan] = no_plan
    """Gives the pipeline of an id. Raises NotFound, and InvalidPipeline where it never was a good one."""
    target_health: TargetHealth = field(default_factory=TargetHealth)
    """Which targets of nodes failed lately."""
    preset: Callable[[str], PresetFields] = no_presets
    """Gives a preset by its id. Raises NotFound, or InvalidPipeline for one that was never good."""
    own: OwnThings = field(default_factory=NothingOwn)
    """Gives what accounts have of their own."""
    refusals: Refusals = field(default_factory=Refusals)
    """What models refused lately."""
    answers: AnswerCache = field(default_factory=AnswerCache)
    """The answers that nodes keep."""
    meter: Meter = field(default_factory=NoMeter)
    """Counts the calls to models."""
    objects: VendorObjects | None = None
    """Knows whose what vendors keep is; None where everything is one account's."""


class PartialReply(Protocol):
    """A model's reply while it arrives."""

    def reply(self) -> Reply:
        """What it has said so far."""
        ...


def unbound(plan: Plan) -> Plan:
    """The plan as it is."""
    return plan


@dataclass(eq=False)
class Run:
    """A turn on its way, made in the name of ``principal``, whose data alone it sees. ``deadline`` is on the monotonic clock;
    ``redactor`` knows this run's secrets."""

    principal: Principal
    plan: Plan
    incoming: Incoming
    services: Services
    redactor: Redactor
    deadline: float
    id: str = field(default_factory=lambda: new_id("run"))
    started: float = field(default_factory=monotonic)
    started_ms: int = field(default_factory=lambda: time_ns() // 1_000_000)
    finished: float | None = field(default=None, init=False)
    state: RunState = field(default="running", init=False)
    events: EventLog[RunEvent] = field(default_factory=EventLog, init=False)
    frame: Frame = field(init=False)
    """The walk over the plan itself."""
    pins: Mapping[str, Json] = field(default_factory=dict)
    """OUT of nodes that must not run, by node id."""
    run_vars: Mapping[str, Json] = field(default_factory=dict)
    """Variables that the run has before any node sets one."""
    origin: RunOrigin = "client"
    purpose: Purpose = "answer"
    serves: str | None = None
    """The chat that calls are counted to where the run is no turn of it: a director's, a tool's."""
    granted: ToolGrant | None = None
    """The tools of the turn that the run is a part of; None where nodes have those that they name."""
    session: str | None = field(default=None, init=False)
    """The chat that the run is a turn of, with its branch and floor; None where it is none."""
    branch: str | None = field(default=None, init=False)
    floor: str | None = field(default=None, init=False)
    answers_anew: bool = field(default=False, init=False)
    """Whether another answer was given before, and is wanted no more: kept ones are none then."""
    working: WorkingVariables | None = field(default=None, init=False)
    """Those of the turn that it is a part of; of any other run, once a node asks (``working_variables``)."""
    memory: RunMemory | None = field(default=None, init=False)
    """The stored variables, and the turn; None where the run has neither."""
    chat: ChatMacros = field(default_factory=ChatMacros, init=False)
    """What the chat tells macros; nothing where the run is no turn, or its plan does not ask (``Plan.reads_chat``)."""
    bound: Callable[[Plan], Plan] = field(default_factory=lambda: unbound, init=False)
    """What a plan that the run calls becomes: a chat's turn puts its model in."""
    may_retry: bool = field(default=True, init=False)
    """Whether a call that failed may be made again."""
    keys: Mapping[str, Secret] = field(default_factory=dict, init=False)
    """Secrets that the run alone has: those of the profiles that its account bound. Their names are none of the store's."""
    assembled: AssembledPrompt | None = field(default=None, init=False)
    """The prompt that the session makes; None where the run is no turn, or nobody asks (``Plan.assembles``)."""
    macros: RunMacros | None = field(default=None, init=False)
    """What SillyTavern's macros wrote; None where there were none."""
    reply: Reply | None = field(default=None, init=False)
    """What the answering node said, once it has, where it is a model's reply."""
    partial_reply: PartialReply | None = field(default=None, init=False)
    """What the answering node's model has said so far; None before that, and once it has said all."""
    clock: RunClock | None = field(default=None, init=False)
    task: asyncio.Task[object] | None = field(default=None, init=False)
    """What ``stop`` cancels; None where nobody may stop the run."""
    stop_reason: AgentUIError | None = field(default=None, init=False)
    """Why somebody stopped it, where its caller is told."""
    trace: RunTrace | None = field(default=None, init=False)
    """Where its calls are traced; None where nobody wants traces."""
    answer_began: float | None = field(default=None, init=False)
    """When the first words of a streamed answer left, on the monotonic clock."""
    chunks: int = field(default=0, init=False)
    """Pieces of a streamed answer that were sent."""
    received_bytes: int = field(default=0, init=False)
    """Bytes of memory that upstream answers take as OUT holds them, parsed."""
    folded: dict[str, list[RunEvent]] = field(default_factory=dict, init=False)
    """Events of nodes that may be left out, by the path before their ids: they wait until their loop is over."""
    inner_usage: dict[str, int] = field(default_factory=dict, init=False)
    """The tokens of the calls in all walks inside the plan's own, added up, by the names that OUT has for them."""
    asked_models: dict[str, None] = field(default_factory=dict, init=False)
    """The models that calls were sent to, in the order of their first calls; the first ``MOST_MODELS``."""
    sent_bytes: int = field(default=0, init=False)
    """Bytes of bodies that were sent upstream and are not the caller's own; the events hold them."""
    on_finish: Callable[["Run"], None] | None = field(default=None, init=False)
    """Called once, when the run is over."""
    audience: Collection[object] = field(default=(), init=False)
    """Who listens to all runs, now; who follows this one alone waits at ``events``."""

    def __post_init__(self) -> None:
        self.context: MacroContext = MacroContext(self.incoming)
        self.frame = Frame(self.plan, run_vars=self.run_vars)
        self._own = self.services.own.held(self.account) if is_own_id(self.plan.id) else None

    @property
    def account(self) -> str:
        """Whose run it is."""
        return self.principal.account

    @property
    def out(self) -> dict[str, Json]:
        """The OUT of the plan's own nodes, by their ids."""
        return self.frame.out

    @property
    def answered_by(self) -> str | None:
        """The id of the node that has answered; None before one has."""
        return self.frame.answered_by

    def replace_incoming(self, incoming: Incoming) -> None:
        """Answer another request from here on, with the same keys: before any node has run."""
        self.incoming = incoming
        self.context = MacroContext(incoming)

    def release_deadline(self) -> None:
        """The answer streams: from here on only silence ends it, not its length (spec: reliability part 7).

        An answer may also begin when the nodes are done, and then there is no clock left to stop.
        """
        if self.clock is not None:
            self.clock.release()
        self.deadline = inf

    @property
    def tools(self) -> ToolGrant:
        """The tools that the run's nodes may call."""
        return ToolGrant(partial(self.services.tools.catalog, self.account)) if self.granted is None else self.granted

    def working_variables(self) -> WorkingVariables:
        """The working variables of its models, those of the branch where it is a turn."""
        if self.working is None:
            self.working = WorkingVariables()
        return self.working

    @property
    def has_no_deadline(self) -> bool:
        """True once an answer streams (``release_deadline``)."""
        return self.deadline == inf

    @property
    def is_watched(self) -> bool:
        """True while somebody follows what happens as it happens, and does not only read it later."""
        return bool(self.audience) or bool(self.events.waiting)

    def note_model(self, name: str) -> None:
        """Note that a call goes to a model."""
        if name and len(self.asked_models) < MOST_MODELS:
            self.asked_models.setdefault(name[:MAX_MODEL])

    def emit(
        self,
        type: EventType,
        node: str | None = None,
        data: Json | Callable[[], Json] = None,
        *,
        pinned: bool = False,
        port: str | None = None,
    ) -> None:
        """Say that something happened now."""
        event = new_event((type, monotonic() - self.started, node, data, pinned, port))
        if self.folded:
            self.put(event)
            return
        events = self.events
        events.items.append(event)
        if events.waiting:
            events.wake()

    def put(self, event: RunEvent) -> None:
        """Take an event into the log, or where it waits to be left out."""
        if self.folded and event.node is not None:
            path = event.node
            while path := path[: path.rfind("/", 0, -1) + 1]:
                if path in self.folded:
                    if len(self.folded[path]) < MOST_FOLDED:
                        self.folded[path].append(event)
                    return
        self.events.put(event)

    def set_out(self, frame: Frame, node: str, out: Json, *, is_received: bool = False) -> None:
        """Keep the OUT of a node of a walk, as ``Frame`` does, and count the tokens of its calls where the walk is one inside
        another."""
        frame.set_out(node, out, is_received=is_received)
        if frame is not self.frame:
            self._count(frame, out.get("usage") if isinstance(out, Mapping) else None, 1)

    def tell_usage_again(self, frame: Frame, usage: Json) -> None:
        """A node of the walk ``frame`` tells in its OUT of tokens that a node in its own walk has told of: they count once."""
        self._count(frame, usage, -1)

    def _count(self, frame: Frame, usage: Json, sign: int) -> None:
        """Count tokens that were told in a walk, or take them back with -1."""
        for name, count in tokens_of(usage).items():
            self.inner_usage[name] = self.inner_usage.get(name, 0) + sign * count
        if frame.allowance is not None:
            frame.allowance.count(usage, sign)

    @property
    def broken_off(self) -> str:
        """The words of a streamed answer that came before it broke off; "" where it did not, or none came."""
        return "" if self.partial_reply is None or not self.incoming.wants_stream else self.partial_reply.reply().text

    def stop(self, reason: AgentUIError | None = None) -> None:
        """Cancel what runs; its end comes later. The caller is told the reason, or finds its connection broken off."""
        if self.task is not None:
            self.stop_reason = reason
            self.task.cancel()

    def finish(self, state: RunState, error: Json = None) -> None:
        """End the run, once."""
        if self.finished is not None:
            return
        self.state = state
        self.finished = monotonic()
        self.task = self.clock = None
        data: dict[str, Json] = {"state": state}
        if error is not None:
            data["error"] = error
        if self.plan.has_ports and self.answered_by is not None:
            # Elsewhere it is the same node in every run.
            data["answered_by"] = self.answered_by
        self.emit("run.finished", data=data)
        self.events.close()
        self.incoming.retire()
        self.context = MacroContext(self.incoming)
        if self.on_finish is not None:
            self.on_finish(self)

    def release(self) -> None:
        """Let go of what only a run under way needs: its turn with the past and the variables that it began with, its prompt
        and its tools. The history keeps runs for what they said, and has hundreds of them."""
        self.memory = self.working = self.macros = self.assembled = self.granted = self.partial_reply = None
        self.chat, self.bound, self._own = ChatMacros(), unbound, None

    def revoke(self, error: Json) -> None:
        """What the run came to was not kept after all: who reads of it from here on is told that it failed, and why. Does
        nothing to a run that has not finished well."""
        if self.state != "finished":
            return
        self.state = "failed"
        self.events.items[-1] = self.events.items[-1]._replace(data={"state": "failed", "error": error})
