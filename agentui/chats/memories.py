"""What becomes of memories with the chats that they belong to.

With a session, a branch or a floor go the memories of its scope, and with a session those of its branches and floors
(TavernHeadless' contract, 3.5). An item elsewhere that names a floor that goes names none any more; one that was made of its
words is seen nowhere. What is read of memories is read anew then, for ``reshape`` counts each of these changes.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, select, update

from agentui.jsonio import dumps_text
from agentui.store.tables import memory_history, memory_items, memory_rejections, memory_revisions, memory_scopes


def forget_session(db: Connection, account: str, session_id: str) -> None:
    """Remove all memories of a session, and what stands beside them."""
    for table in (memory_items, memory_history, memory_scopes, memory_rejections, memory_revisions):
        db.execute(delete(table).where(table.c.account_id == account, table.c.session_id == session_id))


def forget_branch(db: Connection, account: str, session_id: str, branch_id: str) -> None:
    """Remove the memories of a branch."""
    _forget(db, account, "branch", memory_items.c.scope_id == dumps_text([session_id, branch_id]))
    named = memory_scopes.c.scope == "branch", memory_scopes.c.scope_id == dumps_text([session_id, branch_id])
    db.execute(delete(memory_scopes).where(memory_scopes.c.account_id == account, *named))


def forget_floors(db: Connection, account: str, floor_ids: Select[Any]) -> None:
    """Remove the memories of floors."""
    _forget(db, account, "floor", memory_items.c.scope_id.in_(floor_ids))
    naming = memory_items.c.account_id == account, memory_items.c.source_floor_id.in_(floor_ids)
    db.execute(update(memory_items).where(*naming).values(source_floor_id=None))
    named = memory_scopes.c.scope == "floor", memory_scopes.c.scope_id.in_(floor_ids)
    db.execute(delete(memory_scopes).where(memory_scopes.c.account_id == account, *named))


def move_branch(db: Connection, account: str, session_id: str, source: str, target: str, head_id: str) -> None:
    """Give a branch that took over the floors of another that one's memories, too. What names no floor names the last of these
    from then on, so that it is seen from where that is: from both branches, and from no fork before it."""
    old, new = (dumps_text([session_id, branch_id]) for branch_id in (source, target))
    own = memory_items.c.account_id == account, memory_items.c.scope == "branch", memory_items.c.scope_id == old
    named = func.coalesce(memory_items.c.source_floor_id, head_id)
    db.execute(update(memory_items).where(*own).values(scope_id=new, source_floor_id=named))


def _forget(db: Connection, account: str, scope: str, where: ColumnElement[bool]) -> None:
    """Remove items of a scope, and what is kept of their changes."""
    own = memory_items.c.account_id == account, memory_items.c.scope == scope, where
    db.execute(delete(memory_history).where(memory_history.c.item_id.in_(select(memory_items.c.id).where(*own))))
    db.execute(delete(memory_items).where(*own))
