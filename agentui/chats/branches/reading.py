"""Reading the branches of a session: listing and comparing them."""

from dataclasses import dataclass

from sqlalchemy import Connection, and_, func, select

from agentui.chats.codes import failure
from agentui.chats.lineage import branch_path, own_floors
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import Floor
from agentui.chats.rows import find_branch, find_session
from agentui.store.tables import branches, floors


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
            func.count(floors.c.floor_no).label("floor_count"),
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
