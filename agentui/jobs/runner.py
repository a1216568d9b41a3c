"""``JobRunner``: takes the jobs that are due and runs them, a few at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agentui.errors import AgentUIError, Busy
from agentui.ids import Clock, SystemClock
from agentui.jobs.queue import Job, add, extend, finish, next_due, plan, release, release_others, retry, take
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.reserve import freeing

LEASE_SECONDS = 30.0
"""How long a job stays taken when the process that has it dies unnoticed. It is renewed while the job runs."""
POLL_SECONDS = 5.0
"""Between two looks at the jobs that other processes may have added."""
ALONE_POLL_SECONDS = 60.0
"""The same where there are no others."""
RETRY_SECONDS = 5.0
"""Before the next look when the store could not be asked."""
MOST_AT_ONCE = 4

Handler = Callable[[Json], Awaitable[None]]
"""Does a job, given its payload. What it raises is kept in the job's row, and the job tried again later."""

log = logging.getLogger("agentui.jobs")


class JobRunner:
    """Runs the jobs of one process, ``owner``, from ``start``, or from the moment in which something makes the store, until
    ``close``.

    ``poll_seconds`` is the longest pause between two looks at the rows.
    """

    def __init__(
        self,
        store: Store,
        owner: str,
        *,
        poll_seconds: float = POLL_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock or SystemClock()
        self._poll_seconds = poll_seconds
        self._lease_seconds = lease_seconds
        self._handlers: dict[str, Handler] = {}
        self._every_ms: dict[str, int] = {}
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        store.at_open(release_others, owner)

    def handle(self, kind: str, handler: Handler, *, every_seconds: float | None = None) -> None:
        """Let ``handler`` do the jobs of this kind; ``every_seconds`` makes it a periodic one, of which there is one row."""
        self._handlers[kind] = handler
        if every_seconds is not None:
            self._every_ms[kind] = round(every_seconds * 1000)

    async def add(self, kind: str, payload: Json = None, *, id: str | None = None) -> str:
        """Put down a job that is due now; returns its id (``queue.add``). Raises the store's errors."""
        id = await self._store.write(add, kind, payload, self._clock.now_ms(), id=id)
        self.look()
        return id

    def look(self) -> None:
        """Look for jobs at once: one may have been put down as part of another transaction."""
        self._wake.set()

    def start(self) -> None:
        """Begin to take jobs; a store that nothing was ever written to is not opened for them."""
        self._running = asyncio.get_running_loop().create_task(self._run(), name="jobs")

    async def close(self) -> None:
        """Stop, and give back what is under way."""
        if self._running is None:
            return
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        if self._store.opened.is_set():
            try:
                await self._store.write(release, self._owner)
            except AgentUIError as error:
                log.warning("Jobs under way are given back when their time runs out: %s", error.message)

    async def _run(self) -> None:
        await self._open()
        await self._plan()
        free = asyncio.Semaphore(MOST_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                await free.acquire()
                job = await self._next()
                task = group.create_task(self._do(job), name=f"job {job.kind}")
                task.add_done_callback(lambda _: free.release())

    async def _open(self) -> None:
        """Wait until the store is open. One that may have jobs is opened, as soon as its database can be reached; where it
        cannot be opened as it is, its first user is told why."""
        while not self._store.is_blank and not self._store.opened.is_set():
            with _GoingOn("Jobs wait until the database can be used", logging.WARNING):
                try:
                    await self._store.start()
                except Busy as error:
                    log.debug("Jobs wait until the database can be reached: %s", error.message)
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
            break
        await self._store.opened.wait()

    async def _plan(self) -> None:
        while True:
            with _GoingOn("Periodic jobs could not be planned"):
                await self._store.write(plan, self._every_ms, self._clock.now_ms())
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _next(self) -> Job:
        """Wait for a job that is due, and take it."""
        kinds = tuple(self._handlers)
        while True:
            self._wake.clear()
            pause, now = RETRY_SECONDS, self._clock.now_ms()
            with _GoingOn("Jobs could not be looked for"):
                due_at = await self._store.read(next_due, kinds, now)
                if due_at is not None and due_at <= now:
                    expires_at = now + round(self._lease_seconds * 1000)
                    with freeing():  # it may be one that removes
                        job = await self._store.write(take, self._owner, kinds, now, expires_at)
                    if job is not None:
                        return job
                elif due_at is not None:
                    pause = (due_at - now) / 1000
                else:
                    pause = self._poll_seconds
            try:
                async with asyncio.timeout(min(pause, self._poll_seconds)):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _do(self, job: Job) -> None:
        """Run one, and write down how it ended; where that fails, its time runs out and it runs again."""
        failure: str | None = None
        renewing = asyncio.get_running_loop().create_task(self._renew(job))
        try:
            await self._handlers[job.kind](job.payload)
        except AgentUIError as error:
            failure = error.message
        except Exception as error:
            log.exception("Job %s failed by a fault of agentui itself", job.kind)
            failure = f"{type(error).__name__}: {error}"
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        with _GoingOn(f"How job {job.kind} ended could not be written", logging.WARNING), freeing():
            if failure is None:
                await self._store.write(finish, self._owner, job, self._clock.now_ms())
            else:
                log.warning("Job %s is tried again later: %s", job.kind, failure)
                await self._store.write(retry, self._owner, job, failure, self._clock.now_ms())

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            expires_at = self._clock.now_ms() + round(self._lease_seconds * 1000)
            with _GoingOn(f"Job {job.kind} could not be renewed"):
                await self._store.write(extend, self._owner, job, expires_at)


class _GoingOn:
    """``with`` it: what goes wrong with the store is logged, an error of its own at ``level``, and ends there. Without the
    runner nothing is tidied and no dead turn is found until the next start."""

    def __init__(self, what: str, level: int = logging.DEBUG) -> None:
        self._what = what
        self._level = level

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if isinstance(error, AgentUIError):
            log.log(self._level, "%s: %s", self._what, error.message)
        elif isinstance(error, Exception):
            log.error("%s by a fault of agentui itself", self._what, exc_info=error)
        return isinstance(error, Exception)
