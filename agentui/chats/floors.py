"""Floors as things of their own: making, reading, moving, listing and removing them."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.lineage import bridge_floor
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import Floor, FloorState, Run, floor_of, run_of
from agentui.chats.rows import (
    check_no_live_run,
    delete_floor,
    find_branch,
    find_floor,
    find_session,
    hold_floor,
    insert_new,
    register_branch,
    reshape,
    touch,
)
from agentui.chats.state.heads import save_snapshot
from agentui.chats.versions import take_back_floor
from agentui.chats.working.checkpoints import forget_checkpoints
from agentui.ids import new_short_id
from agentui.jsonio import Json, loads
from agentui.store.tables import floors, messages, page_results, pages, runs
from agentui.variables.snapshots import save_snapshot_of

MOVABLE = frozenset({"floor_no", "branch_id", "parent_floor_id"})
"""What a patch may change."""


@dataclass(frozen=True, slots=True)
class NewFloor:
    """A floor as a caller wants it."""

    session_id: str
    floor_no: int
    branch_id: str
    parent_floor_id: str | None = None
    state: FloorState = "draft"
    token_in: int = 0
    token_out: int = 0


@dataclass(frozen=True, slots=True)
class FloorRun:
    """A floor's state and its run; floors made by hand have none."""

    floor_id: str
    state: FloorState
    run: Run | None


@dataclass(frozen=True, slots=True)
class FloorResult:
    """What a committed floor came to. ``usage`` counts tokens."""

    floor_id: str
    output_page_id: str | None
    assistant_message_id: str | None
    generated_text: str
    summaries: list[str]
    usage: Mapping[str, int]
    verifier: Json
    committed_at: int


def create_floor(db: Connection, account: str, new: NewFloor, now: int) -> Floor:
    """Make a floor in any state; an unknown branch is registered with it. A committed one keeps a snapshot of the branch's
    variables as they are now, as a turn's floor does, so that it can be forked from.

    Raises 404, 400 ``floor_patch_topology_invalid`` for a parent that does not come before it, 409 ``constraint_error`` for
    a number that a live floor of the branch has, ``floor_parent_session_mismatch``.
    """
    find_session(db, account, new.session_id, hold=True)
    if new.parent_floor_id is not None:
        _check_before(_parent(db, account, new.session_id, new.parent_floor_id), new.floor_no)
    register_branch(db, account, new.session_id, new.branch_id, now)
    find_branch(db, account, new.session_id, new.branch_id, hold=True)
    floor_id = new_short_id()
    values = {
        "id": floor_id,
        "account_id": account,
        "session_id": new.session_id,
        "branch_id": new.branch_id,
        "floor_no": new.floor_no,
        "parent_floor_id": new.parent_floor_id,
        "state": new.state,
        "token_in": new.token_in,
        "token_out": new.token_out,
        "created_at": now,
        "updated_at": now,
    }
    if not insert_new(db, floors, values):
        raise _number_taken(new.branch_id, new.floor_no)
    if new.state == "committed":
        save_snapshot_of(db, account, floor_id, new.session_id, new.branch_id, now)
        save_snapshot(db, account, floor_id, new.session_id, new.branch_id, now)
    touch(db, new.session_id, new.branch_id, now)
    reshape(db, new.session_id)
    return find_floor(db, account, floor_id)


def move_floor(db: Connection, account: str, floor_id: str, fields: Mapping[str, Json], now: int) -> Floor:
    """Give a floor another number, branch or parent; a committed one too.

    Raises 404, 400 ``floor_patch_topology_invalid`` for a parent that is the floor itself or does not come before it, 409
    ``active_run_in_progress``, ``constraint_error``, ``floor_parent_session_mismatch``.
    """
    floor = find_floor(db, account, floor_id)
    branch_id = fields.get("branch_id") or floor.branch_id
    find_session(db, account, floor.session_id, hold=True)
    register_branch(db, account, floor.session_id, branch_id, now)
    for name in sorted({floor.branch_id, branch_id}):
        find_branch(db, account, floor.session_id, name, hold=True)
    find_floor(db, account, floor_id, hold=True)
    check_no_live_run(db, account, now, floor_id=floor_id)
    floor_no = fields.get("floor_no", floor.floor_no)
    parent_id = fields.get("parent_floor_id", floor.parent_floor_id)
    if parent_id is not None:
        _check_parent(db, account, floor, parent_id, floor_no, is_new="parent_floor_id" in fields)
    values = {"floor_no": floor_no, "branch_id": branch_id, "parent_floor_id": parent_id, "updated_at": now}
    try:
        db.execute(update(floors).where(floors.c.id == floor_id).values(**values))
    except IntegrityError as error:
        raise _number_taken(branch_id, floor_no) from error
    forget_checkpoints(db, floor.session_id, min(floor.floor_no, floor_no) - 1)
    touch(db, floor.session_id, branch_id, now)
    reshape(db, floor.session_id)
    return find_floor(db, account, floor_id)


def _check_parent(db: Connection, account: str, floor: Floor, parent_id: str, floor_no: int, *, is_new: bool) -> None:
    """Raise unless the parent comes before the floor. An old parent may be gone by now, a new one must exist."""
    gone = db.execute(select(floors.c.id).where(floors.c.id == parent_id)).first() is None
    if gone and not is_new:
        return
    parent = _parent(db, account, floor.session_id, parent_id)
    # Its own number may be about to change, so a floor is no parent of itself whatever the numbers say.
    _check_before(parent, floor_no if parent.id != floor.id else parent.floor_no)


def _check_before(parent: Floor, floor_no: int) -> None:
    if parent.floor_no >= floor_no:
        raise failure(
            "floor_patch_topology_invalid",
            f"The parent (floor {parent.floor_no}) must come before the floor (number {floor_no}).",
            parent_floor_id=parent.id,
        )


def _parent(db: Connection, account: str, session_id: str, parent_id: str) -> Floor:
    parent = find_floor(db, account, parent_id)
    if parent.session_id != session_id:
        raise failure("floor_parent_session_mismatch", "The parent belongs to another session.", parent_floor_id=parent_id)
    return parent


def _number_taken(branch_id: str, floor_no: int) -> Exception:
    return failure(
        "constraint_error",
        f"The branch {branch_id!r} has a live floor {floor_no} already.",
        branch_id=branch_id,
        floor_no=floor_no,
    )


def list_floors(
    db: Connection,
    account: str,
    paging: Paging,
    session_id: str | None = None,
    branch_id: str | None = None,
    state: FloorState | None = None,
) -> Listed[Floor]:
    """The account's live floors, sorted by ``created_at``, ``updated_at`` or ``floor_no``."""
    query = select(floors).where(floors.c.account_id == account, floors.c.superseded_at.is_(None))
    wanted = {"session_id": session_id, "branch_id": branch_id, "state": state}
    for name, value in wanted.items():
        if value is not None:
            query = query.where(floors.c[name] == value)
    listed = list_rows(db, query, paging, floors.c[paging.sort_by], floors.c.id)
    return Listed([floor_of(row) for row in listed.items], listed.total)


def remove_floor(db: Connection, account: str, floor_id: str, now: int) -> None:
    """Remove a floor with its pages, messages and their variables; what stood behind it stands behind the one before it then.
    What the branch's newest turn changed of other variables is taken back. Raises 404, 409 ``active_run_in_progress``."""
    # Two who remove neighbours would each name the other's floor as a parent, so the branch is held.
    floor = hold_floor(db, account, floor_id)
    check_no_live_run(db, account, now, floor_id=floor_id)
    take_back_floor(db, account, floor, now)
    bridge_floor(db, account, floor)
    forget_checkpoints(db, floor.session_id, floor.floor_no)
    delete_floor(db, account, floor_id)
    touch(db, floor.session_id, floor.branch_id, now)
    reshape(db, floor.session_id)


def floor_run(db: Connection, account: str, floor_id: str) -> FloorRun:
    """A floor's state and its run. Raises 404."""
    floor = find_floor(db, account, floor_id)
    row = db.execute(select(runs).where(runs.c.floor_id == floor_id, runs.c.account_id == account)).one_or_none()
    return FloorRun(floor.id, floor.state, run_of(row) if row is not None else None)


def turn_result(db: Connection, account: str, floor_id: str) -> FloorResult:
    """What the turn of a committed floor came to. Raises 404 ``not_found`` also where no turn made the floor (a greeting, one
    made by hand, one that was imported), 409 ``invalid_state``."""
    result = floor_result(db, account, floor_id)
    kept = select(page_results.c.page_id).where(page_results.c.page_id == result.output_page_id)
    ran = select(runs.c.run_id).where(runs.c.floor_id == floor_id, runs.c.account_id == account)
    if db.execute(ran).first() is None and db.execute(kept).first() is None:
        raise failure("not_found", "No turn made this floor, so there is no result.", floor_id=floor_id)
    return result


def floor_result(db: Connection, account: str, floor_id: str) -> FloorResult:
    """What a committed floor came to: its last active output page, and the assistant's last message there.

    Raises 404, 409 ``invalid_state``.
    """
    floor = find_floor(db, account, floor_id)
    if floor.state != "committed":
        raise failure("invalid_state", "Floor is not committed", floor_id=floor_id, state=floor.state)
    page_id = db.execute(
        select(pages.c.id)
        .where(pages.c.floor_id == floor_id, pages.c.is_active, pages.c.page_kind != "input")
        .order_by(pages.c.page_no.desc())
        .limit(1)
    ).scalar_one_or_none()
    said = db.execute(
        select(messages.c.id, messages.c.content, messages.c.created_at)
        .where(messages.c.page_id == page_id, messages.c.role == "assistant")
        .order_by(messages.c.seq.desc())
        .limit(1)
    ).one_or_none()
    kept = db.execute(select(page_results).where(page_results.c.page_id == page_id)).one_or_none()
    total = floor.token_in + floor.token_out
    return FloorResult(
        floor_id=floor.id,
        output_page_id=page_id,
        assistant_message_id=said.id if said is not None else None,
        generated_text=said.content if said is not None else "",
        summaries=loads(kept.summaries_json) if kept is not None else [],
        usage={"prompt_tokens": floor.token_in, "completion_tokens": floor.token_out, "total_tokens": total},
        verifier=loads(kept.verifier_json) if kept is not None and kept.verifier_json is not None else None,
        committed_at=said.created_at if said is not None else floor.updated_at,
    )
