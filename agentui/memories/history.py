"""What people changed of items, so that it can be undone: each change keeps the item as it was before."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, String, bindparam, delete, insert, select

from agentui.chats.records import AnyRow
from agentui.ids import new_short_id
from agentui.jsonio import dumps_text, loads
from agentui.memories.records import Item, Source
from agentui.store.prepared import Prepared, named
from agentui.store.tables import memory_history

HistoryAction: TypeAlias = Literal["update", "delete"]

MOST_KEPT: Final = 50
"""Changes that are kept of one item."""


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A change of an item, and the item as it was before."""

    id: str
    item_id: str
    action: HistoryAction
    before: Item
    created_at: int


def keep_history(db: Connection, account: str, before: Item, action: HistoryAction, now: int) -> str:
    """Keep an item as it was before a change, in the transaction of the change; returns the id of the entry. The oldest entry
    of many goes."""
    id = new_short_id()
    names = {"id": id, "account_id": account, "session_id": before.session_id, "item_id": before.id, "action": action}
    _KEEP.run(db, {**names, "before_json": dumps_text(asdict(before)), "created_at": now})
    too_old = _OLD.first(db, {"item": before.id, "account": account})
    if too_old is not None:
        own = memory_history.c.account_id == account, memory_history.c.item_id == before.id
        db.execute(delete(memory_history).where(*own, memory_history.c.id <= too_old[0]))
    return id


_KEEP = Prepared(insert(memory_history).values(named(memory_history, *memory_history.c.keys())))
_OWN = (
    memory_history.c.account_id == bindparam("account", type_=String),
    memory_history.c.item_id == bindparam("item", type_=String),
)
_OLD = Prepared(select(memory_history.c.id).where(*_OWN).order_by(memory_history.c.id.desc()).limit(1).offset(MOST_KEPT))


def history_of(db: Connection, account: str, item_id: str) -> list[ItemChange]:
    """What was changed of an item, the latest first; nothing for one that nobody changed, or that is not there."""
    return [_change_of(row) for row in _ALL.rows(db, {"item": item_id, "account": account})]


def take_latest(db: Connection, account: str, item_id: str) -> ItemChange | None:
    """The latest change of an item, which is kept no longer; None where there is none."""
    row = _LATEST.row(db, {"item": item_id, "account": account})
    if row is None:
        return None
    db.execute(delete(memory_history).where(memory_history.c.account_id == account, memory_history.c.id == row.id))
    return _change_of(row)


_ALL = Prepared(select(memory_history).where(*_OWN).order_by(memory_history.c.id.desc()))
_LATEST = Prepared(select(memory_history).where(*_OWN).order_by(memory_history.c.id.desc()).limit(1).with_for_update())


def _change_of(row: AnyRow) -> ItemChange:
    before: Mapping[str, Any] = loads(row.before_json)
    sources = [Source(**source) for source in before["sources"]]
    return ItemChange(row.id, row.item_id, row.action, Item(**{**before, "sources": sources}), row.created_at)
