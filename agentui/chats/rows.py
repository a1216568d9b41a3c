"""The rows of sessions, branches, floors and pages: finding one of an account, holding it, and removing it whole.

Every function is a transaction or part of one: its first argument is a connection, its second the account.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    literal_column,
    or_,
    select,
    update,
)

from agentui.chats.codes import failure
from agentui.chats.frozen import frozen_behind
from agentui.chats.memories import forget_branch, forget_floors, forget_session
from agentui.chats.projects import give_project, leave_project, project_of
from agentui.chats.records import Branch, Floor, Page, Session, branch_of, floor_of, page_of, session_of
from agentui.jobs.queue import add
from agentui.jsonio import Json, dumps_text
from agentui.store.kept import FLOOR_IS_KEPT, PAGE_IS_KEPT
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import (
    branches,
    floors,
    generations,
    llm_bindings,
    llm_instances,
    messages,
    pages,
    sessions,
    state_mutations,
    variables,
)
from agentui.variables.scopes import Scope, branch_target

AT_ONCE = 200
"""Floors that one transaction removes of sessions: whoever else writes waits for it."""
REMOVAL = "chats.remove_session"
"""The kind of the jobs that do the rest, of branches too."""
NOBODY = ""
"""The account of what is left of a removed session or branch: no caller has it."""


def _found_and_held(query: Select[Any], *, lightly: bool = False) -> tuple[Prepared, Prepared]:
    """The query, and the same with a row lock: ``lightly`` only against removal, else against any change."""
    return Prepared(query), Prepared(query.with_for_update(read=lightly, key_share=True))


def find_session(db: Connection, account: str, session_id: str, *, code: str = "not_found", hold: bool = False) -> Session:
    """A session. Raises 404 (``code``: turns say ``session_not_found``, the session's own routes ``not_found``).

    ``hold`` keeps it from being removed until the transaction ends (PostgreSQL; SQLite has one writer anyway).
    """
    row = (_HOLD_SESSION if hold else _SESSION).row(db, {"session": session_id, "account": account})
    if row is None:
        raise failure(code, "There is no such session.", session_id=session_id)
    return session_of(row)


_SESSION, _HOLD_SESSION = _found_and_held(
    select(sessions).where(sessions.c.id == bindparam("session"), sessions.c.account_id == bindparam("account")), lightly=True
)


def find_scope(db: Connection, account: str, session_id: str) -> tuple[Session, str]:
    """A session, and the id of the project that it is in. Raises 404 ``session_not_found``."""
    session = find_session(db, account, session_id, code="session_not_found")
    project_id = project_of(db, session_id)
    assert project_id is not None, "each session of an account is in a project"
    return session, project_id


def find_branch(db: Connection, account: str, session_id: str, branch_id: str, *, hold: bool = False) -> Branch:
    """A branch of the registry. Raises 404. ``hold`` lets nobody else add floors to it until the transaction ends."""
    place = {"session": session_id, "branch": branch_id, "account": account}
    row = (_HOLD_BRANCH if hold else _BRANCH).row(db, place)
    if row is None:
        raise failure(
            "branch_not_found", f"The session has no branch {branch_id!r}.", session_id=session_id, branch_id=branch_id
        )
    return branch_of(row)


_NAMED_BRANCH = (
    branches.c.session_id == bindparam("session"),
    branches.c.branch_id == bindparam("branch"),
    branches.c.account_id == bindparam("account"),
)
_BRANCH, _HOLD_BRANCH = _found_and_held(select(branches).where(*_NAMED_BRANCH))


def has_branch(db: Connection, account: str, session_id: str, branch_id: str) -> bool:
    """True when the registry knows the branch."""
    return _HAS_BRANCH.first(db, {"session": session_id, "branch": branch_id, "account": account}) is not None


_HAS_BRANCH = Prepared(select(branches.c.branch_id).where(*_NAMED_BRANCH))


def find_floor(db: Connection, account: str, floor_id: str, *, code: str = "not_found", hold: bool = False) -> Floor:
    """A floor, superseded or not. Raises 404. ``hold`` lets nobody change its state until the transaction ends."""
    row = (_HOLD_FLOOR if hold else _FLOOR).row(db, {"floor": floor_id, "account": account})
    if row is None:
        raise failure(code, "There is no such floor.", floor_id=floor_id)
    return floor_of(row)


_NAMED_FLOOR = floors.c.id == bindparam("floor"), floors.c.account_id == bindparam("account")
_FLOOR, _HOLD_FLOOR = _found_and_held(select(floors).where(*_NAMED_FLOOR, FLOOR_IS_KEPT))


def hold_floor(db: Connection, account: str, floor_id: str) -> Floor:
    """A floor whose place and state nobody changes until the transaction ends, its session and its branch held before it as
    turns hold them. Raises 404."""
    floor = find_floor(db, account, floor_id)
    find_session(db, account, floor.session_id, hold=True)
    find_branch(db, account, floor.session_id, floor.branch_id, hold=True)
    return find_floor(db, account, floor_id, hold=True)


def find_page(db: Connection, account: str, page_id: str) -> Page:
    """A page. Raises 404."""
    row = _PAGE.row(db, {"page": page_id, "account": account})
    if row is None:
        raise failure("not_found", "There is no such page.", page_id=page_id)
    return page_of(row)


_PAGE = Prepared(select(pages).where(pages.c.id == bindparam("page"), pages.c.account_id == bindparam("account"), PAGE_IS_KEPT))


def branch_head(db: Connection, account: str, session_id: str, branch_id: str) -> Floor | None:
    """The latest committed live floor that lies on the branch itself; None when there is none yet."""
    row = _HEAD.row(db, {"account": account, "session": session_id, "branch": branch_id})
    return floor_of(row) if row is not None else None


Given: TypeAlias = str | BindParameter[str]


def on_branch(account: Given, session_id: Given, branch_id: Given) -> tuple[Any, ...]:
    """What is true of the live floors of a branch; of one that is named with every run, in a prepared statement."""
    return (
        floors.c.account_id == account,
        floors.c.session_id == session_id,
        floors.c.branch_id == branch_id,
        floors.c.superseded_at.is_(None),
    )


ON_BRANCH: Final = on_branch(bindparam("account"), bindparam("session"), bindparam("branch"))
_HEAD = Prepared(
    select(floors)
    .where(*ON_BRANCH, floors.c.state == "committed")
    .order_by(floors.c.floor_no.desc())
    .limit(literal_column("1"))
)


def parent_of(db: Connection, account: str, floor: Floor) -> Floor | None:
    """The floor that a floor goes on from, as long as that exists."""
    if floor.parent_floor_id is None:
        return None
    row = _PARENT.row(db, {"floor": floor.parent_floor_id, "account": account, "session": floor.session_id})
    return None if row is None else floor_of(row)


_PARENT = Prepared(select(floors).where(*_NAMED_FLOOR, floors.c.session_id == bindparam("session")))


def register_branch(
    db: Connection, account: str, session_id: str, branch_id: str, now: int, source: Floor | None = None
) -> bool:
    """Put a branch into the registry, forked from ``source`` if given, with the assets that it keeps then (``frozen.py``).
    Returns False when it was there already. Raises 409 ``branch_exists`` while one of that name is being removed."""
    frozen = None if source is None else frozen_behind(db, account, source)
    is_new = insert_new(
        db,
        branches,
        {
            "session_id": session_id,
            "branch_id": branch_id,
            "account_id": account,
            "source_floor_id": source.id if source is not None else None,
            "source_branch_id": source.branch_id if source is not None else None,
            "frozen_json": None if frozen is None else dumps_text(frozen),
            "created_at": now,
            "updated_at": now,
        },
    )
    if not is_new and not has_branch(db, account, session_id, branch_id):
        message = f"The branch {branch_id!r} is being removed. Try again in a moment, or choose another name."
        raise failure("branch_exists", message, retry_after=1, branch_id=branch_id)
    return is_new


def insert_new(db: Connection, table: Table, values: Mapping[str, Json]) -> bool:
    """Insert a row unless a unique index has its like already; tells whether it went in.

    The index decides, not a look beforehand, so two at once cannot both succeed, and the loser's transaction lives on.
    """
    return _inserting_new(table, tuple(values)).run(db, values) == 1


@cache
def _inserting_new(table: Table, columns: tuple[str, ...]) -> Prepared:
    return Prepared(
        {engine: insert(table).values(named(table, *columns)).on_conflict_do_nothing() for engine, insert in INSERT.items()}
    )


def touch(db: Connection, session_id: str, branch_id: str | None, now: int) -> None:
    """Something below changed: the session, and the branch if one is named, were updated ``now``."""
    _TOUCH_SESSION.run(db, {"session": session_id, "now": now})
    if branch_id is not None:
        _TOUCH_BRANCH.run(db, {"session": session_id, "branch": branch_id, "now": now})


def reshape(db: Connection, session_id: str) -> None:
    """The past of the session's branches changed in another way than by new floors at a head: what was read of it, and of what
    it lets be seen, is to be read anew (memories/reading.py)."""
    _RESHAPE.run(db, {"session": session_id})


_RESHAPE = Prepared(
    update(sessions).where(sessions.c.id == bindparam("session")).values(shape=sessions.c.shape + literal_column("1"))
)
_TOUCH_SESSION = Prepared(update(sessions).where(sessions.c.id == bindparam("session")).values(updated_at=bindparam("now")))
_TOUCH_BRANCH = Prepared(
    update(branches)
    .where(branches.c.session_id == bindparam("session"), branches.c.branch_id == bindparam("branch"))
    .values(updated_at=bindparam("now"))
)


def touch_above(db: Connection, floor_id: str, now: int, *, reshapes: bool = False) -> None:
    """The same for the session and the branch that a floor belongs to. ``reshapes``: what ``reshape`` does, too."""
    (_RESHAPE_ABOVE if reshapes else _TOUCH_SESSION_ABOVE).run(db, {"floor": floor_id, "now": now})
    _TOUCH_BRANCH_ABOVE.run(db, {"floor": floor_id, "now": now})


def _above(column: Column[str]) -> ScalarSelect[str]:
    return select(column).where(floors.c.id == bindparam("floor")).scalar_subquery()


_TOUCH_SESSION_ABOVE = Prepared(
    update(sessions).where(sessions.c.id == _above(floors.c.session_id)).values(updated_at=bindparam("now"))
)
_RESHAPE_ABOVE = Prepared(
    update(sessions)
    .where(sessions.c.id == _above(floors.c.session_id))
    .values(updated_at=bindparam("now"), shape=sessions.c.shape + literal_column("1"))
)
_TOUCH_BRANCH_ABOVE = Prepared(
    update(branches)
    .where(branches.c.session_id == _above(floors.c.session_id), branches.c.branch_id == _above(floors.c.branch_id))
    .values(updated_at=bindparam("now"))
)


def check_no_live_run(db: Connection, account: str, now: int, **where: str) -> None:
    """Raise 409 ``active_run_in_progress`` when a live generation holds the given session_id, branch_id or floor_id."""
    if has_live_run(db, account, now, **where):
        raise failure("active_run_in_progress", "A model call is running here. Try again when it has ended.", **where)


def has_live_run(db: Connection, account: str, now: int, **where: str) -> bool:
    """True when a live generation holds the given session_id, branch_id or floor_id."""
    query = select(generations.c.floor_id).where(generations.c.account_id == account, generations.c.expires_at > now)
    for name, value in where.items():
        query = query.where(generations.c[name] == value)
    return db.execute(query.limit(1)).first() is not None


def hold_to_delete(db: Connection, account: str, session_ids: Collection[str]) -> set[str]:
    """Hold sessions against everything, so that no turn begins and no variable is written below; returns which exist."""
    query = select(sessions.c.id).where(sessions.c.account_id == account, sessions.c.id.in_(session_ids))
    # In one order for all callers: two batches must not wait for each other.
    return set(db.execute(query.order_by(sessions.c.id).with_for_update()).scalars())


def delete_session(db: Connection, account: str, session_id: str, now: int, most: int = AT_ONCE) -> int:
    """Remove a session, held by ``hold_to_delete``, with everything below it, variables included; returns how many floors.

    One with more floors than ``most`` goes from its account with its branches and their variables; what else is below it is
    removed by a job (``remove_part``), in parts between which others write.
    """
    names = db.execute(select(branches.c.branch_id).where(branches.c.session_id == session_id)).scalars().all()
    _forget(db, account, "branch", [branch_target(session_id, name).scope_id for name in names])
    _forget(db, account, "chat", [session_id])
    forget_session(db, account, session_id)
    for bound in (llm_bindings, llm_instances):
        own = and_(bound.c.account_id == account, bound.c.scope == "session", bound.c.scope_id == session_id)
        db.execute(delete(bound).where(own))
    below = select(floors.c.id).where(floors.c.session_id == session_id)
    count = len(db.execute(below.limit(most + 1)).all())
    if count > most:
        _forget_unended(db, account, generations.c.session_id == session_id)
        leave_project(db, session_id)
        give_session(db, session_id, NOBODY)
        add(db, REMOVAL, [account, session_id], now)
        return 0
    _forget_floors(db, account, below)
    leave_project(db, session_id)
    db.execute(delete(sessions).where(sessions.c.id == session_id, sessions.c.account_id == account))
    return count


def _forget_unended(db: Connection, account: str, where: ColumnElement[bool]) -> None:
    """Remove the floors of generations whose turns died, or outlived their locks: none may end in what is removed in parts."""
    _remove_floors(db, account, select(generations.c.floor_id).where(where))


def _remove_floors(db: Connection, account: str, floor_ids: Select[Any]) -> None:
    _forget_floors(db, account, floor_ids)
    db.execute(delete(floors).where(floors.c.id.in_(floor_ids)))


def give_session(db: Connection, session_id: str, account: str) -> None:
    """Give a session, without its name, its project and its branches to an account. ``NOBODY`` has those that are not whole:
    what lies on them is found by nobody."""
    give_project(db, session_id, account)
    db.execute(update(branches).where(branches.c.session_id == session_id).values(account_id=account))
    db.execute(update(sessions).where(sessions.c.id == session_id).values(account_id=account, name=None))


def remove_part(db: Connection, account: str, session_id: str, branch_id: str | None = None) -> bool:
    """Remove the next part of what is below a session that is nobody's, or below one of its branches that is, at last the
    session or the branch itself; False when nothing is left of it."""
    if branch_id is not None:
        return _remove_part_of_branch(db, account, session_id, branch_id)
    if _remove_some(db, account, floors.c.session_id == session_id):
        return True
    written = select(state_mutations.c.id).where(state_mutations.c.session_id == session_id).limit(10 * AT_ONCE)
    if db.execute(delete(state_mutations).where(state_mutations.c.id.in_(written))).rowcount > 0:
        return True
    leave_project(db, session_id)
    db.execute(delete(sessions).where(sessions.c.id == session_id, sessions.c.account_id == NOBODY))
    return False


def _remove_part_of_branch(db: Connection, account: str, session_id: str, branch_id: str) -> bool:
    left = and_(branches.c.session_id == session_id, branches.c.branch_id == branch_id, branches.c.account_id == NOBODY)
    if db.execute(select(branches.c.branch_id).where(left)).first() is None:
        return False  # the name may be another branch's by now
    if _remove_some(db, account, and_(floors.c.session_id == session_id, floors.c.branch_id == branch_id)):
        return True
    db.execute(delete(branches).where(left))
    return False


def _remove_some(db: Connection, account: str, where: ColumnElement[bool]) -> bool:
    """Remove floors, ``AT_ONCE`` at most; False when there were none."""
    ids = db.execute(select(floors.c.id).where(where).limit(AT_ONCE)).scalars().all()
    if ids:
        _remove_floors(db, account, select(floors.c.id).where(floors.c.id.in_(ids)))
    return bool(ids)


def delete_branch(db: Connection, account: str, session_id: str, branch_id: str, now: int) -> list[str]:
    """Remove a branch with its floors and all their variables; returns the floors' ids. One with more than ``AT_ONCE`` goes
    from its account with the branch's variables, and its floors are removed by a job (``remove_part``)."""
    named = and_(branches.c.session_id == session_id, branches.c.branch_id == branch_id, branches.c.account_id == account)
    db.execute(select(branches.c.branch_id).where(named).with_for_update())
    lying = and_(floors.c.session_id == session_id, floors.c.branch_id == branch_id, floors.c.account_id == account)
    removed = list(db.execute(select(floors.c.id).where(lying).order_by(floors.c.floor_no)).scalars())
    _forget(db, account, "branch", [branch_target(session_id, branch_id).scope_id])
    forget_branch(db, account, session_id, branch_id)
    reshape(db, session_id)
    if len(removed) > AT_ONCE:
        _forget_unended(db, account, and_(generations.c.session_id == session_id, generations.c.branch_id == branch_id))
        db.execute(update(branches).where(named).values(account_id=NOBODY))
        add(db, REMOVAL, [account, session_id, branch_id], now)
        return removed
    db.execute(select(floors.c.id).where(lying).with_for_update())
    _forget_floors(db, account, select(floors.c.id).where(lying))
    db.execute(delete(branches).where(named))
    return removed


def delete_floor(db: Connection, account: str, floor_id: str) -> None:
    """Remove a floor with its pages, messages and all their variables."""
    db.execute(select(floors.c.id).where(floors.c.id == floor_id).with_for_update())
    _forget_floors(db, account, select(floors.c.id).where(floors.c.id == floor_id, floors.c.account_id == account))
    db.execute(delete(floors).where(floors.c.id == floor_id, floors.c.account_id == account))


def delete_page(db: Connection, account: str, page_id: str) -> None:
    """Remove a page with its messages and variables."""
    # Held first: who writes a variable of the page waits, and then finds no page, so no variable outlives it.
    db.execute(select(pages.c.id).where(pages.c.id == page_id).with_for_update())
    _forget(db, account, "page", [page_id])
    _RESHAPE_ABOVE_PAGE.run(db, {"page": page_id, "account": account})
    db.execute(delete(messages).where(messages.c.page_id == page_id, messages.c.account_id == account))
    db.execute(delete(pages).where(pages.c.id == page_id, pages.c.account_id == account))


_SESSION_OF_PAGE = (
    select(floors.c.session_id)
    .join(pages, pages.c.floor_id == floors.c.id)
    .where(pages.c.id == bindparam("page"), pages.c.account_id == bindparam("account"))
    .scalar_subquery()
)
_RESHAPE_ABOVE_PAGE = Prepared(
    update(sessions).where(sessions.c.id == _SESSION_OF_PAGE).values(shape=sessions.c.shape + literal_column("1"))
)


def _forget_floors(db: Connection, account: str, floor_ids: Select[Any]) -> None:
    """Remove the variables and the memories of floors, and the variables of their pages; the rows themselves go with their
    parents."""
    forget_floors(db, account, floor_ids)
    page_ids = select(pages.c.id).where(pages.c.floor_id.in_(floor_ids))
    db.execute(
        delete(variables).where(
            variables.c.account_id == account,
            or_(
                and_(variables.c.scope == "floor", variables.c.scope_id.in_(floor_ids)),
                and_(variables.c.scope == "page", variables.c.scope_id.in_(page_ids)),
            ),
        )
    )


def _forget(db: Connection, account: str, scope: Scope, scope_ids: Collection[str]) -> None:
    """Remove the variables of some hosts of one kind."""
    db.execute(
        delete(variables).where(
            variables.c.account_id == account, variables.c.scope == scope, variables.c.scope_id.in_(scope_ids)
        )
    )


def check_content_open(db: Connection, account: str, floor_id: str, now: int) -> Floor:
    """The floor, held, if its pages and messages may be changed. Raises 404, 409 ``content_target_locked`` for a committed one,
    ``active_run_in_progress`` while a turn answers it: what the model was asked would not be what is kept."""
    floor = find_floor(db, account, floor_id, hold=True)
    if floor.state == "committed":
        raise failure("content_target_locked", "This floor is committed: its pages and messages stay.", floor_id=floor_id)
    if floor.state == "generating":
        check_no_live_run(db, account, now, floor_id=floor_id)
    return floor


def check_contents_open(db: Connection, account: str, floor_ids: Iterable[str], now: int) -> None:
    """The same for several floors: they are held in one order for all callers, so that two never wait for each other."""
    for floor_id in sorted(set(floor_ids)):
        check_content_open(db, account, floor_id, now)
