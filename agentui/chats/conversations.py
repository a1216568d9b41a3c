"""Sessions themselves: making, reading, changing, listing and removing them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, func, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.greetings import begin_with, greetings_of
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.projects import found_project, join_project, move_session, own_project
from agentui.chats.records import BOUND, MAIN, Session, SessionStatus, run_of, session_of
from agentui.chats.rows import (
    AT_ONCE,
    check_no_live_run,
    delete_session,
    find_session,
    has_live_run,
    hold_to_delete,
    insert_new,
    register_branch,
)
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.paging import length
from agentui.store.tables import generations, runs, sessions


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """The turn that a session generates right now."""

    branch_id: str
    busy: bool
    updated_at: int
    latest_floor_id: str
    active_run_id: str
    active_run_type: str
    public_phase: str


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one id of a batch."""

    index: int
    id: str
    action: Literal["updated", "deleted", "not_found", "conflict"]


def create_session(db: Connection, account: str, fields: Mapping[str, Json], now: int) -> Session:
    """Make a session, and its branch main, which begins with what the character says first. ``fields`` are named as in the
    API; all are optional, and what they name is there (library/bindings.py). Raises 409 ``session_name_taken``, and
    as ``join_project`` does for a project."""
    session_id = new_short_id()
    values = {
        "id": session_id,
        "account_id": account,
        "name": _free_name(db, account, fields.get("name")),
        "title": fields.get("title"),
        "status": fields.get("status") or "active",
        "bindings_json": dumps_text(_bound({}, fields)),
        "metadata_json": dumps_text(fields.get("metadata") or {}),
        "memory": fields.get("memory"),
        "created_at": now,
        "updated_at": now,
        "project_id": fields.get("project_id") or own_project(session_id),
    }
    if fields.get("project_id") is not None:
        join_project(db, account, fields["project_id"], now)
    if not insert_new(db, sessions, values):
        raise _name_taken(fields["name"])
    if fields.get("project_id") is None:
        found_project(db, account, session_id, fields.get("title") or fields.get("name"), now)
    register_branch(db, account, session_id, MAIN, now)
    begin_with(db, account, session_id, greetings_of(fields.get("character_snapshot")), now)
    return find_session(db, account, session_id)


def update_session(db: Connection, account: str, session_id: str, fields: Mapping[str, Json], now: int) -> Session:
    """Change what ``fields`` name, named as in the API; None clears. Raises as ``create_session`` does, and 404."""
    row = db.execute(
        select(sessions.c.bindings_json)
        .where(sessions.c.id == session_id, sessions.c.account_id == account)
        .with_for_update(key_share=True)
    ).one_or_none()
    if row is None:
        raise failure("not_found", "There is no such session.", session_id=session_id)
    if fields.get("project_id") is not None:
        move_session(db, account, session_id, fields["project_id"], now)
    values: dict[str, Json] = {name: fields[name] for name in ("title", "status", "memory") if name in fields}
    if "name" in fields:
        values["name"] = _free_name(db, account, fields["name"])
    values["bindings_json"] = dumps_text(_bound(loads(row.bindings_json), fields))
    if "metadata" in fields:
        values["metadata_json"] = dumps_text(fields["metadata"] or {})
    try:
        db.execute(update(sessions).where(sessions.c.id == session_id).values(updated_at=now, **values))
    except IntegrityError as error:
        raise _name_taken(fields["name"]) from error
    return find_session(db, account, session_id)


def _free_name(db: Connection, account: str, name: str | None) -> str | None:
    """The name, unless it is a session's id: callers name sessions by either, and an id would win. That no other session has
    the name, its index sees to."""
    id_of_one = select(sessions.c.id).where(sessions.c.id == name, sessions.c.account_id == account)
    if name is not None and db.execute(id_of_one).first() is not None:
        raise _name_taken(name)
    return name


def _name_taken(name: str) -> Exception:
    return failure("session_name_taken", f"Another session is called {name!r}: choose another name.", name=name)


def list_sessions(
    db: Connection,
    account: str,
    paging: Paging,
    status: SessionStatus | None = None,
    keyword: str | None = None,
    name: str | None = None,
) -> Listed[Session]:
    """The account's sessions, sorted by ``created_at`` or ``updated_at``; ``keyword`` is a part of the title, in any case,
    ``name`` the whole name, of which there is one at most."""
    query = select(sessions).where(sessions.c.account_id == account)
    if status is not None:
        query = query.where(sessions.c.status == status)
    if name is not None:
        query = query.where(sessions.c.name == name)
    if keyword is not None:
        escaped = keyword.replace("/", "//").replace("%", "/%").replace("_", "/_")
        # The engine lowers both sides: each knows other letters than Python does.
        query = query.where(func.lower(sessions.c.title).like(func.lower(f"%{escaped}%"), escape="/"))
    listed = list_rows(db, query, paging, sessions.c[paging.sort_by], sessions.c.id, weight=_SIZE)
    return Listed([session_of(row) for row in listed.items], listed.total)


def remove_session(db: Connection, account: str, session_id: str, now: int) -> None:
    """Remove a session with everything below it. Raises 404, 409 ``active_run_in_progress``."""
    if not hold_to_delete(db, account, [session_id]):
        raise failure("not_found", "There is no such session.", session_id=session_id)
    check_no_live_run(db, account, now, session_id=session_id)
    delete_session(db, account, session_id, now)


def set_status_of_many(db: Connection, account: str, ids: Sequence[str], status: SessionStatus, now: int) -> list[BatchResult]:
    """Give many sessions a status; unknown ones are reported, not refused."""
    known = set(
        db.execute(
            update(sessions)
            .where(sessions.c.account_id == account, sessions.c.id.in_(ids))
            .values(status=status, updated_at=now)
            .returning(sessions.c.id)
        ).scalars()
    )
    return [BatchResult(index, id, "updated" if id in known else "not_found") for index, id in enumerate(ids)]


def remove_many(db: Connection, account: str, ids: Sequence[str], now: int) -> list[BatchResult]:
    """Remove many sessions; unknown ones and those with a live run are reported, not refused."""
    known = hold_to_delete(db, account, ids)
    results, most = [], AT_ONCE
    for index, id in enumerate(ids):
        action: Literal["deleted", "not_found", "conflict"] = "not_found"
        if id in known:
            action = "conflict" if has_live_run(db, account, now, session_id=id) else "deleted"
        if action == "deleted":
            most -= delete_session(db, account, id, now, most)
        results.append(BatchResult(index, id, action))
    return results


def active_run(db: Connection, account: str, session_id: str, branch_id: str | None, now: int) -> ActiveRun | None:
    """The session's latest live generation, on one branch or on any; None when there is none. Raises 404."""
    return next(iter(active_runs(db, account, session_id, branch_id, now)), None)


def active_runs(db: Connection, account: str, session_id: str, branch_id: str | None, now: int) -> list[ActiveRun]:
    """The session's live generations, on one branch or on all, the latest first. Raises 404."""
    find_session(db, account, session_id)
    query = (
        select(runs, generations.c.branch_id)
        .join(generations, generations.c.floor_id == runs.c.floor_id)
        .where(generations.c.session_id == session_id, generations.c.account_id == account, generations.c.expires_at > now)
        .order_by(runs.c.started_at.desc(), runs.c.floor_id.desc())
    )
    if branch_id is not None:
        query = query.where(generations.c.branch_id == branch_id)
    found = ((row.branch_id, run_of(row)) for row in db.execute(query))
    return [
        ActiveRun(branch, True, run.updated_at, run.floor_id, run.run_id, run.run_type, run.public_phase)
        for branch, run in found
    ]


def _bound(old: Mapping[str, Json], fields: Mapping[str, Json]) -> dict[str, Json]:
    """The bindings after a change: what stands beside a session is kept as it was given."""
    bindings = {**old, **{name: fields[name] for name in (*BOUND, *_BESIDE) if name in fields and name != "project_id"}}
    if any(name.startswith("character_") for name in fields):
        bindings["character_binding"] = _character(bindings.get("character_binding") or {}, fields)
    if any(name.startswith("user_") for name in fields):
        bindings["user_binding"] = _user(bindings.get("user_binding") or {}, fields)
    return bindings


_SIZE = length(sessions.c.bindings_json, sessions.c.metadata_json)
_BESIDE = ("character_snapshot", "user_snapshot")


def _character(old: Mapping[str, Json], fields: Mapping[str, Json]) -> Json:
    binding = {
        "character_id": fields.get("character_id", old.get("character_id")),
        "character_version_id": fields.get("character_version_id", old.get("character_version_id")),
        "sync_policy": fields.get("character_sync_policy") or old.get("sync_policy") or "pin",
        "snapshot_summary": old.get("snapshot_summary"),
    }
    if "character_snapshot" in fields:
        snapshot = fields["character_snapshot"]
        has_greeting = bool(greetings_of(snapshot))
        binding["snapshot_summary"] = {"name": snapshot["name"], "has_greeting": has_greeting} if snapshot else None
    return binding if binding["character_id"] or binding["snapshot_summary"] else None


def _user(old: Mapping[str, Json], fields: Mapping[str, Json]) -> Json:
    binding = {"user_id": fields.get("user_id", old.get("user_id")), "snapshot_summary": old.get("snapshot_summary")}
    if "user_snapshot" in fields:
        snapshot = fields["user_snapshot"]
        binding["snapshot_summary"] = {"name": snapshot["name"]} if snapshot else None
    return binding if binding["user_id"] or binding["snapshot_summary"] else None
