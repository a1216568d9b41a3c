"""Changing the branches of a session: forking, resetting and removing them."""

from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from agentui.chats.codes import failure
from agentui.chats.lineage import bridge_branch
from agentui.chats.records import MAIN, Floor
from agentui.chats.rows import (
    branch_head,
    check_no_live_run,
    delete_branch,
    find_branch,
    find_floor,
    find_session,
    hold_to_delete,
    on_branch,
    register_branch,
    reshape,
    touch,
)
from agentui.chats.state.heads import discard_of_floors, set_heads, snapshot_heads
from agentui.chats.versions import take_back_behind
from agentui.chats.working.checkpoints import forget_checkpoints
from agentui.ids import new_short_id
from agentui.store.tables import branches, floors
from agentui.variables.snapshots import fork_branch_variables, load_branch_snapshot, set_branch_values


@dataclass(frozen=True, slots=True)
class Forked:
    """A new branch and where it comes from."""

    branch_id: str
    source_floor_id: str
    source_floor_no: int
    session_id: str


@dataclass(frozen=True, slots=True)
class BranchReset:
    """What a reset set aside."""

    session_id: str
    branch_id: str
    target_floor_id: str
    head_floor_id: str
    superseded_floor_ids: list[str]
    superseded_count: int


def fork_branch(db: Connection, account: str, session_id: str, branch_id: str, source: Floor | None, now: int) -> bool:
    """Register a branch behind ``source``, with the branch variables and the Session State that this floor saw. False when it
    exists already.

    Raises 409 ``branch_local_snapshot_missing`` when it is not known what the floor saw.
    """
    if not register_branch(db, account, session_id, branch_id, now, source):
        return False
    if source is not None:
        fork_branch_variables(db, account, session_id, source.id, branch_id, now)
        set_heads(db, account, session_id, branch_id, snapshot_heads(db, source.id))
    return True


def new_branch_name() -> str:
    """The name of a branch for which nobody has one."""
    return f"branch-{new_short_id()[-8:]}"


def branch_from_floor(db: Connection, account: str, floor_id: str, branch_id: str | None, now: int) -> Forked:
    """Fork a branch behind a committed floor, with the branch variables that this floor saw; without a name it gets one.

    Raises 404, 409 ``invalid_state``, ``branch_exists``, and ``branch_local_snapshot_missing`` when it is not known what the
    floor saw (seed 000, "branch_local_variable_snapshot").
    """
    source = find_floor(db, account, floor_id)
    if source.state != "committed":
        raise failure("invalid_state", "Only a committed floor can be branched from.", floor_id=floor_id, state=source.state)
    find_session(db, account, source.session_id, hold=True)
    name = new_branch_name() if branch_id is None else branch_id
    if not fork_branch(db, account, source.session_id, name, source, now):
        raise failure("branch_exists", f"The session has a branch {name!r} already.", branch_id=name)
    touch(db, source.session_id, None, now)
    return Forked(name, source.id, source.floor_no, source.session_id)


def remove_branch(db: Connection, account: str, branch_id: str, session_id: str | None, now: int) -> tuple[str, list[str]]:
    """Remove a branch with its floors; returns its session and their ids. What was forked from it stands behind its source
    then. The floors of a long one go in parts (``delete_branch``).

    Raises 409 ``protected_branch`` for main, ``ambiguous_branch`` when several sessions have it and none is named, 404.
    """
    if branch_id == MAIN:
        raise failure("protected_branch", "The branch main cannot be removed.", branch_id=branch_id)
    session_id = session_id or _session_with(db, account, branch_id)
    hold_to_delete(db, account, [session_id])  # against everything: what is written below looks for its branch first
    branch = find_branch(db, account, session_id, branch_id, hold=True)
    check_no_live_run(db, account, now, session_id=session_id, branch_id=branch_id)
    bridge_branch(db, account, branch)
    forget_checkpoints(db, session_id, -1)
    removed = delete_branch(db, account, session_id, branch_id, now)
    touch(db, session_id, None, now)
    return session_id, removed


def _session_with(db: Connection, account: str, branch_id: str) -> str:
    """The one session that has a branch of this name. Raises 404 and 409 ``ambiguous_branch``."""
    having = list(
        db.execute(
            select(branches.c.session_id)
            .where(branches.c.account_id == account, branches.c.branch_id == branch_id)
            .order_by(branches.c.session_id)
            .limit(2)
        ).scalars()
    )
    if not having:
        raise failure("branch_not_found", f"There is no branch {branch_id!r}.", branch_id=branch_id)
    if len(having) > 1:
        raise failure(
            "ambiguous_branch", f"Several sessions have a branch {branch_id!r}: name one by session_id.", branch_id=branch_id
        )
    return str(having[0])


def reset_branch(
    db: Connection, account: str, session_id: str, branch_id: str, target_floor_id: str, expected_head: str | None, now: int
) -> BranchReset:
    """Set every floor behind ``target_floor_id`` aside, so that it is the branch's head again, with the branch's variables and
    its Session State as it left them. What the floors behind changed of chat and global variables is taken back.

    Raises 404, 409 ``invalid_state`` when the target is not a committed live floor of this branch, ``branch_head_conflict``
    when the head is not the expected one, ``active_run_in_progress``, ``branch_local_snapshot_missing``.
    """
    find_session(db, account, session_id, hold=True)
    find_branch(db, account, session_id, branch_id, hold=True)
    check_no_live_run(db, account, now, session_id=session_id, branch_id=branch_id)
    target = find_floor(db, account, target_floor_id, code="floor_not_found")
    is_here = (target.session_id, target.branch_id) == (session_id, branch_id)
    if not is_here or target.state != "committed" or target.superseded_at is not None:
        raise failure("invalid_state", "The target is not a committed floor of this branch.", target_floor_id=target_floor_id)
    check_head(db, account, session_id, branch_id, expected_head)
    take_back_behind(db, account, target, now)
    set_branch_values(db, account, session_id, branch_id, load_branch_snapshot(db, account, target.id), now)
    set_heads(db, account, session_id, branch_id, snapshot_heads(db, target.id))
    forget_checkpoints(db, session_id, target.floor_no)
    behind = _supersede_behind(db, account, target, now)
    discard_of_floors(db, session_id, behind, now)
    touch(db, session_id, branch_id, now)
    reshape(db, session_id)
    return BranchReset(session_id, branch_id, target.id, target.id, behind, len(behind))


def check_head(db: Connection, account: str, session_id: str, branch_id: str, expected: str | None) -> None:
    """Raise 409 ``branch_head_conflict`` when the head is not the floor that was expected; None expects nothing."""
    head = branch_head(db, account, session_id, branch_id)
    if expected is not None and (head is None or head.id != expected):
        raise failure(
            "branch_head_conflict",
            "The branch has moved on: read its head and decide again.",
            expected_head_floor_id=expected,
            actual_head_floor_id=head.id if head is not None else None,
        )


def _supersede_behind(db: Connection, account: str, head: Floor, now: int) -> list[str]:
    """Set the live floors behind ``head`` on its branch aside; returns their ids in order."""
    aside = db.execute(
        update(floors)
        .where(*on_branch(account, head.session_id, head.branch_id), floors.c.floor_no > head.floor_no)
        .values(superseded_at=now, superseded_by_floor_id=head.id, updated_at=now)
        .returning(floors.c.floor_no, floors.c.id)
    )
    return [floor_id for _, floor_id in sorted(tuple(row) for row in aside)]
