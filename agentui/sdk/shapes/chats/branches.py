"""What the server speaks of: chats, branches."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class BranchDiff(TypedDict):
    """What two branches have in common and what only one of them has."""

    session_id: str
    base_branch_id: str
    target_branch_id: str
    fork_floor_no: int | None
    shared_floor_nos: list[int]
    base_only_floors: list[DiffFloor]
    target_only_floors: list[DiffFloor]


class BranchReset(TypedDict):
    """What a reset set aside."""

    session_id: str
    branch_id: str
    target_floor_id: str
    head_floor_id: str
    superseded_floor_ids: list[str]
    superseded_count: int


class BranchSummary(TypedDict):
    """A branch at a glance. The latest floor is the one with the highest number, whatever its state; the source is the
    floor that it was forked behind, and that floor's branch.
    """

    branch_id: str
    floor_count: int
    latest_floor_no: int | None
    latest_floor_id: str | None
    latest_state: str | None
    updated_at: int
    source_floor_id: str | None
    source_branch_id: str | None


class DeletedBranch(TypedDict):
    """A branch that is gone, with its floors."""

    id: str
    branch_id: str
    session_id: str
    deleted_floor_ids: list[str]
    deleted_floor_count: int
    deleted: NotRequired[Literal[True]]


class DiffFloor(TypedDict):
    """A floor as the comparison of two branches shows it."""

    id: str
    floorNo: int
    branchId: str
    state: str


class Forked(TypedDict):
    """A new branch and where it comes from."""

    branch_id: str
    source_floor_id: str
    source_floor_no: int
    session_id: str


class Merge(TypedDict):
    """Where a branch shall be merged into. ``expected_target_head_floor_id``: refuse if the target has moved on."""

    target_branch_id: NotRequired[str]
    expected_target_head_floor_id: NotRequired[str | None]


class MergeConflict(TypedDict):
    """Why a branch cannot be merged (spec: tavern-api-2 part 1.17). ``target_floor_id`` is the floor that stands in
    the way.
    """

    code: Literal[
        "same_branch",
        "source_branch_not_found",
        "target_branch_not_found",
        "no_common_ancestor",
        "target_diverged",
        "source_floor_not_committed",
        "source_branch_busy",
        "target_branch_busy",
    ]
    message: str
    scope: NotRequired[Literal["branch"]]
    target_floor_id: NotRequired[str | None]


class MergeFloor(TypedDict):
    """A floor as a merge shows it."""

    id: str
    branch_id: str
    floor_no: int
    state: str
    parent_floor_id: str | None


class MergePreview(TypedDict):
    """What merging the branch ``source`` into ``target`` would do. The fork is the last floor that both lead through;
    ``shared_floor_ids`` are it and all before it, latest first.
    """

    session_id: str
    source_branch_id: str
    target_branch_id: str
    strategy: Literal["fast_forward", "no_op", "blocked"]
    can_merge: bool
    source_head_floor_id: str | None
    target_head_floor_id: str | None
    fork_floor_id: str | None
    shared_floor_ids: list[str]
    source_only_floors: list[MergeFloor]
    target_only_floors: list[MergeFloor]
    floor_ids: list[str]
    conflicts: list[MergeConflict]


class MergeQuestion(TypedDict):
    """Where a branch might be merged into."""

    target_branch_id: NotRequired[str]


class Merged(TypedDict):
    """What a merge did: the target branch now owns these floors, in this order."""

    session_id: str
    source_branch_id: str
    target_branch_id: str
    strategy: Literal["fast_forward", "no_op", "blocked"]
    merged_floor_ids: list[str]
    merged_count: int
    target_head_floor_id: str | None


class NewBranch(TypedDict):
    """A branch to be made; without a name it gets one."""

    branch_id: NotRequired[str | None]


class Reset(TypedDict):
    """Where a branch shall end. ``expected_head_floor_id``: refuse if the branch has moved on."""

    target_floor_id: str
    expected_head_floor_id: NotRequired[str | None]
