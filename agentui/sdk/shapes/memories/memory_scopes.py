"""What the server speaks of: memories, memory scopes."""

from __future__ import annotations

from typing import Literal, TypedDict


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
