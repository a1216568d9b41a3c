"""Branches of sessions. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.branches import (
    BranchDiff,
    BranchReset,
    BranchSummary,
    DeletedBranch,
    Forked,
    Merge,
    Merged,
    MergePreview,
    MergeQuestion,
    NewBranch,
    Reset,
)
from agentui.sdk.transport import Resource


class BranchesListCall(Options):
    """What ``branches.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["updated_at", "branch_id", "floor_count", "latest_floor_no"]]
    """updated_at, branch_id, floor_count or latest_floor_no."""


class BranchesDiffCall(Options):
    """What ``branches.diff`` may be told."""

    base_branch_id: NotRequired[str]
    """The branch to compare with; main unless said otherwise."""
    target_branch_id: str
    """The branch to compare; required."""


class BranchesResetCall(Reset, Options, Repeatable):
    """What ``branches.reset`` may be told."""


class BranchesPreviewMergeCall(MergeQuestion, Options):
    """What ``branches.preview_merge`` may be told."""


class BranchesMergeCall(Merge, Options, Repeatable):
    """What ``branches.merge`` may be told."""


class BranchesCreateFromFloorCall(NewBranch, Options, Repeatable):
    """What ``branches.create_from_floor`` may be told."""


class BranchesDeleteCall(Options, Repeatable):
    """What ``branches.delete`` may be told."""

    session_id: NotRequired[str]
    """The session; needed where several have a branch of this name."""


_LIST = Endpoint[ListOf[Items[BranchSummary]]](
    "GET", "/sessions/{id}/branches", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_DIFF = Endpoint[BranchDiff]("GET", "/sessions/{id}/branches/diff", query=("base_branch_id", "target_branch_id"))
_RESET = Endpoint[BranchReset]("POST", "/sessions/{id}/branches/{branch}/reset", body="json")
_PREVIEW_MERGE = Endpoint[MergePreview]("POST", "/sessions/{id}/branches/{branch}/merge/preview", body="json")
_MERGE = Endpoint[Merged]("POST", "/sessions/{id}/branches/{branch}/merge", body="json")
_CREATE_FROM_FLOOR = Endpoint[Forked]("POST", "/floors/{id}/branch", body="json")
_DELETE = Endpoint[DeletedBranch]("DELETE", "/branches/{id}", query=("session_id",))


class BranchesResource(Resource):
    """Branches of sessions."""

    def list(self, session_id: str, **given: Unpack[BranchesListCall]) -> ListOf[Items[BranchSummary]]:
        """List the branches of a session. ``GET /sessions/{id}/branches``"""
        return self._call(_LIST, (session_id,), given)

    def iterate(self, session_id: str, **given: Unpack[BranchesListCall]) -> Iterator[BranchSummary]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (session_id,), given)

    def diff(self, session_id: str, **given: Unpack[BranchesDiffCall]) -> BranchDiff:
        """Compare two branches by the floors they lead through. ``GET /sessions/{id}/branches/diff``"""
        return self._call(_DIFF, (session_id,), given)

    def reset(self, session_id: str, branch_id: str, **given: Unpack[BranchesResetCall]) -> BranchReset:
        """Set the floors behind one floor of a branch aside; they can still be read by id. ``POST
        /sessions/{id}/branches/{branch}/reset``
        """
        return self._call(_RESET, (session_id, branch_id), given)

    def preview_merge(self, session_id: str, branch_id: str, **given: Unpack[BranchesPreviewMergeCall]) -> MergePreview:
        """Say what merging a branch into another would do. ``POST /sessions/{id}/branches/{branch}/merge/preview``"""
        return self._call(_PREVIEW_MERGE, (session_id, branch_id), given)

    def merge(self, session_id: str, branch_id: str, **given: Unpack[BranchesMergeCall]) -> Merged:
        """Move the floors of a branch to the end of another that has not moved on since the fork. ``POST
        /sessions/{id}/branches/{branch}/merge``
        """
        return self._call(_MERGE, (session_id, branch_id), given)

    def create_from_floor(self, floor_id: str, **given: Unpack[BranchesCreateFromFloorCall]) -> Forked:
        """Fork a branch behind a committed floor. ``POST /floors/{id}/branch``"""
        return self._call(_CREATE_FROM_FLOOR, (floor_id,), given)

    def delete(self, branch_id: str, **given: Unpack[BranchesDeleteCall]) -> DeletedBranch:
        """Remove a branch with its floors, pages, messages and their variables; main stays. ``DELETE /branches/{id}``"""
        return self._call(_DELETE, (branch_id,), given)


class AsyncBranchesResource(AsyncResource):
    """Branches of sessions."""

    async def list(self, session_id: str, **given: Unpack[BranchesListCall]) -> ListOf[Items[BranchSummary]]:
        """List the branches of a session. ``GET /sessions/{id}/branches``"""
        return await self._call(_LIST, (session_id,), given)

    def iterate(self, session_id: str, **given: Unpack[BranchesListCall]) -> AsyncIterator[BranchSummary]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (session_id,), given)

    async def diff(self, session_id: str, **given: Unpack[BranchesDiffCall]) -> BranchDiff:
        """Compare two branches by the floors they lead through. ``GET /sessions/{id}/branches/diff``"""
        return await self._call(_DIFF, (session_id,), given)

    async def reset(self, session_id: str, branch_id: str, **given: Unpack[BranchesResetCall]) -> BranchReset:
        """Set the floors behind one floor of a branch aside; they can still be read by id. ``POST
        /sessions/{id}/branches/{branch}/reset``
        """
        return await self._call(_RESET, (session_id, branch_id), given)

    async def preview_merge(self, session_id: str, branch_id: str, **given: Unpack[BranchesPreviewMergeCall]) -> MergePreview:
        """Say what merging a branch into another would do. ``POST /sessions/{id}/branches/{branch}/merge/preview``"""
        return await self._call(_PREVIEW_MERGE, (session_id, branch_id), given)

    async def merge(self, session_id: str, branch_id: str, **given: Unpack[BranchesMergeCall]) -> Merged:
        """Move the floors of a branch to the end of another that has not moved on since the fork. ``POST
        /sessions/{id}/branches/{branch}/merge``
        """
        return await self._call(_MERGE, (session_id, branch_id), given)

    async def create_from_floor(self, floor_id: str, **given: Unpack[BranchesCreateFromFloorCall]) -> Forked:
        """Fork a branch behind a committed floor. ``POST /floors/{id}/branch``"""
        return await self._call(_CREATE_FROM_FLOOR, (floor_id,), given)

    async def delete(self, branch_id: str, **given: Unpack[BranchesDeleteCall]) -> DeletedBranch:
        """Remove a branch with its floors, pages, messages and their variables; main stays. ``DELETE /branches/{id}``"""
        return await self._call(_DELETE, (branch_id,), given)
