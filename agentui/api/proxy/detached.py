"""``Unattended``: runs that go on when their caller has left."""

import asyncio
import logging
import traceback
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from aiohttp import web

from agentui.errors import AgentUIError, UpstreamTimeout
from agentui.pipeline.run import Run

if TYPE_CHECKING:
    from agentui.api.proxy.recording import RecordedAnswer
    from agentui.http.state import State

log = logging.getLogger("agentui.turns")


class Unattended:
    """Holds the runs that nobody hears any more, until they end or the server does."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[web.StreamResponse]] = set()

    async def see_through(
        self,
        request: web.Request,
        state: "State",
        run: Run,
        answer: "RecordedAnswer",
        work: Coroutine[Any, Any, web.StreamResponse],
    ) -> web.StreamResponse:
        """Answer by ``work``, which is a turn of its own from the moment in which its floor is open: a caller who leaves then
        does not end it. It still counts among the requests under way, and has as long as any run that does not stream."""
        task = asyncio.get_running_loop().create_task(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self._take_over(request, state, run, answer, task)
            raise

    async def close(self) -> None:
        """The server ends: cut what still runs, and wait until it has said so."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _take_over(
        self,
        request: web.Request,
        state: "State",
        run: Run,
        answer: "RecordedAnswer",
        task: "asyncio.Task[web.StreamResponse]",
    ) -> None:
        if run.floor is None:
            task.cancel()  # nothing has begun that would be worth its end
        answer.leave()
        state.in_flight += 1
        state.telemetry.let_go(request)
        self._running.add(task)
        late = UpstreamTimeout("The run took longer than its deadline and was stopped.", run=run.id)
        timer = asyncio.get_running_loop().call_later(state.settings.run_timeout, run.stop, late)

        def end(task: "asyncio.Task[web.StreamResponse]") -> None:
            timer.cancel()
            state.in_flight -= 1
            state.telemetry.count(run)
            self._running.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, (AgentUIError, ConnectionError)):
                trace = "".join(traceback.format_exception(error))
                log.error("Run %s failed by a fault of agentui itself\n%s", run.id, run.redactor.redact(trace))

        task.add_done_callback(end)
