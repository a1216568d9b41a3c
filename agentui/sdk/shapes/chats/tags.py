"""What the server speaks of: chats, tags."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class NewTag(TypedDict):
    """A name for a turn or a version of an asset."""

    name: str
    target_type: Literal["floor", "asset_version"]
    target_id: str
    session_id: NotRequired[str | None]
    metadata: NotRequired[Json]


class Tag(TypedDict):
    """A name of a turn or of a version of an asset. ``created_by_operation_id`` is null where no operation log is
    kept.
    """

    id: str
    account_id: str
    name: str
    target_type: Literal["floor", "asset_version"]
    target_id: str
    session_id: str | None
    metadata: Json
    created_by_operation_id: str | None
    created_at: int
