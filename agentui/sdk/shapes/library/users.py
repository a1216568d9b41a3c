"""What the server speaks of: library, users."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.common import BatchResult


class DeletedUser(TypedDict):
    """A user that is gone."""

    id: str
    revision: int
    deleted: NotRequired[Literal[True]]


class NewUser(TypedDict):
    """A user to be made."""

    snapshot: dict[str, Json]
    tags: NotRequired[list[str]]


class User(TypedDict):
    """A user with its content."""

    id: str
    name: str
    source: str
    status: Literal["active", "disabled", "deleted"]
    revision: int
    version: int
    version_id: str
    content_hash: str
    image: str | None
    tags: list[str]
    created_at: int
    updated_at: int
    deleted_at: int | None
    snapshot: Json


class UserPatch(TypedDict):
    """What to change of a user: at least one field beside ``expected_revision``."""

    expected_revision: NotRequired[int | None]
    snapshot: NotRequired[dict[str, Json] | None]
    status: NotRequired[Literal["active", "disabled"] | None]
    tags: NotRequired[list[str] | None]


class UserStatusBatch(TypedDict):
    """Users and the status that they get."""

    ids: list[str]
    status: Literal["active", "disabled"]


class UserStatusMeta(TypedDict):
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: Literal["active", "disabled", "deleted"]


class UserStatusResults(TypedDict):
    """What became of every user of a batch."""

    results: list[BatchResult]
    meta: UserStatusMeta
