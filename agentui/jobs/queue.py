"""The jobs in the database: adding one, taking one that is due, and how it ended.

    add | plan -> take -> (extend ...) -> finish | retry

A job belongs to the process that took it until that ends it, gives it back or lets its time run out; then another may take it.
So a job runs at least once: what it does must bear being done again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select, update

from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.prepared import INSERT
from agentui.store.tables import jobs

MOST_TRIES = 10
"""Of a job that runs once; then it is given up, and its row stays for those who ask why."""
LONGEST_PAUSE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Job:
    """A job that this process has taken. ``tries`` counts this one."""

    id: str
    kind: str
    payload: Json
    every_ms: int | None
    tries: int


def add(db: Connection, kind: str, payload: Json, now: int, *, due_at: int | None = None, id: str | None = None) -> str:
    """Put down a job that runs once; returns its id. With an ``id`` of the caller's own it is there once, however often it is
    added before it has run. May be part of the transaction that makes it necessary."""
    id = id or new_short_id()
    values = {"id": id, "kind": kind, "payload_json": dumps_text(payload), "due_at": now if due_at is None else due_at}
    db.execute(INSERT[db.dialect.name](jobs).values(**values, created_at=now).on_conflict_do_nothing())
    return id


def hasten(db: Connection, id: str, now: int) -> None:
    """Let a job that runs once be due now, where it is still there."""
    db.execute(update(jobs).where(jobs.c.id == id, jobs.c.due_at > now).values(due_at=now))


def take_back(db: Connection, id: str) -> bool:
    """Remove a job that no process has ever taken; False where one has, though it may have given it back, or it is gone."""
    return db.execute(delete(jobs).where(jobs.c.id == id, jobs.c.tries == 0)).rowcount == 1


def plan(db: Connection, every_ms: Mapping[str, int], now: int) -> None:
    """Put down periodic jobs, by kind; one that is there already keeps its time and takes the new period."""
    for kind, period in every_ms.items():
        values = {"id": kind, "kind": kind, "every_ms": period, "due_at": now + period, "created_at": now}
        insert = INSERT[db.dialect.name](jobs).values(**values)
        db.execute(insert.on_conflict_do_update(index_elements=["id"], set_={"every_ms": period}))


def next_due(db: Connection, kinds: Collection[str], now: int) -> int | None:
    """When the next job of these kinds may be taken (``now`` or earlier: at once); None where there is none."""
    query = select(jobs.c.due_at, jobs.c.expires_at, jobs.c.every_ms).where(jobs.c.kind.in_(kinds), jobs.c.due_at.is_not(None))
    rows = db.execute(query.order_by(jobs.c.due_at).limit(100)).all()
    # What is due in more than a period was planned before the clock was set back.
    times = (now if row.every_ms is not None and row.due_at > now + row.every_ms else row.due_at for row in rows)
    return min((max(due, row.expires_at or 0) for due, row in zip(times, rows, strict=True)), default=None)


def take(db: Connection, owner: str, kinds: Collection[str], now: int, expires_at: int) -> Job | None:
    """Take a job until ``expires_at``: the periodic one that is due for longest, else the other one; None where none is due. So
    many that were put down at once keep nothing waiting that the server does for itself. Two processes never take the same:
    on PostgreSQL each skips what the other has locked, and SQLite has one writer."""
    is_free = or_(jobs.c.owner.is_(None), jobs.c.expires_at <= now)
    was_set_back = jobs.c.due_at > now + jobs.c.every_ms
    # One after the other, by the rows' ids (``plan``) and by the index of times: together, all that are due would be sorted.
    periodic = and_(jobs.c.id.in_(kinds), jobs.c.every_ms.is_not(None), or_(jobs.c.due_at <= now, was_set_back))
    for is_due in (periodic, and_(jobs.c.every_ms.is_(None), jobs.c.due_at <= now)):
        query = select(jobs).where(is_due, is_free, jobs.c.kind.in_(kinds)).order_by(jobs.c.due_at, jobs.c.id).limit(1)
        row = db.execute(query.with_for_update(skip_locked=True)).one_or_none()
        if row is not None:
            tries = row.tries + 1
            db.execute(update(jobs).where(jobs.c.id == row.id).values(owner=owner, expires_at=expires_at, tries=tries))
            return Job(row.id, row.kind, loads(row.payload_json), row.every_ms, tries)
    return None


def extend(db: Connection, owner: str, job: Job, expires_at: int) -> bool:
    """Keep a job until ``expires_at``; False when it is no longer ours."""
    return db.execute(update(jobs).where(*_held(owner, job)).values(expires_at=expires_at)).rowcount == 1


def finish(db: Connection, owner: str, job: Job, now: int) -> bool:
    """The job is done: a periodic one is due again after its period. False when it was no longer ours."""
    if job.every_ms is None:
        return db.execute(delete(jobs).where(*_held(owner, job))).rowcount == 1
    again = {"due_at": now + job.every_ms, "tries": 0, "error": None, **_FREE}
    return db.execute(update(jobs).where(*_held(owner, job)).values(**again)).rowcount == 1


def retry(db: Connection, owner: str, job: Job, error: str, now: int) -> bool:
    """The job failed: try it again after a pause that doubles, or give it up after ``MOST_TRIES``. False when it was no longer
    ours."""
    pause = min(1000 * 2 ** min(job.tries, 20), LONGEST_PAUSE_MS)
    due_at = None if job.every_ms is None and job.tries >= MOST_TRIES else now + pause
    values = {"due_at": due_at, "error": error, **_FREE}
    return db.execute(update(jobs).where(*_held(owner, job)).values(**values)).rowcount == 1


def release(db: Connection, owner: str) -> None:
    """Give back every job of a process that ends, or has ended; others may take them at once."""
    db.execute(update(jobs).where(jobs.c.owner == owner).values(**_FREE))


def release_others(db: Connection, owner: str) -> None:
    """Give back every job but this process's, where no other can live: SQLite's file belongs to one."""
    if db.dialect.name == "sqlite":
        db.execute(update(jobs).where(jobs.c.owner != owner).values(**_FREE))


_FREE: Mapping[str, Json] = {"owner": None, "expires_at": None}


def _held(owner: str, job: Job) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.id == job.id, jobs.c.owner == owner
