"""The jobs of memories (TavernHeadless' contract, parts 2 and 3.11): queued, taken, ended, cancelled, asked for again.

    queue_job -> take -> end | try_later      cancel_job: pending, retry_waiting      retry_job: dead_letter, cancelled

The jobs of one scope run one after another, the oldest first, by who holds the scope's lease. What wakes somebody up is a
row of ``agentui.jobs``, a ticket: the runner gives a ticket to one process, and to another one where that dies. So who has the
lease of a scope is found by its ticket, and a ticket that finds the scope held does nothing: the holder looks again before it
lets go. Everything is a transaction or part of one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Table, and_, select, update

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.memories import WAITING, wake
from agentui.chats.records import AnyRow
from agentui.chats.rows import insert_new
from agentui.ids import Clock
from agentui.jsonio import Json, dumps_text, loads
from agentui.memories.hosts import Host, normal_scope_id
from agentui.memories.records import MemoryScope
from agentui.store.tables import memory_jobs, memory_scopes

LEASE_MS: Final = 120_000
MOST_TRIES: Final = 5
LONGEST_PAUSE_MS: Final = 30_000
MOST_TOGETHER: Final = 8
"""Floors that one call of a model reads."""

JobType: TypeAlias = Literal["ingest_turn", "compact_macro", "maintenance", "rebuild_scope"]
JobStatus: TypeAlias = Literal["pending", "leased", "running", "succeeded", "retry_waiting", "dead_letter", "cancelled"]


@dataclass(frozen=True, slots=True)
class MemoryJob:
    """A job, with the names of the contract. ``last_error`` says why its last try failed, or what it waits for."""

    id: str
    scope: MemoryScope
    scope_id: str
    job_type: JobType
    status: JobStatus
    floor_id: str | None
    based_on_revision: int | None
    payload: Mapping[str, Json]
    attempt_count: int
    max_attempts: int
    available_at: int
    lease_owner: str | None
    lease_until: int | None
    last_error: str | None
    created_at: int
    updated_at: int
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """What a request for a job came to; ``created`` is false where the job was there already."""

    job_id: str
    created: bool
    scope: MemoryScope
    scope_id: str


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to queue."""

    id: str
    host: Host
    job_type: JobType
    payload: Mapping[str, Json]
    floor_id: str | None = None
    floor_no: int | None = None
    page_id: str | None = None
    available_at: int | None = None


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs: those whose columns hold what is named in ``equal`` and that lie within ``ranges`` (from, to, included)."""

    equal: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


def queue_job(db: Connection, account: str, new: NewJob, now: int) -> QueuedJob:
    """Queue a job, and a ticket that wakes somebody up for it. One of the same id that is there already is left as it is."""
    host, due_at = new.host, now if new.available_at is None else new.available_at
    state = {"account_id": account, "scope": host.scope, "scope_id": host.scope_id, "session_id": host.session_id}
    insert_new(db, memory_scopes, {**state, "revision": 0, "updated_at": now})
    row: dict[str, Json] = {
        **state,
        "id": new.id,
        "job_type": new.job_type,
        "status": "pending",
        "floor_id": new.floor_id,
        "floor_no": new.floor_no,
        "page_id": new.page_id,
        "based_on_revision": _revision(db, account, host),
        "payload_json": dumps_text(dict(new.payload)),
        "attempt_count": 0,
        "max_attempts": MOST_TRIES,
        "available_at": due_at,
        "created_at": now,
        "updated_at": now,
    }
    is_new = insert_new(db, memory_jobs, row)
    if is_new:
        wake(db, account, host.scope, host.scope_id, now, due_at)
    return QueuedJob(new.id, is_new, host.scope, host.scope_id)


def _revision(db: Connection, account: str, host: Host) -> int | None:
    return db.execute(select(memory_scopes.c.revision).where(*_of_scope(memory_scopes, account, host))).scalar_one_or_none()


def _of_scope(table: Table, account: str, host: Host) -> tuple[ColumnElement[bool], ...]:
    return table.c.account_id == account, table.c.scope == host.scope, table.c.scope_id == host.scope_id


def let_read(db: Connection, account: str, host: Host, up_to: int, now: int) -> None:
    """Let the jobs of floors up to a number be done now: enough floors are behind them."""
    waiting = memory_jobs.c.status == "pending", memory_jobs.c.available_at > now, memory_jobs.c.floor_no <= up_to
    changed = db.execute(
        update(memory_jobs).where(*_of_scope(memory_jobs, account, host), *waiting).values(available_at=now, updated_at=now)
    )
    if changed.rowcount:
        wake(db, account, host.scope, host.scope_id, now, now)


def take(db: Connection, account: str, host: Host, ticket: str, clock: Clock) -> Sequence[MemoryJob]:
    """Take what is to be done next of a scope, together: one job, or several floors that waited. Where nothing is to be done
    the scope is let go, and where another ticket has it nothing happens."""
    mine = _of_scope(memory_scopes, account, host)
    state = db.execute(select(memory_scopes).where(*mine).with_for_update()).one_or_none()
    if state is None:
        return ()  # its session is gone
    # Read while the scope is held: a ticket that found it held a moment ago came for nothing that is not due by now.
    now = clock.now_ms()
    if state.lease_owner not in (None, ticket) and (state.lease_until or 0) > now:
        return ()
    # What a ticket was at when its process died is tried again; nobody else runs anything in a scope.
    begun = memory_jobs.c.status == "running"
    back = {"status": "pending", "lease_owner": None, "lease_until": None, "updated_at": now}
    db.execute(update(memory_jobs).where(*_of_scope(memory_jobs, account, host), begun).values(**back))
    open_jobs = (
        select(memory_jobs)
        .where(*_of_scope(memory_jobs, account, host), memory_jobs.c.status.in_(WAITING))
        .order_by(memory_jobs.c.created_at, memory_jobs.c.floor_no, memory_jobs.c.id)
        .limit(MOST_TOGETHER)
    )
    waiting = [_job_of(row) for row in db.execute(open_jobs)]
    chosen: list[MemoryJob] = []
    for job in waiting:
        if job.available_at > now or (chosen and (job.job_type, chosen[0].job_type) != ("ingest_turn", "ingest_turn")):
            break
        chosen.append(job)
    lease = {"lease_owner": ticket, "lease_until": now + LEASE_MS} if chosen else {"lease_owner": None, "lease_until": None}
    db.execute(update(memory_scopes).where(*mine).values(**lease))
    if not chosen:
        if waiting:
            wake(db, account, host.scope, host.scope_id, now, waiting[0].available_at)
        return ()
    begin = {"status": "running", "attempt_count": memory_jobs.c.attempt_count + 1, "updated_at": now, **lease}
    db.execute(update(memory_jobs).where(_are(account, chosen)).values(**begin))
    return chosen


def hold_running(db: Connection, account: str, host: Host, ticket: str, jobs: Sequence[MemoryJob]) -> Sequence[MemoryJob]:
    """Those of some jobs that this ticket still runs, held until the transaction ends: whoever else took its scope meanwhile
    does them, and a session that is gone has none."""
    state = select(memory_scopes.c.lease_owner).where(*_of_scope(memory_scopes, account, host))
    if db.execute(state.with_for_update()).scalar_one_or_none() != ticket:
        return ()
    running = memory_jobs.c.status == "running", memory_jobs.c.lease_owner == ticket
    kept = set(db.execute(select(memory_jobs.c.id).where(_are(account, jobs), *running)).scalars())
    return [job for job in jobs if job.id in kept]


def renew(db: Connection, account: str, host: Host, ticket: str, now: int) -> None:
    """Keep a scope for longer."""
    held = *_of_scope(memory_scopes, account, host), memory_scopes.c.lease_owner == ticket
    db.execute(update(memory_scopes).where(*held).values(lease_until=now + LEASE_MS))


def _are(account: str, jobs: Sequence[MemoryJob]) -> ColumnElement[bool]:
    return and_(memory_jobs.c.account_id == account, memory_jobs.c.id.in_([job.id for job in jobs]))


def end(db: Connection, account: str, jobs: Sequence[MemoryJob], status: JobStatus, now: int, error: str | None = None) -> None:
    """End jobs: succeeded, cancelled, or dead_letter where trying again is of no use."""
    ended = {"status": status, "last_error": error, "lease_owner": None, "lease_until": None}
    db.execute(update(memory_jobs).where(_are(account, jobs)).values(**ended, updated_at=now, finished_at=now))


def give_back(db: Connection, account: str, jobs: Sequence[MemoryJob], now: int) -> None:
    """Let jobs wait that were taken with others and are not begun."""
    values = {"status": "pending", "attempt_count": memory_jobs.c.attempt_count - 1, "lease_owner": None, "lease_until": None}
    db.execute(update(memory_jobs).where(_are(account, jobs)).values(**values, updated_at=now))


def try_later(
    db: Connection, account: str, jobs: Sequence[MemoryJob], error: str, now: int, *, pause_ms: int | None
) -> Sequence[MemoryJob]:
    """Jobs failed: they are tried again after a pause that doubles, or are dead letters after ``MOST_TRIES``. With a
    ``pause_ms`` they only wait: such a try is not counted. Returns those that are given up."""
    given_up: list[MemoryJob] = []
    for job in jobs:
        tries = job.attempt_count + (pause_ms is None)
        if tries >= job.max_attempts:
            end(db, account, [job], "dead_letter", now, error)
            given_up.append(job)
            continue
        pause = min(LONGEST_PAUSE_MS, 1000 * 2 ** (tries - 1)) if pause_ms is None else pause_ms
        values = {"status": "retry_waiting", "last_error": error, "available_at": now + pause, "attempt_count": tries}
        free = {"lease_owner": None, "lease_until": None, "updated_at": now}
        db.execute(update(memory_jobs).where(_are(account, [job])).values(**values, **free))
    return given_up


def find_job(db: Connection, account: str, job_id: str, *, hold: bool = False) -> MemoryJob:
    """A job. Raises 404 ``not_found``."""
    query = select(memory_jobs).where(memory_jobs.c.id == job_id, memory_jobs.c.account_id == account)
    row = db.execute(query.with_for_update() if hold else query).one_or_none()
    if row is None:
        raise failure("not_found", "There is no such job.", id=job_id)
    return _job_of(row)


def list_jobs(db: Connection, account: str, paging: Paging, wanted: JobFilter) -> Listed[MemoryJob]:
    """The account's jobs, sorted by ``created_at``, ``updated_at`` or ``available_at``. Raises 400 for a scope_id that names
    no branch."""
    query = select(memory_jobs).where(memory_jobs.c.account_id == account)
    equal = dict(wanted.equal)
    match equal.get("scope"), equal.get("scope_id"):
        case ("global" | "branch") as scope, str(scope_id):
            equal["scope_id"] = normal_scope_id(account, scope, scope_id)
    for name, value in equal.items():
        query = query.where(memory_jobs.c[name] == value)
    for name, (least, most) in wanted.ranges.items():
        query = query if least is None else query.where(memory_jobs.c[name] >= least)
        query = query if most is None else query.where(memory_jobs.c[name] <= most)
    listed = list_rows(db, query, paging, memory_jobs.c[paging.sort_by], memory_jobs.c.id)
    return Listed([_job_of(row) for row in listed.items], listed.total)


def cancel_job(db: Connection, account: str, job_id: str, now: int) -> QueuedJob:
    """Cancel a job that waits. Raises 404 ``not_found``, 409 ``invalid_state`` for one that runs or is over."""
    job = find_job(db, account, job_id, hold=True)
    if job.status not in WAITING:
        raise failure("invalid_state", "Only a job that waits can be cancelled.", id=job_id, state=job.status)
    end(db, account, [job], "cancelled", now)
    return QueuedJob(job.id, True, job.scope, job.scope_id)


def retry_job(db: Connection, account: str, job_id: str, now: int) -> QueuedJob:
    """Let a job that was given up or cancelled be done after all. Raises 404 ``not_found``, 409 ``invalid_state``."""
    job = find_job(db, account, job_id, hold=True)
    if job.status not in ("dead_letter", "cancelled"):
        raise failure("invalid_state", "Only a job that was given up or cancelled is tried again.", id=job_id, state=job.status)
    again = {"status": "retry_waiting", "available_at": now, "attempt_count": 0, "last_error": None, "finished_at": None}
    free = {"lease_owner": None, "lease_until": None, "updated_at": now}
    db.execute(update(memory_jobs).where(_are(account, [job])).values(**again, **free))
    wake(db, account, job.scope, job.scope_id, now, now)
    return QueuedJob(job.id, True, job.scope, job.scope_id)


def _job_of(row: AnyRow) -> MemoryJob:
    plain = {name: getattr(row, name) for name in MemoryJob.__dataclass_fields__ if name != "payload"}
    return MemoryJob(**plain, payload=loads(row.payload_json))
