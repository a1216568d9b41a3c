"""Projects: what sessions belong to, in the one workspace of their account (TavernHeadless' contract, 11).

A session that is made without a project gets one of its own, which goes with its last session. No route makes others.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import Connection, bindparam, delete, exists, insert, null, select, update

from agentui.chats.codes import failure
from agentui.chats.records import AnyRow, SessionStatus
from agentui.jsonio import Json, loads
from agentui.store.paging import Place, newest
from agentui.store.prepared import Prepared, named
from agentui.store.tables import budgets, projects, sessions

ProjectKind: TypeAlias = Literal["session_default", "manual"]
ProjectStatus: TypeAlias = Literal["active", "archived"]
ProjectRole: TypeAlias = Literal["owner", "observer", "deriver"]

UNTITLED: Final = "Untitled"
"""The name of the project of a session without one."""
_MOST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Project:
    """A project, as the caller sees it: ``role`` is the caller's."""

    id: str
    workspace_id: str
    account_id: str
    name: str
    description: str | None
    kind: ProjectKind
    status: ProjectStatus
    role: ProjectRole
    settings_override: dict[str, Json]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A part of a list of projects, and where the next begins."""

    items: list[Project]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ProjectSession:
    """A session as a part of its project."""

    id: str
    workspace_id: str
    project_id: str
    title: str | None
    status: SessionStatus
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class ProjectSessionPage:
    """A part of a list of sessions, and where the next begins."""

    items: list[ProjectSession]
    next_cursor: str | None


def workspace_of(account: str) -> str:
    """The id of an account's workspace."""
    return f"ws_default_{account}"


def own_project(session_id: str) -> str:
    """The id of the project that a session is made with."""
    return f"prj_{session_id}"


def found_project(db: Connection, account: str, session_id: str, name: str | None, now: int) -> None:
    """Make the project of a new session, whose row names it (``own_project``)."""
    _FOUND.run(
        db,
        {
            "id": own_project(session_id),
            "account_id": account,
            "name": (name or UNTITLED)[:_MOST_NAME],
            "kind": "session_default",
            "status": "active",
            "settings_json": "{}",
            "created_at": now,
            "updated_at": now,
        },
    )


_FOUND = Prepared(
    insert(projects).values(
        named(projects, "id", "account_id", "name", "kind", "status", "settings_json", "created_at", "updated_at")
    )
)


def join_project(db: Connection, account: str, project_id: str, now: int) -> None:
    """Let a session come into a project, which stays until the transaction ends. Raises 404 ``project_not_found``, 409
    ``project_archived``."""
    mine = projects.c.id == project_id, projects.c.account_id == account
    # The lock of an update: who removes the project's last session waits, or this finds no project.
    touched = update(projects).where(*mine, projects.c.status == "active").values(updated_at=now)
    if db.execute(touched).rowcount == 0:
        open_project(db, account, project_id)
        raise failure("project_not_found", "There is no such project.", project_id=project_id)


def move_session(db: Connection, account: str, session_id: str, project_id: str, now: int) -> None:
    """Bring a session, whose row is held, into another project. Raises as ``join_project`` does."""
    if project_of(db, session_id) == project_id:
        return
    join_project(db, account, project_id, now)
    leave_project(db, session_id)
    db.execute(update(sessions).where(sessions.c.id == session_id).values(project_id=project_id))


def leave_project(db: Connection, session_id: str) -> None:
    """Take a session out of its project. One that was made with a session goes with its last."""
    project_id = project_of(db, session_id)
    if project_id is None:
        return
    db.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update())
    db.execute(update(sessions).where(sessions.c.id == session_id).values(project_id=null()))
    others = exists().where(sessions.c.project_id == projects.c.id)
    gone = db.execute(
        delete(projects).where(projects.c.id == project_id, projects.c.kind == "session_default", ~others)
    ).rowcount
    if gone:
        db.execute(delete(budgets).where(budgets.c.level == "project", budgets.c.subject == project_id))


def give_project(db: Connection, session_id: str, account: str) -> None:
    """Give the project that a session is in to an account, as the session is."""
    named_by = select(sessions.c.project_id).where(sessions.c.id == session_id).scalar_subquery()
    db.execute(update(projects).where(projects.c.id == named_by).values(account_id=account))
    of_project = budgets.c.level == "project", budgets.c.subject == named_by
    db.execute(update(budgets).where(*of_project).values(account_id=account))


def project_of(db: Connection, session_id: str) -> str | None:
    """The id of the project that a session is in; None for a session that is being removed."""
    found = _PROJECT_OF.first(db, {"session": session_id})
    return None if found is None or found[0] is None else str(found[0])


_PROJECT_OF = Prepared(select(sessions.c.project_id).where(sessions.c.id == bindparam("session")))


def find_project(db: Connection, account: str, id: str) -> Project:
    """A project. Raises 404 ``project_not_found``."""
    row = db.execute(select(projects).where(projects.c.id == id, projects.c.account_id == account)).first()
    if row is None:
        raise failure("project_not_found", "There is no such project.", project_id=id)
    return _project(row)


def open_project(db: Connection, account: str, id: str) -> Project:
    """A project that is not archived: one that is shows nothing but itself. Raises 404, and 409 ``project_archived``."""
    project = find_project(db, account, id)
    if project.status == "archived":
        raise failure("project_archived", "The project is archived.", project_id=id)
    return project


def list_projects(
    db: Connection, account: str, limit: int, place: Place | None, role: ProjectRole | None, status: ProjectStatus | None
) -> ProjectPage:
    """Projects from a place on, the one that was changed last first. An account owns its projects, and sees no others."""
    if role not in (None, "owner"):
        return ProjectPage([], None)
    query = select(projects).where(projects.c.account_id == account)
    if status is not None:
        query = query.where(projects.c.status == status)
    rows, cursor = newest(db, query, projects.c.updated_at, projects.c.id, limit, place)
    return ProjectPage([_project(row) for row in rows], cursor)


def list_sessions_of(
    db: Connection, account: str, id: str, limit: int, place: Place | None, status: SessionStatus | None
) -> ProjectSessionPage:
    """The sessions of a project from a place on, the one that was changed last first. Raises as ``open_project`` does."""
    open_project(db, account, id)
    query = select(sessions).where(sessions.c.account_id == account, sessions.c.project_id == id)
    if status is not None:
        query = query.where(sessions.c.status == status)
    rows, cursor = newest(db, query, sessions.c.updated_at, sessions.c.id, limit, place)
    workspace = workspace_of(account)
    items = [ProjectSession(row.id, workspace, id, row.title, row.status, row.created_at, row.updated_at) for row in rows]
    return ProjectSessionPage(items, cursor)


def _project(row: AnyRow) -> Project:
    return Project(
        id=row.id,
        workspace_id=workspace_of(row.account_id),
        account_id=row.account_id,
        name=row.name,
        description=row.description,
        kind=row.kind,
        status=row.status,
        role="owner",
        settings_override=loads(row.settings_json),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
