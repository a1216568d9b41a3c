"""The ``Store``: where transactions run. A transaction is a plain function whose first argument is a connection."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, event

from agentui.errors import Busy, StoreNotShared

P = ParamSpec("P")
T = TypeVar("T")

Transaction: TypeAlias = Callable[Concatenate[Connection, P], T]

_LENT = "agentui.lent"


class Store(ABC):
    """SQLite or PostgreSQL; the same functions run on both.

    - A function may be run again from its start (a lost race), so it must touch nothing but the connection, and it returns
      plain values: a result that is still being fetched ends with the transaction.
    - It neither commits nor rolls back. To go on after a statement that may fail, wrap that in ``with db.begin_nested():``;
      without it PostgreSQL refuses every later statement of the transaction.
    - Read-modify-write locks what it reads: ``select(...).with_for_update()``. On PostgreSQL that holds the rows until the
      commit; SQLite leaves the words out, for there is one writer at a time anyway. ``update(...).values(n=table.c.n + 1)``
      needs no lock. A lock is waited for 5 seconds, then it is Busy.
    - Where speed matters, values stand beside the statement, ``db.execute(insert(table), {...})``: building them into it with
      ``.values(...)`` costs more than twice as much. What every turn runs is a ``Prepared`` (store/prepared.py).

    The store opens at its first use, so that a server without chats makes no file and needs no database; the runner of jobs
    opens one that is not blank (jobs/runner.py). Where opening fails, that caller gets the error, and the next one tries again.
    After ``close`` everything is Busy until somebody starts it.
    """

    def __init__(self) -> None:
        self._opener: asyncio.Task[None] | None = None
        self._at_open: list[Callable[[Connection], object]] = []
        self._is_closed = False
        self.opened = asyncio.Event()
        """Set while the store is open."""
        self.on_told: Callable[[str], None] = _ignore
        """Hears in the event loop what processes tell each other (``tell_others``)."""

    def at_open(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> None:
        """Let a transaction run whenever the store opens, before anybody is served; where it fails, opening does."""
        self._at_open.append(lambda db: transaction(db, *args, **kwargs))

    async def read(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that only reads, on one consistent snapshot. Raises Busy, StoreReadOnly for what is damaged beyond
        reading, and what ``start`` raises."""
        await self._open_once()
        return await self._read(lambda db: transaction(db, *args, **kwargs))

    async def write(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function atomically and return after its commit is durable. Raises Busy when the database stays locked,
        StoreFull when the disk is full, StoreFailed when it fails, StoreReadOnly when a damaged file is open for reading
        only, and what ``start`` raises. Cancelling the caller does not stop a write that is on its way."""
        await self._open_once()
        return await self._write(lambda db: transaction(db, *args, **kwargs))

    async def write_one(self, statement: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``write`` for a function that runs one statement and no more, which is a transaction by itself: on PostgreSQL one way
        to the server and back, where BEGIN and COMMIT are two further ones. Where the connection is lost on the way it is not
        run again, for nobody knows whether it was done: Busy."""
        await self._open_once()
        return await self._write_one(lambda db: statement(db, *args, **kwargs))

    def start_write(
        self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> "asyncio.Future[T]":
        """Begin what ``write`` does on a store that is open, for a caller who wants its outcome even if he stops waiting:
        await it by ``asyncio.shield``. Raises StoreReadOnly and Busy at once where ``write`` would without having begun."""
        if not self.opened.is_set():
            raise _closed()
        return self._start_write(lambda db: transaction(db, *args, **kwargs))

    def remove_files(self, remove: Callable[[], T]) -> T:
        """Run in a thread what makes room in the data folder by writing a file that is smaller than the one before. A store
        that keeps room there lends it where the disk is full. Raises what ``remove`` raises."""
        return remove()

    async def start(self) -> None:
        """Open and migrate, unless it is open. Raises StoreInUse with the other process's id, Busy, StoreFull, StoreFailed,
        StoreReadOnly, and Unsupported for a URL whose options the driver does not understand."""
        self._is_closed = False
        await self._open_once()

    async def close(self) -> None:
        """Finish what was begun, close, and let others in."""
        self._is_closed = True
        if self._opener is not None:
            self._leave_opening(self._opener)
            await asyncio.wait([self._opener])
        was_open = self.opened.is_set()
        self.opened.clear()
        if was_open:
            await self._close()
        self.release()

    def claim(self) -> None:  # noqa: B027 - several processes may share a database
        """Keep other processes out from now on where only one may be in, and open nothing yet. Raises StoreInUse."""

    def release(self) -> None:  # noqa: B027 - where nothing is claimed there is nothing to let go
        """Let other processes in again."""

    @property
    def lock_key(self) -> int | None:
        """The number of the lock by which other processes see that this one lives (store/process_lock.py); None where there are
        no others, and before the store is open."""
        return None

    async def tell_others(self, message: str) -> bool:
        """Tell all processes that share the database, this one too, a text of up to 7,000 characters; False where no other
        shares it. It is told once: who has lost the connection to the database at that moment does not hear it. Raises as
        ``write`` does."""
        return False

    @property
    def may_judge_locks(self) -> bool:
        """False while other processes' locks may be free although they live."""
        return True

    @property
    def is_blank(self) -> bool:
        """True where it is certain, without opening the store, that nothing was ever written to it."""
        return False

    @property
    @abstractmethod
    def writes(self) -> int:
        """How often this process has written, failures included: what was read stays true while it stands still, if nobody
        else writes. A write counts before its caller hears of it, one that nobody waits for any more too."""

    @property
    @abstractmethod
    def status(self) -> dict[str, Any]:
        """Engine, place, whether it is open, read only or full, and why; for /health."""

    async def _open_once(self) -> None:
        """Open, unless it is open. A caller who leaves meanwhile does not stop it, for others may wait for it as well."""
        if self.opened.is_set():
            return
        if self._is_closed:
            raise _closed()
        if self._opener is None:
            self._opener = asyncio.get_running_loop().create_task(self._open_and_prepare(), name="opening the store")
            self._opener.add_done_callback(self._was_opened)
        opener = self._opener
        await asyncio.wait([opener])
        if opener.cancelled():
            raise _closed()
        opener.result()

    def _was_opened(self, opener: "asyncio.Task[None]") -> None:
        self._opener = None
        if not opener.cancelled():
            opener.exception()  # taken here, for those who waited may all have left

    async def _open_and_prepare(self) -> None:
        await self._open()
        try:
            for transaction in () if self.status["read_only"] else self._at_open:
                await self._write(transaction)
        except BaseException:
            await self._close()
            raise
        self.opened.set()

    def _leave_opening(self, opener: "asyncio.Task[None]") -> None:  # noqa: B027 - a thread that opens a file cannot be cancelled
        """Cancel what opens the store where it may take long to find out that it cannot."""

    @abstractmethod
    async def _open(self) -> None:
        """Open and migrate."""

    @abstractmethod
    async def _close(self) -> None:
        """Finish what was begun, and close."""

    @abstractmethod
    async def _read(self, run: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, run: Callable[[Connection], T]) -> T: ...

    async def _write_one(self, run: Callable[[Connection], T]) -> T:
        """A commit that is shared with others costs less than a statement that has one of its own."""
        return await self._write(run)

    @abstractmethod
    def _start_write(self, run: Callable[[Connection], T]) -> "asyncio.Future[T]": ...


class NoStore(Store):
    """The store of workers that share no database; somebody else has locked the folder for all of them."""

    @property
    def is_blank(self) -> bool:
        """Nothing is ever written."""
        return True

    @property
    def writes(self) -> int:
        """Nothing is ever written."""
        return 0

    @property
    def status(self) -> dict[str, Any]:
        """There is none."""
        return {"engine": "none", "place": "", "open": False, "read_only": False, "reason": None, "full": False}

    async def _open(self) -> None:
        raise StoreNotShared(
            "This server has several workers and no database, so it keeps no chats and no stored variables: "
            "set AGENTUI_DATABASE_URL to a PostgreSQL database, or serve with one worker."
        )

    async def _close(self) -> None:
        """It never opens."""

    async def _read(self, run: Callable[[Connection], T]) -> T:
        raise _closed()

    async def _write(self, run: Callable[[Connection], T]) -> T:
        raise _closed()

    def _start_write(self, run: Callable[[Connection], T]) -> "asyncio.Future[T]":
        raise _closed()


def _ignore(_: str) -> None:
    """Nobody listens."""


def _closed() -> Busy:
    return Busy("The store is closed.", retry_after=1)


def guard(engine: Engine) -> None:
    """Make commit and rollback of this engine's connections fail while they are lent.

    On SQLite neighbours share one transaction, so a function that committed or rolled back would do it for them too.
    """
    event.listen(engine, "commit", _refuse)
    event.listen(engine, "rollback", _refuse)


def lend(db: Connection, transaction: Callable[[Connection], T]) -> T:
    """Run the function on the connection and return its result; only the store ends the transaction."""
    info = db.info
    info[_LENT] = True
    try:
        return transaction(db)
    finally:
        del info[_LENT]


def _refuse(db: Connection) -> None:
    if not db.invalidated and _LENT in db.info:  # a lost connection rolls itself back
        raise RuntimeError("A transaction function must not commit or roll back: return, or raise.")
