"""The jobs that write memories, and what became of them. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.memories.common import QueuedJob
from agentui.sdk.shapes.memories.memory_jobs import MemoryJob
from agentui.sdk.transport import Resource


class MemoryJobsListCall(Options):
    """What ``memory_jobs.list`` may be told."""

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
    job_type: NotRequired[Literal["ingest_turn", "compact_macro", "maintenance", "rebuild_scope"]]
    """ingest_turn, compact_macro, maintenance or rebuild_scope."""
    status: NotRequired[Literal["pending", "leased", "running", "retry_waiting", "succeeded", "dead_letter", "cancelled"]]
    """pending, leased, running, succeeded, retry_waiting, dead_letter or cancelled."""
    floor_id: NotRequired[str]
    """The floor that is read."""
    created_from: NotRequired[int]
    """Queued at this time or later, in ms."""
    created_to: NotRequired[int]
    """Queued at this time or earlier."""
    available_from: NotRequired[int]
    """To be tried at this time or later."""
    available_to: NotRequired[int]
    """To be tried at this time or earlier."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "available_at"]]
    """created_at, updated_at or available_at."""


class MemoryJobsCancelCall(Options, Repeatable):
    """What ``memory_jobs.cancel`` may be told."""


class MemoryJobsRetryCall(Options, Repeatable):
    """What ``memory_jobs.retry`` may be told."""


_LIST = Endpoint[ListOf[Items[MemoryJob]]](
    "GET",
    "/memory/jobs",
    query=(
        "limit",
        "offset",
        "sort_order",
        "scope",
        "scope_id",
        "job_type",
        "status",
        "floor_id",
        "created_from",
        "created_to",
        "available_from",
        "available_to",
        "sort_by",
    ),
    answer="whole",
)
_CANCEL = Endpoint[QueuedJob]("POST", "/memory/jobs/{id}/cancel")
_RETRY = Endpoint[QueuedJob]("POST", "/memory/jobs/{id}/retry")


class MemoryJobsResource(Resource):
    """The jobs that write memories, and what became of them."""

    def list(self, **given: Unpack[MemoryJobsListCall]) -> ListOf[Items[MemoryJob]]:
        """List the jobs that write memories. ``GET /memory/jobs``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryJobsListCall]) -> Iterator[MemoryJob]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def cancel(self, job_id: str, **given: Unpack[MemoryJobsCancelCall]) -> QueuedJob:
        """Cancel a job that waits. ``POST /memory/jobs/{id}/cancel``"""
        return self._call(_CANCEL, (job_id,), given)

    def retry(self, job_id: str, **given: Unpack[MemoryJobsRetryCall]) -> QueuedJob:
        """Let a job that was given up or cancelled be done after all. ``POST /memory/jobs/{id}/retry``"""
        return self._call(_RETRY, (job_id,), given)


class AsyncMemoryJobsResource(AsyncResource):
    """The jobs that write memories, and what became of them."""

    async def list(self, **given: Unpack[MemoryJobsListCall]) -> ListOf[Items[MemoryJob]]:
        """List the jobs that write memories. ``GET /memory/jobs``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryJobsListCall]) -> AsyncIterator[MemoryJob]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def cancel(self, job_id: str, **given: Unpack[MemoryJobsCancelCall]) -> QueuedJob:
        """Cancel a job that waits. ``POST /memory/jobs/{id}/cancel``"""
        return await self._call(_CANCEL, (job_id,), given)

    async def retry(self, job_id: str, **given: Unpack[MemoryJobsRetryCall]) -> QueuedJob:
        """Let a job that was given up or cancelled be done after all. ``POST /memory/jobs/{id}/retry``"""
        return await self._call(_RETRY, (job_id,), given)
