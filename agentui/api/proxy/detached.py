"""``DetachedRuns``: runs that go on when their caller has left."""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import web

from agentui.api.ops.telemetry import TELEMETRY
from agentui.api.proxy.targets import Tee
from agentui.errors import UpstreamTimeout
from agentui.http.keys import SETTINGS
from agentui.http.limits import LIMITS
from agentui.pipeline.run import Run

log = logging.getLogger("agentui.turns")


class DetachedRuns:
    """Holds the runs that nobody listens to any more, until they end or the server does."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    async def complete(
        self,
        work: Coroutine[Any, Any, None],
        *,
        find_run: Callable[[], Run | None],
        on_leave: Callable[[], Callable[[Run], None]],
        seconds: float,
    ) -> None:
        """Do ``work``, which is a run, to its end. A caller who leaves once its floor is open does not end it.

        ``find_run`` gives the run, once it has begun. ``on_leave`` hears that the caller has left and gives what is to hear
        of the end. From then on the run has as many ``seconds`` as any run that does not stream.
        """
        task = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            run = find_run()
            if run is None:
                task.cancel()
            elif not task.done():
                self._take_over(task, run, on_leave(), seconds)
            raise

    async def close(self) -> None:
        """The server ends: cut what still runs, and wait until it has said so."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _take_over(self, task: asyncio.Task[None], run: Run, on_end: Callable[[Run], None], seconds: float) -> None:
        if run.floor is None:
            task.cancel()  # nothing has begun that would be worth its end
        self._running.add(task)
        late = UpstreamTimeout("The run took longer than its deadline and was stopped.", run=run.id)
        timer = asyncio.get_running_loop().call_later(seconds, run.stop, late)

        def end(task: asyncio.Task[None]) -> None:
            timer.cancel()
            on_end(run)
            self._running.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, ConnectionError):
                trace = "".join(traceback.format_exception(error))
                log.error("Run %s failed by a fault of agentui itself\n%s", run.id, run.redactor.redact(trace))

        task.add_done_callback(end)


DETACHED: web.AppKey[DetachedRuns] = web.AppKey("detached", DetachedRuns)


async def complete(request: web.Request, work: Coroutine[Any, Any, None], tee: Tee, find_run: Callable[[], Run | None]) -> None:
    """Answer a request with a key by ``work``, as ``DetachedRuns.complete`` does it.

    Once the caller has left, ``tee`` is told so, and the run counts as one that is under way by itself.
    """
    app = request.app
    limits, telemetry = app[LIMITS], app[TELEMETRY]

    def leave() -> Callable[[Run], None]:
        tee.leave()
        limits.in_flight += 1
        telemetry.detach(request)
        return end

    def end(run: Run) -> None:
        limits.in_flight -= 1
        telemetry.count(run)

    await app[DETACHED].complete(work, find_run=find_run, on_leave=leave, seconds=app[SETTINGS].run_timeout)
