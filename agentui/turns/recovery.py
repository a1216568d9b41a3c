"""Turns that ended without a word: those of processes that died, and those whose failure the store could not take."""

import asyncio
import logging
from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from agentui.errors import AgentUIError
from agentui.ids import SystemClock
from agentui.jobs.queue import release as release_jobs
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.process_lock import GRACE_SECONDS, free_locks
from agentui.store.reserve import freeing
from agentui.store.tables import generations
from agentui.turns.ending import FailedTurn, fail_all
from agentui.turns.failing import LOST, fail_floor
from agentui.turns.locks import BranchQueue, is_alone
from agentui.turns.transactions import hold_places_of

RETRY_SECONDS = 1.0
"""Before a failure that the store could not take is tried again."""

log = logging.getLogger("agentui.turns")


class Recovery:
    """Lets the turns of dead processes fail, so that their branches and keys are free.

    That a process is dead is known in three ways: its locks have run out; nobody holds the lock that ends with it
    (store/process_lock.py), which frees its branches half a second after a kill; or its supervisor says so (``release``).
    Where this process is alone the dead are found when the store opens.
    """

    def __init__(self, store: Store, owner: str, *, is_alone: bool) -> None:
        self._store = store
        self._owner = owner
        self._is_alone = is_alone
        self._looking: asyncio.Task[bool] | None = None
        store.at_open(_recover_now, owner)

    async def release_dead(self) -> bool:
        """Look at the processes that hold a branch right now, and at locks that have run out; True when some were dead, and
        what they held is free. Raises the store's errors. Several callers share one look."""
        if self._is_alone:
            return False
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look(), name="looking for dead processes")
        return await asyncio.shield(self._looking)

    async def release(self, owner: str) -> None:
        """Let the turns of a process fail that is dead, and give back its jobs. Raises the store's errors."""
        count = await self._store.write(_release_owner, owner, SystemClock().now_ms())
        if count:
            log.warning("Process %s died with %d turns under way; they have failed, and their branches are free.", owner, count)

    async def sweep(self, _: Json = None) -> None:
        """A periodic job: release what dead processes hold, and let the turns fail whose locks have run out. Raises the
        store's errors."""
        await self.release_dead()
        await self._store.write(_recover_now, self._owner)

    async def close(self) -> None:
        """Look no longer."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> bool:
        has_expired = await self._store.read(_has_expired, self._owner, SystemClock().now_ms())
        expired = await self._store.write(_recover_now, self._owner) if has_expired else 0
        suspects = await self._store.read(_silent_owners, self._owner)
        if suspects:
            await asyncio.sleep(GRACE_SECONDS)
            suspects &= await self._store.read(_silent_owners, self._owner)
        if not self._store.may_judge_locks:
            return expired > 0
        for owner in suspects:
            await self.release(owner)
        return bool(suspects) or expired > 0


class FailedTurns:
    """Records turns that failed; a failure that the store cannot take now is kept here and tried again. (It cannot be a job:
    the store could not take that either.) After ``close`` the next start finds what is left."""

    def __init__(self, store: Store, queue: BranchQueue) -> None:
        self._store = store
        self._queue = queue
        self._unrecorded: dict[str, FailedTurn] = {}
        self._retrying: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def unrecorded(self) -> tuple[FailedTurn, ...]:
        """Those that the store does not know of yet."""
        return tuple(self._unrecorded.values())

    async def record(self, failed: FailedTurn, *, at_once: bool = True) -> None:
        """Record a turn that failed: now, or as soon as the store can."""
        if self._is_closed:
            return
        if at_once:
            try:
                with freeing():  # its branch is locked until then
                    await self._store.write(fail_all, (failed,), SystemClock().now_ms())
            except AgentUIError as error:
                log.warning("A failed turn is recorded later: %s", error.message)
            else:
                self._queue.freed(failed.place.session_id, failed.place.branch_id)
                return
        self._unrecorded[failed.place.floor.floor_id] = failed
        if self._retrying is None or self._retrying.done():
            self._retrying = asyncio.get_running_loop().create_task(self._record_until_done(), name="recording failed turns")

    def were_recorded(self, every: Iterable[FailedTurn]) -> None:
        """Somebody's transaction has recorded these (``fail_all``)."""
        for failed in every:
            self._unrecorded.pop(failed.place.floor.floor_id, None)
            self._queue.freed(failed.place.session_id, failed.place.branch_id)

    async def close(self) -> None:
        """Try no longer."""
        self._is_closed = True
        if self._retrying is not None:
            self._retrying.cancel()
            await asyncio.gather(self._retrying, return_exceptions=True)

    async def _record_until_done(self) -> None:
        while every := self.unrecorded:
            try:
                with freeing():  # as at once
                    await self._store.write(fail_all, every, SystemClock().now_ms())
            except AgentUIError:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.were_recorded(every)


def recover(db: Connection, owner: str, now: int) -> int:
    """Let floors fail whose locks ran out, and where ``owner`` is alone those of any other process; returns how many. Looks at
    every account."""
    is_anothers = generations.c.owner != owner
    return _fail_dead(db, is_anothers if is_alone(db) else and_(is_anothers, generations.c.expires_at <= now), now)


def _fail_dead(db: Connection, is_dead: ColumnElement[bool], now: int) -> int:
    """Let the floors of generations fail that are dead; returns how many.

    The places of all are held before, as ``fail_all`` does it: a turn that is only slow may commit meanwhile, and has then not
    died.
    """
    dead = select(generations.c.account_id, generations.c.floor_id, generations.c.run_id).where(is_dead)
    found = db.execute(dead.order_by(generations.c.session_id, generations.c.branch_id)).all()
    if found and not is_alone(db):
        hold_places_of(db, [row.floor_id for row in found])
    count = 0
    for account, floor_id, run_id in found:
        still = dead.where(generations.c.floor_id == floor_id, generations.c.run_id == run_id)
        if db.execute(still.with_for_update()).first() is not None:
            count += fail_floor(db, account, floor_id, LOST, now, run_id=run_id)
    return count


def _recover_now(db: Connection, owner: str) -> int:
    return recover(db, owner, SystemClock().now_ms())


def _has_expired(db: Connection, owner: str, now: int) -> bool:
    """Whether another process holds a branch by a lock that has run out."""
    return db.execute(select(exists().where(generations.c.owner != owner, generations.c.expires_at <= now))).scalar_one()


def _silent_owners(db: Connection, owner: str) -> set[str]:
    """The other processes that hold a branch, and not the lock that says that they live."""
    query = select(generations.c.owner, generations.c.lock_key).distinct()
    held = db.execute(query.where(generations.c.owner != owner, generations.c.lock_key.is_not(None))).all()
    free = free_locks(db, {row.lock_key for row in held})
    return {row.owner for row in held if row.lock_key in free}


def _release_owner(db: Connection, owner: str, now: int) -> int:
    """Let all floors of a dead process fail and give back its jobs; returns how many floors. Looks at every account."""
    count = _fail_dead(db, generations.c.owner == owner, now)
    release_jobs(db, owner)
    return count
