"""``DetachedRuns``: runs that go on when their caller has left."""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import web

from agentui.api.ops.telemetry import TELEMETRY
from agentui.api.proxy.targets import Tee
from agentui.errors import AgentUIError, UpstreamTimeout
from agentui.http.keys import SETTINGS
from agentui.http.limits import LIMITS
from agentui.pipeline.run import Run
from agentui.redaction import Redactor

log = logging.getLogger("agentui.turns")


class DetachedRuns:
    """Holds the runs that nobody listens to any more, until they end or the server does. ``redactor`` knows the server's
    keys."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._running: set[asyncio.Task[None]] = set()

    async def complete(
        self,
        work: Coroutine[Any, Any, None],
        *,
        find_run: Callable[[], Run | None],
        is_open: Callable[[], bool],
        on_leave: Callable[[], Callable[[Run | None], None]],
        seconds: float,
    ) -> None:
        """Do ``work``, which is a run, to its end. A caller who leaves once its floor is open does not end it.

        ``find_run`` gives the run, once it has begun; ``is_open`` tells of a turn that is open before its run begins.
        ``on_leave`` hears that the caller has left and gives what is to hear of the end, with the run where there was one.
        From then on the work has as many ``seconds`` as any run that does not stream.
        """
        task = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            run = find_run()
            if not (is_open() if run is None else run.floor is not None):
                task.cancel()  # nothing has begun that would be worth its end
            if not task.done() and (run is not None or is_open()):
                self._take_over(task, find_run, on_leave(), seconds)
            raise

    async def close(self) -> None:
        """The server ends: cut what still runs, and wait until it has said so."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _take_over(
        self,
        task: asyncio.Task[None],
        find_run: Callable[[], Run | None],
        on_end: Callable[[Run | None], None],
        seconds: float,
    ) -> None:
        self._running.add(task)

        def stop() -> None:
            run = find_run()
            if run is None or run.task is None:
                task.cancel()
            else:
                run.stop(UpstreamTimeout("The run took longer than its deadline and was stopped.", run=run.id))

        timer = asyncio.get_running_loop().call_later(seconds, stop)

        def end(task: asyncio.Task[None]) -> None:
            timer.cancel()
            run = find_run()
            on_end(run)
            self._running.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, ConnectionError | AgentUIError):
                trace = "".join(traceback.format_exception(error))
                name, redactor = ("that had not begun", self._redactor) if run is None else (run.id, run.redactor)
                log.error("Run %s failed by a fault of agentui itself\n%s", name, redactor.redact(trace))

        task.add_done_callback(end)


DETACHED: web.AppKey[DetachedRuns] = web.AppKey("detached", DetachedRuns)


async def complete(
    request: web.Request,
    work: Coroutine[Any, Any, None],
    tee: Tee,
    find_run: Callable[[], Run | None],
    is_open: Callable[[], bool] = lambda: False,
) -> None:
    """Answer a request with a key by ``work``, as ``DetachedRuns.complete`` does it.

    Once the caller has left, ``tee`` is told so, and the run counts as one that is under way by itself.
    """
    app = request.app
    limits, telemetry = app[LIMITS], app[TELEMETRY]

    def leave() -> Callable[[Run | None], None]:
        tee.leave()
        limits.in_flight += 1
        telemetry.detach(request)
        return end

    def end(run: Run | None) -> None:
        limits.in_flight -= 1
        if run is not None:
            telemetry.count(run)

    seconds = app[SETTINGS].run_timeout
    await app[DETACHED].complete(work, find_run=find_run, is_open=is_open, on_leave=leave, seconds=seconds)
