"""Chats that come in or go out in the background: a row tells how far one is, and keeps its file.

    add -> begin -> end_import | end_export | fail       cancel (at any time before the end) · again · tidy

The row decides: what a job does is written in the transaction that ends it, and only while the row says that this very attempt
is under way. So a job that was cancelled, or that another process did meanwhile, leaves nothing. An attempt is known by the
row's ticket, which is a new one whenever the job is put down to be done, and its number with that ticket.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from agentui.assets.files.chat_files import MEDIA, ChatFormat, Media
from agentui.assets.files.chats import MAIN
from agentui.assets.files.report import ImportReport
from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.chats.rows import find_branch, find_session
from agentui.errors import ApiError
from agentui.ids import new_short_id
from agentui.jobs.queue import add as add_job
from agentui.jsonio import Json, dumps_text, loads
from agentui.library.incoming import IncomingChat, keep_chat
from agentui.store.paging import length
from agentui.store.tables import chat_jobs

JobKind: TypeAlias = Literal["import_chat", "export_chat"]
JobPhase: TypeAlias = Literal["queued", "parsing", "snapshotting", "completed"]
JobStatus: TypeAlias = Literal["pending", "leased", "running", "retry_waiting", "succeeded", "dead_letter", "cancelled"]
KIND: Final = "chats.transfer"
"""Of the background job whose payload names the row."""
MOST_ATTEMPTS: Final = 3
"""Also those that ended with their process: a file that kills its server is not read for ever."""
MOST_JOBS: Final = 100
"""Jobs of an account that have not ended; and files of those that have, of which the oldest go first."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""Of the files of the ones, of those of the others, and of one file."""
KEPT_MS: Final = 24 * 3_600_000
"""How long the file of a job that has ended is kept, for who fetches it or tries again."""
ROW_KEPT_MS: Final = 30 * 24 * 3_600_000
"""How long a job that has ended is told of."""
_PAUSE_MS: Final = 5000
"""Before the second attempt; twice that before the third."""
_OPEN: Final[tuple[JobStatus, ...]] = ("pending", "retry_waiting", "running")
_ENDED: Final[tuple[JobStatus, ...]] = ("succeeded", "dead_letter", "cancelled")
_FACTS: Final = tuple(column for column in chat_jobs.c if column.name != "data")
_NO_FILE: Final = {"data": None, "size": 0}


@dataclass(frozen=True, slots=True)
class ImportedCounts:
    """What an import by a job came to; the session is asked for by its id. This is what is kept of it."""

    session_id: str
    floor_count: int
    page_count: int
    message_count: int
    variable_count: int
    report: ImportReport


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job came to. The names in camel case are the contract's (spec: tavern-api-2 part 7.4); the others are those of the
    route that imports at once, null of an export."""

    sessionId: str | None  # the contract's name
    format: ChatFormat | None
    fileName: str | None
    contentType: str | None
    messageCount: int | None
    byteLength: int | None
    session_id: str | None = None
    floor_count: int | None = None
    page_count: int | None = None
    message_count: int | None = None
    variable_count: int | None = None
    report: ImportReport | None = None


@dataclass(frozen=True, slots=True)
class JobError:
    """Why the last attempt failed, as the route that does the same at once would say it."""

    code: str
    message: str
    details: Json


@dataclass(frozen=True, slots=True)
class JobFile:
    """The file of an export: its name, its media type, its bytes, and until when (milliseconds since 1970) it is kept."""

    name: str
    content_type: str
    size: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class ChatTransferJob:
    """A chat that comes in or goes out in the background. Moments are milliseconds since 1970; ``available_at`` is when it may
    be tried (again). The ``format`` of an import is known once its file was read. ``result`` is that of an import, ``file``
    that of an export, as long as it is kept. ``phase``, ``request``, ``last_error`` and the progress say the same as the other
    members by the contract's names; paths and leases are null: files are in the database, and one process has a job.
    """

    id: str
    job_id: str
    job_kind: JobKind
    status: JobStatus
    format: ChatFormat | None
    requested_session_id: str | None
    result_session_id: str | None
    attempt_count: int
    max_attempts: int
    phase: JobPhase
    request: Mapping[str, Json]
    input_artifact_path: None
    normalized_artifact_path: None
    output_artifact_path: None
    output_expires_at: int | None
    progress_current: int
    progress_total: int
    progress_message: str | None
    lease_owner: None
    lease_until: None
    last_error: str | None
    result: JobResult | None
    error: JobError | None
    file: JobFile | None
    available_at: int
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs; None where it does not matter. The ends of a span are in it."""

    job_kind: JobKind | None = None
    status: JobStatus | None = None
    format: ChatFormat | None = None
    requested_session_id: str | None = None
    result_session_id: str | None = None
    created_from: int | None = None
    created_to: int | None = None
    available_from: int | None = None
    available_to: int | None = None


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """A chat's file, and what to do with it."""

    data: bytes
    title: str | None = None
    character_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The session that is to be written, and how."""

    session_id: str
    format: ChatFormat = "thchat"
    branch_id: str | None = None
    include_variables: bool = True


@dataclass(frozen=True, slots=True)
class KeptFile:
    """What an export wrote; ``name`` is without the ending."""

    data: bytes
    name: str
    media: Media


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that this process may make, and what was asked for."""

    id: str
    ticket: str
    number: int
    request: ImportRequest | ExportRequest


def add_import(db: Connection, account: str, request: ImportRequest, now: int) -> ChatTransferJob:
    """Put down an import. Raises 429 ``too_many_jobs``."""
    options = {"title": request.title, "character_id": request.character_id}
    return _add(db, account, "import_chat", options, now, data=request.data, size=len(request.data))


def add_export(db: Connection, account: str, request: ExportRequest, now: int) -> ChatTransferJob:
    """Put down an export. Raises 404, 404 ``branch_not_found``, 429 ``too_many_jobs``."""
    find_session(db, account, request.session_id)
    find_branch(db, account, request.session_id, request.branch_id or MAIN)
    options = {"branch_id": request.branch_id, "include_variables": request.include_variables}
    of = {"requested_session_id": request.session_id, "format": request.format}
    return _add(db, account, "export_chat", options, now, **of)


def _add(db: Connection, account: str, kind: JobKind, options: Json, now: int, **values: Json) -> ChatTransferJob:
    _check_room(db, account, values.get("size", 0))
    id = f"chat-transfer-job:{kind}:{new_short_id()[-12:]}"
    facts = {"job_kind": kind, "status": "pending", "options_json": dumps_text(options), "ticket": _queue(db, account, id, now)}
    times = {"available_at": now, "created_at": now, "updated_at": now}
    db.execute(chat_jobs.insert().values(id=id, account_id=account, **facts, **times, **values))
    return find_job(db, account, id)


def _queue(db: Connection, account: str, id: str, due_at: int) -> str:
    """Put down the background job that does a job once it is due; returns the ticket that it has."""
    ticket = new_short_id()
    return add_job(db, KIND, {"account": account, "id": id, "ticket": ticket}, due_at, id=ticket)


def _check_room(db: Connection, account: str, size: int) -> None:
    """Raise 429 ``too_many_jobs`` where another job, with a file of ``size`` bytes, would be too much. Nobody else looks before
    this transaction ends; SQLite has one writer anyway."""
    if db.dialect.name == "postgresql":
        db.execute(select(func.pg_advisory_xact_lock(func.hashtext(KIND), func.hashtext(account))))
    mine = (chat_jobs.c.account_id == account, chat_jobs.c.status.in_(_OPEN))
    count, held = db.execute(select(func.count(), func.coalesce(func.sum(chat_jobs.c.size), 0)).where(*mine)).one()
    if count < MOST_JOBS and held + size <= MOST_BYTES:
        return
    message = f"{count} jobs with {held} bytes have not ended; at most {MOST_JOBS} jobs and {MOST_BYTES} bytes may wait."
    raise failure("too_many_jobs", f"{message} Ask again when some have.", retry_after=5)


def find_job(db: Connection, account: str, id: str) -> ChatTransferJob:
    """A job. Raises 404 ``not_found``."""
    return _shown(_found(db.execute(select(*_FACTS).where(*_this(account, id))).one_or_none(), id))


def _found(row: AnyRow | None, id: str) -> AnyRow:
    if row is None:
        raise failure("not_found", "There is no such job.", job_id=id)
    return row


def list_jobs(db: Connection, account: str, paging: Paging, wanted: JobFilter) -> Listed[ChatTransferJob]:
    """The jobs that are meant, sorted by a moment."""
    columns = chat_jobs.c
    query = select(*_FACTS).where(columns.account_id == account)
    for name, value in asdict(wanted).items():
        moment, _, end = name.rpartition("_")
        if value is None:
            continue
        if end == "from":
            query = query.where(columns[f"{moment}_at"] >= value)
        elif end == "to":
            query = query.where(columns[f"{moment}_at"] <= value)
        else:
            query = query.where(columns[name] == value)
    order = (columns[paging.sort_by], columns.created_at, columns.id)
    listed = list_rows(db, query, paging, *order, weight=length(columns.result_json, columns.error_json))
    return Listed([_shown(row) for row in listed.items], listed.total)


def find_file(db: Connection, account: str, id: str) -> KeptFile:
    """The file that an export wrote. Raises 404, 409 ``artifact_unavailable`` for an import and ``invalid_state`` before the
    export has ended well, 410 ``artifact_expired``."""
    row = _found(db.execute(select(chat_jobs).where(*_this(account, id))).one_or_none(), id)
    if row.job_kind != "export_chat":
        raise failure("artifact_unavailable", "Only an export has a file.", job_id=id)
    if row.status != "succeeded":
        raise _not_now(row, "Only an export that has succeeded has a file.")
    if row.data is None:
        raise failure("artifact_expired", "The file of the job is no longer kept. Export the session again.", job_id=id)
    return KeptFile(bytes(row.data), row.file_name, MEDIA[row.format])


def begin(db: Connection, account: str, id: str, ticket: str, now: int) -> Attempt | None:
    """Count an attempt; None for a job that is not to be done with this ticket, and for one tried too often, which ends.

    One that runs is begun again: the queue gives a ticket to one process at a time, so the one before has died.
    """
    row = _held(db, account, id)
    if row is None or row.ticket != ticket or row.status not in _OPEN:
        return None
    if row.attempts >= MOST_ATTEMPTS:
        _end(db, account, id, "dead_letter", now, error_json=row.error_json or _DIED)
        return None
    _set(db, account, id, now, status="running", attempts=row.attempts + 1, started_at=now)
    options = loads(row.options_json)
    if row.job_kind == "export_chat":
        return Attempt(id, ticket, row.attempts + 1, ExportRequest(row.requested_session_id, row.format, **options))
    data = db.execute(select(chat_jobs.c.data).where(*_this(account, id))).scalar_one()
    return Attempt(id, ticket, row.attempts + 1, ImportRequest(bytes(data), **options))


_DIED: Final = dumps_text(asdict(JobError("internal_error", "The server ended each time before the job did.", {})))


def end_import(db: Connection, account: str, attempt: Attempt, chat: IncomingChat, report: ImportReport, now: int) -> None:
    """Make the session and end the job, both or neither; nothing for an attempt that no longer counts. Raises as
    ``keep_chat``."""
    if not _counts(db, account, attempt):
        return
    made = keep_chat(db, account, chat, now)
    sizes = (made.floors, made.pages, made.messages, made.variables)
    result = dumps_text(asdict(ImportedCounts(made.session.id, *sizes, report)))
    facts = {"result_session_id": made.session.id, "result_json": result, "format": report.format}
    _end(db, account, attempt.id, "succeeded", now, **facts, **_NO_FILE, error_json=None)


def end_export(db: Connection, account: str, attempt: Attempt, data: bytes, name: str, now: int) -> None:
    """Keep the file of an export; nothing for an attempt that no longer counts. Raises 413 ``payload_too_large``."""
    if len(data) > MOST_BYTES:
        raise failure("payload_too_large", "The file is too large to be kept: export it at once.", limit=MOST_BYTES)
    if _counts(db, account, attempt):
        facts = {"data": data, "size": len(data), "file_name": name, "error_json": None}
        _end(db, account, attempt.id, "succeeded", now, **facts)


def fail(db: Connection, account: str, attempt: Attempt, error: JobError, now: int, *, is_final: bool) -> None:
    """Write down why an attempt failed: it is made again after a pause, unless that is no use (``is_final``) or it was the last
    one."""
    if not _counts(db, account, attempt):
        return
    why = dumps_text(asdict(error))
    if is_final or attempt.number >= MOST_ATTEMPTS:
        _end(db, account, attempt.id, "dead_letter", now, error_json=why)
    else:
        due_at = now + _PAUSE_MS * attempt.number
        waits = {"status": "retry_waiting", "available_at": due_at, "ticket": _queue(db, account, attempt.id, due_at)}
        _set(db, account, attempt.id, now, **waits, error_json=why)


def cancel(db: Connection, account: str, id: str, now: int) -> ChatTransferJob:
    """End a job that has not ended. Raises 404, 409 ``invalid_state``."""
    row = _found(_held(db, account, id), id)
    if row.status not in _OPEN:
        raise _not_now(row, "Only a job that has not ended can be cancelled.")
    _end(db, account, id, "cancelled", now)
    return find_job(db, account, id)


def again(db: Connection, account: str, id: str, now: int) -> ChatTransferJob:
    """Try a job again that failed or was cancelled, with all its attempts. Raises 404, 409 ``invalid_state``, also where
    the file of an import is no longer kept, 429 ``too_many_jobs``."""
    row = _found(_held(db, account, id), id)
    if row.status not in ("dead_letter", "cancelled"):
        raise _not_now(row, "Only a job that failed or was cancelled can be tried again.")
    if row.job_kind == "import_chat" and not row.size:
        raise _not_now(row, "The file of the import is no longer kept. Send it again.")
    _check_room(db, account, row.size)
    fresh = {"status": "retry_waiting", "attempts": 0, "available_at": now, "started_at": None, "finished_at": None}
    _set(db, account, id, now, **fresh, error_json=None, ticket=_queue(db, account, id, now))
    return find_job(db, account, id)


def tidy(db: Connection, now: int) -> None:
    """Forget the files of jobs that ended a while ago, and later the jobs."""
    old = chat_jobs.c.finished_at < now - KEPT_MS
    db.execute(update(chat_jobs).where(old, chat_jobs.c.size > 0).values(**_NO_FILE))
    db.execute(delete(chat_jobs).where(chat_jobs.c.finished_at < now - ROW_KEPT_MS))


def _this(account: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return chat_jobs.c.id == id, chat_jobs.c.account_id == account


def _held(db: Connection, account: str, id: str) -> AnyRow | None:
    """The row, which nobody else changes before this transaction ends."""
    return db.execute(select(*_FACTS).where(*_this(account, id)).with_for_update()).one_or_none()


def _counts(db: Connection, account: str, attempt: Attempt) -> bool:
    """Whether the attempt is the newest one, and under way: not cancelled, not taken over."""
    row = _held(db, account, attempt.id)
    found = row is not None and (row.status, row.ticket, row.attempts)
    return found == ("running", attempt.ticket, attempt.number)


def _set(db: Connection, account: str, id: str, now: int, **values: Json) -> None:
    db.execute(update(chat_jobs).where(*_this(account, id)).values(updated_at=now, **values))


def _end(db: Connection, account: str, id: str, status: JobStatus, now: int, **values: Json) -> None:
    """End a job. Its file, where it has one, makes those go that are too many together with it."""
    _set(db, account, id, now, status=status, finished_at=now, **values)
    kept = (chat_jobs.c.account_id == account, chat_jobs.c.status.in_(_ENDED), chat_jobs.c.size > 0)
    query = select(chat_jobs.c.id, chat_jobs.c.size).where(*kept)
    left, gone = MOST_BYTES, []
    for number, row in enumerate(db.execute(query.order_by(chat_jobs.c.finished_at.desc(), chat_jobs.c.id))):
        left -= row.size
        if row.id != id and (number >= MOST_JOBS or left < 0):
            gone.append(row.id)
    if gone:  # unless somebody has one tried again meanwhile
        db.execute(update(chat_jobs).where(chat_jobs.c.id.in_(gone), chat_jobs.c.status.in_(_ENDED)).values(**_NO_FILE))


def _not_now(row: AnyRow, message: str) -> ApiError:
    """The error of what a job's state does not allow."""
    return failure("invalid_state", message, job_id=row.id, job_status=row.status)


def _shown(row: AnyRow) -> ChatTransferJob:
    file = _file(row) if row.job_kind == "export_chat" and row.size else None
    error = None if row.error_json is None else JobError(**loads(row.error_json))
    is_done = row.status == "succeeded"
    return ChatTransferJob(
        id=row.id,
        job_id=row.id,
        job_kind=row.job_kind,
        status=row.status,
        format=row.format,
        requested_session_id=row.requested_session_id,
        result_session_id=row.result_session_id,
        attempt_count=row.attempts,
        max_attempts=MOST_ATTEMPTS,
        phase=_phase(row),
        request=_request(row),
        input_artifact_path=None,
        normalized_artifact_path=None,
        output_artifact_path=None,
        output_expires_at=None if file is None else file.expires_at,
        progress_current=int(is_done),
        progress_total=1,
        progress_message=None,
        lease_owner=None,
        lease_until=None,
        last_error=None if error is None else error.message,
        result=_result(row, file) if is_done else None,
        error=error,
        file=file,
        available_at=row.available_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _phase(row: AnyRow) -> JobPhase:
    """How far a job is, by the contract's words."""
    if row.status == "succeeded":
        return "completed"
    if row.status in ("running", "dead_letter"):
        return "parsing" if row.job_kind == "import_chat" else "snapshotting"
    return "queued"


def _request(row: AnyRow) -> dict[str, Json]:
    """What was asked for, by the contract's names."""
    options = loads(row.options_json)
    if row.job_kind == "import_chat":
        return {"title": options.get("title"), "characterId": options.get("character_id")}
    return {
        "sessionId": row.requested_session_id,
        "format": row.format,
        "branchId": options.get("branch_id"),
        "includeVariables": options.get("include_variables"),
    }


def _result(row: AnyRow, file: JobFile | None) -> JobResult:
    kept: dict[str, Json] = {} if row.result_json is None else loads(row.result_json)
    report = kept.pop("report", None)
    return JobResult(
        sessionId=row.result_session_id or row.requested_session_id,
        format=row.format,
        fileName=None if file is None else file.name,
        contentType=None if file is None else file.content_type,
        messageCount=kept.get("message_count"),
        byteLength=None if file is None else file.size,
        report=None if report is None else ImportReport(**report),
        **kept,
    )


def _file(row: AnyRow) -> JobFile:
    media = MEDIA[row.format]
    return JobFile(f"{row.file_name}.{media.ending}", media.content_type, row.size, row.finished_at + KEPT_MS)
