"""A floor whose run came to nothing, and what goes with it: its lock, its request's key, the branch that was made for it.

Every turn that fails ends here, whoever finds it: its own process, the one that finds a dead process, or the next request with
its key.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, delete, exists, select, update

from agentui.chats.rows import delete_branch, touch_above
from agentui.chats.tools.executions import (
    CountedExecution,
    has_lasting,
    keep_executions,
    may_not_repeat,
    settle_executions,
)
from agentui.jsonio import Json
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, claims, floors
from agentui.turns.locks import is_alone, made_branch, release_lock
from agentui.turns.transactions import end_run, hold_places_of, leave

LOST: Json = {"code": "generation_lost", "message": "The process that generated this floor ended before the answer did."}
"""Why the floor of a dead generation failed."""
LOST_STATUS = 500
"""What its caller would have been told, were there still one."""


def fail_floor(
    db: Connection,
    account: str,
    floor_id: str,
    error: Json,
    now: int,
    *,
    cancelled: bool = False,
    run_id: str | None = None,
    calls: Iterable[CountedExecution] = (),
    told_status: int = LOST_STATUS,
) -> bool:
    """Let the run of a floor fail, and free the branch, and the request's key unless the run made a call that must not be made
    once more by itself; ``told_status`` is what its caller was told. False when it was over, or another than
    ``run_id``. A generating floor is failed then, and its number stays taken; a committed one, which was to get another
    version, stays as it is. A branch that was made for the turn goes with it, unless somebody has put anything else there, or
    the turn called a tool that cannot be undone.

    ``error`` is ``{"code", "message"}`` for the run's record; ``calls`` are those of tools that it made.
    """
    if not is_alone(db):
        hold_places_of(db, [floor_id])
    made = made_branch(db, account, floor_id)
    was_locked = release_lock(db, account, floor_id, run_id)
    has_left = leave(db, account, floor_id, "failed", 0, 0, now)
    if not (has_left or was_locked):
        return False
    end_run(db, floor_id, "cancelled" if cancelled else "failed", error, now)
    keep_executions(db, account, calls, "pending", now)
    settle_executions(db, account, floor_id, now)
    if may_not_repeat(db, account, floor_id):
        spend_key(db, account, floor_id, told_status, now)
    else:
        free_key(db, account, floor_id)
    touch_above(db, floor_id, now)
    if made is not None and not has_lasting(db, account, floor_id):
        _remove_branch(db, account, *made, floor_id, now)
    return True


def _remove_branch(db: Connection, account: str, session_id: str, branch_id: str, floor_id: str, now: int) -> None:
    """Take back the branch that was made for a floor's turn, unless anything else is there."""
    others = select(floors.c.id).where(
        floors.c.session_id == session_id, floors.c.branch_id == branch_id, floors.c.id != floor_id
    )
    forked = select(branches.c.branch_id).where(branches.c.source_floor_id == floor_id)
    if not db.execute(select(exists(others) | exists(forked))).scalar_one():
        delete_branch(db, account, session_id, branch_id, now)


def free_key(db: Connection, account: str, floor_id: str) -> None:
    """Give up the claim of a turn that failed: nothing of it was kept, so that the same request may be tried again."""
    _FREE_KEY.run(db, {"floor": floor_id, "account": account})


_FREE_KEY = Prepared(
    delete(claims).where(
        claims.c.floor_id == bindparam("floor"), claims.c.account_id == bindparam("account"), claims.c.status.is_(None)
    )
)


def spend_key(db: Connection, account: str, floor_id: str, status: int, now: int) -> None:
    """Give the claim of a turn that broke off an end without an answer: its words stay, or what it did, so that the same
    request must not make a second turn of it. ``status`` is what its caller was told."""
    _SPEND_KEY.run(db, {"floor": floor_id, "account": account, "told": status, "now": now})


_SPEND_KEY = Prepared(
    update(claims)
    .where(claims.c.floor_id == bindparam("floor"), claims.c.account_id == bindparam("account"), claims.c.status.is_(None))
    .values(status=bindparam("told"), updated_at=bindparam("now"))
)
