"""What becomes of old items (TavernHeadless' contract, 3.12): small summaries and open loops are deprecated, and what is
deprecated goes for good after a while. An item that a turn used lately, a large summary, and what a person pinned or
wrote stay."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, update

from agentui.memories.revisions import count_write
from agentui.store.tables import memory_items

AT_ONCE: Final = 500
"""Items of one transaction."""
DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Ages:
    """After how many days summaries and open loops are deprecated, and deprecated items removed; 0: never."""

    summary_days: int = 0
    open_loop_days: int = 0
    purge_days: int = 0


def maintain(db: Connection, ages: Ages, now: int) -> bool:
    """Do a part of it, of every account; whether there may be more."""
    old: list[ColumnElement[bool]] = []
    columns = memory_items.c
    for type, days in (("summary", ages.summary_days), ("open_loop", ages.open_loop_days)):
        if days:
            used = func.coalesce(columns.last_used_at, columns.created_at)
            is_small = or_(columns.summary_tier.is_(None), columns.summary_tier != "macro")
            old.append(
                and_(columns.type == type, is_small, columns.created_at < now - days * DAY_MS, used < now - days * DAY_MS)
            )
    count = 0
    if old:
        mine = columns.status == "active", columns.author != "user", columns.is_pinned.is_(False), or_(*old)
        found = _held(db, *mine)
        count += len(found)
        for account, session_id, ids in _by_chat(found):
            number = count_write(db, account, session_id, rewrites=True)
            gone = {"status": "deprecated", "lifecycle_status": "deprecated", "updated_at": now, "revision": number}
            db.execute(update(memory_items).where(columns.id.in_(ids)).values(**gone))
    if ages.purge_days:
        found = _held(db, columns.status == "deprecated", columns.updated_at < now - ages.purge_days * DAY_MS)
        count += len(found)
        for account, session_id, ids in _by_chat(found):
            count_write(db, account, session_id, rewrites=True)
            db.execute(delete(memory_items).where(columns.id.in_(ids)))
    return count >= AT_ONCE


def _held(db: Connection, *where: ColumnElement[bool]) -> list[Any]:
    columns = memory_items.c
    query = select(columns.id, columns.account_id, columns.session_id).where(*where).order_by(columns.id).limit(AT_ONCE)
    return list(db.execute(query.with_for_update(skip_locked=True)))


def _by_chat(rows: list[Any]) -> list[tuple[str, str | None, list[str]]]:
    """The ids by account and chat, in the one order of all who count writes to several."""
    found: dict[tuple[str, str | None], list[str]] = {}
    for row in rows:
        found.setdefault((row.account_id, row.session_id), []).append(row.id)
    return [(*place, ids) for place, ids in sorted(found.items(), key=lambda each: (each[0][0], each[0][1] or ""))]
