"""What the server speaks of: library, characters."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class Character(TypedDict):
    """A character."""

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
    latest_version_no: int


class CharacterDetail(TypedDict):
    """A character with its content."""

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
    latest_version_no: int
    latest_version: CharacterVersion


class CharacterVersion(TypedDict):
    """What a character was at some time."""

    id: str
    character_id: str
    version_no: int
    content_hash: str
    image: str | None
    snapshot: Json
    created_at: int


class DeletedCharacter(TypedDict):
    """Whether a character is deleted."""

    id: str
    status: Literal["active", "disabled", "deleted"]
    deleted_at: int | None
    updated_at: int
    revision: int


class NewCharacter(TypedDict):
    """A character to be made; without ``tags`` it gets those of its card."""

    snapshot: dict[str, Json]
    tags: NotRequired[list[str] | None]


class NewCharacterVersion(TypedDict):
    """What a character shall be like from now on."""

    expected_revision: NotRequired[int | None]
    snapshot: dict[str, Json]


class WrittenVersion(TypedDict):
    """The version that a change made, and the character's revision behind it."""

    id: str
    character_id: str
    version_no: int
    content_hash: str
    image: str | None
    snapshot: Json
    created_at: int
    revision: int
    rolled_back_from_version_id: str | None
