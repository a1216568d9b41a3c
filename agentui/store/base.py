"""The ``Store``: where transactions run. A transaction is a plain function whose first argument is a connection."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")

Transaction: TypeAlias = "Callable[Concatenate[Connection, P], T]"


class Store(Protocol):
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
    """

    async def read(self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that only reads, on one consistent snapshot."""

    async def write(self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function atomically and return after its commit is durable. Raises Busy when the database stays locked,
        StoreFull when the disk is full, StoreFailed when it fails, StoreReadOnly when a damaged file is open for reading
        only."""

    def start_write(
        self, transaction: "Callable[Concatenate[Connection, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> "asyncio.Future[T]":
        """Begin what ``write`` does, for a caller who wants its outcome even if he stops waiting: await it by
        ``asyncio.shield``. Raises StoreReadOnly and Busy at once where ``write`` would without having begun."""

    @property
    def writes(self) -> int:
        """How often this process has written, failures included: what was read stays true while it stands still, if nobody
        else writes. A write counts before its caller hears of it, one that nobody waits for any more too."""

    async def start(self) -> None:
        """Open, migrate, and take the folder's lock. Raises StoreInUse with the other process's id."""

    async def close(self) -> None:
        """Finish what was begun and close."""

    @property
    def status(self) -> dict[str, Any]:
        """Engine, place, and whether it is read only and why; for /health."""
