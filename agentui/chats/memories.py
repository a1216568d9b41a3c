"""What becomes of memories with the chats that they belong to.

With a session, a branch or a floor go the memories of its scope, and with a session those of its branches and floors
(TavernHeadless' contract, 3.5). An item elsewhere that names a floor that goes names none any more; one that was made of its
words is seen nowhere. What is read of memories is read anew then, for ``reshape`` counts each of these changes.
"""

from hashlib import sha256
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Update, delete, func, select, update

from agentui.jobs.queue import add
from agentui.jsonio import dumps, dumps_text
from agentui.store.tables import memory_history, memory_items, memory_jobs, memory_rejections, memory_revisions, memory_scopes


def forget_session(db: Connection, account: str, session_id: str) -> None:
    """Remove all memories of a session, and what stands beside them."""
    for table in (memory_items, memory_history, memory_jobs, memory_scopes, memory_rejections, memory_revisions):
        db.execute(delete(table).where(table.c.account_id == account, table.c.session_id == session_id))


def forget_branch(db: Connection, account: str, session_id: str, branch_id: str) -> None:
    """Remove the memories of a branch."""
    _forget(db, account, "branch", memory_items.c.scope_id == dumps_text([session_id, branch_id]))
    for table in (memory_jobs, memory_scopes):
        named = table.c.scope == "branch", table.c.scope_id == dumps_text([session_id, branch_id])
        db.execute(delete(table).where(table.c.account_id == account, *named))


def forget_floors(db: Connection, account: str, floor_ids: Select[Any]) -> None:
    """Remove the memories of floors."""
    _forget(db, account, "floor", memory_items.c.scope_id.in_(floor_ids))
    naming = memory_items.c.account_id == account, memory_items.c.source_floor_id.in_(floor_ids)
    db.execute(update(memory_items).where(*naming).values(source_floor_id=None))
    db.execute(delete(memory_jobs).where(memory_jobs.c.account_id == account, memory_jobs.c.floor_id.in_(floor_ids)))
    named = memory_scopes.c.scope == "floor", memory_scopes.c.scope_id.in_(floor_ids)
    db.execute(delete(memory_scopes).where(memory_scopes.c.account_id == account, *named))


def move_branch(db: Connection, account: str, session_id: str, source: str, target: str, head_id: str) -> None:
    """Give a branch that took over the floors of another that one's memories, too. What names no floor names the last of these
    from then on, so that it is seen from where that is: from both branches, and from no fork before it."""
    old, new = (dumps_text([session_id, branch_id]) for branch_id in (source, target))
    own = memory_items.c.account_id == account, memory_items.c.scope == "branch", memory_items.c.scope_id == old
    named = func.coalesce(memory_items.c.source_floor_id, head_id)
    db.execute(update(memory_items).where(*own).values(scope_id=new, source_floor_id=named))
    waiting = memory_jobs.c.account_id == account, memory_jobs.c.scope == "branch", memory_jobs.c.scope_id == old
    db.execute(update(memory_jobs).where(*waiting).values(scope_id=new))


def _forget(db: Connection, account: str, scope: str, where: ColumnElement[bool]) -> None:
    """Remove items of a scope, and what is kept of their changes."""
    own = memory_items.c.account_id == account, memory_items.c.scope == scope, where
    db.execute(delete(memory_history).where(memory_history.c.item_id.in_(select(memory_items.c.id).where(*own))))
    db.execute(delete(memory_items).where(*own))


WRITING: Final = "memories.write"
"""The kind of the tickets that wake somebody up who writes memories (``memories/writing/jobs.py``)."""
DROPPED: Final = "Its answer was replaced."
"""Why a job is cancelled whose answer is not the active one any more. A person who cancels one says nothing."""
WAITING: Final = ("pending", "retry_waiting")
"""The states of a job that nobody has begun."""


def wake(db: Connection, account: str, scope: str, scope_id: str, now: int, due_at: int) -> None:
    """Let somebody look at the jobs of a scope at a time."""
    # One for each moment: whoever lets go of a scope asks to be woken for what is left, too, and tickets would never end.
    ticket = sha256(dumps([account, scope, scope_id, due_at])).hexdigest()
    payload = {"account": account, "scope": scope, "scope_id": scope_id, "ticket": ticket}
    add(db, WRITING, payload, now, due_at=due_at, id=ticket)


def drop_jobs(db: Connection, account: str, now: int, *of_answers: ColumnElement[bool]) -> None:
    """Cancel the jobs that wait to read answers which are not the active ones any more, and let those behind them come."""
    waiting = memory_jobs.c.account_id == account, memory_jobs.c.status.in_(WAITING)
    ended = {"status": "cancelled", "last_error": DROPPED, "updated_at": now, "finished_at": now}
    query = update(memory_jobs).where(*waiting, *of_answers).values(**ended)
    _wake_of(db, account, query, now)


def switch_jobs(db: Connection, account: str, left: str | None, page_id: str, now: int) -> None:
    """Another answer is the active one than the one that was ``left``: that is not read any more, and where nothing was read
    of the other because it was not active, it is read after all."""
    if left is not None:
        drop_jobs(db, account, now, memory_jobs.c.page_id == left)
    dropped = memory_jobs.c.status == "cancelled", memory_jobs.c.last_error == DROPPED
    back = {"status": "pending", "last_error": None, "finished_at": None, "available_at": now, "updated_at": now}
    query = update(memory_jobs).where(memory_jobs.c.page_id == page_id, memory_jobs.c.account_id == account, *dropped)
    _wake_of(db, account, query.values(**back), now)


def _wake_of(db: Connection, account: str, change: Update, now: int) -> None:
    """Change jobs, and let somebody look at their scopes."""
    for scope, scope_id in db.execute(change.returning(memory_jobs.c.scope, memory_jobs.c.scope_id)).all():
        wake(db, account, scope, scope_id, now, now)
