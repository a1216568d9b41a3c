"""What the server speaks of: memories, memory scopes."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class CompactForm(TypedDict):
    """A compaction that is asked for; ``force`` makes one of a few summaries."""

    trigger_floor_id: NotRequired[str | None]
    force: NotRequired[bool]


class CompactionJob(TypedDict):
    """A compaction that was asked for."""

    job_id: str
    created: bool
    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str
    reason: Literal["micro_count_threshold", "micro_token_threshold", "floor_gap_threshold", "forced"]
    source_micro_ids: list[str]
    coverage_start_floor_no: int | None
    coverage_end_floor_no: int | None


class RebuildForm(TypedDict):
    """A scope that is to be looked through."""

    trigger_floor_id: NotRequired[str | None]
    force_compaction: NotRequired[bool]


class ScopeState(TypedDict):
    """How far the jobs of a scope have come."""

    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str
    revision: int
    lease_owner: str | None
    lease_until: int | None
    last_processed_floor_no: int | None
    last_compaction_at: int | None
    updated_at: int
