"""The one way to run a pipeline, for a caller over HTTP, a turn of a chat, a try in the editor, a job or a test.

request = RunRequest(principal, plan, Incoming.of_chat(chat))
result = await engine.run(request, NullSink())

begin ──> memory opens ──> nodes run, the answering one speaks to the sink ──> settle ──> memory commits ──> end
                                                                   any failure ──> memory fails ──> the sink is told
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from agentui.errors import AgentUIError, Busy, StoreFailed, StoreFull, StoreReadOnly, UpstreamTimeout
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.pipeline.clock import RunClock
from agentui.pipeline.history import RunHistory
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.memory import RunMemory
from agentui.pipeline.metering import Purpose
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.result import RunAnswer, RunResult
from agentui.pipeline.run import Run, RunOrigin, Services
from agentui.pipeline.sink import ListenerGone, Sink
from agentui.pipeline.tokens import reply_of, usage_of
from agentui.pipeline.walk.executor import INTERNAL, describe_error, execute
from agentui.pipeline.walk.group import drop_frames
from agentui.pipeline.walk.said import said_in
from agentui.principal import Principal
from agentui.redaction import Redactor
from agentui.threads import in_thread
from agentui.tools.grant import ToolGrant

log = logging.getLogger("agentui.turns")

OpenMemory = Callable[[Run], Awaitable[RunMemory | None]]
"""Opens the memory of a run that has just begun; None where it has none. Raises AgentUIError."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to run on what, and in whose name.

    ``pins`` are OUT of nodes that must not run, by node id. ``memory`` opens the run's memory; without one it sees no stored
    variable. ``on_begin`` hears of the run before anything happens in it. ``run_id`` is one of ``Engine.new_run_id``, where
    somebody needs to know it before. ``tools`` are those of a turn, None for those of the server that nodes name.
    ``run_vars`` are variables that the run has before any node sets one. ``purpose`` is what its calls are
    counted as, and ``serves`` the chat that they are counted to where the run is no turn of it.
    """

    principal: Principal
    plan: Plan
    incoming: Incoming
    pins: Mapping[str, Json] = field(default_factory=dict)
    origin: RunOrigin = "client"
    memory: OpenMemory | None = None
    on_begin: Callable[[Run], None] | None = None
    run_id: str | None = None
    tools: ToolGrant | None = None
    run_vars: Mapping[str, Json] = field(default_factory=dict)
    purpose: Purpose = "answer"
    serves: str | None = None


class Engine:
    """Runs pipelines on one set of services. Knows nothing of HTTP.

    ``timeout`` is how many seconds a run may take until its answer begins.
    """

    def __init__(
        self,
        services: Services,
        history: RunHistory,
        redactor: Redactor,
        *,
        timeout: float,
        new_run_id: Callable[[], str] = lambda: new_id("run"),
    ) -> None:
        self._services = services
        self._history = history
        self._redactor = redactor
        self._timeout = timeout
        self.new_run_id = new_run_id

    async def run(self, request: RunRequest, sink: Sink) -> RunResult:
        """Run a pipeline to its end. Whatever goes wrong in it is told to the sink and in the result.

        Raises CancelledError and ListenerGone, which end the run as cancelled, and what is nobody's fault but the program's;
        the sink has been aborted then. A run that ``Run.stop`` ended with a reason has failed for that reason.
        """
        run = self._begin(request)
        try:
            try:
                await self._succeed(run, request, sink)
            except asyncio.CancelledError as cancelled:
                if run.stop_reason is None:
                    raise
                error: AgentUIError = run.stop_reason
                run.finish("cancelled", describe_error(error))
                _resume()
                cancelled.__traceback__ = None
            except AgentUIError as failure:
                error = failure
                run.finish("failed", describe_error(error))
            else:
                return result_of(run)
            return await self._fail(run, error, sink)
        except BaseException as fault:
            sink.abort()
            is_left = isinstance(fault, (asyncio.CancelledError, ListenerGone))
            run.finish("cancelled" if is_left else "failed", None if is_left else INTERNAL)
            lost = {"code": "cancelled", "message": "The caller left."} if is_left else INTERNAL
            await _leave_failed(run, lost, cancelled=is_left)
            if is_left:
                fault.__traceback__ = None  # frames that know it, see drop_frames
            raise
        finally:
            run.release()

    def _begin(self, request: RunRequest) -> Run:
        """A run that knows the secrets of its request."""
        incoming = request.incoming
        redactor = self._redactor.child()
        incoming.register_keys(redactor)
        run = Run(
            request.principal,
            request.plan,
            incoming,
            self._services,
            redactor,
            monotonic() + self._timeout,
            request.run_id or self.new_run_id(),
            pins=request.pins,
            run_vars=request.run_vars,
            origin=request.origin,
            purpose="try" if request.origin == "try" else request.purpose,
            serves=request.serves,
            granted=request.tools,
        )
        run.task = asyncio.current_task()
        if request.on_begin is not None:
            request.on_begin(run)
        self._history.add(run)
        return run

    async def _succeed(self, run: Run, request: RunRequest, sink: Sink) -> None:
        """Everything that a run does when nothing goes wrong. Raises what does."""
        if request.memory is not None:
            run.memory = await request.memory(run)
        run.emit("run.started", data={"pipeline": run.plan.id, "name": run.plan.name, "version": run.plan.version})
        clock = run.clock = RunClock(run.deadline - monotonic())
        try:
            await execute(run, run.frame, sink)
        except (Exception, asyncio.CancelledError) as error:
            if clock.stop():
                raise UpstreamTimeout("The run took longer than its deadline and was stopped.", run=run.id) from error
            raise
        clock.stop()
        sink.settle()
        if run.memory is not None:
            await self._commit(run, run.memory, sink)
        run.finish("finished")
        await sink.end()

    async def _commit(self, run: Run, memory: RunMemory, sink: Sink) -> None:
        """Make durable what a run wrote, whatever the caller does meanwhile.

        Where the memory cannot be written the answer still goes out, for it may have cost something: marked with
        ``x-agentui-not-saved`` where its headers are not out yet. What passes soon (a lock, a lost connection) costs no words:
        the memory keeps them as those of an answer that broke off.

        A forwarded answer that is the upstream's error is passed on, and is no turn.
        """
        run.task = None  # What is being kept is not stopped any more: its caller would be told of a failure that was none.
        refused: Json = run.frame.answer.get("error")
        match refused:
            case {"code": str(), "message": str()}:
                words = "" if run.reply is None else run.reply.text
                await to_its_end(memory.fail(_shown(run, refused), cancelled=False, words=words))
                return
        try:
            await to_its_end(memory.commit(result_of(run)))
        except (Busy, StoreFull, StoreFailed, StoreReadOnly) as error:
            log.error("Run %s was answered but not saved: %s", run.id, error.message)
            run.emit("run.warning", data={"message": f"Not saved: {error.message}"})
            sink.note_headers({"x-agentui-not-saved": error.code})
            words = result_of(run).answer.text if isinstance(error, Busy) else ""
            await to_its_end(memory.fail(_shown(run, describe_error(error)), cancelled=False, words=words))

    async def _fail(self, run: Run, error: AgentUIError, sink: Sink) -> RunResult:
        """Leave a failed run behind and tell its listener why."""
        drop_frames(error)
        await _leave_failed(run, _shown(run, describe_error(error)), cancelled=False)
        run.stop_reason = None
        await sink.fail(error)
        return result_of(run, error)


async def _leave_failed(run: Run, error: Mapping[str, Json], *, cancelled: bool) -> None:
    """Tell a run's memory that it failed, and what it had said by then."""
    if run.memory is not None:
        await to_its_end(_tell_failed(run, run.memory, error, cancelled))
    run.partial_reply = None


async def _tell_failed(run: Run, memory: RunMemory, error: Mapping[str, Json], cancelled: bool) -> None:
    """Tell the memory. A forwarded stream is read only now, which may take long."""
    words = "" if run.partial_reply is None else await in_thread(lambda: run.broken_off)
    await memory.fail(error, cancelled=cancelled, words=words)


def result_of(run: Run, error: AgentUIError | None = None) -> RunResult:
    """What a run has come to so far."""
    return RunResult(run.id, run.state, run.out, error, partial(_answer_of, run))


def _answer_of(run: Run) -> RunAnswer:
    """What the answering node said."""
    out = run.frame.answer
    if not out:
        return RunAnswer()
    return RunAnswer(run.redactor.redact(said_in(out)), reply_of(run, out), usage_of(run, out))


def _shown(run: Run, error: Mapping[str, Any]) -> Mapping[str, Json]:
    """An error's description without the keys that an upstream repeated in it."""
    return {**error, "message": run.redactor.redact(error["message"])}


def _resume() -> None:
    """The cancellation has done its work: from here on the task tells its listener of it."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end even when the caller leaves meanwhile; the cancellation then goes on afterwards."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):  # the first goes on
                await asyncio.wait([task])
        if (error := task.exception()) is not None:
            log.warning("What a caller who left began has failed: %s", error)
        raise
    task.result()
