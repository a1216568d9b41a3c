"""``SqliteStore``: the memory in one file of the data folder. One thread writes, a few read, the event loop waits.

    await write(fn) ─▶ queue ─▶ writer thread: neighbours share a commit ─▶ futures, after the commit
    await read(fn)  ─▶ queue ─▶ reader threads: one snapshot each
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from agentui.errors import AgentUIError, Busy, StoreFull, StoreReadOnly
from agentui.ids import Clock, SystemClock
from agentui.store import migrations
from agentui.store.backups import KEPT, Backups
from agentui.store.faults import Fault, sqlite_fault
from agentui.store.group_commit import GroupCommit
from agentui.store.jobs import Job, settle
from agentui.store.lending import lend
from agentui.store.lock import FolderLock
from agentui.store.reserve import Reserve
from agentui.store.sqlite_file import SqliteFile

P = ParamSpec("P")
T = TypeVar("T")
Queue = SimpleQueue[Job | None]

log = logging.getLogger("agentui.store")

RESERVE: Final = 8 * 1024 * 1024
_MOST_TOGETHER: Final = 128
"""Jobs that share a commit: enough to hide the disk's latency, few enough that the first need not wait long."""
_BACKUP_ROUND: Final = 3600.0
"""Seconds between two looks whether a daily copy is due."""


class SqliteStore:
    """Transactions on a SQLite file; every one that returned survives a power cut (WAL, synchronous=FULL).

    ``busy_timeout`` is how many seconds to wait for another program's lock, ``reserve`` how many bytes to keep for a full
    disk, ``backups`` how many daily copies to keep. A damaged file is opened for reading only and never touched.
    """

    def __init__(
        self,
        path: Path,
        *,
        readers: int = 4,
        busy_timeout: float = 5.0,
        reserve: int = RESERVE,
        backups: int = KEPT,
        clock: Clock | None = None,
        migrations_folder: Path = migrations.FOLDER,
    ) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._clock = clock or SystemClock()
        self._file = SqliteFile(path, busy_timeout, migrations_folder)
        self._lock = FolderLock(path.parent)
        self._reserve = Reserve(path.parent, reserve)
        self._backups = Backups(path, self._clock, backups)
        self._writes: Queue = SimpleQueue()
        self._reads: Queue = SimpleQueue()
        self._reader_count = readers
        self._threads: list[threading.Thread] = []
        self._rounds: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._read_only: str | None = None
        self._is_full = False
        self._backup_error: str | None = None

    async def start(self) -> None:
        """Take the folder, check and migrate the file. Raises StoreInUse, Busy, StoreFull."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.take()
        try:
            loop = asyncio.get_running_loop()
            is_new = self._file.is_new
            await asyncio.to_thread(self._prepare)
            await self._start_threads(loop)
        except BaseException:
            self._stop_threads()
            self._lock.release()
            raise
        self._loop = loop
        if self._read_only is None:
            self._rounds = loop.create_task(self._back_up_daily(wait_first=is_new), name="daily backups")

    async def read(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that only reads, on one consistent snapshot. Raises Busy, and StoreReadOnly for a page that is
        damaged beyond reading."""
        result: T = await self._queued(self._reads, lambda db: transaction(db, *args, **kwargs))
        return result

    async def write(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function atomically and return after its commit is durable. Raises Busy, StoreFull, StoreReadOnly.

        Cancelling the caller does not stop a write that is on its way.
        """
        if self._read_only is not None:
            raise StoreReadOnly(self._read_only)
        result: T = await self._queued(self._writes, lambda db: transaction(db, *args, **kwargs))
        return result

    async def close(self) -> None:
        """Finish what was begun, and let the folder go. What comes later gets Busy."""
        self._loop = None
        self._backups.stop()
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)
            self._rounds = None
        threads = self._stop_threads()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        self._lock.release()

    @property
    def status(self) -> dict[str, Any]:
        """Engine, place, whether it is read only or full and why, and the newest copy, for /health."""
        last = self._backups.last
        return {
            "engine": "sqlite",
            "place": str(self._path),
            "read_only": self._read_only is not None,
            "reason": self._read_only,
            "full": self._is_full,
            "last_backup": None if last is None else {"path": str(last), "time": _iso(last.stat().st_mtime)},
            "backup_error": self._backup_error,
        }

    async def _queued(self, queue: Queue, run: Callable[[Connection], Any]) -> Any:
        if self._loop is None:
            raise Busy("The store is closed.", retry_after=1)
        job = Job(run, self._loop.create_future(), time.monotonic() + self._busy_timeout)
        queue.put(job)
        return await job.future

    # Opening

    def _prepare(self) -> None:
        """Check and migrate, in a thread. A full disk gives back the reserve and tries once more."""
        try:
            self._check_and_migrate()
        except (sqlite3.Error, DBAPIError) as error:
            if sqlite_fault(error) is not Fault.FULL or not self._reserve.release():
                raise self._explained(error) from error
            try:
                self._check_and_migrate()
            except (sqlite3.Error, DBAPIError) as again:
                raise self._explained(again) from again
            self._is_full = True
            return
        if self._read_only is None:
            self._reserve.make()

    def _check_and_migrate(self) -> None:
        damage = None if self._file.is_new else self._file.damage()
        if damage is not None:
            self._go_read_only(damage)
            return
        try:
            self._file.migrate(self._backups)
        except StoreReadOnly as newer:
            self._read_only = newer.message
            self._file.only_read()

    async def _start_threads(self, loop: asyncio.AbstractEventLoop) -> None:
        lanes = [self._read_loop] * self._reader_count
        if self._read_only is None:
            lanes.insert(0, self._write_loop)
        for lane in lanes:
            opened: asyncio.Future[None] = loop.create_future()
            thread = threading.Thread(target=lane, args=(loop, opened), name="agentui store", daemon=True)
            thread.start()
            self._threads.append(thread)
            await opened

    async def _stop_threads(self) -> None:
        """End every thread after what is queued; the writer last, which then tidies the file."""
        for thread in self._threads:
            (self._reads if thread is not self._threads[0] else self._writes).put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
