"""``agentui serve --workers N``: a supervisor, and the processes that serve.

    supervisor       locks the data folder, holds the port, and starts a worker again that died
     ├── worker 0    listens on the port (SO_REUSEPORT: the system deals the connections out) and on its own socket
     └── worker 1    ...

A worker that keeps dying is started again after longer and longer pauses while the others go on serving. One of those is told
who has died, so that what the dead one held in the database is free at once.
A worker ends when its supervisor does, however that ended.
"""

import asyncio
import logging
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Literal

from agentui.errors import AgentUIError
from agentui.http.worker_group import DIED, WorkerGroup
from agentui.jsonio import dumps
from agentui.logs import set_up_logging
from agentui.redaction import Redactor
from agentui.serving.stopping import CommandError, StopSignals, cannot_listen, run, tell_waiting
from agentui.settings import Settings
from agentui.store.lock import FolderLock

STEADY_SECONDS = 10.0
"""A worker that served for less, or not at all, died at once."""
MAX_DEATHS = 5
"""So many deaths at once in a row while no other worker serves, and starting it again helps nobody."""
FIRST_PAUSE = 0.5
"""Seconds before the first new start; it doubles with every death at once."""
LONGEST_PAUSE = 30.0
TELL_SECONDS = 1.0
"""Before a death that no worker could be told of is told again."""
KILL_SECONDS = 10.0
"""How much longer than agreed a worker may take to end before it is killed."""

Report = tuple[Literal["ready", "waiting"], int]
"""What a worker says: that it serves on a port; later how many requests were under way when it began to stop."""

_SPAWN = multiprocessing.get_context("spawn")
"""New processes begin from nothing: a copy of this one would have its event loop and not its threads."""

log = logging.getLogger("agentui.serving.supervisor")


async def supervise(settings: Settings, greet: Callable[[int], None]) -> None:
    """Serve with ``settings.workers`` processes until a signal asks for the end. ``greet`` is told the port when all serve.

    Raises CommandError where the system cannot share a port, the port is taken, or the workers die at once again and again; and
    StoreInUse.
    """
    set_up_logging(_redactor(settings), settings)
    stop = StopSignals()
    stop.listen()
    with ExitStack() as held:
        if settings.database_url is None:
            lock = FolderLock(settings.data)
            lock.claim()
            held.callback(lock.release)
        port = held.enter_context(held_port(settings))
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="agentui-", ignore_cleanup_errors=True)))
        await Supervisor(settings.model_copy(update={"port": port}), folder, stop, greet).run()


def _redactor(settings: Settings) -> Redactor:
    redactor = Redactor()
    if settings.token is not None:
        redactor.register(settings.token.get_secret_value())
    return redactor


@contextmanager
def held_port(settings: Settings) -> Iterator[int]:
    """The port, kept for this process and its workers; 0 becomes a free one. Raises CommandError."""
    if not hasattr(socket, "SO_REUSEPORT") or not hasattr(socket, "AF_UNIX"):
        raise CommandError(
            "this system cannot share a port between processes (SO_REUSEPORT), so it has no workers: leave --workers out, or "
            "start several servers on ports of their own behind a proxy."
        )
    with ExitStack() as held:
        try:
            port = settings.port
            for family, address in _addresses(settings.host, port):
                # Alone first: sharing would hide that another program listens there, or another agentui.
                with _bound(family, address, port, shares=False):
                    pass
                # Bound and not listening: it gets no connections, and nobody else gets the port.
                port = int(held.enter_context(_bound(family, address, port, shares=True)).getsockname()[1])
        except OSError as error:
            raise cannot_listen(settings, error) from error
        yield port


def _addresses(host: str, port: int) -> list[tuple[int, str]]:
    """The addresses that a host's name stands for, each with its family."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((int(family), str(address[0])) for family, _, _, _, address in found))


def _bound(family: int, address: str, port: int, *, shares: bool) -> socket.socket:
    """A socket that has the port, alone or with others of this user that share. Raises OSError."""
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Connections of a server that has just stopped are no obstacle.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind((address, port))
    except BaseException:
        bound.close()
        raise
    return bound


class Supervisor:
    """Keeps the workers running until ``stop`` says otherwise. Their sockets are in ``folder``."""

    def __init__(self, settings: Settings, folder: Path, stop: StopSignals, greet: Callable[[int], None]) -> None:
        self._settings = settings
        self._folder = folder
        self._stop = stop
        self._greet = greet
        self._processes: dict[int, SpawnProcess] = {}
        self._serving_since: dict[int, float] = {}
        """On the monotonic clock, by worker that serves."""
        self._has_greeted = False
        self._waiting: dict[int, int] = {}
        """Requests under way, by worker that has begun to stop."""
        self._is_hopeless = False
        self._dead: set[str] = set()
        """The owners of workers that died, until one that lives has been told."""
        self._has_dead = asyncio.Event()

    async def run(self) -> None:
        """Start the workers, and return when all of them have ended. Raises CommandError when they die at once."""
        stopping = asyncio.create_task(self._stop_all())
        telling = asyncio.create_task(self._tell_of_dead())
        try:
            await asyncio.gather(*(self._keep(number) for number in range(self._settings.workers)))
        finally:
            stopping.cancel()
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            for process in self._processes.values():
                process.kill()
                process.join()
        if self._is_hopeless:
            raise CommandError("a worker died at once again and again; the lines above say how.")

    async def _keep(self, number: int) -> None:
        """Run a worker, and another one in its place whenever it dies."""
        deaths = 0
        while not self._stop.asked.is_set():
            process = await self._run(number)
            if self._stop.asked.is_set():
                return
            now = time.monotonic()
            was_steady = now - self._serving_since.pop(number, now) >= STEADY_SECONDS
            deaths = 1 if was_steady else deaths + 1
            if deaths >= MAX_DEATHS and not self._serving_since:
                log.error("Worker %d (process %s) %s, for the %dth time.", number, process.pid, _end_of(process), deaths)
                self._is_hopeless = True
                self._stop.ask()
                return
            if deaths == MAX_DEATHS:
                self._greet_once()
            pause = min(FIRST_PAUSE * 2 ** min(deaths - 1, 10), LONGEST_PAUSE)
            text = "Worker %d (process %s) %s. It is started again in %g seconds."
            log.error(text, number, process.pid, _end_of(process), pause)
            await self._pause(pause)

    async def _run(self, number: int) -> SpawnProcess:
        """One worker's life, from its start to its end."""
        reports, theirs = _SPAWN.Pipe(duplex=False)
        group = WorkerGroup(self._folder, self._settings.workers, number)
        process = self._processes[number] = _SPAWN.Process(target=work, args=(self._settings, group, theirs))
        process.start()
        theirs.close()
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        loop.add_reader(process.sentinel, over.set)
        loop.add_reader(reports.fileno(), self._hear, number, reports)
        try:
            await over.wait()
        finally:
            loop.remove_reader(process.sentinel)
            loop.remove_reader(reports.fileno())
            reports.close()
        process.join()
        del self._processes[number]
        self._tell_waiting()
        if self._settings.database_url is not None:
            self._dead.add(group.owner)
            self._has_dead.set()
        return process

    async def _tell_of_dead(self) -> None:
        """Tell a worker that serves whenever another has died."""
        await self._has_dead.wait()
        # An HTTP client, in a process that keeps a port and otherwise needs none, where nobody ever dies.
        from agentui.http.workers import Workers

        token = self._settings.token.get_secret_value() if self._settings.token is not None else None
        group = WorkerGroup(self._folder, self._settings.workers, -1)
        async with Workers(group, token=token, write_timeout=self._settings.write_timeout) as workers:
            while await self._has_dead.wait():
                for owner in tuple(self._dead):
                    for number in tuple(self._serving_since):
                        if number in self._processes and await workers.post(number, DIED, dumps(owner)):
                            self._dead.discard(owner)
                            break
                if self._dead:
                    await asyncio.sleep(TELL_SECONDS)
                else:
                    self._has_dead.clear()

    def _hear(self, number: int, reports: "Connection[object, Report]") -> None:
        try:
            kind, count = reports.recv()
        except (EOFError, OSError):
            # Its last word was said; its end comes by itself.
            asyncio.get_running_loop().remove_reader(reports.fileno())
            return
        if kind == "waiting":
            self._waiting[number] = count
            self._tell_waiting()
            return
        log.info("Worker %d serves as process %s.", number, self._processes[number].pid)
        self._serving_since[number] = time.monotonic()
        if len(self._serving_since) == self._settings.workers:
            self._greet_once()

    def _greet_once(self) -> None:
        """Say where the server is: when all serve, or when one of them seems not to come."""
        if not self._has_greeted:
            self._has_greeted = True
            self._greet(self._settings.port)

    def _tell_waiting(self) -> None:
        """Tell a person at the keyboard, once all workers have said it, what the end waits for."""
        if self._stop.asked.is_set() and self._waiting.keys() >= self._processes.keys():
            tell_waiting(self._stop, sum(self._waiting[number] for number in self._processes))
            self._waiting = dict.fromkeys(self._processes, 0)

    async def _stop_all(self) -> None:
        """Pass each wish for an end on; a worker that does not end in time is killed."""
        await self._stop.asked.wait()
        self._terminate()
        try:
            async with asyncio.timeout(self._settings.stop_timeout + KILL_SECONDS):
                await self._stop.hurry.wait()
            self._terminate()
            await asyncio.sleep(KILL_SECONDS)
        except TimeoutError:
            pass
        for number, process in self._processes.items():
            log.error("Worker %d (process %s) does not end and is killed.", number, process.pid)
            process.kill()

    def _terminate(self) -> None:
        for process in self._processes.values():
            process.terminate()

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the end is asked for meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.asked.wait()
        except TimeoutError:
            return


def _end_of(process: SpawnProcess) -> str:
    """How a process ended."""
    code = process.exitcode
    return f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"


def work(settings: Settings, group: WorkerGroup, reports: "Connection[Report, object]") -> None:
    """One worker's whole life, in a process of its own. Exits with 1 after a line in the log where it cannot serve."""
    try:
        run(_work(settings, group, reports))
    except (CommandError, AgentUIError) as error:
        log.error("Worker %d cannot serve: %s", group.number, error)
        sys.exit(1)


async def _work(settings: Settings, group: WorkerGroup, reports: "Connection[Report, object]") -> None:
    # The server is the worker's: the supervisor, whose module this is, would hold 60 MB for nothing.
    from agentui.serving.process import serve_until

    stop = StopSignals()
    # Ctrl+C reaches every process of a terminal; the supervisor says what it means.
    stop.listen(keyboard=False)
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        loop = asyncio.get_running_loop()
        loop.add_reader(supervisor.sentinel, _end_alone, loop, supervisor.sentinel, stop)
    await serve_until(
        stop,
        settings,
        lambda port: reports.send(("ready", port)),
        lambda _, requests: _tell(reports, ("waiting", requests)),
        group=group,
    )


def _end_alone(loop: asyncio.AbstractEventLoop, sentinel: int, stop: StopSignals) -> None:
    """The supervisor is gone: nobody would start this worker again, or end it."""
    loop.remove_reader(sentinel)
    log.error("The supervisor has died; this worker ends.")
    stop.ask()


def _tell(reports: "Connection[Report, object]", report: Report) -> None:
    """Report to the supervisor, if it still lives."""
    with suppress(OSError):
        reports.send(report)
