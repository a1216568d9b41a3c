"""What the server speaks of: memories, memory jobs."""

from __future__ import annotations

from typing import Literal, TypedDict

from agentui.sdk.endpoints import Json


class MemoryJob(TypedDict):
    """A job, with the names of the contract. ``last_error`` says why its last try failed, or what it waits for."""

    id: str
    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str
    job_type: Literal["ingest_turn", "compact_macro", "maintenance", "rebuild_scope"]
    status: Literal["pending", "leased", "running", "succeeded", "retry_waiting", "dead_letter", "cancelled"]
    floor_id: str | None
    based_on_revision: int | None
    payload: dict[str, Json]
    attempt_count: int
    max_attempts: int
    available_at: int
    lease_owner: str | None
    lease_until: int | None
    last_error: str | None
    created_at: int
    updated_at: int
    finished_at: int | None
