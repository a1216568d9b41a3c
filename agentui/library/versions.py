"""The versions of an asset: listing and reading them, going back to one, and what two of them differ in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from orjson import Fragment
from sqlalchemy import Connection, select

from agentui.chats.listing import Listed, Paging, list_rows
from agentui.jsonio import Json, loads
from agentui.library.assets import (
    AssetFilter,
    Edit,
    find_asset,
    find_content,
    hold_asset,
    list_assets,
    update_asset,
    version_missing,
    write_version,
)
from agentui.library.content import NAMED_BY_CONTENT, Packed, name_of
from agentui.library.records import Asset, AssetKind, AssetVersion, Expected, Kept, version_of
from agentui.store.paging import MAX_PART_BYTES, length
from agentui.store.tables import asset_versions

MAX_CHANGES: Final = 1000
"""The most differences that are told one by one."""
_MAX_NAME: Final = 60
"""The characters of a name in a path."""
_NAMES: Final = ("identifier", "uid", "id", "scriptName", "name")
"""What tells the objects of a list from each other, as SillyTavern calls it."""

ChangeKind = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: at ``path`` (names joined by ``/``, of each its first 60 characters; the objects of a list by their
    identifier) there is something else. ``left`` and ``right`` are the values; null where there is none, and in a summary."""

    path: str
    change: ChangeKind
    left: Json = None
    right: Json = None


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """What two contents differ in. ``is_cut``: there are more changes than those told."""

    added: int
    removed: int
    changed: int
    changes: Sequence[Change]
    is_cut: bool


def list_versions(db: Connection, account: str, kind: AssetKind, id: str, paging: Paging) -> Listed[AssetVersion]:
    """The versions of an asset with their contents, sorted by ``version_no`` or ``created_at``. Raises 404."""
    find_asset(db, account, kind, id, gone=kind == "character")
    query = select(asset_versions).where(asset_versions.c.asset_id == id)
    weight = length(asset_versions.c.content_json, asset_versions.c.origin_json)
    listed = list_rows(db, query, paging, asset_versions.c[paging.sort_by], asset_versions.c.version_no, weight=weight)
    return Listed([version_of(row, kind) for row in listed.items], listed.total)


def find_version(db: Connection, account: str, kind: AssetKind, id: str, version_id: str) -> AssetVersion:
    """A version of an asset. Raises 404."""
    find_asset(db, account, kind, id, gone=kind == "character")
    mine = (asset_versions.c.id == version_id, asset_versions.c.asset_id == id)
    row = db.execute(select(asset_versions).where(*mine)).one_or_none()
    if row is None:
        raise version_missing(version_id)
    return version_of(row, kind)


def find_detail(db: Connection, account: str, kind: AssetKind, id: str, *, gone: bool = False) -> tuple[Asset, AssetVersion]:
    """An asset with its newest version. Raises 404."""
    asset = find_asset(db, account, kind, id, gone=gone)
    return asset, find_version(db, account, kind, id, asset.version_id)


def list_details(
    db: Connection, account: str, kind: AssetKind, paging: Paging, wanted: AssetFilter
) -> Listed[tuple[Asset, Json]]:
    """Assets with their contents, for kinds whose contents are short: the page ends where they are too large together."""
    listed = list_assets(db, account, kind, paging, wanted)
    ids = [asset.version_id for asset in listed.items]
    size = length(asset_versions.c.content_json).label("size")
    sizes = {row.id: row.size for row in db.execute(select(asset_versions.c.id, size).where(asset_versions.c.id.in_(ids)))}
    shown: list[Asset] = []
    left = MAX_PART_BYTES
    for asset in listed.items:
        left -= sizes[asset.version_id]
        if left < 0 and shown:
            break
        shown.append(asset)
    fitting = [asset.version_id for asset in shown]
    contents = select(asset_versions.c.id, asset_versions.c.content_json).where(asset_versions.c.id.in_(fitting))
    texts = {row.id: row.content_json for row in db.execute(contents)}
    return Listed([(asset, Fragment(texts[asset.version_id])) for asset in shown], listed.total)


def update_detail(
    db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int, edit: Edit
) -> tuple[Asset, AssetVersion]:
    """Change an asset, and give it with its newest version. Raises as ``update_asset`` does."""
    update_asset(db, account, kind, id, expected, now, edit)
    return find_detail(db, account, kind, id)


def roll_back(
    db: Connection, account: str, kind: AssetKind, id: str, version_id: str, expected: Expected, now: int
) -> tuple[Asset, AssetVersion]:
    """Make a new version that is like an old one, its picture, its files and its origin too. Raises 404 and 409 in the kind's
    code."""
    row, _ = hold_asset(db, account, kind, id, expected)
    old = find_content(db, account, kind, id, version_id)
    packed = Packed(old.text, old.content_hash, old.origin_text, None, old.image, files_hash=old.files)
    name = name_of(loads(old.text)["name"]) if kind in NAMED_BY_CONTENT else row.name
    asset = write_version(db, account, kind, id, name, packed, expected, now, inherits=False)
    return asset, find_version(db, account, kind, id, asset.version_id)


def find_two(db: Connection, account: str, kind: AssetKind, id: str, left: str, right: str) -> tuple[Kept, Kept]:
    """The contents of two versions of an asset. Raises 404."""
    return find_content(db, account, kind, id, left), find_content(db, account, kind, id, right)


def difference(left: Json, right: Json, *, full: bool) -> VersionDifference:
    """What two contents differ in, ``full`` with the values on both sides. The work grows with their size."""
    counts: dict[ChangeKind, int] = {"added": 0, "removed": 0, "changed": 0}
    changes: list[Change] = []
    waiting: list[tuple[_Place | None, Json, Json]] = [(None, left, right)]
    while waiting:
        place, before, after = waiting.pop()
        sides = _members(before, after)
        if sides is None:
            if before is _NONE or after is _NONE or before != after or type(before) is not type(after):
                kind: ChangeKind = "added" if before is _NONE else "removed" if after is _NONE else "changed"
                counts[kind] += 1
                if len(changes) < MAX_CHANGES:
                    shown = [None if side is _NONE or not full else side for side in (before, after)]
                    changes.append(Change(_path_of(place), kind, *shown))
            continue
        olds, news = sides
        names = [*olds, *(name for name in news if name not in olds)]
        waiting += [(_Place(place, name), olds.get(name, _NONE), news.get(name, _NONE)) for name in reversed(names)]
    return VersionDifference(**counts, changes=changes, is_cut=sum(counts.values()) > len(changes))


_NONE: Final = object()


class _Place(NamedTuple):
    """Where a value stands: in which other, and its name there. Only what differs gets a path, for there may be millions."""

    parent: "_Place | None"
    name: str


def _path_of(place: _Place | None) -> str:
    names: list[str] = []
    while place is not None:
        names.append(f"/{place.name:.{_MAX_NAME}}")
        place = place.parent
    return "".join(reversed(names))


def _members(before: Json, after: Json) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
    """Both sides by name, where they are compared inside: two objects, or two lists."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before, after
    if isinstance(before, list) and isinstance(after, list):
        return _named(before, after)
    return None


def _named(before: Sequence[Json], after: Sequence[Json]) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
    """The items of two lists by what tells them from each other on both sides, else by their places."""
    for name in _NAMES:
        sides = [[item.get(name) if isinstance(item, dict) else None for item in items] for items in (before, after)]
        if all(_tell_apart(keys) for keys in sides):
            olds, news = (
                {str(key): item for key, item in zip(keys, items, strict=True)}
                for keys, items in zip(sides, (before, after), strict=True)
            )
            return olds, news
    return {str(at): item for at, item in enumerate(before)}, {str(at): item for at, item in enumerate(after)}


def _tell_apart(keys: Sequence[Json]) -> bool:
    """True when every item has a key, and no two the same."""
    told = [str(key) for key in keys if isinstance(key, str | int) and key != ""]
    return len(told) == len(keys) and len(set(told)) == len(told)
