"""Whose each thing is that a vendor keeps under a key of the server: responses, files, batches and their like.

The vendor sees one key, and so one customer, whichever account asks. What it made for whom is known here alone.
"""

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, select

from agentui.ids import Clock
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.prepared import INSERT, OneOf, Prepared, texts
from agentui.store.tables import vendor_objects

MOST_CHARACTERS: Final = 500
"""No vendor's id is longer; one that is belongs to nobody."""
TIDY_SECONDS: Final = 3600.0
AT_ONCE: Final = 5_000
"""Rows of an account that one transaction removes: whoever else writes waits for it."""

_OWNED = Prepared(
    select(vendor_objects.c.object_id).where(
        vendor_objects.c.account_id == bindparam("account"),
        vendor_objects.c.target == bindparam("target"),
        vendor_objects.c.kind == bindparam("kind"),
        OneOf(vendor_objects.c.object_id, "ids"),
    )
)


class VendorObjects:
    """Remembers who made what at which vendor, and tells it. ``target`` is the origin where a thing is kept, ``kind`` a word
    of ``agentui.vendors.kept``. Each account has its newest ``most``; what is older is nobody's any more (``tidy``). All raise
    the store's errors."""

    def __init__(self, store: Store, clock: Clock, most: int) -> None:
        self._store = store
        self._clock = clock
        self._most = most

    async def owned(self, account: str, target: str, kind: str, ids: Collection[str]) -> frozenset[str]:
        """Which of these ids are the account's."""
        asked = [id for id in ids if len(id) <= MOST_CHARACTERS and "\0" not in id]
        return await self._store.read(owned_ids, account, target[:255], kind, asked) if asked else frozenset()

    async def count(self, account: str, target: str, kind: str) -> int:
        """How many things of a kind are the account's."""
        return await self._store.read(count_objects, account, target[:255], kind)

    async def note(self, account: str, target: str, made: Sequence[tuple[str, str]], *, is_new: bool) -> None:
        """Write down the kinds and ids of what was made for an account. ``is_new``: the vendor has just given out these ids, so
        they are this account's whoever had them before (a local server counts from 1 again after a restart); else what
        somebody has stays that one's."""
        known = [(kind, id) for kind, id in made if len(id) <= MOST_CHARACTERS and "\0" not in id]
        if known:
            await self._store.write(note_objects, account, target[:255], known, self._clock.now_ms(), is_new=is_new)

    async def tidy(self, _: Json) -> None:
        """Forget what is older than each account's newest: a job, done every ``TIDY_SECONDS``."""
        while await self._store.write(tidy_objects, self._most) >= AT_ONCE:
            continue


def owned_ids(db: Connection, account: str, target: str, kind: str, ids: Sequence[str]) -> frozenset[str]:
    """Which of these ids are the account's."""
    rows = _OWNED.all(db, {"account": account, "target": target, "kind": kind, "ids": texts(ids)})
    return frozenset(row[0] for row in rows)


def count_objects(db: Connection, account: str, target: str, kind: str) -> int:
    """How many things of a kind the account has at a target."""
    own = vendor_objects.c.account_id == account, vendor_objects.c.target == target, vendor_objects.c.kind == kind
    return int(db.execute(select(func.count()).select_from(vendor_objects).where(*own)).scalar_one())


def note_objects(db: Connection, account: str, target: str, made: Sequence[tuple[str, str]], now: int, *, is_new: bool) -> None:
    """Write down what was made for an account."""
    # Sorted: two transactions that note the same ids in another order would wait for each other on PostgreSQL.
    rows = [
        {"target": target, "kind": kind, "object_id": id, "account_id": account, "created_at": now}
        for kind, id in sorted(set(made))
    ]
    insert = INSERT[db.dialect.name](vendor_objects)
    named = ["target", "kind", "object_id"]
    if is_new:
        newest = {"account_id": insert.excluded.account_id, "created_at": insert.excluded.created_at}
        db.execute(insert.on_conflict_do_update(index_elements=named, set_=newest), rows)
    else:
        db.execute(insert.on_conflict_do_nothing(index_elements=named), rows)


def tidy_objects(db: Connection, most: int) -> int:
    """Forget of each account what is older than its newest ``most`` things; returns how many that were."""
    removed = 0
    table = vendor_objects.c
    counted = select(table.account_id).group_by(table.account_id).having(func.count() > most)
    for account in db.execute(counted).scalars().all():
        own = table.account_id == account
        newest_first = table.created_at.desc()
        [last] = db.execute(select(table.created_at).where(own).order_by(newest_first).offset(most).limit(1)).scalars()
        # Those of one moment go together: a key of three columns cannot be cut by its number on both engines alike.
        oldest = (
            select(table.created_at).where(own, table.created_at <= last).order_by(table.created_at).offset(AT_ONCE).limit(1)
        )
        until = min(db.execute(oldest).scalar() or last, last)
        removed += db.execute(delete(vendor_objects).where(own, table.created_at <= until)).rowcount
    return removed
