"""What the server speaks of: library, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class Asset(TypedDict):
    """An asset without its content. ``revision`` counts every change from 0, ``version`` is the number of its newest
    content (``version_id``), from 1; ``image`` is the hash of its picture.
    """

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


class AssetDetail(TypedDict):
    """A worldbook, a prompt preset or a regex profile with its content."""

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
    data: Json


class AssetPatch(TypedDict):
    """The tags that an asset shall have."""

    expected_revision: NotRequired[int | None]
    tags: list[str]


class AssetVersion(TypedDict):
    """What an asset was at some time. ``snapshot`` is its content, ``origin`` what its file held beside it."""

    id: str
    asset_id: str
    kind: Literal["character", "user", "preset", "worldbook", "regex"]
    version_no: int
    content_hash: str
    image: str | None
    origin: Json
    snapshot: Json
    created_at: int


class Change(TypedDict):
    """One difference: at ``path`` (names joined by ``/``, of each its first 60 characters; the objects of a list by
    their identifier) there is something else. ``left`` and ``right`` are the values; null where there is none, and
    in a summary.
    """

    path: str
    change: Literal["added", "removed", "changed"]
    left: NotRequired[Json]
    right: NotRequired[Json]


class Compare(TypedDict):
    """Which two versions to compare; ``full`` tells the values as well."""

    left_version_id: str
    right_version_id: str
    mode: NotRequired[Literal["summary", "full"]]


class EntriesDeleted(TypedDict):
    """How a batch of removals went."""

    total: int
    deleted: int
    not_found: int


class EntriesUpdated(TypedDict):
    """How a batch of changes went."""

    total: int
    updated: int
    not_found: int


class ExpectedRevision(TypedDict):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_revision: NotRequired[int | None]


class ExpectedVersion(TypedDict):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]


class RolledBack(TypedDict):
    """An asset that is again as it was."""

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
    rolled_back_from_version_id: str


class ScriptConsent(TypedDict):
    """Whether the regex scripts inside a character or a prompt preset run."""

    expected_revision: NotRequired[int | None]
    allowed: bool


class ScriptsAllowed(TypedDict):
    """Whether the regex scripts inside a version of an asset run, and how many there are."""

    id: str
    version: int
    version_id: str
    scripts: int
    allowed: bool


class VersionComparison(TypedDict):
    """What two versions differ in."""

    asset_id: str
    kind: Literal["character", "user", "preset", "worldbook", "regex"]
    left_version_id: str
    right_version_id: str
    diff: VersionDifference


class VersionDifference(TypedDict):
    """What two contents differ in. ``is_cut``: there are more changes than those told."""

    added: int
    removed: int
    changed: int
    changes: list[Change]
    is_cut: bool
