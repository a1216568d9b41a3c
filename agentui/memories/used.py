"""When memories were last of use: they stood in the prompt of a turn that was committed (TavernHeadless' contract, 3.2)."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Connection, String, bindparam, select, update

from agentui.store.prepared import OneOf, Prepared, texts
from agentui.store.tables import memory_items


def note_used(db: Connection, account: str, item_ids: Sequence[str], now: int) -> None:
    """Keep when items were last in the prompt of a committed turn: one write. Those that somebody else changes at this moment
    are left alone, so that no two turns wait for each other; what the rule of sight reads is not changed."""
    _USED.run(db, {"ids": texts(item_ids), "account": account, "now": now})


_FREE = (
    select(memory_items.c.id)
    .where(OneOf(memory_items.c.id, "ids"), memory_items.c.account_id == bindparam("account", type_=String))
    .with_for_update(skip_locked=True)
)
_USED = Prepared(
    update(memory_items).where(memory_items.c.id.in_(_FREE)).values(last_used_at=bindparam("now", type_=BigInteger))
)
