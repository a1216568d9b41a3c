"""Removing an account with all that is its own: in parts, between which others write, and by a job that goes on where another
process left off.

    request ─▶ (cancel, until ``begins_at``) ─▶ begin: nobody comes in any more ─▶ parts, table by table ─▶ finish

Every table with a column ``account_id`` is emptied of the account, whichever tables there will be: they are read off the
schema.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, Row, Table, delete, exists, func, insert, select, tuple_, update

from agentui.accounts.codes import failure
from agentui.accounts.records import is_default_account
from agentui.accounts.stored import find_account
from agentui.ids import Clock, new_short_id
from agentui.jobs.queue import add as add_job
from agentui.jobs.queue import take_back
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.tables import accounts, floors, metadata, purges, sign_ins

KIND: Final = "accounts.purge"
TIDY_SECONDS: Final = 3600.0
MOST_DELAY: Final = 30 * 86_400
"""Seconds until a purge may begin at the latest."""
USUAL_DELAY: Final = 600
AT_ONCE: Final = 500
"""Rows of a table that one transaction removes: whoever else writes waits for it."""
FLOORS_AT_ONCE: Final = 50
"""The same of turns, each of which takes its pages and messages along."""
_STRAGGLERS_MS: Final = 24 * 3_600_000
"""How long after a purge is looked for what was written late: a call to a model that was under way is settled when it ends."""
_KEPT_MS: Final = 30 * 24 * 3_600_000
"""How long a purge that is over is told of."""

PurgeStatus: TypeAlias = Literal["waiting", "running", "done", "cancelled"]


@dataclass(frozen=True, slots=True)
class Purge:
    """The removal of an account. ``counted`` are its rows when it was asked for, ``removed`` those that are gone."""

    id: str
    account_id: str
    status: PurgeStatus
    begins_at: int
    counted: int
    removed: int
    created_at: int
    ended_at: int | None


def tables_of_accounts() -> list[Table]:
    """Every table whose rows are accounts', what hangs from other tables first."""
    return [table for table in reversed(metadata.sorted_tables) if "account_id" in table.c]


def rows_by_table(db: Connection, account: str) -> dict[str, int]:
    """How many rows an account has, by table; those tables alone in which it has some."""
    counts = {
        table.name: int(db.execute(select(func.count()).select_from(table).where(table.c.account_id == account)).scalar_one())
        for table in tables_of_accounts()
    }
    return {name: count for name, count in counts.items() if count}


def request_purge(db: Connection, account: str, now: int, delay: int) -> Purge:
    """Put down that an account is to be removed in ``delay`` seconds, by a job. Raises 404 ``account_not_found``, 409
    ``account_protected`` for the default one, 409 ``purge_exists`` where that is put down already."""
    find_account(db, account)
    if is_default_account(account):
        raise failure("account_protected", f"The account {account!r} cannot be removed.", id=account)
    if _open(db, account) is not None:
        raise failure("purge_exists", f"The account {account!r} is to be removed already.", id=account)
    id, begins_at = new_short_id(), now + delay * 1000
    values = {"id": id, "subject": account, "status": "waiting", "begins_at": begins_at, "removed": 0, "created_at": now}
    db.execute(insert(purges).values(**values, counted=sum(rows_by_table(db, account).values())))
    add_job(db, KIND, {"purge": id}, now, due_at=begins_at, id=_job_of(id))
    return find_purge(db, account)


def find_purge(db: Connection, account: str) -> Purge:
    """The newest purge of an account, which may be gone. Raises 404 ``purge_not_found``."""
    query = select(purges).where(purges.c.subject == account).order_by(purges.c.created_at.desc(), purges.c.id.desc()).limit(1)
    row = db.execute(query).one_or_none()
    if row is None:
        raise failure("purge_not_found", f"The account {account!r} is not to be removed.", id=account)
    return _purge_of(row)


def cancel_purge(db: Connection, account: str, now: int) -> Purge:
    """Take back a purge that has not begun. Raises 404 ``purge_not_found``, 409 ``purge_under_way``."""
    row = _open(db, account)
    if row is None:
        raise failure("purge_not_found", f"The account {account!r} is not to be removed.", id=account)
    # The row and not the job decides: a process may have taken the job a moment ago and waits for this lock.
    if row.status != "waiting":
        raise failure("purge_under_way", "The purge has begun: what is gone cannot be brought back.", id=account)
    db.execute(update(purges).where(purges.c.id == row.id).values(status="cancelled", ended_at=now))
    take_back(db, _job_of(row.id))
    return find_purge(db, account)


def begin_purge(db: Connection, id: str) -> str | None:
    """Let the account in no more, and return its id; None where the purge was cancelled, or is done. Doing it again changes
    nothing."""
    row = db.execute(select(purges).where(purges.c.id == id).with_for_update()).one_or_none()
    if row is None or row.status not in ("waiting", "running"):
        return None
    db.execute(update(purges).where(purges.c.id == id).values(status="running"))
    db.execute(update(accounts).where(accounts.c.id == row.subject).values(status="disabled"))
    db.execute(delete(sign_ins).where(sign_ins.c.account_id == row.subject))
    return str(row.subject)


def remove_turns(db: Connection, account: str, purge: str | None) -> int:
    """Remove some turns of the account's chats; returns how many there were. Chats hold nearly all that an account has, and
    most of what hangs from a turn has no index by account."""
    some = db.execute(select(floors.c.id).where(floors.c.account_id == account).limit(FLOORS_AT_ONCE)).scalars().all()
    if some:
        db.execute(delete(floors).where(floors.c.id.in_(some)))
        _count(db, purge, len(some))
    return len(some)


def remove_rows(db: Connection, account: str, table: Table, purge: str | None) -> int:
    """Remove some rows of a table; returns how many."""
    keys = tuple(table.primary_key.columns)
    own = select(*keys).where(table.c.account_id == account).limit(AT_ONCE)
    chosen = keys[0].in_(own) if len(keys) == 1 else tuple_(*keys).in_(own)
    removed = db.execute(delete(table).where(chosen)).rowcount
    _count(db, purge, removed)
    return removed


def has_rows(db: Connection, account: str, table: Table) -> bool:
    """Whether an account has rows in a table."""
    return bool(db.execute(select(exists().where(table.c.account_id == account))).scalar())


def finish_purge(db: Connection, id: str, account: str, now: int) -> bool:
    """Remove the account itself where nothing of it is left; False where something was written meanwhile."""
    if any(has_rows(db, account, table) for table in tables_of_accounts()):
        return False
    db.execute(delete(accounts).where(accounts.c.id == account))
    db.execute(update(purges).where(purges.c.id == id, purges.c.status == "running").values(status="done", ended_at=now))
    return True


def late_subjects(db: Connection, now: int) -> list[str]:
    """The accounts that went lately, and that nobody has made anew."""
    ended = purges.c.status == "done", purges.c.ended_at > now - _STRAGGLERS_MS
    query = select(purges.c.subject).where(*ended, purges.c.subject.not_in(select(accounts.c.id)))
    return list(db.execute(query.distinct()).scalars())


def forget_purges(db: Connection, now: int) -> None:
    """Forget purges that have been over for long."""
    db.execute(delete(purges).where(purges.c.ended_at < now - _KEPT_MS))


class Purges:
    """Does the purges, as jobs. ``begun`` hears that an account is let in no more, ``ended`` that nothing is kept for it any
    more; both are awaited."""

    def __init__(
        self,
        store: Store,
        jobs: JobRunner,
        clock: Clock,
        begun: Callable[[], Awaitable[None]],
        ended: Callable[[str], Awaitable[None]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._begun = begun
        self._ended = ended
        jobs.handle(KIND, self._purge)
        jobs.handle("accounts.tidy_purges", self._tidy, every_seconds=TIDY_SECONDS)

    async def _purge(self, payload: Json) -> None:
        """Go on with a purge until it is done. Raises the store's errors; the runner asks again then."""
        id = str(payload["purge"])
        account = await self._store.write(begin_purge, id)
        if account is None:
            return
        await self._begun()
        await self._ended(account)
        while True:
            await self._sweep(account, id)
            if await self._store.write(finish_purge, id, account, self._clock.now_ms()):
                break
        await self._ended(account)

    async def _sweep(self, account: str, purge: str | None) -> None:
        """Remove all rows of an account that are there now."""
        while await self._store.write(remove_turns, account, purge) == FLOORS_AT_ONCE:
            continue
        for table in tables_of_accounts():
            # Some of them have no index by account: to look first costs readers' time and not the one writer's.
            if await self._store.read(has_rows, account, table):
                while await self._store.write(remove_rows, account, table, purge) >= AT_ONCE:
                    continue

    async def _tidy(self, _: Json) -> None:
        now = self._clock.now_ms()
        for account in await self._store.read(late_subjects, now):
            await self._sweep(account, None)
        await self._store.write(forget_purges, now)


def _open(db: Connection, account: str) -> Row[Any] | None:
    """The purge of an account that waits or runs."""
    open = purges.c.subject == account, purges.c.status.in_(("waiting", "running"))
    return db.execute(select(purges).where(*open).with_for_update()).one_or_none()


def _count(db: Connection, purge: str | None, removed: int) -> None:
    if purge is not None and removed:
        db.execute(update(purges).where(purges.c.id == purge).values(removed=purges.c.removed + removed))


def _job_of(purge: str) -> str:
    return f"purge-{purge}"


def _purge_of(row: Row[Any]) -> Purge:
    return Purge(row.id, row.subject, row.status, row.begins_at, row.counted, row.removed, row.created_at, row.ended_at)
