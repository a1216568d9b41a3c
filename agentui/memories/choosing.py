"""Memories that stand in a prompt whatever is asked: the pinned ones, and where nobody asks anything, those that weigh most
(TavernHeadless' contract, 3.8)."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, Integer, String, bindparam, or_, select

from agentui.memories.items import find_items
from agentui.memories.records import Item
from agentui.memories.sight import Sight
from agentui.store.prepared import Prepared
from agentui.store.tables import memory_items

LEAST_IMPORTANCE: Final = 0.35
"""What weighs less is not chosen without a question."""
MOST_PINNED: Final = 100
"""Pinned items that a prompt looks at, the oldest first: whoever pins more has all of them compete for one budget."""
_MOST_LOOKED: Final = 500
"""Items of one reading of the weightiest."""
_MOST_OF: Final = {"open_loop": 6, "fact": 10, "summary": 8}
"""How many of each type are chosen without a question, in the order in which they take turns."""


def find_pinned(db: Connection, account: str, sight: Sight, *, of_chat_only: bool = False) -> list[Item]:
    """The pinned items that are seen, the oldest first, so that their block changes as seldom as may be; ``of_chat_only``
    leaves out those of no chat."""
    session_id = sight.place.session_id
    rows = _PINNED.all(db, {"account": account, "session": session_id})
    ids = [row[0] for row in rows if sight.sees(row[0]) and (row[1] is not None or not of_chat_only)][:MOST_PINNED]
    found = find_items(db, account, ids) if ids else {}
    return [found[id] for id in ids if id in found]


def find_weightiest(db: Connection, account: str, sight: Sight, but: Sequence[str]) -> list[Item]:
    """The items that are seen and weigh most, type by type in turns, without those that the prompt has already (``but``)."""
    rows = _WEIGHTY.all(db, {"account": account, "session": sight.place.session_id, "most": _MOST_LOOKED})
    by_type: dict[str, list[str]] = {type: [] for type in _MOST_OF}
    for id, type in rows:
        if id not in but and len(by_type[type]) < _MOST_OF[type] and sight.sees(id):
            by_type[type].append(id)
    ids = list(_in_turns(list(by_type.values())))
    found = find_items(db, account, ids) if ids else {}
    return [found[id] for id in ids if id in found]


def _in_turns(lists: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first of each list, then the second of each ..."""
    for at in range(max(map(len, lists), default=0)):
        yield from (each[at] for each in lists if at < len(each))


_COLUMNS = memory_items.c
_OWN = (
    _COLUMNS.account_id == bindparam("account", type_=String),
    or_(_COLUMNS.session_id == bindparam("session", type_=String), _COLUMNS.session_id.is_(None)),
)
_PINNED = Prepared(
    select(_COLUMNS.id, _COLUMNS.session_id).where(*_OWN, _COLUMNS.is_pinned).order_by(_COLUMNS.created_at, _COLUMNS.id)
)
_WEIGHTY = Prepared(
    select(_COLUMNS.id, _COLUMNS.type)
    .where(*_OWN, _COLUMNS.importance >= LEAST_IMPORTANCE, _COLUMNS.status == "active")
    .order_by(_COLUMNS.importance.desc(), _COLUMNS.updated_at.desc(), _COLUMNS.id.desc())
    .limit(bindparam("most", type_=Integer))
)
