"""``SqliteStore``: the memory in one file of the data folder. One thread writes, a few read, the event loop waits.

await write(fn) ─▶ queue ─▶ writer thread: neighbours share a commit ─▶ futures, after the commit
await read(fn)  ─▶ queue ─▶ reader threads: one snapshot each
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, DBAPIError

from agentui.errors import AgentUIError, Busy, NotSaved, StoreFailed, StoreFull, StoreReadOnly
from agentui.files import make_private
from agentui.ids import Clock, SystemClock
from agentui.store import migrations
from agentui.store.backups import KEPT, Backups
from agentui.store.base import Store, lend
from agentui.store.faults import Fault, sqlite_fault
from agentui.store.group_commit import GroupCommit
from agentui.store.lock import FolderLock
from agentui.store.reserve import NO_ROOM, Reserve, is_freeing
from agentui.store.sqlite_file import SqliteFile
from agentui.store.threads import Pending, Queue, StoreThread

T = TypeVar("T")
E = TypeVar("E", bound=BaseException | None)

log = logging.getLogger("agentui.store")

RESERVE: Final = 8 * 1024 * 1024
_MOST_TOGETHER: Final = 128
"""Transactions that share a commit: enough to hide the disk's latency, few enough that the first need not wait long."""
_BACKUP_ROUND: Final = 3600.0
"""Seconds between two looks whether a daily copy is due."""


class SqliteStore(Store):
    """Transactions on a SQLite file; every one that returned survives a power cut (WAL, synchronous=FULL).

    ``busy_timeout`` is how many seconds to wait for another program's lock, ``reserve`` how many bytes to keep for what is
    removed on a full disk, ``backups`` how many daily copies to keep. A damaged file is opened for reading only
    and never touched.
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
        super().__init__()
        self._path = path
        self._busy_timeout = busy_timeout
        self._clock = clock or SystemClock()
        self._file = SqliteFile(path, busy_timeout, migrations_folder)
        self._lock = FolderLock(path.parent)
        self._reserve = Reserve(path.parent, reserve)
        self._backups = Backups(path, self._clock, backups)
        self._writes: Queue = SimpleQueue()
        self._reads: Queue = SimpleQueue()
        self._readers = readers
        self._writing: list[StoreThread[Any]] = []
        self._reading: list[StoreThread[Any]] = []
        self._rounds: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._read_only: str | None = None
        self._is_full = False
        self._backup_error: str | None = None
        self._written = 0

    @property
    def is_blank(self) -> bool:
        """True before the file is made."""
        return not self.opened.is_set() and self._file.is_new

    def claim(self) -> None:
        """Take the folder before it is needed. Raises StoreInUse."""
        self._lock.claim()

    def release(self) -> None:
        """Let the next process in."""
        self._lock.release()

    async def _open(self) -> None:
        """Take the folder, check and migrate the file. Raises StoreInUse, Busy, StoreFull, StoreFailed, StoreReadOnly."""
        if self._path.is_dir():
            log.error("%s is a folder.", self._path)
            raise StoreReadOnly(f"{self._path.name} is a folder, where the database file belongs. Move it away and try again.")
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
            await self._open_threads()
        except BaseException as error:
            await self._close_threads()
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

    async def _read(self, run: Callable[[Connection], T]) -> T:
        result: T = await self._queued(self._reads, run)
        return result

    async def _write(self, run: Callable[[Connection], T]) -> T:
        return await self._start_write(run)

    def _start_write(self, run: Callable[[Connection], T]) -> asyncio.Future[T]:
        if self._read_only is not None:
            raise StoreReadOnly(self._read_only)
        return self._queued(self._writes, run)

    def remove_files(self, remove: Callable[[], T]) -> T:
        """Run it, and on a full disk once more with the reserve (``Store``)."""
        try:
            return remove()
        except NotSaved as error:
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in NO_ROOM:
                raise
            with self._reserve.lent() as has_room:
                if not has_room:
                    raise
                return remove()

    @property
    def writes(self) -> int:
        """How often this process has written (``Store``)."""
        return self._written

    async def _close(self) -> None:
        """Finish what was begun, and let the folder go unless it was claimed."""
        self._loop = None
        self._backups.stop()
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)
            self._rounds = None
        await self._close_threads()
        if not self._lock.is_claimed:
            self._lock.release()

    @property
    def status(self) -> dict[str, Any]:
        """Engine, place, whether it is read only or full and why, and the newest copy, for /health."""
        last = self._backups.last
        return {
            "engine": "sqlite",
            "place": str(self._path),
            "open": self.opened.is_set(),
            "read_only": self._read_only is not None,
            "reason": self._read_only,
            "full": self._is_full,
            "last_backup": None if last is None else {"path": str(last), "time": _iso(last.stat().st_mtime)},
            "backup_error": self._backup_error,
        }

    def _queued(self, queue: Queue, run: Callable[[Connection], Any]) -> asyncio.Future[Any]:
        if self._loop is None:
            raise Busy("The store is closed.", retry_after=1)
        deadline = time.monotonic() + self._busy_timeout
        pending = Pending(run, self._loop.create_future(), deadline, is_freeing=is_freeing())
        queue.put(pending)
        return pending.future

    # Opening

    def _prepare(self) -> None:
        """Check and migrate, in a thread. A full disk lends the reserve to it and has it tried once more.

        Raises StoreReadOnly, and what the database raises.
        """
        try:
            self._check_and_migrate()
        except (sqlite3.Error, DBAPIError) as error:
            if sqlite_fault(error) is not Fault.FULL:
                raise
            with self._reserve.lent() as has_room:
                if not has_room:
                    raise
                self._check_and_migrate()
            self._is_full = True
            return
        if self._read_only is None:
            self._reserve.make()

    def _check_and_migrate(self) -> None:
        make_private(self._path)  # those that SQLite makes beside it are like it
        for beside in (self._path.with_name(f"{self._path.name}-{end}") for end in ("wal", "shm")):
            if beside.exists():
                make_private(beside)
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
        log.error("%s could not be opened: %s", self._path, error)
        return StoreFailed(
            f"{self._path.name} could not be opened in this version's schema; the log says why. Nothing of it was changed."
        )

    def _not_usable(self, error: OSError) -> AgentUIError:
        """Why files of the folder could not be made, locked, copied or removed."""
        if error.errno in NO_ROOM:
            return self._full()
        why = error.strerror or error
        log.error("The folder %s cannot be used: %s", self._path.parent, why)
        return StoreFailed(f"The data folder cannot be used ({why}). Look at it, and try again.")

    async def _open_threads(self) -> None:
        # Queues of their own: in those of an opening that failed, ends wait for threads that have died.
        self._writes, self._reads = SimpleQueue(), SimpleQueue()
        if self._read_only is None:
            self._writing.append(StoreThread(self._writes, self._committer, self._commit, most=_MOST_TOGETHER))
        self._reading += [StoreThread(self._reads, self._file.reader, self._read_one) for _ in range(self._readers)]
        for thread in (*self._writing, *self._reading):
            await thread.open()

    async def _close_threads(self) -> None:
        """End the readers first: the last connection to close, the writer's, tidies the log into the file."""
        for threads in (self._reading, self._writing):
            for thread in threads:
                thread.end()
            for thread in threads:
                await thread.join()
            threads.clear()

    # Working, in the threads

    @contextmanager
    def _committer(self) -> Iterator[GroupCommit]:
        with self._file.writer() as (db, raw):
            yield GroupCommit(db, raw)

    def _commit(self, committer: GroupCommit, batch: Sequence[Pending]) -> None:
        committer.run(batch)
        self._run_with_reserve(
            committer, [each for each in batch if each.is_freeing and sqlite_fault(each.error) is Fault.FULL]
        )
        self._written += len(batch)  # this thread alone counts
        for pending in batch:
            if pending.error is not None:
                pending.error = self._explained(pending.error)
        if self._is_full and any(pending.error is None for pending in batch):
            self._is_full = not self._reserve.make()

    def _run_with_reserve(self, committer: GroupCommit, batch: Sequence[Pending]) -> None:
        """Run again what makes room and found none. The log goes into the file before others may write: it is gone from the
        disk then, and the reserve has its bytes again."""
        if not batch:
            return
        self._is_full = True
        with self._reserve.lent() as has_room:
            if has_room:
                committer.run(batch)
                committer.empty_log()

    def _read_one(self, connection: tuple[Connection, sqlite3.Connection], batch: Sequence[Pending]) -> None:
        db, raw = connection
        for pending in batch:
            try:
                raw.execute("BEGIN")
                pending.result = lend(db, pending.run)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the one who waits for this one
                is_refused = sqlite_fault(error) is Fault.READ_ONLY  # a function that writes, where it may only read
                pending.error = error if is_refused else self._explained(error)
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
            case None if self._read_only is not None and isinstance(error, (DatabaseError, UnicodeDecodeError)):
                # Damage has many voices: an unknown format, a table that is gone, a name that is no text.
                explained = StoreReadOnly(self._read_only)
            case _:
                return error
        explained.__cause__ = error
        return explained

    def _full(self) -> StoreFull:
        if not self._is_full:
            log.error("The disk of %s is full; what removes something may still use the reserve.", self._path.parent)
        self._is_full = True
        return StoreFull("The disk of the data folder is full, or over quota. Make room and try again.")

    def _damaged(self, why: str) -> StoreReadOnly:
        """From now on only reading; the file stays as it is."""
        if self._read_only is None:
            last = self._backups.last
            offer = "There is no backup." if last is None else f"The newest backup is {last.name}."
            self._read_only = f"{self._path.name} is damaged ({why}). It is open for reading only and left as it is. {offer}"
            self._file.may_write = False
            log.error("In %s: %s", self._path.parent, self._read_only)
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
