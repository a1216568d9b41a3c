"""A floor's life in the database: opened, and committed or failed (``failing.py``).

join_session -> open_floor -> (extend_lock ...) -> commit_floor | fail_floor
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Integer,
    String,
    bindparam,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)

from agentui.chats.codes import failure
from agentui.chats.parts import Content, keep_blobs
from agentui.chats.records import FloorState, RunStatus
from agentui.chats.rows import (
    find_branch,
    find_session,
    insert_new,
    on_branch,
    touch,
    touch_above,
)
from agentui.chats.text_index import index_text
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text
from agentui.store.kept import FLOOR_IS_KEPT
from agentui.store.prepared import INSERT, OneOf, Prepared, named, texts
from agentui.store.tables import branches, floors, generations, messages, pages, runs, sessions
from agentui.turns.joining import Joined, check_active
from agentui.turns.locks import Owner, conflict, is_alone, release_lock, take_lock

MAX_INTEGER = 2**31 - 1


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
    is_new_branch: bool = False,
) -> OpenedFloor:
    """Begin a turn at the head of a branch: the branch's lock, a generating floor, its input page, and the user's message if
    there is one. ``is_new_branch``: the branch was made for this turn (``start_floor``).

    ``join_session`` holds the session meanwhile. Raises as ``hold_free_branch`` does.
    """
    floor_no, parent = hold_free_branch(db, account, session_id, branch_id)
    opened = OpenedFloor(new_short_id(), floor_no, new_short_id(), new_short_id(), parent)
    place = Joined(session_id, branch_id)
    start_floor(db, account, place, opened, run_id, "respond", owner, now, is_new_branch=is_new_branch)
    if user is not None:
        insert_message(db, account, opened.input_page_id, "user", user, 0, now)
    return opened


def hold_free_branch(db: Connection, account: str, session_id: str, branch_id: str) -> tuple[int, str | None]:
    """See that nobody generates on a branch, and let nobody else begin until the transaction ends. Returns the number of its
    next floor, and the floor that will be its parent. A lock of a dead process is one until it is released (turns/recovery.py).

    Raises 404 ``session_not_found`` and ``branch_not_found``, 409 ``session_archived`` and ``generation_conflict``.
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
    check_active(session_id, status)
    if locked_by is not None:
        raise conflict(session_id, branch_id)
    floor_no = max(-1 if last_no is None else last_no, -1 if source_no is None else source_no) + 1
    return floor_no, head_id if head_id is not None else source_floor_id if source_no is not None else None


def start_floor(
    db: Connection,
    account: str,
    place: Joined,
    opened: OpenedFloor,
    run_id: str,
    run_type: str,
    owner: Owner,
    now: int,
    *,
    is_live: bool = True,
    is_new_branch: bool = False,
) -> None:
    """Write a generating floor with its input page, on a branch that is held, and start its run. A floor that will take the
    place of another is not live before it does. ``is_new_branch``: the branch was made for this turn, and goes with it where
    it fails. Raises 409 ``generation_conflict`` when somebody else took its number."""
    floor = {
        "id": opened.floor_id,
        "account_id": account,
        "session_id": place.session_id,
        "branch_id": place.branch_id,
        "floor_no": opened.floor_no,
        "parent_floor_id": opened.parent_floor_id,
        "state": "generating",
        "created_at": now,
        "updated_at": now,
    }
    if not insert_new(db, floors, floor if is_live else {**floor, "superseded_at": now}):
        raise conflict(place.session_id, place.branch_id)
    start_run(db, account, place, opened.floor_id, run_id, run_type, owner, now, is_new_branch=is_new_branch)
    ids = {"id": opened.input_page_id, "account_id": account, "floor_id": opened.floor_id}
    _FIRST_PAGE.run(db, {**ids, "page_no": 0, "page_kind": "input", "is_active": True, "created_at": now, "updated_at": now})


def start_run(
    db: Connection,
    account: str,
    place: Joined,
    floor_id: str,
    run_id: str,
    run_type: str,
    owner: Owner,
    now: int,
    *,
    is_new_branch: bool = False,
) -> None:
    """Lock the branch for a floor and write the run that generates it, in place of an earlier one. Raises 409
    ``generation_conflict`` when somebody was faster."""
    take_lock(db, account, place.session_id, place.branch_id, floor_id, run_id, owner, is_new_branch=is_new_branch)
    started = {"run_id": run_id, "run_type": run_type, "status": "running", "started_at": now, "updated_at": now}
    _START_RUN.run(db, {"floor_id": floor_id, "account_id": account, **started})
    touch(db, place.session_id, place.branch_id, now)


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


def _starting(insert: Any) -> Any:
    written = ("run_id", "run_type", "status", "started_at", "updated_at")
    statement = insert(runs).values(named(runs, "floor_id", "account_id", *written))
    again = {name: statement.excluded[name] for name in written} | {"completed_at": null(), "error_json": null()}
    return statement.on_conflict_do_update(index_elements=["floor_id"], set_=again)


_START_RUN = Prepared({engine: _starting(insert) for engine, insert in INSERT.items()})


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
    reshapes: bool = False,
) -> Committed:
    """Turn a generating floor into a committed one with its answer, and free the branch.

    ``output_page_id`` is the one that ``open_floor`` promised. ``reshapes``: it takes another's place.
    Raises 409 ``commit_conflict`` when the floor is no longer generating: removed, or given up as dead.
    """
    token_in, token_out = clamped(token_in), clamped(token_out)
    if not commit_generating(db, account, floor_id, token_in, token_out, now):
        raise failure("commit_conflict", "This floor is no longer generating; its answer was not kept.", floor_id=floor_id)
    page_id = output_page_id or new_short_id()
    insert_version(db, account, floor_id, page_id, now)
    insert_message(db, account, page_id, "assistant", answer, token_out, now)
    end_run(db, floor_id, "completed", None, now)
    touch_above(db, floor_id, now, reshapes=reshapes)
    return Committed(floor_id, page_id)


_FIRST_PAGE = Prepared(
    insert(pages).values(
        named(pages, "id", "account_id", "floor_id", "page_no", "page_kind", "is_active", "created_at", "updated_at")
    )
)


def insert_version(
    db: Connection, account: str, floor_id: str, page_id: str, now: int, *, is_active: bool = True, is_partial: bool = False
) -> bool:
    """Write a page for an answer: the first, or the next version of it. The one that was active stays, inactive. False when
    the floor is gone."""
    ids = {"id": page_id, "account_id": account, "floor_id": floor_id, "page_no": 1, "page_kind": "output"}
    first = {**ids, "is_active": is_active, "is_partial": is_partial, "version": 1, "created_at": now, "updated_at": now}
    if is_active and insert_new(db, pages, first):
        return True
    slot = {"floor": floor_id, "number": 1}
    if is_active:
        _SET_ASIDE.run(db, {**slot, "now": now})
    of_page = {"page": page_id, "account": account, "kind": "output", "active": is_active, "partial": is_partial}
    return _NEXT_VERSION.run(db, {**slot, **of_page, "now": now}) == 1


_SLOT = pages.c.floor_id == bindparam("floor"), pages.c.page_no == bindparam("number")
_SET_ASIDE = Prepared(update(pages).where(*_SLOT, pages.c.is_active).values(is_active=False, updated_at=bindparam("now")))
_LAST = select(func.coalesce(func.max(pages.c.version), literal_column("0"))).where(*_SLOT).scalar_subquery()
_NEXT_VERSION = Prepared(
    insert(pages).from_select(
        [
            *("id", "account_id", "floor_id", "page_no", "page_kind", "is_active", "is_partial"),
            *("version", "created_at", "updated_at"),
        ],
        select(
            bindparam("page", type_=String),
            bindparam("account", type_=String),
            floors.c.id,
            bindparam("number", type_=Integer),
            bindparam("kind", type_=String),
            bindparam("active", type_=Boolean),
            bindparam("partial", type_=Boolean),
            _LAST + literal_column("1"),
            bindparam("now", type_=BigInteger),
            bindparam("now", type_=BigInteger),
        ).where(floors.c.id == bindparam("floor")),
    )
)


def insert_message(db: Connection, account: str, page_id: str, role: str, said: Content, tokens: int, now: int) -> None:
    """Write a turn's message. PostgreSQL keeps no NUL in a text, so both engines get the replacement character for it."""
    message_id, content = new_short_id(), said.text.replace("\0", "\ufffd")
    ids = {"id": message_id, "account_id": account, "page_id": page_id, "seq": 0}
    values = {"role": role, "content": content, "token_count": tokens, "is_hidden": False, "created_at": now}
    _INSERT_MESSAGE.run(db, {**ids, **values, "parts_json": said.parts_json})
    keep_blobs(db, account, message_id, said.blobs, now)
    index_text(db, account, page_id, role, content)
    if said.sent is not None:
        index_text(db, account, page_id, role, said.sent)


_INSERT_MESSAGE = Prepared(
    insert(messages).values(
        named(
            messages,
            *("id", "account_id", "page_id", "seq", "role", "content", "token_count", "is_hidden", "created_at", "parts_json"),
        )
    )
)


def commit_generating(db: Connection, account: str, floor_id: str, token_in: int, token_out: int, now: int) -> bool:
    """Make a generating floor a committed one and free its branch; False when it was not generating (any more)."""
    if not is_alone(db):
        hold_places_of(db, [floor_id])
    has_left = leave(db, account, floor_id, "committed", token_in, token_out, now)
    release_lock(db, account, floor_id)
    return has_left


def leave(db: Connection, account: str, floor_id: str, state: FloorState, token_in: int, token_out: int, now: int) -> bool:
    """Give a generating floor the state in which it ends; False when it was not generating (any more)."""
    ended = {"state_now": state, "tokens_in": token_in, "tokens_out": token_out, "now": now}
    return _LEAVE.run(db, {"floor": floor_id, "account": account, **ended}) == 1


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


def hold_places_of(db: Connection, floor_ids: Sequence[str]) -> None:
    """Lock the floors' sessions and branches in the order in which ``open_floor`` does: a turn that ends and one that waits to
    begin would lock each other's rows otherwise, and PostgreSQL needs a second to notice. Several are locked in the one order
    of all who hold several, by the ids of the sessions and then of the branches."""
    _HOLD_PLACES.all(db, {"floors": texts(floor_ids)})


def _hold_places() -> Prepared:
    """One way to the server where looking for the places, holding the sessions and holding the branches would be three. What
    locks rows cannot leave out doubles, hence the names of its parts; a branch is locked when its row is ready, so after its
    session. What waited for a lock looks at that row anew, and whoever reads next sees what it waited for."""
    places = (
        select(floors.c.account_id, floors.c.session_id, floors.c.branch_id)
        .distinct()
        .where(OneOf(floors.c.id, "floors"), FLOOR_IS_KEPT)
        .cte("places")
    )
    held = (
        select(sessions.c.id)
        .where(sessions.c.id.in_(select(places.c.session_id)))
        .order_by(sessions.c.id)
        .with_for_update(read=True, key_share=True, of=sessions)
        .cte("held")
    )
    its_place = (
        (branches.c.account_id == places.c.account_id)
        & (branches.c.session_id == places.c.session_id)
        & (branches.c.branch_id == places.c.branch_id)
    )
    return Prepared(
        select(branches.c.branch_id)
        .join(places, its_place)
        .join(held, held.c.id == places.c.session_id)
        .order_by(branches.c.session_id, branches.c.branch_id)
        .with_for_update(key_share=True, of=branches)
    )


_HOLD_PLACES = _hold_places()


def end_run(db: Connection, floor_id: str, status: RunStatus, error: Json, now: int) -> None:
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


def clamped(tokens: int) -> int:
    """A count that fits its column."""
    return max(0, min(tokens, MAX_INTEGER))
