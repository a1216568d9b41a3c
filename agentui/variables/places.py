"""The places that variables belong to: which session, branch, floor and page exist, what lies in what, and what is locked."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from agentui.store.kept import FLOOR_IS_KEPT
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, floors, pages, sessions
from agentui.variables.errors import HostNotFound, InvalidContext, TargetLocked
from agentui.variables.scopes import Target, branch_target, split_branch_id

_LOCKED = ("generating", "committed")
"""States of a floor in which its variables, and those of its pages, do not change (seed 000, errors 409)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody stands in a session: as deep as is known."""

    session_id: str
    branch_id: str | None = None
    floor_id: str | None = None
    page_id: str | None = None

    @property
    def targets(self) -> tuple[Target, ...]:
        """The tiers below ``global`` that are visible from here."""
        found = [Target("chat", self.session_id)]
        if self.branch_id is not None:
            found.append(branch_target(self.session_id, self.branch_id))
        if self.floor_id is not None:
            found.append(Target("floor", self.floor_id))
        if self.page_id is not None:
            found.append(Target("page", self.page_id))
        return tuple(found)


_session = select(sessions.c.id).where(sessions.c.id == bindparam("id"), sessions.c.account_id == bindparam("account"))
_branch = select(branches.c.branch_id).where(
    branches.c.session_id == bindparam("session"),
    branches.c.branch_id == bindparam("branch"),
    branches.c.account_id == bindparam("account"),
)
_floor = select(floors.c.session_id, floors.c.branch_id, floors.c.id, floors.c.state).where(
    floors.c.id == bindparam("id"), floors.c.account_id == bindparam("account"), FLOOR_IS_KEPT
)
_page = (
    select(floors.c.session_id, floors.c.branch_id, floors.c.id, floors.c.state)
    .join(pages, pages.c.floor_id == floors.c.id)
    .where(pages.c.id == bindparam("id"), pages.c.account_id == bindparam("account"), FLOOR_IS_KEPT)
)
# What a writing transaction looks at must neither go nor change its state until it ends. SQLite has one writer anyway.
_SESSION, _SESSION_HELD = Prepared(_session), Prepared(_session.with_for_update(read=True, key_share=True))
_BRANCH, _BRANCH_HELD = Prepared(_branch), Prepared(_branch.with_for_update(read=True, key_share=True))
_FLOOR, _FLOOR_HELD = Prepared(_floor), Prepared(_floor.with_for_update(read=True, of=floors))
_PAGE, _PAGE_HELD = Prepared(_page), Prepared(_page.with_for_update(read=True, of=[floors, pages]))


def find_place(
    db: Connection, account: str, session_id: str, branch_id: str | None, floor_id: str | None, page_id: str | None
) -> Place:
    """The place that the ids mean, what is deeper naming what is above it (seed 000, "解析规则").

    Raises HostNotFound for an id that does not exist, InvalidContext when two of them do not belong together.
    """
    found = _lowest(db, account, floor_id, page_id)
    if found is None:
        _check_branch(db, account, session_id, branch_id)
        return Place(session_id, branch_id)
    if found.session_id != session_id:
        _check_branch(db, account, session_id, None)
        raise InvalidContext("The floor belongs to another session.", session_id=session_id, floor_id=found.floor_id)
    if branch_id is not None and branch_id != found.branch_id:
        _check_branch(db, account, session_id, branch_id)
        raise InvalidContext(f"The floor lies on branch {found.branch_id!r}.", branch_id=branch_id, floor_id=found.floor_id)
    return found


def _lowest(db: Connection, account: str, floor_id: str | None, page_id: str | None) -> Place | None:
    """The place of the page, else of the floor. Raises HostNotFound, and InvalidContext when they do not belong together."""
    place = None
    if page_id is not None:
        place = place_of_page(db, account, page_id)
        if place is None:
            raise HostNotFound(f"There is no page {page_id!r}.", page_id=page_id)
    if floor_id is None or (place is not None and place.floor_id == floor_id):
        return place
    of_floor = place_of_floor(db, account, floor_id)
    if of_floor is None:
        raise HostNotFound(f"There is no floor {floor_id!r}.", floor_id=floor_id)
    if place is not None:
        raise InvalidContext(f"The page belongs to another floor than {floor_id!r}.", page_id=page_id, floor_id=floor_id)
    return of_floor


def place_of_page(db: Connection, account: str, page_id: str) -> Place | None:
    """Where a page stands; None when there is no such page."""
    row = _PAGE.first(db, {"id": page_id, "account": account})
    return None if row is None else Place(row[0], row[1], row[2], page_id)


def place_of_floor(db: Connection, account: str, floor_id: str) -> Place | None:
    """Where a floor stands; None when there is no such floor."""
    row = _FLOOR.first(db, {"id": floor_id, "account": account})
    return None if row is None else Place(row[0], row[1], row[2])


def has_host(db: Connection, account: str, target: Target) -> bool:
    """True when the target has its host."""
    return _look(db, account, target, hold=False) is not None


def hold_writable(db: Connection, account: str, targets: Iterable[Target]) -> None:
    """See that all targets may be written, and that this stays so until the transaction ends.

    Raises HostNotFound and TargetLocked, for the first target that is at fault.
    """
    wanted = sorted(set(targets))
    # Sessions first: who removes one holds it before he looks for its variables, so nothing is written behind his back.
    # The one order for all keeps two writers from waiting for each other.
    for session_id in sorted({id for id in (_session_of(db, account, target) for target in wanted) if id is not None}):
        _SESSION_HELD.first(db, {"id": session_id, "account": account})
    for target in wanted:
        state = _look(db, account, target, hold=True)
        if state is None:
            raise HostNotFound(
                f"There is no {_NAMES[target.scope]} {target.scope_id!r} to hold the variable.",
                scope=target.scope,
                scope_id=target.scope_id,
            )
        if state in _LOCKED:
            raise TargetLocked(
                f"The floor is {state}: its variables and those of its pages cannot be changed any more.",
                scope=target.scope,
                scope_id=target.scope_id,
            )


def hold_session(db: Connection, account: str, session_id: str) -> None:
    """Keep a session from being removed until the transaction ends. Raises HostNotFound."""
    if _SESSION_HELD.first(db, {"id": session_id, "account": account}) is None:
        raise HostNotFound(f"There is no session {session_id!r}.", session_id=session_id)


def _session_of(db: Connection, account: str, target: Target) -> str | None:
    """The session that a target is part of; None for global, and where there is no such host."""
    place = None
    match target.scope:
        case "chat":
            return target.scope_id
        case "branch":
            named = split_branch_id(target.scope_id)
            return named[0] if named is not None else None
        case "floor":
            place = place_of_floor(db, account, target.scope_id)
        case "page":
            place = place_of_page(db, account, target.scope_id)
    return place.session_id if place is not None else None


_NAMES = {"global": "account", "chat": "session", "branch": "branch", "floor": "floor", "page": "page"}


def _look(db: Connection, account: str, target: Target, *, hold: bool) -> str | None:
    """The state of the target's host ("open" where hosts have none), or None when it does not exist."""
    row = None
    match target.scope:
        case "global":
            return "open"
        case "chat":
            found = (_SESSION_HELD if hold else _SESSION).first(db, {"id": target.scope_id, "account": account})
            return "open" if found is not None else None
        case "branch":
            named = split_branch_id(target.scope_id)
            if named is None:
                return None
            ids = {"session": named[0], "branch": named[1], "account": account}
            found = (_BRANCH_HELD if hold else _BRANCH).first(db, ids)
            return "open" if found is not None else None
        case "floor":
            row = (_FLOOR_HELD if hold else _FLOOR).first(db, {"id": target.scope_id, "account": account})
        case "page":
            row = (_PAGE_HELD if hold else _PAGE).first(db, {"id": target.scope_id, "account": account})
    return None if row is None else str(row[3])


def _check_branch(db: Connection, account: str, session_id: str, branch_id: str | None) -> None:
    """Raise HostNotFound unless the session and, if given, its branch exist."""
    if branch_id is not None:
        ids = {"session": session_id, "branch": branch_id, "account": account}
        if _BRANCH.first(db, ids) is not None:
            return
    if _SESSION.first(db, {"id": session_id, "account": account}) is None:
        raise HostNotFound(f"There is no session {session_id!r}.", session_id=session_id)
    if branch_id is not None:
        raise HostNotFound(f"The session has no branch {branch_id!r}.", session_id=session_id, branch_id=branch_id)
