"""What the server speaks of: accounts, operation logs."""

from __future__ import annotations

from typing import Literal, TypedDict

from agentui.sdk.endpoints import Json


class Difference(TypedDict):
    """What changed of a thing: the first changes, and how many there are."""

    mode: Literal["summary"]
    changes: list[OperationChange]
    total_changes: int
    truncated: bool
    max_bytes: int


class LoggedOperation(TypedDict):
    """An entry of the log."""

    id: str
    account_id: str
    actor_type: Literal["account", "client", "llm", "system"]
    actor_id: str
    operation_group_id: str | None
    request_id: str | None
    source_type: Literal["http", "llm_run"]
    workspace_id: str
    project_id: str | None
    actor_account_id: str | None
    actor_client_id: str | None
    permission_action: str | None
    result: Literal["allowed", "denied"] | None
    reason: str | None
    action: str
    status: Literal["succeeded", "failed", "denied", "cancelled"]
    session_id: str | None
    branch_id: str | None
    floor_id: str | None
    run_id: str | None
    target_type: str | None
    target_id: str | None
    before_ref: str | None
    after_ref: str | None
    diff: Difference | None
    metadata: dict[str, Json]
    created_at: int


class OperationChange(TypedDict):
    """A field that changed. The hashes are SHA-256 of the values' JSON, in hex; a preview is there where the value is
    no text that somebody wrote.
    """

    path: str
    change_type: Literal["added", "removed", "changed"]
    before_hash: str | None
    after_hash: str | None
    redacted: bool
    before_preview: Json
    after_preview: Json
