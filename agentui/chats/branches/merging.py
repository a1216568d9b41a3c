"""Merging a branch into another: what it would do, and doing it."""

from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, update

from agentui.chats.branches.writing import check_head
from agentui.chats.codes import failure
from agentui.chats.lineage import branch_path, own_floors
from agentui.chats.memories import move_branch
from agentui.chats.records import Floor
from agentui.chats.rows import branch_head, check_no_live_run, find_branch, find_session, has_branch, on_branch, reshape, touch
from agentui.chats.state.heads import heads_of, set_heads
from agentui.chats.versions import move_branch_variables
from agentui.chats.working.journal import move_working_variables
from agentui.errors import ApiError
from agentui.store.tables import branches, floors

ConflictCode: TypeAlias = Literal[
    "same_branch",
    "source_branch_not_found",
    "target_branch_not_found",
    "no_common_ancestor",
    "target_diverged",
    "source_floor_not_committed",
    "source_branch_busy",
    "target_branch_busy",
]
MergeStrategy: TypeAlias = Literal["fast_forward", "no_op", "blocked"]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Why a branch cannot be merged (spec: tavern-api-2 part 1.17). ``target_floor_id`` is the floor that stands in the way."""

    code: ConflictCode
    message: str
    scope: Literal["branch"] = "branch"
    target_floor_id: str | None = None


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


def preview_merge(db: Connection, account: str, session_id: str, source: str, target: str) -> MergePreview:
    """Say what merging ``source`` into ``target`` would do. Raises 404 for the session.

    ``fast_forward``: the source was forked from the target's head, so its floors can go on there. ``no_op``: the source has
    nothing that the target lacks. ``blocked``: the target went on by itself, the source holds unfinished floors, or one of the
    branches is not there.
    """
    find_session(db, account, session_id)
    if unknown := _unknown(db, account, session_id, source, target):
        return MergePreview(session_id, source, target, "blocked", False, None, None, None, [], [], [], [], conflicts=unknown)
    branch = find_branch(db, account, session_id, source)
    head = branch_head(db, account, session_id, target)
    source_path, target_path = (branch_path(db, account, session_id, name) for name in (source, target))
    both = {floor.id for floor in source_path} & {floor.id for floor in target_path}
    shared = [floor.id for floor in reversed(target_path) if floor.id in both]
    source_only, target_only = (
        [floor for floor in reversed(path) if floor.id not in both] for path in (source_path, target_path)
    )
    own = own_floors(db, account, session_id, source)
    committed = [floor.id for floor in own if floor.state == "committed"]
    strategy: MergeStrategy = "no_op"
    conflicts: list[MergeConflict] = []
    if any(floor.state == "committed" for floor in source_only):
        conflicts = _merge_conflicts(own, branch.source_floor_id, head, own_floors(db, account, session_id, target), both)
        if head is None:
            conflicts += _lost(target_only)
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


def _unknown(db: Connection, account: str, session_id: str, source: str, target: str) -> list[MergeConflict]:
    """What is wrong with the branches that were named, before one looks into them."""
    found = []
    if not has_branch(db, account, session_id, source):
        found.append(MergeConflict("source_branch_not_found", f"The session has no branch {source!r:.110}."))
    if not has_branch(db, account, session_id, target):
        found.append(MergeConflict("target_branch_not_found", f"The session has no branch {target!r:.110}."))
    if not found and source == target:
        found.append(MergeConflict("same_branch", "A branch cannot be merged into itself."))
    return found


def _merge_conflicts(
    own: list[Floor], source_floor_id: str | None, head: Floor | None, target: list[Floor], shared: Set[str]
) -> list[MergeConflict]:
    """What stands between the floors of a branch and the head of another; ``shared`` are the floors that both lead through."""
    conflicts = []
    if any(floor.state == "generating" for floor in own):
        conflicts.append(MergeConflict("source_branch_busy", "A floor of the source is generating."))
    conflicts += [
        MergeConflict("source_floor_not_committed", f"Floor {floor.floor_no} of the source is {floor.state}.")
        for floor in own
        if floor.state == "draft"
    ]
    if head is not None and not shared:
        conflicts.append(MergeConflict("no_common_ancestor", "The branches have no floor in common.", target_floor_id=head.id))
    elif source_floor_id != (head.id if head is not None else None):
        message = "The source was not forked from the target's head."
        conflicts.append(MergeConflict("target_diverged", message, target_floor_id=None if head is None else head.id))
    for floor in target:
        if floor.floor_no > (head.floor_no if head is not None else -1):
            code: ConflictCode = "target_branch_busy" if floor.state == "generating" else "target_diverged"
            message = f"Floor {floor.floor_no} of the target is {floor.state}, and stands where the source's would."
            conflicts.append(MergeConflict(code, message, target_floor_id=floor.id))
    return conflicts


def _lost(target_only: list[Floor]) -> list[MergeConflict]:
    """What a target without floors of its own would lose: a floor behind which it was forked, and which the source left."""
    lost = next((floor for floor in target_only if floor.state == "committed"), None)
    if lost is None:
        return []
    message = f"The target leads through floor {lost.floor_no}, which was set aside on the source."
    return [MergeConflict("target_diverged", message, target_floor_id=lost.id)]


def merge_branch(
    db: Connection, account: str, session_id: str, source: str, target: str, expected_head: str | None, now: int
) -> Merged:
    """Move the floors of ``source`` to the end of ``target``, and its variables with them; the source stays as an empty branch
    behind the new head.

    Raises 404, 409 ``branch_head_conflict``, ``active_run_in_progress``, ``branch_merge_conflict`` (details carry
    ``conflicts``).
    """
    find_session(db, account, session_id, hold=True)
    if unknown := _unknown(db, account, session_id, source, target):
        raise _blocked(unknown)
    for name in sorted({source, target}):
        find_branch(db, account, session_id, name, hold=True)
        check_no_live_run(db, account, now, session_id=session_id, branch_id=name)
    check_head(db, account, session_id, target, expected_head)
    preview = preview_merge(db, account, session_id, source, target)
    if not preview.can_merge:
        raise _blocked(preview.conflicts)
    head = preview.source_head_floor_id if preview.floor_ids else preview.target_head_floor_id
    if preview.floor_ids:
        _take_over_source(db, account, session_id, source, target, preview.floor_ids)
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
        if head is not None:
            move_branch(db, account, session_id, source, target, head)
        touch(db, session_id, target, now)
        reshape(db, session_id)
    return Merged(session_id, source, target, preview.strategy, preview.floor_ids, len(preview.floor_ids), head)


def _take_over_source(db: Connection, account: str, session_id: str, source: str, target: str, moved: list[str]) -> None:
    """Let a branch that was forked behind one of the floors that move onto it come from where these come from: its first floor
    would go on from one behind it."""
    old, new = (find_branch(db, account, session_id, name) for name in (source, target))
    if new.source_floor_id in moved:
        named = branches.c.session_id == session_id, branches.c.branch_id == target
        begins = {"source_floor_id": old.source_floor_id, "source_branch_id": old.source_branch_id}
        db.execute(update(branches).where(*named).values(begins))


def _blocked(conflicts: Iterable[MergeConflict]) -> ApiError:
    told = [asdict(conflict) for conflict in conflicts]
    return failure("branch_merge_conflict", "The branches cannot be merged without losing floors.", conflicts=told)
