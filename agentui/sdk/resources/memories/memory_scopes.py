"""How far the jobs of memories have come. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.memories.common import QueuedJob
from agentui.sdk.shapes.memories.memory_scopes import CompactForm, CompactionJob, RebuildForm, ScopeState
from agentui.sdk.transport import Resource


class MemoryScopesListCall(Options):
    """What ``memory_scopes.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    scope: NotRequired[Literal["global", "chat", "branch", "floor"]]
    """global, chat, branch or floor."""
    scope_id: NotRequired[str]
    """The host."""
    sort_by: NotRequired[Literal["updated_at", "revision", "last_compaction_at", "last_processed_floor_no"]]
    """updated_at, revision, last_compaction_at or last_processed_floor_no."""


class MemoryScopesCompactCall(CompactForm, Options, Repeatable):
    """What ``memory_scopes.compact`` may be told."""


class MemoryScopesRebuildCall(RebuildForm, Options, Repeatable):
    """What ``memory_scopes.rebuild`` may be told."""


_LIST = Endpoint[ListOf[Items[ScopeState]]](
    "GET", "/memory/scopes", query=("limit", "offset", "sort_order", "scope", "scope_id", "sort_by"), answer="whole"
)
_COMPACT = Endpoint[CompactionJob]("POST", "/memory/scopes/{scope}/{scope_id}/compact", body="json")
_REBUILD = Endpoint[QueuedJob]("POST", "/memory/scopes/{scope}/{scope_id}/rebuild", body="json")


class MemoryScopesResource(Resource):
    """How far the jobs of memories have come."""

    def list(self, **given: Unpack[MemoryScopesListCall]) -> ListOf[Items[ScopeState]]:
        """List the states of scopes. ``GET /memory/scopes``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryScopesListCall]) -> Iterator[ScopeState]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def compact(self, scope: str, scope_id: str, **given: Unpack[MemoryScopesCompactCall]) -> CompactionJob:
        """Make a large summary of the small ones of a scope. ``POST /memory/scopes/{scope}/{scope_id}/compact``"""
        return self._call(_COMPACT, (scope, scope_id), given)

    def rebuild(self, scope: str, scope_id: str, **given: Unpack[MemoryScopesRebuildCall]) -> QueuedJob:
        """Look through a scope, and plan a compaction where one is due. ``POST /memory/scopes/{scope}/{scope_id}/rebuild``"""
        return self._call(_REBUILD, (scope, scope_id), given)


class AsyncMemoryScopesResource(AsyncResource):
    """How far the jobs of memories have come."""

    async def list(self, **given: Unpack[MemoryScopesListCall]) -> ListOf[Items[ScopeState]]:
        """List the states of scopes. ``GET /memory/scopes``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryScopesListCall]) -> AsyncIterator[ScopeState]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def compact(self, scope: str, scope_id: str, **given: Unpack[MemoryScopesCompactCall]) -> CompactionJob:
        """Make a large summary of the small ones of a scope. ``POST /memory/scopes/{scope}/{scope_id}/compact``"""
        return await self._call(_COMPACT, (scope, scope_id), given)

    async def rebuild(self, scope: str, scope_id: str, **given: Unpack[MemoryScopesRebuildCall]) -> QueuedJob:
        """Look through a scope, and plan a compaction where one is due. ``POST /memory/scopes/{scope}/{scope_id}/rebuild``"""
        return await self._call(_REBUILD, (scope, scope_id), given)
