"""The branches of a session: listing, comparing, forking, resetting, merging and removing them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, and_, func, select, update

from agentui.chats.codes import failure
from agentui.chats.lineage import branch_path, bridge_branch, own_floors
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import MAIN, Floor
from agentui.chats.rows import (
    branch_head,
    check_no_live_run,
    delete_branch,
    find_branch,
    find_floor,
    find_session,
    on_branch,
    register_branch,
    touch,
)
from agentui.chats.state.heads import discard_of_floors, heads_of, set_heads, snapshot_heads
from agentui.chats.versions import move_branch_variables, take_back_behind
from agentui.chats.working.checkpoints import forget_checkpoints
from agentui.chats.working.journal import move_working_variables
from agentui.ids import new_short_id
from agentui.store.tables import branches, floors
from agentui.variables.snapshots import fork_branch_variables, load_branch_snapshot, set_branch_values


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """A branch at a glance. The latest floor is the one with the highest number, whatever its state; the source is the floor
    that it was forked behind, and that floor's branch."""

    branch_id: str
    floor_count: int
    latest_floor_no: int | None
    latest_floor_id: str | None
    latest_state: str | None
    updated_at: int
    source_floor_id: str | None
    source_branch_id: str | None


@dataclass(frozen=True, slots=True)
class Forked:
    """A new branch and where it comes from."""

    branch_id: str
    source_floor_id: str
    source_floor_no: int
    session_id: str


@dataclass(frozen=True, slots=True)
class DiffFloor:
    """A floor as the comparison of two branches shows it."""

    id: str
    floorNo: int
    branchId: str
    state: str


@dataclass(frozen=True, slots=True)
class BranchDiff:
    """What two branches have in common and what only one of them has."""

    session_id: str
    base_branch_id: str
    target_branch_id: str
    fork_floor_no: int | None
    shared_floor_nos: list[int]
    base_only_floors: list[DiffFloor]
    target_only_floors: list[DiffFloor]


@dataclass(frozen=True, slots=True)
class BranchReset:
    """What a reset set aside."""

    session_id: str
    branch_id: str
    target_floor_id: str
    head_floor_id: str
    superseded_floor_ids: list[str]
    superseded_count: int


MergeStrategy: TypeAlias = Literal["fast_forward", "no_op", "blocked"]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Why a branch cannot be merged."""

    code: str
    message: str
    floor_id: str | None = None


@dataclass(frozen=True, slots=True)
class MergeFloor:
    """A floor as a merge shows it."""

    id: str
    branch_id: str
    floor_no: int
    state: str
    parent_floor_id: str | None


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What merging the branch ``source`` into ``target`` would do.

    The fork is the last floor that both lead through; ``shared_floor_ids`` are it and all before it, latest first.
    """

    session_id: str
    source_branch_id: str
    target_branch_id: str
    strategy: MergeStrategy
    can_merge: bool
    source_head_floor_id: str | None
    target_head_floor_id: str | None
    fork_floor_id: str | None
    shared_floor_ids: list[str]
    source_only_floors: list[MergeFloor]
    target_only_floors: list[MergeFloor]
    floor_ids: list[str]
    conflicts: list[MergeConflict]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did: the target branch now owns these floors, in this order."""

    session_id: str
    source_branch_id: str
    target_branch_id: str
    strategy: MergeStrategy
    merged_floor_ids: list[str]
    merged_count: int
    target_head_floor_id: str | None


def list_branches(db: Connection, account: str, session_id: str, paging: Paging) -> Listed[BranchSummary]:
    """The branches of a session, ``main`` among them from the start. Raises 404.

    Sorted by ``updated_at``, ``branch_id``, ``floor_count`` or ``latest_floor_no``.
    """
    find_session(db, account, session_id)
    live = and_(
        floors.c.session_id == branches.c.session_id,
        floors.c.branch_id == branches.c.branch_id,
        floors.c.superseded_at.is_(None),
    )
    counted = (
        select(
            branches.c.branch_id,
            branches.c.updated_at,
            branches.c.source_floor_id,
            branches.c.source_branch_id,
            func.count(floors.c.id).label("floor_count"),
            func.max(floors.c.floor_no).label("latest_floor_no"),
        )
        .select_from(branches.outerjoin(floors, live))
        .where(branches.c.account_id == account, branches.c.session_id == session_id)
        # The primary key, on which the other columns depend.
        .group_by(branches.c.session_id, branches.c.branch_id)
        .subquery()
    )
    latest = and_(
        floors.c.session_id == session_id,
        floors.c.branch_id == counted.c.branch_id,
        floors.c.floor_no == counted.c.latest_floor_no,
        floors.c.superseded_at.is_(None),
    )
    query = select(counted, floors.c.id.label("latest_floor_id"), floors.c.state.label("latest_state")).select_from(
        counted.outerjoin(floors, latest)
    )
    # A branch without floors sorts as if its latest were below zero, on both engines alike.
    number = func.coalesce(counted.c.latest_floor_no, -1)
    first = {
        "updated_at": counted.c.updated_at,
        "branch_id": counted.c.branch_id,
        "floor_count": counted.c.floor_count,
        "latest_floor_no": number,
    }[paging.sort_by]
    listed = list_rows(db, query, paging, first, counted.c.branch_id)
    summaries = [
        BranchSummary(
            branch_id=row.branch_id,
            floor_count=row.floor_count,
            latest_floor_no=row.latest_floor_no,
            latest_floor_id=row.latest_floor_id,
            latest_state=row.latest_state,
            updated_at=row.updated_at,
            source_floor_id=row.source_floor_id,
            source_branch_id=row.source_branch_id,
        )
        for row in listed.items
    ]
    return Listed(summaries, listed.total)


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
    then.

    Raises 409 ``protected_branch`` for main, ``ambiguous_branch`` when several sessions have it and none is named, 404.
    """
    if branch_id == MAIN:
        raise failure("protected_branch", "The branch main cannot be removed.", branch_id=branch_id)
    session_id = session_id or _session_with(db, account, branch_id)
    branch = find_branch(db, account, session_id, branch_id, hold=True)
    check_no_live_run(db, account, now, session_id=session_id, branch_id=branch_id)
    bridge_branch(db, account, branch)
    forget_checkpoints(db, session_id, -1)
    removed = delete_branch(db, account, session_id, branch_id)
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


def diff_branches(db: Connection, account: str, session_id: str, base: str, target: str) -> BranchDiff:
    """Compare two branches by the floors they lead through. Raises 404; a branch without floors is not found either.

    What a branch leads through: ``lineage.branch_path``.
    """
    find_session(db, account, session_id)
    base_path, target_path = (_path_with_floors(db, account, session_id, name) for name in (base, target))
    shared = {floor.id for floor in base_path} & {floor.id for floor in target_path}
    numbers = [floor.floor_no for floor in base_path if floor.id in shared]
    return BranchDiff(
        session_id=session_id,
        base_branch_id=base,
        target_branch_id=target,
        fork_floor_no=max(numbers, default=None),
        shared_floor_nos=numbers,
        base_only_floors=[_diffed(floor) for floor in base_path if floor.id not in shared],
        target_only_floors=[_diffed(floor) for floor in target_path if floor.id not in shared],
    )


def _diffed(floor: Floor) -> DiffFloor:
    return DiffFloor(floor.id, floor.floor_no, floor.branch_id, floor.state)


def _path_with_floors(db: Connection, account: str, session_id: str, branch_id: str) -> list[Floor]:
    find_branch(db, account, session_id, branch_id)
    if not own_floors(db, account, session_id, branch_id):
        raise failure("branch_not_found", f"The branch {branch_id!r} has no floors yet.", branch_id=branch_id)
    return branch_path(db, account, session_id, branch_id)


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
    _check_head(db, account, session_id, branch_id, expected_head)
    take_back_behind(db, account, target, now)
    set_branch_values(db, account, session_id, branch_id, load_branch_snapshot(db, account, target.id), now)
    set_heads(db, account, session_id, branch_id, snapshot_heads(db, target.id))
    forget_checkpoints(db, session_id, target.floor_no)
    behind = _supersede_behind(db, account, target, now)
    discard_of_floors(db, session_id, behind, now)
    touch(db, session_id, branch_id, now)
    return BranchReset(session_id, branch_id, target.id, target.id, behind, len(behind))


def _check_head(db: Connection, account: str, session_id: str, branch_id: str, expected: str | None) -> None:
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


def preview_merge(db: Connection, account: str, session_id: str, source: str, target: str) -> MergePreview:
    """Say what merging ``source`` into ``target`` would do. Raises 404.

    ``fast_forward``: the source was forked from the target's head, so its floors can go on there. ``no_op``: the source has
    nothing that the target lacks. ``blocked``: the target went on by itself, or the source holds unfinished floors.
    """
    find_session(db, account, session_id)
    branch = find_branch(db, account, session_id, source)
    find_branch(db, account, session_id, target)
    head = branch_head(db, account, session_id, target)
    source_path, target_path = (branch_path(db, account, session_id, name) for name in (source, target))
    both = {floor.id for floor in source_path} & {floor.id for floor in target_path}
    shared = [floor.id for floor in reversed(target_path) if floor.id in both]
    source_only, target_only = ([floor for floor in path if floor.id not in both] for path in (source_path, target_path))
    own = own_floors(db, account, session_id, source)
    committed = [floor.id for floor in own if floor.state == "committed"]
    strategy: MergeStrategy = "no_op"
    conflicts: list[MergeConflict] = []
    if any(floor.state == "committed" for floor in source_only):
        conflicts = _merge_conflicts(own, branch.source_floor_id, head, own_floors(db, account, session_id, target))
        strategy = "blocked" if conflicts else "fast_forward"
    return MergePreview(
        session_id=session_id,
        source_branch_id=source,
        target_branch_id=target,
        strategy=strategy,
        can_merge=not conflicts,
        source_head_floor_id=committed[-1] if committed else None,
        target_head_floor_id=head.id if head is not None else None,
        fork_floor_id=shared[0] if shared else None,
        shared_floor_ids=shared,
        source_only_floors=[_merged(floor) for floor in source_only],
        target_only_floors=[_merged(floor) for floor in target_only],
        floor_ids=committed if strategy == "fast_forward" else [],
        conflicts=conflicts,
    )


def _merged(floor: Floor) -> MergeFloor:
    return MergeFloor(floor.id, floor.branch_id, floor.floor_no, floor.state, floor.parent_floor_id)


def _merge_conflicts(
    own: list[Floor], source_floor_id: str | None, head: Floor | None, target: list[Floor]
) -> list[MergeConflict]:
    """What stands between the floors of a branch and the head of another."""
    conflicts = [
        MergeConflict("unfinished_floor", f"Floor {floor.floor_no} of the source is {floor.state}.", floor.id)
        for floor in own
        if floor.state in ("draft", "generating")
    ]
    if source_floor_id != (head.id if head is not None else None):
        conflicts.append(MergeConflict("diverged", "The source was not forked from the target's head.", source_floor_id))
    conflicts += [
        MergeConflict("target_floor_in_the_way", f"Floor {floor.floor_no} of the target is {floor.state}.", floor.id)
        for floor in target
        if floor.floor_no > (head.floor_no if head is not None else -1)
    ]
    return conflicts


def merge_branch(
    db: Connection, account: str, session_id: str, source: str, target: str, expected_head: str | None, now: int
) -> Merged:
    """Move the floors of ``source`` to the end of ``target``, and its variables with them; the source stays as an empty branch
    behind the new head.

    Raises 404, 409 ``branch_head_conflict``, ``active_run_in_progress``, ``merge_blocked`` (details carry ``conflicts``).
    """
    find_session(db, account, session_id, hold=True)
    for name in sorted({source, target}):
        find_branch(db, account, session_id, name, hold=True)
        check_no_live_run(db, account, now, session_id=session_id, branch_id=name)
    _check_head(db, account, session_id, target, expected_head)
    preview = preview_merge(db, account, session_id, source, target)
    if not preview.can_merge:
        conflicts = [{"code": item.code, "message": item.message, "floor_id": item.floor_id} for item in preview.conflicts]
        raise failure("merge_blocked", "The branches cannot be merged without losing floors.", conflicts=conflicts)
    head = preview.source_head_floor_id if preview.floor_ids else preview.target_head_floor_id
    if preview.floor_ids:
        moving = (*on_branch(account, session_id, source), floors.c.state == "committed")
        db.execute(update(floors).where(*moving).values(branch_id=target, updated_at=now))
        db.execute(
            update(branches)
            .where(branches.c.session_id == session_id, branches.c.branch_id == source)
            .values(source_floor_id=head, source_branch_id=target, updated_at=now)
        )
        move_branch_variables(db, account, session_id, source, target, now)
        set_heads(db, account, session_id, target, heads_of(db, session_id, source))
        move_working_variables(db, session_id, source, target)
        touch(db, session_id, target, now)
    return Merged(session_id, source, target, preview.strategy, preview.floor_ids, len(preview.floor_ids), head)
