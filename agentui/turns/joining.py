"""Where a turn belongs: the session of an id or a name and its branch, made where they are new."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, String, bindparam, func, select

from agentui.chats.branches.writing import fork_branch
from agentui.chats.codes import failure
from agentui.chats.projects import found_project, own_project
from agentui.chats.records import MAIN, Floor, SessionMemory
from agentui.chats.rows import branch_head, find_floor, insert_new, register_branch
from agentui.ids import new_short_id
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, sessions

MAX_NAME = 200
MAX_BRANCH = 100


@dataclass(frozen=True, slots=True)
class Joined:
    """Where a turn belongs, and what the session says of memories."""

    session_id: str
    branch_id: str
    memory: SessionMemory | None = None


def join_session(
    db: Connection,
    account: str,
    name_or_id: str,
    branch_id: str | None,
    now: int,
    *,
    source_floor_id: str | None = None,
    must_exist: bool = False,
) -> Joined:
    """The session of an id or of the caller's own name for it, and its branch; both are made when they are new, the session
    unless it ``must_exist``.

    A new name makes a session of that name. A new branch is forked behind the source floor, else from the head of main.
    Raises 400 ``validation_error`` for a name or a branch that is empty, too long or holds a NUL, 404 ``session_not_found``
    and ``source_floor_not_found``, 409 ``session_archived`` and ``branch_local_snapshot_missing``.
    """
    _check_name(name_or_id, "session", MAX_NAME)
    branch_id = MAIN if branch_id is None else branch_id
    check_branch_name(branch_id)
    found = _hold_called(db, account, name_or_id, branch_id)
    if found is None and must_exist:
        raise failure("session_not_found", "There is no such session.", session=name_or_id)
    if found is None:
        _new_session(db, account, name_or_id, now)
        found = _hold_called(db, account, name_or_id, branch_id)
    if found is None:
        # Somebody else made a session of this name in the same moment, and it is gone again.
        raise failure("session_not_found", "There is no such session any more. Try again.", session=name_or_id)
    session_id, status, has_branch, memory = found
    check_active(session_id, status)
    if not has_branch:
        fork_branch(db, account, session_id, branch_id, fork_source(db, account, session_id, source_floor_id), now)
    return Joined(session_id, branch_id, memory)


def fork_source(db: Connection, account: str, session_id: str, floor_id: str | None) -> Floor | None:
    """The floor behind which a new branch is forked: the head of main, where none is named."""
    if floor_id is None:
        return branch_head(db, account, session_id, MAIN)
    source = find_floor(db, account, floor_id, code="source_floor_not_found")
    if source.session_id != session_id:
        raise failure("source_floor_not_found", "The source floor belongs to another session.", floor_id=floor_id)
    if source.state != "committed":
        raise failure("invalid_state", "Only a committed floor can be branched from.", floor_id=floor_id, state=source.state)
    return source


def _hold_called(
    db: Connection, account: str, name_or_id: str, branch_id: str
) -> tuple[str, str, bool, SessionMemory | None] | None:
    """The session of this id or name, an id before a name, kept from being removed until the transaction ends: its id, its
    status, whether it has the branch, and what it says of memories."""
    row = _CALLED.first(db, {"account": account, "called": name_or_id, "branch": branch_id})
    return None if row is None else (row[0], row[1], row[2] is not None, row[3])


def is_called() -> tuple[ColumnElement[bool], ...]:
    """What is true of the session that has an id, else of the one that has it as its name: two searches, where an OR in SQLite
    sorts what it finds."""
    other, mine = sessions.alias(), bindparam("account", type_=String)
    by_id, by_name = (
        select(other.c.id).where(other.c.account_id == mine, column == bindparam("called")).scalar_subquery()
        for column in (other.c.id, other.c.name)
    )
    return sessions.c.account_id == mine, sessions.c.id == func.coalesce(by_id, by_name)


def _called() -> Prepared:
    """The session that is called so, kept from being removed, with the branch."""
    return Prepared(
        select(sessions.c.id, sessions.c.status, branches.c.branch_id, sessions.c.memory)
        .outerjoin(
            branches,
            (branches.c.session_id == sessions.c.id)
            & (branches.c.branch_id == bindparam("branch"))
            & (branches.c.account_id == sessions.c.account_id),
        )
        .where(*is_called())
        .with_for_update(read=True, key_share=True, of=sessions)
    )


_CALLED = _called()
_ID_CALLED = Prepared(select(sessions.c.id).where(*is_called()))


def session_called(db: Connection, account: str, name_or_id: str) -> str | None:
    """The id of the session with this id or this name; an id wins."""
    found = _ID_CALLED.first(db, {"account": account, "called": name_or_id})
    return None if found is None else str(found[0])


def _new_session(db: Connection, account: str, name: str, now: int) -> None:
    """Make a session of this name, unless somebody else makes it in the same moment."""
    session_id = new_short_id()
    values = {"id": session_id, "account_id": account, "name": name, "title": name, "created_at": now, "updated_at": now}
    if insert_new(db, sessions, {**values, "project_id": own_project(session_id)}):
        found_project(db, account, session_id, name, now)
        register_branch(db, account, session_id, MAIN, now)


def check_active(session_id: str, status: str) -> None:
    """Raise 409 ``session_archived`` for a session that takes no turns."""
    if status == "archived":
        raise failure("session_archived", "This session is archived: it takes no new turns.", session_id=session_id)


def check_branch_name(branch_id: str) -> str:
    """The name of a branch, if it can be one. Raises 400 ``validation_error``."""
    _check_name(branch_id, "branch", MAX_BRANCH)
    return branch_id


def _check_name(name: str, what: str, most: int) -> None:
    if not 0 < len(name) <= most or "\0" in name:
        raise failure("validation_error", f"The name of a {what} has 1 to {most} characters and no NUL.", param=what)
