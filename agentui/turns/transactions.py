"""A turn's life in the database: join a session, open a floor, commit it or let it fail.

join_session -> open_floor -> (extend_lock ...) -> commit_floor | fail_floor
"""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    String,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    true,
    update,
)

from agentui.chats.branches import fork_branch
from agentui.chats.codes import failure
from agentui.chats.parts import Content, keep_blobs
from agentui.chats.records import MAIN, FloorState, RunStatus
from agentui.chats.rows import (
    branch_head,
    find_branch,
    find_session,
    insert_new,
    on_branch,
    register_branch,
    touch,
    touch_above,
)
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text
from agentui.store.prepared import Prepared, named
from agentui.store.tables import branches, claims, floors, generations, messages, pages, runs, sessions
from agentui.turns.locks import Owner, conflict, is_alone, is_dead, release_lock, take_lock

MAX_NAME = 200
MAX_BRANCH = 100
MAX_INTEGER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Joined:
    """Where a turn belongs."""

    session_id: str
    branch_id: str


@dataclass(frozen=True, slots=True)
class OpenedFloor:
    """A floor that generates. ``output_page_id`` is the id that its answer's page will have once it is committed."""

    floor_id: str
    floor_no: int
    input_page_id: str
    output_page_id: str
    parent_floor_id: str | None


@dataclass(frozen=True, slots=True)
class Committed:
    """A floor with its answer."""

    floor_id: str
    output_page_id: str


def join_session(db: Connection, account: str, name_or_id: str, branch_id: str | None, now: int) -> Joined:
    """The session of an id or of the caller's own name for it, and its branch; both are made when they are new.

    A new name makes a session of that name. A new branch is forked from the head of main. Raises 400 ``validation_error``
    for a name or a branch that is empty, too long or holds a NUL, 409 ``session_archived``.
    """
    _check_name(name_or_id, "session", MAX_NAME)
    branch_id = MAIN if branch_id is None else branch_id
    _check_name(branch_id, "branch", MAX_BRANCH)
    found = _hold_called(db, account, name_or_id, branch_id)
    if found is None:
        _new_session(db, account, name_or_id, now)
        found = _hold_called(db, account, name_or_id, branch_id)
    if found is None:
        # Somebody else made a session of this name in the same moment, and it is gone again.
        raise failure("session_not_found", "There is no such session any more. Try again.", session=name_or_id)
    session_id, status, has_branch = found
    _check_status(session_id, status)
    if not has_branch:
        fork_branch(db, account, session_id, branch_id, branch_head(db, account, session_id, MAIN), now)
    return Joined(session_id, branch_id)


def _hold_called(db: Connection, account: str, name_or_id: str, branch_id: str) -> tuple[str, str, bool] | None:
    """The session of this id or name, an id before a name, kept from being removed until the transaction ends: its id, its
    status, and whether it has the branch."""
    row = _CALLED.first(db, {"account": account, "called": name_or_id, "branch": branch_id})
    return None if row is None else (row[0], row[1], row[2] is not None)


def _called() -> Prepared:
    """A session by its id, else by its name: two searches, where an OR in SQLite sorts what it finds."""
    other, mine = sessions.alias(), bindparam("account", type_=String)
    by_id, by_name = (
        select(other.c.id).where(other.c.account_id == mine, column == bindparam("called")).scalar_subquery()
        for column in (other.c.id, other.c.name)
    )
    return Prepared(
        select(sessions.c.id, sessions.c.status, branches.c.branch_id)
        .outerjoin(branches, (branches.c.session_id == sessions.c.id) & (branches.c.branch_id == bindparam("branch")))
        .where(sessions.c.account_id == mine, sessions.c.id == func.coalesce(by_id, by_name))
        .with_for_update(read=True, key_share=True, of=sessions)
    )


_CALLED = _called()


def _check_status(session_id: str, status: str) -> None:
    if status == "archived":
        raise failure("session_archived", "This session is archived: it takes no new turns.", session_id=session_id)


def open_floor(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    run_id: str,
    owner: Owner,
    user: Content | None,
    now: int,
    *,
    run_type: str = "respond",
) -> OpenedFloor:
    """Begin a turn: the branch's lock, a generating floor, its input page, and the user's message if there is one.

    ``join_session`` holds the session meanwhile. Raises 404 ``session_not_found`` and ``branch_not_found``, 409
    ``session_archived`` and ``generation_conflict``.
    """
    place = {"session": session_id, "branch": branch_id, "account": account}
    if not is_alone(db):
        _BRANCH_HELD.first(db, place)
    # A statement of its own, for on PostgreSQL a statement sees what was there before it waited for a lock.
    state = _BRANCH_STATE.first(db, place)
    if state is None:
        find_session(db, account, session_id, code="session_not_found")
        find_branch(db, account, session_id, branch_id)
        # Gone a moment ago and made anew since.
        raise conflict(session_id, branch_id)
    source_floor_id, status, locked_by, last_no, head_id, source_no = state
    _check_status(session_id, status)
    if locked_by is not None:
        _clear_dead_lock(db, account, session_id, branch_id, owner.id, now)
    floor_no = max(-1 if last_no is None else last_no, -1 if source_no is None else source_no) + 1
    parent = head_id if head_id is not None else source_floor_id if source_no is not None else None
    opened = OpenedFloor(new_short_id(), floor_no, new_short_id(), new_short_id(), parent)
    _insert_floor(db, account, session_id, branch_id, opened, now)
    take_lock(db, account, session_id, branch_id, opened.floor_id, run_id, owner)
    started = {"run_id": run_id, "run_type": run_type, "status": "running", "started_at": now, "updated_at": now}
    _START_RUN.run(db, {"floor_id": opened.floor_id, "account_id": account, **started})
    _insert_first_page(db, account, opened, now)
    if user is not None:
        _insert_message(db, account, opened.input_page_id, "user", user, 0, now)
    touch(db, session_id, branch_id, now)
    return opened


_NAMED_BRANCH = (
    branches.c.session_id == bindparam("session", type_=String),
    branches.c.branch_id == bindparam("branch", type_=String),
    branches.c.account_id == bindparam("account", type_=String),
)
_BRANCH_HELD = Prepared(select(branches.c.branch_id).where(*_NAMED_BRANCH).with_for_update(key_share=True))
"""Lets nobody else add floors to the branch until the transaction ends."""


def _branch_state() -> Prepared:
    """What the next floor of a branch depends on, in one row, none where there is no such branch: the floor that it was forked
    from, the session's status, the floor that holds the branch's lock, the highest number of a live floor (a failed one's
    too), the head (the latest committed one), and the number of the floor that the branch was forked from, as long as that
    exists. All but the status may be null."""
    account, session, branch = (bindparam(name, type_=String) for name in ("account", "session", "branch"))
    latest_first = floors.c.floor_no.desc()
    lying = on_branch(account, session, branch)
    lock = select(generations.c.floor_id).where(generations.c.session_id == session, generations.c.branch_id == branch)
    last = select(floors.c.floor_no).where(*lying).order_by(latest_first).limit(1)
    head = select(floors.c.id).where(*lying, floors.c.state == "committed").order_by(latest_first).limit(1)
    source = select(floors.c.floor_no).where(floors.c.id == branches.c.source_floor_id, floors.c.account_id == account)
    return Prepared(
        select(
            branches.c.source_floor_id,
            sessions.c.status,
            *(part.scalar_subquery() for part in (lock, last, head)),
            source.scalar_subquery(),
        )
        .join(sessions, sessions.c.id == branches.c.session_id)
        .where(*_NAMED_BRANCH)
    )


_BRANCH_STATE = _branch_state()
_START_RUN = Prepared(
    insert(runs).values(named(runs, "floor_id", "account_id", "run_id", "run_type", "status", "started_at", "updated_at"))
)


def commit_floor(
    db: Connection,
    account: str,
    floor_id: str,
    answer: Content,
    token_in: int,
    token_out: int,
    now: int,
    *,
    output_page_id: str | None = None,
) -> Committed:
    """Turn a generating floor into a committed one with its answer, and free the branch.

    ``output_page_id`` is the one that ``open_floor`` promised. Raises 409 ``commit_conflict`` when the floor is no longer
    generating: removed, or given up as dead.
    """
    token_in, token_out = _clamped(token_in), _clamped(token_out)
    if not _leave_generating(db, account, floor_id, now, "committed", token_in, token_out):
        raise failure("commit_conflict", "This floor is no longer generating; its answer was not kept.", floor_id=floor_id)
    page_id = output_page_id or new_short_id()
    _insert_output_page(db, account, floor_id, page_id, now)
    _insert_message(db, account, page_id, "assistant", answer, token_out, now)
    _end_run(db, floor_id, "completed", None, now)
    touch_above(db, floor_id, now)
    return Committed(floor_id, page_id)


def fail_floor(db: Connection, account: str, floor_id: str, error: Json, now: int, *, cancelled: bool = False) -> bool:
    """Let a generating floor fail and free the branch and its request's key; its number stays taken. False when it was not
    generating.

    ``error`` is ``{"code", "message"}`` for the run's record.
    """
    if not _leave_generating(db, account, floor_id, now, "failed"):
        return False
    _end_run(db, floor_id, "cancelled" if cancelled else "failed", error, now)
    _FREE_KEY.run(db, {"floor": floor_id, "account": account})
    touch_above(db, floor_id, now)
    return True


_FREE_KEY = Prepared(delete(claims).where(claims.c.floor_id == bindparam("floor"), claims.c.account_id == bindparam("account")))
"""Nothing of a failed turn was kept, so that the same request again may be tried again."""


LOST: Json = {"code": "generation_lost", "message": "The process that generated this floor ended before the answer did."}
"""Why the floor of a dead generation failed."""


def _check_name(name: str, what: str, most: int) -> None:
    if not 0 < len(name) <= most or "\0" in name:
        raise failure("validation_error", f"The name of a {what} has 1 to {most} characters and no NUL.", param=what)


def session_called(db: Connection, account: str, name_or_id: str) -> str | None:
    """The id of the session with this id or this name; an id wins."""
    mine = sessions.c.account_id == account
    for column in (sessions.c.id, sessions.c.name):
        found: str | None = db.execute(select(sessions.c.id).where(mine, column == name_or_id)).scalar_one_or_none()
        if found is not None:
            return found
    return None


def _new_session(db: Connection, account: str, name: str, now: int) -> None:
    """Make a session of this name, unless somebody else makes it in the same moment."""
    session_id = new_short_id()
    values = {"id": session_id, "account_id": account, "name": name, "title": name, "created_at": now, "updated_at": now}
    if insert_new(db, sessions, values):
        register_branch(db, account, session_id, MAIN, now)


def _clear_dead_lock(db: Connection, account: str, session_id: str, branch_id: str, owner: str, now: int) -> None:
    """Free the branch from a dead generation. Raises 409 ``generation_conflict`` for a live one."""
    row = db.execute(
        select(generations)
        .where(generations.c.session_id == session_id, generations.c.branch_id == branch_id)
        .with_for_update()
    ).one_or_none()
    if row is None:
        return
    if not is_dead(db, row.owner, row.expires_at, owner, now):
        raise conflict(session_id, branch_id)
    if not fail_floor(db, account, row.floor_id, LOST, now):
        db.execute(delete(generations).where(generations.c.floor_id == row.floor_id))


def _insert_floor(db: Connection, account: str, session_id: str, branch_id: str, opened: OpenedFloor, now: int) -> None:
    """Write the generating floor. Raises 409 ``generation_conflict`` when somebody else took its number."""
    floor = {
        "id": opened.floor_id,
        "account_id": account,
        "session_id": session_id,
        "branch_id": branch_id,
        "floor_no": opened.floor_no,
        "parent_floor_id": opened.parent_floor_id,
        "state": "generating",
        "created_at": now,
        "updated_at": now,
    }
    if not insert_new(db, floors, floor):
        raise conflict(session_id, branch_id)


def _insert_first_page(db: Connection, account: str, opened: OpenedFloor, now: int) -> None:
    """Write the input page of a floor that nobody else has seen yet."""
    ids = {"id": opened.input_page_id, "account_id": account, "floor_id": opened.floor_id}
    _FIRST_PAGE.run(db, {**ids, "page_no": 0, "page_kind": "input", "is_active": True, "created_at": now, "updated_at": now})


_FIRST_PAGE = Prepared(
    insert(pages).values(
        named(pages, "id", "account_id", "floor_id", "page_no", "page_kind", "is_active", "created_at", "updated_at")
    )
)


def _insert_output_page(db: Connection, account: str, floor_id: str, page_id: str, now: int) -> None:
    """Write a turn's answer page as the active one; a page that somebody put there by hand meanwhile stays, inactive."""
    ids = {"id": page_id, "account_id": account, "floor_id": floor_id}
    times = {"created_at": now, "updated_at": now}
    if not insert_new(db, pages, {**ids, "page_no": 1, "page_kind": "output", "is_active": True, "version": 1, **times}):
        slot = {"floor": floor_id, "number": 1, "now": now}
        _SET_ASIDE.run(db, slot)
        _NEXT_VERSION.run(db, {**slot, "page": page_id, "account": account, "kind": "output"})


_SLOT = pages.c.floor_id == bindparam("floor"), pages.c.page_no == bindparam("number")
_SET_ASIDE = Prepared(update(pages).where(*_SLOT, pages.c.is_active).values(is_active=False, updated_at=bindparam("now")))
_NEXT_VERSION = Prepared(
    insert(pages).from_select(
        ["id", "account_id", "floor_id", "page_no", "page_kind", "is_active", "version", "created_at", "updated_at"],
        select(
            bindparam("page", type_=String),
            bindparam("account", type_=String),
            bindparam("floor", type_=String),
            bindparam("number", type_=Integer),
            bindparam("kind", type_=String),
            true(),
            func.coalesce(func.max(pages.c.version), literal_column("0")) + literal_column("1"),
            bindparam("now", type_=BigInteger),
            bindparam("now", type_=BigInteger),
        ).where(*_SLOT),
    )
)


def _insert_message(db: Connection, account: str, page_id: str, role: str, said: Content, tokens: int, now: int) -> None:
    """Write a turn's message. PostgreSQL keeps no NUL in a text, so both engines get the replacement character for it."""
    message_id, content = new_short_id(), said.text.replace("\0", "\ufffd")
    ids = {"id": message_id, "account_id": account, "page_id": page_id, "seq": 0}
    values = {"role": role, "content": content, "token_count": tokens, "is_hidden": False, "created_at": now}
    _INSERT_MESSAGE.run(db, {**ids, **values, "parts_json": said.parts_json})
    keep_blobs(db, account, message_id, said.blobs, now)


_INSERT_MESSAGE = Prepared(
    insert(messages).values(
        named(
            messages,
            *("id", "account_id", "page_id", "seq", "role", "content", "token_count", "is_hidden", "created_at", "parts_json"),
        )
    )
)


def _leave_generating(
    db: Connection, account: str, floor_id: str, now: int, state: FloorState, token_in: int = 0, token_out: int = 0
) -> bool:
    """Move a floor out of generating and free its branch; False when it was not generating (any more)."""
    if not is_alone(db):
        _hold_place(db, account, floor_id)
    floor = {"floor": floor_id, "account": account}
    ended = {"state_now": state, "tokens_in": token_in, "tokens_out": token_out, "now": now}
    has_left = _LEAVE.run(db, {**floor, **ended}) == 1
    release_lock(db, account, floor_id)
    return has_left


_LEAVE = Prepared(
    update(floors)
    .where(floors.c.id == bindparam("floor"), floors.c.account_id == bindparam("account"), floors.c.state == "generating")
    .values(
        state=bindparam("state_now"),
        token_in=bindparam("tokens_in"),
        token_out=bindparam("tokens_out"),
        updated_at=bindparam("now"),
    )
)


def _hold_place(db: Connection, account: str, floor_id: str) -> None:
    """Lock the floor's session and branch in the order in which ``open_floor`` does: a turn that ends and one that waits to
    begin would lock each other's rows otherwise, and PostgreSQL needs a second to notice."""
    mine = (floors.c.id == floor_id, floors.c.account_id == account)
    row = db.execute(select(floors.c.session_id, floors.c.branch_id).where(*mine)).one_or_none()
    if row is not None:
        find_session(db, account, row.session_id, hold=True)
        find_branch(db, account, row.session_id, row.branch_id, hold=True)


def _end_run(db: Connection, floor_id: str, status: RunStatus, error: Json, now: int) -> None:
    told = dumps_text(error) if error is not None else None
    _END_RUN.run(db, {"floor": floor_id, "status_now": status, "told": told, "now": now})


_END_RUN = Prepared(
    update(runs)
    .where(runs.c.floor_id == bindparam("floor"))
    .values(
        status=bindparam("status_now"),
        error_json=bindparam("told"),
        updated_at=bindparam("now"),
        completed_at=bindparam("now"),
    )
)


def _clamped(tokens: int) -> int:
    """A count that fits its column."""
    return max(0, min(tokens, MAX_INTEGER))
