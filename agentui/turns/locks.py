"""Who may generate on a branch: one turn at a time.

    in this process     ``BranchQueue``: turns wait for the one before them, in the order in which they came
    in the database     a row of ``generations``, whose primary key decides between processes

A row is dead when its time has run out, when its process is known to be dead (turns/recovery.py), and on SQLite, where one
process owns the file, when another process wrote it. turns/recovery.py releases those of dead ones.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, select, update

from agentui.chats.codes import failure
from agentui.chats.rows import insert_new
from agentui.errors import ApiError
from agentui.store.prepared import Prepared
from agentui.store.tables import generations, runs

POLL_SECONDS = 0.05
"""Between two looks at a branch that another process may free."""


class BranchQueue:
    """Those of this process who wait for branches."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str, str | None], _Waiting] = {}
        self._ends: dict[tuple[str, str], asyncio.Event] = {}

    @asynccontextmanager
    async def first(self, account: str, session: str, branch: str | None, deadline: float) -> AsyncIterator[None]:
        """Wait behind the turns that came earlier for the same branch of an account, by the caller's words for it, and be the
        one whose turn it is. Raises TimeoutError at ``deadline``, on the loop's clock."""
        key = account, session, branch
        waiting = self._waiting.setdefault(key, _Waiting())
        waiting.count += 1
        try:
            async with asyncio.timeout_at(deadline):
                await waiting.lock.acquire()
            try:
                yield
            finally:
                waiting.lock.release()
        finally:
            waiting.count -= 1
            if waiting.count == 0:
                del self._waiting[key]

    async def until_freed(self, session_id: str, branch_id: str) -> None:
        """Wait for the end of the branch's turn. Another process may have it, so the wait is short."""
        key = session_id, branch_id
        event = self._ends.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await event.wait()
        except TimeoutError:
            return
        finally:
            if self._ends.get(key) is event:
                del self._ends[key]

    def freed(self, session_id: str, branch_id: str) -> None:
        """Wake who waits for this branch."""
        event = self._ends.pop((session_id, branch_id), None)
        if event is not None:
            event.set()


@dataclass(slots=True, eq=False)
class _Waiting:
    """Those who wait for one branch, in their order."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    count: int = 0


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that generates, as it signs its locks.

    ``id`` is a new one after every start, ``lock_key`` the lock by which others see that it lives (``Store.lock_key``),
    ``expires_at`` the millisecond at which a lock that is taken or extended now runs out.
    """

    id: str
    expires_at: int
    lock_key: int | None = None


def take_lock(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    floor_id: str,
    run_id: str,
    owner: Owner,
    *,
    is_new_branch: bool,
) -> None:
    """Write the branch's lock. ``is_new_branch``: the branch was made for the turn that takes it.

    Raises 409 ``generation_conflict`` when somebody was faster."""
    lock = {
        "session_id": session_id,
        "branch_id": branch_id,
        "account_id": account,
        "floor_id": floor_id,
        "run_id": run_id,
        "owner": owner.id,
        "expires_at": owner.expires_at,
        "lock_key": owner.lock_key,
        "is_new_branch": is_new_branch,
    }
    if not insert_new(db, generations, lock):
        raise conflict(session_id, branch_id)


def extend_lock(db: Connection, account: str, floor_id: str, owner: Owner, now: int) -> bool:
    """Keep the lock of a floor's generation alive; False when it is no longer ours."""
    lock = {"floor": floor_id, "account": account, "held_by": owner.id, "until": owner.expires_at}
    if _EXTEND.run(db, lock) == 0:
        return False
    _RENEW.run(db, {"floor": floor_id, "now": now})
    return True


def made_branch(db: Connection, account: str, floor_id: str) -> tuple[str, str] | None:
    """The session and the branch that a floor generates on, where the branch was made for that turn."""
    row = _MADE.first(db, {"floor": floor_id, "account": account})
    return None if row is None else (row[0], row[1])


def release_lock(db: Connection, account: str, floor_id: str, run_id: str | None = None) -> bool:
    """Free the branch that a floor generates on, where a run is named only from that; False when it was free."""
    floor = {"floor": floor_id, "account": account}
    if run_id is None:
        return _RELEASE.run(db, floor) == 1
    return _RELEASE_RUN.run(db, {**floor, "run": run_id}) == 1


_OF_FLOOR = generations.c.floor_id == bindparam("floor"), generations.c.account_id == bindparam("account")
_EXTEND = Prepared(
    update(generations).where(*_OF_FLOOR, generations.c.owner == bindparam("held_by")).values(expires_at=bindparam("until"))
)
_RENEW = Prepared(update(runs).where(runs.c.floor_id == bindparam("floor")).values(updated_at=bindparam("now")))
_MADE = Prepared(select(generations.c.session_id, generations.c.branch_id).where(*_OF_FLOOR, generations.c.is_new_branch))
_RELEASE = Prepared(delete(generations).where(*_OF_FLOOR))
_RELEASE_RUN = Prepared(delete(generations).where(*_OF_FLOOR, generations.c.run_id == bindparam("run")))


def is_dead(db: Connection, held_by: str, expires_at: int, owner: str, now: int) -> bool:
    """Whether a generation of the process ``held_by`` is over for ``owner``, who looks at it.

    Our own lives as long as we do, whatever the clock says. Of another's a lock that ran out is what this tells, but where one
    process owns the database there is no other.
    """
    return held_by != owner and (expires_at <= now or is_alone(db))


def is_alone(db: Connection) -> bool:
    """Whether one process owns the whole database: SQLite's file is locked by its store."""
    return db.dialect.name == "sqlite"


def conflict(session_id: str, branch_id: str) -> ApiError:
    """The error of a branch that generates already."""
    return failure(
        "generation_conflict",
        "Another turn of this branch is being generated. Try again when it has ended, or use another branch.",
        session_id=session_id,
        branch_id=branch_id,
    )
