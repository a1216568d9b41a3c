"""``PostgresStore``: the memory in PostgreSQL, for several processes or machines. Connections come from a pool."""

import asyncio
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg  # type: ignore[import-untyped]  # it ships none
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from agentui.errors import BadRequest, Busy, StoreFailed, StoreFull, StoreReadOnly, Unsupported
from agentui.store import migrations
from agentui.store.address import place_of
from agentui.store.base import Store, guard, lend
from agentui.store.faults import Fault, postgres_fault, sqlstate
from agentui.store.process_lock import ProcessLock, tell

T = TypeVar("T")

log = logging.getLogger("agentui.store")

_TRIES: Final = 6
"""A transaction that loses against another is run again up to five times."""
_NO_SUCH_CHARACTER: Final = "22021"
_MIGRATION_LOCK: Final = 0x6167656E74756921
"""The advisory lock's number: "agentui!"; one worker migrates while the others wait."""


class PostgresStore(Store):
    """Transactions on PostgreSQL through asyncpg: READ COMMITTED for writes, one REPEATABLE READ snapshot for a read.

    ``url`` is ``postgresql://user:password@host:port/database`` with libpq's options (``sslmode``, ``host`` of a socket).
    ``patience`` is how many seconds to wait for a connection and for another transaction's lock. A commit is as durable as
    the server's ``synchronous_commit`` makes it. Raises ValueError for another URL, without repeating it.
    """

    def __init__(self, url: str, *, patience: float, pool_size: int = 10, migrations_folder: Path = migrations.FOLDER) -> None:
        super().__init__()
        self._url = url.replace("postgresql+asyncpg://", "postgresql://", 1)
        self._place = place_of(url)
        self._patience = patience
        self._pool_size = pool_size
        self._migrations = migrations_folder
        self._engine: AsyncEngine | None = None
        self._reading: AsyncEngine | None = None
        self._single: AsyncEngine | None = None
        """For statements that are transactions by themselves."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._read_only: str | None = None
        self._written = 0
        self._process_lock = ProcessLock(self._connect, lambda message: self.on_told(message))

    async def _open(self) -> None:
        """Connect and migrate; several workers may start at once. Raises Busy when the server cannot be reached."""
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self._connect,
            isolation_level="READ COMMITTED",
            hide_parameters=True,  # errors are shown and logged; what is written is private
            pool_size=self._pool_size,
            max_overflow=0,
            pool_timeout=self._patience,
        )
        guard(engine.sync_engine)
        try:
            await self._run(engine, self._migrate)
            await self._take_process_lock()
        except StoreReadOnly as newer:
            self._read_only = newer.message
        except BaseException:
            await engine.dispose()
            raise
        self._engine = engine
        self._reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._single = engine.execution_options(isolation_level="AUTOCOMMIT")

    def _leave_opening(self, opener: asyncio.Task[None]) -> None:
        """Wait for no server that does not answer; a migration is undone."""
        opener.cancel()

    async def _read(self, run: Callable[[Connection], T]) -> T:
        return await self._run(self._reading, run)

    async def _write(self, run: Callable[[Connection], T]) -> T:
        return await _to_its_end(self._start_write(run))

    async def _write_one(self, run: Callable[[Connection], T]) -> T:
        return await _to_its_end(self._start(self._single, run))

    def _start_write(self, run: Callable[[Connection], T]) -> asyncio.Task[T]:
        return self._start(self._engine, run)

    def _start(self, engine: AsyncEngine | None, run: Callable[[Connection], T]) -> asyncio.Task[T]:
        if self._read_only is not None:
            raise StoreReadOnly(self._read_only)
        task = asyncio.get_running_loop().create_task(self._counted(engine, run), name="write")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def lock_key(self) -> int | None:
        """The number of the lock by which other processes see that this one lives (``Store``)."""
        return self._process_lock.key if self._engine is not None else None

    async def tell_others(self, message: str) -> bool:
        """Tell every process whose connection is there (``Store``)."""
        await self.write(tell, message)
        return True

    @property
    def may_judge_locks(self) -> bool:
        """False for a while after this process has lost its own lock: the server may have dropped all connections."""
        return not self._process_lock.was_lost_lately

    @property
    def writes(self) -> int:
        """How often this process has written (``Store``)."""
        return self._written

    async def _close(self) -> None:
        """Finish the writes that were begun, and disconnect."""
        engine, self._engine, self._reading, self._single = self._engine, None, None, None
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._process_lock.release()
        if engine is not None:
            await engine.dispose()

    @property
    def status(self) -> dict[str, Any]:
        """Engine, place (never the password), and whether it is read only and why, for /health."""
        return {
            "engine": "postgresql",
            "place": self._place,
            "open": self.opened.is_set(),
            "read_only": self._read_only is not None,
            "reason": self._read_only,
            "full": False,
        }

    async def _connect(self) -> Any:
        """A new connection of the driver. An option that asyncpg cannot read is not repeated: it may be the password."""
        try:
            return await asyncpg.connect(
                self._url,
                timeout=self._patience,
                server_settings={"application_name": "agentui", "lock_timeout": str(int(self._patience * 1000))},
            )
        except (ValueError, asyncpg.exceptions.ClientConfigurationError):
            raise Unsupported("AGENTUI_DATABASE_URL has an option that the driver does not understand.") from None

    async def _take_process_lock(self) -> None:
        try:
            await self._process_lock.take()
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise self._away(error) from error

    async def _counted(self, engine: AsyncEngine | None, transaction: Callable[[Connection], T]) -> T:
        try:
            return await self._run(engine, transaction)
        finally:
            self._written += 1

    async def _run(self, engine: AsyncEngine | None, transaction: Callable[[Connection], T]) -> T:
        """Run and commit; again when another transaction won, or when a pooled connection had died before the commit."""
        if engine is None:
            raise Busy("The store is closed.", retry_after=1)
        for tries in range(_TRIES):
            if tries:
                await asyncio.sleep(random.uniform(0, 0.005 * 2**tries))  # apart from those it collided with
            db = await self._checked_out(engine)
            try:
                return await _attempt(db, transaction, is_one_statement=engine is self._single)
            except _Again as again:
                log.debug("A transaction runs again: %s", again.__cause__)
            except DBAPIError as error:
                raise self._explained(error, is_read=engine is self._reading) from error
            finally:
                await db.close()
        raise Busy("The transaction lost against others again and again.", retry_after=1)

    def _migrate(self, db: Connection) -> None:
        db.execute(text("SET LOCAL lock_timeout = 0"))  # another worker's migration may take its time
        db.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        migrations.upgrade(db, self._migrations)

    async def _checked_out(self, engine: AsyncEngine) -> AsyncConnection:
        try:
            return await engine.connect()
        except (OSError, PoolTimeout, asyncpg.PostgresError, asyncpg.InterfaceError, DBAPIError) as error:
            raise self._away(error) from error

    def _away(self, error: BaseException) -> Busy:
        """What callers are told when nobody can connect. Where the server is, and the system's words, which name it too, are
        for the log alone."""
        log.warning("PostgreSQL at %s cannot be reached: %s", self._place, _reason(error))
        return Busy("PostgreSQL cannot be reached. Try again.", retry_after=1)

    def _explained(self, error: DBAPIError, *, is_read: bool) -> Exception:
        """The engine's fault in our words, without where it is; an ordinary error (a constraint, wrong SQL) as it is."""
        if sqlstate(error) == _NO_SUCH_CHARACTER:
            return BadRequest("The text has a character that PostgreSQL cannot keep: U+0000.")
        match postgres_fault(error):
            case Fault.BUSY:
                log.warning("PostgreSQL at %s did not finish: %s", self._place, _reason(error))
                return Busy("PostgreSQL did not finish. Try again.", retry_after=1)
            case Fault.FULL:
                return StoreFull("The disk of PostgreSQL is full. Make room and try again.")
            case Fault.FAILED:
                return StoreFailed("The disk of PostgreSQL fails. Look at the disk, and try again.")
            case Fault.READ_ONLY if not is_read:  # else a function writes where it may only read
                return StoreReadOnly("PostgreSQL takes no writes: it is a standby, or set to read only.")
        return error


class _Again(Exception):
    """Nothing was committed and another try may succeed; the cause says why."""


async def _to_its_end(task: asyncio.Task[T]) -> T:
    """What a write comes to. A caller who leaves does not stop it."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_failure)
        raise


async def _attempt(db: AsyncConnection, transaction: Callable[[Connection], T], *, is_one_statement: bool) -> T:
    """Run the function and commit. Raises _Again with the cause where that is known to have left nothing behind: a statement
    that is a transaction by itself may be done where its connection was lost."""
    try:
        async with db.begin():
            try:
                return await db.run_sync(lend, transaction)
            except DBAPIError as error:
                if (
                    error.connection_invalidated and not is_one_statement
                ):  # nothing reached a commit; one lost in the commit itself is not run again
                    raise _Again from error
                raise
    except DBAPIError as error:
        if postgres_fault(error) is Fault.CONFLICT:
            raise _Again from error
        raise


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("A transaction failed that nobody waits for any more: %s", error)


def _reason(error: BaseException) -> str:
    """Why, in few words: the server's own for what it said, the system's for what never reached it."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error)
    if isinstance(error, DBAPIError):
        return f"it said {sqlstate(error)}" if sqlstate(error) else "the connection was lost"
    if isinstance(error, PoolTimeout):
        return "all connections are in use"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
