"""Asks a model, runs the tools that it asks for here, and asks again with their results, until it answers.

    ask ─▶ calls of this server's tools? ─▶ run them side by side ─▶ ask again with thoughts, calls and results
            │ none, or the steps are used up: the answer is over
            └ calls of the caller's tools too: the answer is over; what was called here is kept for when the caller is back

A caller sees one answer: the words and thoughts of all steps, and the calls of its own tools alone.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from agentui.chat.deltas import Delta, End, Finish, Start, TextDelta, ThinkingDelta, ToolCallDelta, Usage, UsageDelta
from agentui.chat.messages import Message, Part, ToolCall, text_message
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import ChatRequest, Tool, ToolChoice
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.model_call import StreamedPiece, WholeReply
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.cached_call import OpenedCall
from agentui.tools.catalog import GROUP, Catalog
from agentui.tools.errors import ToolCatalogConflict
from agentui.tools.execution import Execution
from agentui.tools.executor import Executor
from agentui.tools.tool import CallPlace
from agentui.tools.vars.rules import declared_rules
from agentui.tools.vars.tools import READING_GROUP
from agentui.upstream.headers import hops_of
from agentui.vendors.base import Vendor
from agentui.vendors.offering import offer

Ask = Callable[[Sequence[Message], Catalog, ToolChoice | None], Awaitable[OpenedCall]]
"""Asks for the next step: after the messages of the steps before it, offering these tools, with this choice among all tools
(None: the caller's)."""

SHOWN = 2000
"""Characters of arguments and of a result that the timeline has."""
NOTHING_SAID = Choice()
AGAIN = ToolChoice("auto")
ANSWER_NOW = ToolChoice("none")


async def executor_of(ctx: NodeContext, named: Sequence[str]) -> Executor | None:
    """What runs the tools of a node that names these; None where it has none. Beside the tools that are chosen those that
    read working variables are there. Raises UnknownTool, and ToolCatalogConflict."""
    grant = ctx.run.tools
    selectors = (*named, *(grant.offered if ctx.sink is not None else ()))
    if not selectors:
        return None
    run, working = ctx.run, ctx.run.working_variables()
    system = await working.system(ctx.services.rules)
    grant = grant.calling_from(run.plan.id).with_variables(system, follows_all=ctx.services.follows_all_references)
    hops = hops_of(ctx.incoming.headers) + 1
    place = CallPlace(
        run.principal, run.id, run.session or "", run.branch or "", run.floor or "", node_id=ctx.node_id, hops=hops
    )
    grant = replace(grant, around=replace(grant.around, redact=run.redactor.redact_json))
    offered = (await grant.executor(selectors, place)).offered()
    if not len(offered):
        return None
    working.declare(declared_rules((tool.group, tool.rules) for tool in offered))
    return await grant.executor((*selectors, f"{GROUP}{READING_GROUP}"), place, _Events(ctx))


def with_steps(ctx: NodeContext, chat: ChatRequest) -> ChatRequest:
    """The request with what its system prompt says of the skill rules, and with the steps of earlier answers that are kept."""
    text, at = ctx.run.working_variables().rules_prompt, 0
    while at < len(chat.messages) and chat.messages[at].role == "system":
        at += 1
    messages = (*chat.messages[:at], text_message("system", text), *chat.messages[at:])
    return replace(chat, messages=ctx.services.tool_steps.restore(ctx.run.account, ctx.incoming, messages))


def offering(vendor: Vendor, chat: ChatRequest, tools: Catalog, choice: ToolChoice | None = None) -> ChatRequest:
    """The request with these tools beside the caller's own; ``choice`` stands in for the caller's where it is given. It is for
    one answer where a turn would like several: steps go on from one.

    Raises ToolCatalogConflict where the caller has a tool of the same name.
    """
    own = _names(chat)
    for tool in tools:
        if tool.name in own:
            raise ToolCatalogConflict(
                f"The request brings a tool named {tool.name!r:.200}, which this pipeline has too. Rename the request's.",
                tool=tool.name[:200],
            )
    chat = replace(chat, params=replace(chat.params, answers=None))
    return offer(vendor, chat, [tool.offered() for tool in tools], choice)


async def converse(ctx: NodeContext, executor: Executor, ask: Ask) -> AsyncGenerator[StreamedPiece, None]:
    """The pieces of one answer over all steps, without events: no dialect wrote it as it is told.

    Raises as ``ask`` and the listeners of calls do.
    """
    chat = await ctx.incoming.worked_out(lambda: ctx.incoming.chat)
    own = frozenset[str]() if ctx.sink is None else _names(chat)
    told = _Told(own)
    made: list[Message] = []
    tools, choice = executor.offered(), None
    is_forced = ctx.sink is not None and chat.tool_choice is not None and chat.tool_choice.mode in ("required", "named")
    step = 0
    while True:
        step += 1
        is_last = step > executor.permissions.max_steps_per_generation
        if is_last:
            choice = ANSWER_NOW
        builder = ReplyBuilder()
        async with aclosing((await ask(made, tools, choice)).pieces) as pieces:
            async for piece in pieces:
                deltas = list(piece.reply.deltas()) if isinstance(piece, WholeReply) else piece.deltas
                builder.feed(deltas)
                if shown := told.of(deltas):
                    yield StreamedPiece((), shown)
        said = _said(builder.reply())
        hosted = [call for call in said.tool_calls if call.name not in own]
        is_over = is_last or not hosted
        results = [] if is_over else await executor.execute_all(hosted, step)
        parts = said.parts if results else tuple(part for part in said.parts if not _is_hosted(part, own))
        messages = (Message("assistant", parts), *(Message("tool", (result,)) for result in results))
        made += messages
        if is_over or told.has_own_calls:
            break
        told.end_step()
        choice = AGAIN if is_forced else None
    if told.own_calls and len(made) > 1:
        ctx.services.tool_steps.keep(ctx.run.account, ctx.incoming, told.own_calls, made)
    yield StreamedPiece((), list(told.ending(said)))


def _names(chat: ChatRequest) -> frozenset[str]:
    """The names of the caller's own tools."""
    return frozenset(tool.name for tool in chat.tools if isinstance(tool, Tool))


def _is_hosted(part: Part, own: frozenset[str]) -> bool:
    """Whether a part of an answer calls a tool that is not the caller's."""
    return isinstance(part, ToolCall) and part.name not in own


def _said(reply: Reply) -> Choice:
    return reply.choices[0] if reply.choices else NOTHING_SAID


class _Told:
    """What the caller is told of the steps: one answer."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own_calls: list[str] = []
        """Ids of the calls of the caller's own tools."""
        self._own = own
        self._usage: Usage | None = None
        self._step_usage: Usage | None = None
        self._has_begun = self._has_text = self._wants_gap = False
        self._block = self._blocks = 0
        self._numbers: dict[int, int | None] = {}
        self._calls = 0

    @property
    def has_own_calls(self) -> bool:
        """Whether the answer ends with calls of the caller's own tools."""
        return self._calls > 0

    def of(self, deltas: Sequence[Delta]) -> list[Delta]:
        """What the caller is told of these now; the end waits for ``ending``."""
        shown: list[Delta] = []
        for delta in deltas:
            match delta:
                case Start():
                    if not self._has_begun:
                        self._has_begun = True
                        shown.append(delta)
                case Finish() | End():
                    pass
                case UsageDelta(usage):
                    self._step_usage = usage if self._step_usage is None else self._step_usage.updated(usage)
                case ToolCallDelta():
                    shown += self._call(delta)
                case TextDelta(text):
                    if text and self._wants_gap:
                        # Two steps' words are two paragraphs.
                        shown.append(TextDelta("\n\n"))
                        self._wants_gap = False
                    self._has_text = self._has_text or bool(text)
                    shown.append(delta)
                case ThinkingDelta():
                    self._blocks = max(self._blocks, self._block + delta.block + 1)
                    shown.append(replace(delta, block=self._block + delta.block))
                case _:
                    shown.append(delta)
        return shown

    def _call(self, delta: ToolCallDelta) -> Iterator[Delta]:
        """A call of the caller's own tool, counted without this server's."""
        if delta.index not in self._numbers:
            is_own = delta.name in self._own
            self._numbers[delta.index] = self._calls if is_own else None
            self._calls += is_own
            if is_own and delta.id is not None:
                self.own_calls.append(delta.id)
        number = self._numbers[delta.index]
        if number is not None:
            yield replace(delta, index=number)

    def end_step(self) -> None:
        """The model is asked again."""
        self._count()
        self._wants_gap = self._has_text
        self._block = self._blocks
        self._numbers = {}

    def ending(self, said: Choice) -> Iterator[Delta]:
        """What ends the answer: all tokens, and why the last step ended."""
        self._count()
        if self._usage is not None:
            yield UsageDelta(self._usage)
        if said.finish is not None:
            yield Finish("stop" if said.finish == "tool_calls" and not self._calls else said.finish, said.stop_sequence)
        yield End()

    def _count(self) -> None:
        """Add the step's tokens to those before."""
        step, self._step_usage = self._step_usage, None
        if step is None or self._usage is None:
            self._usage = step if self._usage is None else self._usage
            return
        self._usage = self._usage.plus(step)


class _Events:
    """Tells a run's events of the calls of one node."""

    def __init__(self, ctx: NodeContext) -> None:
        self._run = ctx.run
        self._node = ctx.node_id

    async def started(self, execution: Execution) -> None:
        """A tool begins to run."""
        self._tell(execution)

    async def finished(self, execution: Execution) -> None:
        """A call is over."""
        self._tell(execution)

    def _tell(self, execution: Execution) -> None:
        # Not the record itself, whose result may be a thousand times what the timeline shows of it.
        self._run.emit("node.tool", self._node, _event_of(execution))


def _beginning(value: Json) -> Json:
    """A value where it is short, else the beginning of its text: the record has the whole."""
    text = value if isinstance(value, str) else dumps_text(value)
    return value if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _event_of(execution: Execution) -> dict[str, Json]:
    """A call for the timeline; ``duration_ms`` is None while it runs."""
    return {
        "id": execution.id,
        "tool": execution.tool_name,
        "step": execution.step,
        "status": execution.status,
        "arguments": _beginning(execution.arguments),
        "result": _beginning(execution.result if execution.result is not None else execution.result_text),
        "duration_ms": execution.duration_ms,
        "error": execution.error_message,
    }
