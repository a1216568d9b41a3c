"""Runs the calls that a model makes. A call that fails is told to the model, which may do better; it never ends the run.

read arguments ─▶ tool known? ─▶ references ─▶ schema ─▶ permission ─▶ budget ─▶ recorded ─▶ run ─▶ kept ─▶ cut ─▶ recorded
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol
from uuid import uuid4

from agentui.chat.messages import Text, ToolCall, ToolResult
from agentui.errors import AgentUIError
from agentui.jsonio import Json, dumps
from agentui.threads import apart
from agentui.tools.arguments import ArgumentCheck, read_arguments, size_of
from agentui.tools.catalog import Catalog
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.execution import UNKNOWN_END, DeliveryMode, Execution, ExecutionListener, ExecutionStatus
from agentui.tools.permissions import CallBudget, Permissions
from agentui.tools.schemas import weight_of
from agentui.tools.tool import CallPlace, HostedTool, ReplaySafety, ToolAnswer, ToolCallContext

MAX_RESULT = 1024 * 1024
"""Characters of a result that a model is given."""
MAX_NAME = 200
SHOWN = 500

ArgumentResolver = Callable[[dict[str, Json]], Awaitable[dict[str, Json]]]
"""Puts in what references in the arguments stand for. Raises AgentUIError, which the model is told of."""

log = logging.getLogger("agentui.tools")


class ResultKeeper(Protocol):
    """Keeps what calls gave, for calls to come."""

    def keep(
        self, tool: HostedTool, execution: Execution, arguments: Mapping[str, Json], answer: ToolAnswer
    ) -> tuple[ToolAnswer, bool]:
        """Keep a call's arguments and whole answer; the answer with what the model should know of where they are, and whether
        it is a part of it."""


@dataclass(slots=True)
class _Outcome:
    """How a call ended."""

    status: ExecutionStatus
    answer: ToolAnswer
    error_code: str | None = None
    is_cut: bool = False
    """Whether the answer is a part of what came."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the calls of one place, beside who may call what.

    ``resolve`` and ``keeper`` are the working variables' side of calls, ``redact`` takes secrets out of what is recorded and
    what models are told; ``listeners`` hear of every call.
    """

    resolve: ArgumentResolver | None = None
    keeper: ResultKeeper | None = None
    listeners: Sequence[ExecutionListener] = ()
    redact: Callable[[Json], Json] | None = None
    delivery_mode: DeliveryMode = "inline"
    attempt_no: int = 1


class Executor:
    """Executes the calls of one generation; ``budget`` is the turn's, where others call in it too, and ``inner`` what runs
    that serve calls are given (``ToolCallContext``)."""

    def __init__(
        self,
        catalog: Catalog,
        permissions: Permissions,
        place: CallPlace,
        around: Surroundings = Surroundings(),
        budget: CallBudget | None = None,
        inner: object = None,
    ) -> None:
        self.catalog = catalog
        self.permissions = permissions
        self._place = place
        self._around = around
        self._budget = CallBudget(permissions.max_calls_per_turn) if budget is None else budget
        self._inner = inner
        self._has_told_of_budget = False

    def offered(self) -> Catalog:
        """The tools that this place may call, which are those that a model is told of."""
        slot = self._place.caller_slot
        return Catalog({tool.name: tool for tool in self.catalog if self.permissions.refusal(tool, slot) is None})

    async def execute_all(self, calls: Sequence[ToolCall], step: int = 1) -> list[ToolResult]:
        """Execute the calls of one answer side by side; their results in the calls' order."""
        if len(calls) == 1:
            return [await self.execute(calls[0], step)]
        tasks = [asyncio.ensure_future(self.execute(call, step)) for call in calls]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)  # none of them acts, or is recorded, once its run has failed
            raise

    async def execute(self, call: ToolCall, step: int = 1) -> ToolResult:
        """Execute one call. Whatever goes wrong is in the result. Raises what the listeners raise, and CancelledError."""
        tool = self.catalog.get(call.name)
        execution = self._opened(call, tool, step)
        started = time.perf_counter()
        outcome = await self._prepared(call, tool, execution)
        if isinstance(outcome, tuple):
            tool, arguments = outcome
            execution = replace(execution, arguments=self._redacted(arguments))
            outcome = await self._served(tool, arguments, execution)
            execution = self._doubted(tool, execution, outcome)
        else:
            execution = replace(execution, replay_safety="safe", replay_reason="The tool did not run.")
        return await self._ended(call, execution, outcome, time.perf_counter() - started)

    def _doubted(self, tool: HostedTool, execution: Execution, outcome: _Outcome) -> Execution:
        """What the record says of making a call again that is over. One whose outcome is not known is not made again in its
        turn, and later only where somebody confirms that."""
        if outcome.status != "uncertain" or tool.side_effect != "irreversible":
            return execution
        self._budget.doubtful.add(tool.name)
        safety: ReplaySafety = "never_auto_replay" if execution.replay_safety == "never_auto_replay" else "uncertain"
        return replace(execution, replay_safety=safety, replay_reason=UNKNOWN_END)

    async def _ended(self, call: ToolCall, execution: Execution, outcome: _Outcome, seconds: float) -> ToolResult:
        """Record how a call ended; what the model is told of it."""
        text = self._redacted(_told(outcome.answer))
        assert isinstance(text, str)
        ended = replace(
            execution,
            status=outcome.status,
            lifecycle_state="finished",
            finished_at=time.time_ns() // 1_000_000,
            duration_ms=round(seconds * 1000, 3),
            result=outcome.answer.value,
            result_text=text,
            error_code=outcome.error_code,
            error_message=text[:SHOWN] if outcome.answer.is_error else None,
            is_truncated=outcome.is_cut or len(outcome.answer.text) > MAX_RESULT,
        )
        if outcome.status != "blocked" or not self._has_told_of_budget:
            # A model may ask ten thousand times for what it does not get: one record says so.
            self._has_told_of_budget = self._has_told_of_budget or outcome.status == "blocked"
            for listener in self._around.listeners:
                await listener.finished(ended)
        return ToolResult(call.id, (Text(text),), call.name, outcome.answer.is_error)

    def _opened(self, call: ToolCall, tool: HostedTool | None, step: int) -> Execution:
        """The record of a call that has just been asked for."""
        execution = Execution(
            id=str(uuid4()),
            place=self._place,
            tool_name=call.name[:MAX_NAME],
            call_id=(call.id or "")[:MAX_NAME],
            step=step,
            arguments=self._redacted(call.arguments[:SHOWN]),
            started_at=time.time_ns() // 1_000_000,
            delivery_mode=self._around.delivery_mode,
            attempt_no=self._around.attempt_no,
            policy={
                "allow_irreversible": self.permissions.allow_irreversible,
                "max_calls_per_turn": self.permissions.max_calls_per_turn,
                "max_steps_per_generation": self.permissions.max_steps_per_generation,
            },
        )
        if tool is None:
            return execution
        return replace(
            execution,
            provider_type=tool.provider_type,
            provider_id=tool.provider_id,
            side_effect=tool.side_effect,
            replay_safety=tool.replays,
        )

    async def _prepared(
        self, call: ToolCall, tool: HostedTool | None, execution: Execution
    ) -> "_Outcome | tuple[HostedTool, dict[str, Json]]":
        """The tool that is to run and its arguments, or why none does."""
        if not self._budget.look():
            return _blocked()
        try:
            arguments = await apart(len(call.arguments), partial(read_arguments, call.arguments))
            if tool is None:
                return _refused("error", "unknown_tool", f"There is no tool named {call.name!r:.200}.")
            if self._around.resolve is not None:
                arguments = await self._around.resolve(arguments)
            await apart(weight_of(tool.parameters, size_of(arguments)), partial(_check, tool, arguments))
        except AgentUIError as error:
            return _refused("error", error.code, error.message)
        refusal = self.permissions.refusal(tool, self._place.caller_slot)
        if refusal is not None:
            return _refused("denied", "tool_denied", refusal)
        if tool.name in self._budget.doubtful:
            return _refused("blocked", OutcomeUnknown.code, f"What an earlier call of {tool.name} did is not known: ask first.")
        return (tool, arguments) if self._budget.spend() else _blocked()

    async def _served(self, tool: HostedTool, arguments: dict[str, Json], execution: Execution) -> _Outcome:
        """Run a tool in its time, once it is recorded that it runs."""
        for listener in self._around.listeners:
            await listener.started(execution)
        context = ToolCallContext(execution.id, self._place, time.perf_counter() + tool.timeout, self._inner)
        clock = asyncio.timeout(tool.timeout)
        try:
            async with clock:
                answer = await tool.handler(arguments, context)
            answer = await apart(len(answer.text), partial(self._without_secrets, answer))
        except OutcomeUnknown as error:
            return _refused("uncertain", error.code, error.message)
        except AgentUIError as error:
            return _refused("error", error.code, error.message)
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                if tool.side_effect == "irreversible":
                    message = f"The tool did not answer within {tool.timeout:g} seconds: whether it did anything is not known."
                    return _refused("uncertain", OutcomeUnknown.code, message)
                return _refused("timeout", "tool_timeout", f"The tool did not answer within {tool.timeout:g} seconds.")
            # A handler may be a stranger's, and what it says of its fault may hold anything.
            log.exception("The tool %s of %s %s failed", tool.name, tool.provider_type, tool.provider_id)
            return _refused("error", "tool_failed", "The tool failed.")
        if answer.is_error:
            return _Outcome("error", answer, "tool_error")
        if self._around.keeper is None or not tool.is_cached:
            return _Outcome("success", answer)
        assert isinstance(execution.arguments, dict)
        kept, is_cut = self._around.keeper.keep(tool, execution, execution.arguments, answer)
        return _Outcome("success", kept, is_cut=is_cut)

    def _without_secrets(self, answer: ToolAnswer) -> ToolAnswer:
        """The answer as it is kept, told and recorded: in a slice of a secret nobody would know it. Where the value is too
        large, the record has the beginning of the text."""
        text = self._redacted(answer.text)
        assert isinstance(text, str)
        if answer.value == answer.text or len(dumps(answer.value)) > MAX_RESULT:
            return ToolAnswer(text, text[:MAX_RESULT], answer.is_error)
        return ToolAnswer(text, self._redacted(answer.value), answer.is_error)

    def _redacted(self, value: Json) -> Json:
        return value if self._around.redact is None else self._around.redact(value)


def _check(tool: HostedTool, arguments: dict[str, Json]) -> None:
    """Hold the arguments against the tool's schema."""
    ArgumentCheck(tool.parameters).check(arguments)


def _told(answer: ToolAnswer) -> str:
    """What the model is told: the text, and its beginning alone where it is too long."""
    text = answer.text
    if len(text) <= MAX_RESULT:
        return text
    return f"{text[:MAX_RESULT]}\n[Only the first {MAX_RESULT} of {len(text)} characters are shown. Ask for less.]"


def _blocked() -> _Outcome:
    return _refused("blocked", "tool_budget_used_up", "No more calls are allowed in this turn. Answer without tools.")


def _refused(status: ExecutionStatus, code: str, message: str) -> _Outcome:
    """The end of a call that gave nothing, as the model is told of it."""
    return _Outcome(status, ToolAnswer(f"Error: {message}", is_error=True), code)
