"""Assets as values: what they are, and what each of their versions holds, with the names that the API uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from orjson import Fragment

from agentui.chats.codes import failure
from agentui.chats.records import AnyRow
from agentui.jsonio import Json

AssetKind: TypeAlias = Literal["character", "user", "preset", "worldbook", "regex"]
AssetStatus: TypeAlias = Literal["active", "disabled", "deleted"]


@dataclass(frozen=True, slots=True)
class KindWords:
    """How one kind is called: in sentences, and in the codes of what is not there or was changed meanwhile."""

    word: str
    missing: str
    conflict: str


KINDS: Mapping[AssetKind, KindWords] = {
    "character": KindWords("character", "character_not_found", "character_revision_conflict"),
    "user": KindWords("user", "user_not_found", "user_revision_conflict"),
    "preset": KindWords("prompt preset", "preset_not_found", "preset_conflict"),
    "worldbook": KindWords("worldbook", "worldbook_not_found", "worldbook_conflict"),
    "regex": KindWords("regex profile", "regex_profile_not_found", "regex_profile_conflict"),
}
"""Every kind."""


@dataclass(frozen=True, slots=True)
class Asset:
    """An asset without its content. ``revision`` counts every change from 0, ``version`` is the number of its newest content
    (``version_id``), from 1; ``image`` is the hash of its picture."""

    id: str
    name: str
    source: str
    status: AssetStatus
    revision: int
    version: int
    version_id: str
    content_hash: str
    image: str | None
    tags: Sequence[str]
    created_at: int
    updated_at: int
    deleted_at: int | None


@dataclass(frozen=True, slots=True)
class AssetVersion:
    """What an asset was at some time. ``snapshot`` is its content, ``origin`` what its file held beside it."""

    id: str
    asset_id: str
    kind: AssetKind
    version_no: int
    content_hash: str
    image: str | None
    origin: Json
    snapshot: Json
    created_at: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The content of one version as its JSON text: whoever wants it parsed does so apart from the event loop, for it may be
    long. ``files`` is the hash of an archive of the files that came with it, ``scripts_allowed`` its asset's: the hash of
    the scripts inside that somebody allowed, None where all run."""

    asset_id: str
    name: str
    version_id: str
    version_no: int
    content_hash: str
    image: str | None
    files: str | None
    updated_at: int
    text: str
    origin_text: str | None
    scripts_allowed: str | None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a caller thinks that an asset is like; None where it does not mind."""

    revision: int | None = None
    version: int | None = None
    updated_at: int | None = None


NOTHING = Expected()
"""That of a caller who overwrites whatever there is."""


def asset_of(row: AnyRow, version: AnyRow, tags: Sequence[str]) -> Asset:
    """A row of ``assets`` with the head of its newest version and its tags."""
    return Asset(
        id=row.id,
        name=row.name,
        source=row.source,
        status=row.status,
        revision=row.revision,
        version=version.version_no,
        version_id=version.id,
        content_hash=version.content_hash,
        image=version.image,
        tags=tags,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
    )


def version_of(row: AnyRow, kind: AssetKind) -> AssetVersion:
    """A row of ``asset_versions`` to be shown: its JSON goes out as it is kept, without being parsed."""
    return AssetVersion(
        id=row.id,
        asset_id=row.asset_id,
        kind=kind,
        version_no=row.version_no,
        content_hash=row.content_hash,
        image=row.image,
        origin=None if row.origin_json is None else Fragment(row.origin_json),
        snapshot=Fragment(row.content_json),
        created_at=row.created_at,
    )


def check_expected(kind: AssetKind, row: AnyRow, version_no: int, expected: Expected) -> None:
    """Raise 409 in the kind's code when an asset is no longer what the caller thinks."""
    found = {"revision": row.revision, "version": version_no, "updated_at": row.updated_at}
    for name, value in found.items():
        wanted = getattr(expected, name)
        if wanted is not None and wanted != value:
            message = f"Somebody changed the {KINDS[kind].word}: its {name} is {value}, not {wanted}. Read it again."
            raise failure(KINDS[kind].conflict, message, id=row.id, **{name: value})
