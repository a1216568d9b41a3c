"""``SqliteStore``: the memory in one file of the data folder. One thread writes, a few read, the event loop waits.

await write(fn) ─▶ queue ─▶ writer thread: neighbours share a commit ─▶ futures, after the commit
await read(fn)  ─▶ queue ─▶ reader threads: one snapshot each
"""

import asyncio
import errno
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, DBAPIError

from agentui.errors import AgentUIError, Busy, StoreFailed, StoreFull, StoreReadOnly
from agentui.ids import Clock, SystemClock
from agentui.store import migrations
from agentui.store.backups import KEPT, Backups
from agentui.store.faults import Fault, sqlite_fault
from agentui.store.group_commit import GroupCommit
from agentui.store.jobs import Job
from agentui.store.lanes import Lane, Queue
from agentui.store.lending import lend
from agentui.store.lock import FolderLock
from agentui.store.reserve import Reserve
from agentui.store.sqlite_file import SqliteFile

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=BaseException | None)

log = logging.getLogger("agentui.store")

RESERVE: Final = 8 * 1024 * 1024
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MOST_TOGETHER: Final = 128
"""Jobs that share a commit: enough to hide the disk's latency, few enough that the first need not wait long."""
_BACKUP_ROUND: Final = 3600.0
"""Seconds between two looks whether a daily copy is due."""


class SqliteStore:
    """Transactions on a SQLite file; every one that returned survives a power cut (WAL, synchronous=FULL).

    ``busy_timeout`` is how many seconds to wait for another program's lock, ``reserve`` how many bytes to keep for a full
    disk, ``backups`` how many daily copies to keep, ``lock`` the folder's where somebody claimed it already. A damaged file is
    opened for reading only and never touched.
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
        lock: FolderLock | None = None,
    ) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._clock = clock or SystemClock()
        self._file = SqliteFile(path, busy_timeout, migrations_folder)
        self._lock = lock or FolderLock(path.parent)
        self._reserve = Reserve(path.parent, reserve)
        self._backups = Backups(path, self._clock, backups)
        self._writes: Queue = SimpleQueue()
        self._reads: Queue = SimpleQueue()
        self._readers = readers
        self._writing: list[Lane[Any]] = []
        self._reading: list[Lane[Any]] = []
        self._rounds: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._read_only: str | None = None
        self._is_full = False
        self._backup_error: str | None = None
        self._written = 0

    async def start(self) -> None:
        """Take the folder, check and migrate the file. Raises StoreInUse, Busy, StoreFull, StoreFailed, StoreReadOnly."""
        if self._path.is_dir():
            raise StoreReadOnly(f"{self._path} is a folder, where the database file belongs. Move it away and try again.")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.take()
        except OSError as error:
            raise self._not_usable(error) from error
        self._read_only = None
        self._file.may_write = True
        self._backups.go_on()
        try:
            is_new = self._file.is_new
            await asyncio.to_thread(self._prepare)
            await self._open_lanes()
        except BaseException as error:
            await self._close_lanes()
            if not self._lock.is_claimed:
                self._lock.release()
            if isinstance(error, (sqlite3.Error, DBAPIError)):
                raise self._not_opened(error) from error
            if isinstance(error, OSError):
                raise self._not_usable(error) from error
            raise
        self._loop = asyncio.get_running_loop()
        if self._read_only is None:
            self._rounds = self._loop.create_task(self._back_up_daily(wait_first=is_new), name="daily backups")

    async def read(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that only reads, on one consistent snapshot. Raises Busy, and StoreReadOnly for a page that is
        damaged beyond reading."""
        result: T = await self._queued(self._reads, lambda db: transaction(db, *args, **kwargs))
        return result

    async def write(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function atomically and return after its commit is durable. Raises Busy, StoreFull, StoreReadOnly.

        Cancelling the caller does not stop a write that is on its way.
        """
        return await self.start_write(transaction, *args, **kwargs)

    def start_write(
        self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Begin a write (``Store``). Raises Busy and StoreReadOnly."""
        if self._read_only is not None:
            raise StoreReadOnly(self._read_only)
        return self._queued(self._writes, lambda db: transaction(db, *args, **kwargs))

    @property
    def writes(self) -> int:
        """How often this process has written (``Store``)."""
        return self._written

    async def close(self) -> None:
        """Finish what was begun, and let the folder go. What comes later gets Busy."""
        self._loop = None
        self._backups.stop()
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)
            self._rounds = None
        await self._close_lanes()
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

    def _queued(self, queue: Queue, run: Callable[[Connection], Any]) -> asyncio.Future[Any]:
        if self._loop is None:
            raise Busy("The store is closed.", retry_after=1)
        job = Job(run, self._loop.create_future(), time.monotonic() + self._busy_timeout)
        queue.put(job)
        return job.future

    # Opening

    def _prepare(self) -> None:
        """Check and migrate, in a thread. A full disk gives back the reserve and tries once more.

        Raises StoreReadOnly, and what the database raises.
        """
        try:
            self._check_and_migrate()
        except (sqlite3.Error, DBAPIError) as error:
            if sqlite_fault(error) is not Fault.FULL or not self._reserve.release():
                raise
            self._check_and_migrate()
            self._is_full = True
            return
        if self._read_only is None:
            self._reserve.make()

    def _check_and_migrate(self) -> None:
        damage = None if self._file.is_new else self._file.damage()
        if damage is not None:
            self._damaged(damage)
            return
        try:
            self._file.migrate(self._backups)
        except StoreReadOnly as newer:
            self._read_only = newer.message
            self._file.may_write = False

    def _not_opened(self, error: sqlite3.Error | DBAPIError) -> AgentUIError:
        """Why the file could not be checked, copied, migrated or opened. SQLite's copying says so without a code."""
        explained = self._explained(error)
        if isinstance(explained, AgentUIError):
            return explained
        return StoreFailed(f"{self._path} could not be opened in this version's schema ({error}). Nothing of it was changed.")

    def _not_usable(self, error: OSError) -> AgentUIError:
        """Why files of the folder could not be made, locked, copied or removed."""
        if error.errno in _NO_ROOM:
            return self._full()
        why = error.strerror or error
        return StoreFailed(f"The folder {self._path.parent} cannot be used ({why}). Look at it, and try again.")

    async def _open_lanes(self) -> None:
        if self._read_only is None:
            self._writing.append(Lane(self._writes, self._committer, self._commit, most=_MOST_TOGETHER))
        self._reading += [Lane(self._reads, self._file.reader, self._read_one) for _ in range(self._readers)]
        for lane in (*self._writing, *self._reading):
            await lane.open()

    async def _close_lanes(self) -> None:
        """End the readers first: the last connection to close, the writer's, tidies the log into the file."""
        for lanes in (self._reading, self._writing):
            for lane in lanes:
                lane.end()
            for lane in lanes:
                await lane.join()
            lanes.clear()

    # Working, in the threads

    @contextmanager
    def _committer(self) -> Iterator[GroupCommit]:
        with self._file.writer() as (db, raw):
            yield GroupCommit(db, raw)

    def _commit(self, committer: GroupCommit, jobs: Sequence[Job]) -> None:
        committer.run(jobs)
        self._written += len(jobs)  # this thread alone counts
        for job in jobs:
            if job.error is not None:
                job.error = self._explained(job.error)
        if self._is_full and any(job.error is None for job in jobs):
            self._is_full = not self._reserve.make()

    def _read_one(self, connection: tuple[Connection, sqlite3.Connection], jobs: Sequence[Job]) -> None:
        db, raw = connection
        for job in jobs:
            try:
                raw.execute("BEGIN")
                job.result = lend(db, job.run)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the one who waits for this job
                is_refused = sqlite_fault(error) is Fault.READ_ONLY  # a function that writes, where it may only read
                job.error = error if is_refused else self._explained(error)
            finally:
                raw.rollback()
                db.rollback()

    # Faults

    def _explained(self, error: E) -> E | AgentUIError:
        """The engine's fault in our words, and what follows from it; any other error as it is."""
        fault = sqlite_fault(error)
        explained: AgentUIError
        match fault:
            case Fault.BUSY:
                explained = Busy("The database is locked by another program. Try again.", retry_after=1)
            case Fault.FULL:
                explained = self._full()
            case Fault.FAILED:
                why = getattr(error, "orig", None) or error
                explained = StoreFailed(f"The disk of the data folder fails ({why}). Look at the disk, and try again.")
            case Fault.READ_ONLY:
                explained = StoreReadOnly(f"{self._path.name} cannot be written. Check its permissions and its disk.")
            case Fault.DAMAGED:
                explained = self._damaged(str(getattr(error, "orig", None) or error))
            case None if self._read_only is not None and isinstance(error, DatabaseError):
                explained = StoreReadOnly(self._read_only)  # damage has many voices: an unknown format, a table that is gone
            case _:
                return error
        explained.__cause__ = error
        return explained

    def _full(self) -> StoreFull:
        self._is_full = True
        if self._reserve.release():
            log.error("The disk of %s is full; the reserve was given back.", self._path.parent)
        return StoreFull("The disk of the data folder is full, or over quota. Make room and try again.")

    def _damaged(self, why: str) -> StoreReadOnly:
        """From now on only reading; the file stays as it is."""
        if self._read_only is None:
            last = self._backups.last
            offer = "There is no backup." if last is None else f"The newest backup is {last}."
            self._read_only = f"{self._path} is damaged ({why}). It is open for reading only and left as it is. {offer}"
            self._file.may_write = False
            log.error("%s", self._read_only)
        return StoreReadOnly(self._read_only)

    # Copies

    async def _back_up_daily(self, *, wait_first: bool) -> None:
        if wait_first:  # an empty file is not worth a day's copy
            await asyncio.sleep(_BACKUP_ROUND)
        while True:
            copying = asyncio.ensure_future(asyncio.to_thread(self._back_up))
            try:
                await asyncio.shield(copying)
            except asyncio.CancelledError:
                await copying  # it was told to stop; nobody else may have the folder while it still writes
                raise
            await asyncio.sleep(_BACKUP_ROUND)

    def _back_up(self) -> None:
        try:
            self._backups.make_if_due()
        except InterruptedError:
            return
        except (OSError, sqlite3.Error) as error:
            self._backup_error = str(error)
            log.warning("The daily backup of %s failed: %s", self._path, error)
        else:
            self._backup_error = None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
