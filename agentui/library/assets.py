"""Assets: making, finding, listing and changing them. Every function is a transaction, or part of one.

A change of content makes a version; nothing is overwritten. Whoever changes an asset holds its row, so that of two at once the
second sees what the first did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.parts import keep_blob
from agentui.chats.records import AnyRow
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.library.content import Packed
from agentui.library.records import KINDS, NOTHING, Asset, AssetKind, AssetStatus, Expected, Kept, asset_of, check_expected
from agentui.store.tables import asset_tags, asset_versions, assets, blobs

_HEADS: tuple[ColumnElement[Any], ...] = (
    asset_versions.c.id,
    asset_versions.c.asset_id,
    asset_versions.c.version_no,
    asset_versions.c.content_hash,
    asset_versions.c.image,
    asset_versions.c.created_at,
)
"""A version without its content."""


@dataclass(frozen=True, slots=True)
class AssetFilter:
    """Which assets: ``statuses`` any of these, ``keyword`` a part of the name in any case, ``tag`` one that they have."""

    statuses: tuple[AssetStatus, ...] = ("active", "disabled")
    keyword: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """What shall be otherwise of an asset; None stays as it is. ``content`` is its name with its content."""

    status: AssetStatus | None = None
    tags: Sequence[str] | None = None
    content: tuple[str, Packed] | None = None


def create_asset(
    db: Connection,
    account: str,
    kind: AssetKind,
    name: str,
    packed: Packed,
    now: int,
    *,
    source: str = "api",
    tags: Sequence[str] = (),
    scripts_allowed: str | None = None,
) -> Asset:
    """Make an asset with its first version; ``scripts_allowed`` is the consent to the scripts inside it. Raises 409
    ``user_conflict`` for a second user of one name."""
    id, version_id = new_short_id(), new_short_id()
    values = {
        "id": id,
        "account_id": account,
        "kind": kind,
        "name": name,
        "folded_name": name.casefold(),
        "status": "active",
        "source": source,
        "revision": 0,
        "current_version_id": version_id,
        "created_at": now,
        "updated_at": now,
        "scripts_allowed": scripts_allowed,
    }
    try:
        db.execute(insert(assets), values)
    except IntegrityError as error:
        raise _name_taken(name) from error
    _insert_version(db, account, id, version_id, 1, packed, now)
    set_tags(db, account, id, tags)
    return find_asset(db, account, kind, id)


def find_asset(db: Connection, account: str, kind: AssetKind, id: str, *, code: str = "not_found", gone: bool = False) -> Asset:
    """An asset; one that was deleted only where ``gone`` ones are wanted as well. Raises 404 (``code``)."""
    row = _find_row(db, account, kind, id, code=code, gone=gone)
    return _shown(db, [row])[0]


def find_content(
    db: Connection, account: str, kind: AssetKind, id: str, version_id: str | None = None, *, gone: bool = False
) -> Kept:
    """The content of an asset's version, of the newest where none is named; that of an asset that was deleted only where
    ``gone`` ones are wanted as well. Raises 404 ``not_found``, and ``asset_version_not_found``."""
    row = _find_row(db, account, kind, id, gone=gone)
    wanted = version_id if version_id is not None else row.current_version_id
    version = db.execute(
        select(asset_versions).where(asset_versions.c.id == wanted, asset_versions.c.asset_id == id)
    ).one_or_none()
    if version is None:
        raise version_missing(wanted)
    return Kept(
        asset_id=id,
        name=row.name,
        version_id=version.id,
        version_no=version.version_no,
        content_hash=version.content_hash,
        image=version.image,
        files=version.files,
        updated_at=row.updated_at,
        text=version.content_json,
        origin_text=version.origin_json,
        scripts_allowed=row.scripts_allowed,
    )


def version_missing(version_id: str) -> Exception:
    """The error of a version that an asset does not have."""
    return failure("asset_version_not_found", "There is no such version of it.", version_id=version_id)


def find_image(db: Connection, account: str, kind: AssetKind, id: str, version_id: str | None = None) -> bytes:
    """The picture of an asset's version. Raises 404, also where it has none."""
    kept = find_content(db, account, kind, id, version_id, gone=True)
    data = find_blob(db, account, kept.image)
    if data is None:
        raise failure("not_found", f"The {KINDS[kind].word} has no picture.", id=id)
    return data


def find_blob(db: Connection, account: str, hash: str | None) -> bytes | None:
    """What came with a version, by its hash; None for none."""
    query = select(blobs.c.data).where(blobs.c.account_id == account, blobs.c.hash == hash)
    data = None if hash is None else db.execute(query).scalar_one_or_none()
    return None if data is None else bytes(data)


def list_assets(db: Connection, account: str, kind: AssetKind, paging: Paging, wanted: AssetFilter) -> Listed[Asset]:
    """The account's assets of a kind, sorted by ``created_at``, ``updated_at`` or ``name``."""
    query = select(assets).where(assets.c.account_id == account, assets.c.kind == kind, assets.c.status.in_(wanted.statuses))
    if wanted.keyword is not None:
        escaped = wanted.keyword.casefold().replace("/", "//").replace("%", "/%").replace("_", "/_")
        query = query.where(assets.c.folded_name.like(f"%{escaped}%", escape="/"))
    if wanted.tag is not None:
        tagged = select(asset_tags.c.asset_id).where(asset_tags.c.account_id == account, asset_tags.c.tag == wanted.tag)
        query = query.where(assets.c.id.in_(tagged))
    order = assets.c.folded_name if paging.sort_by == "name" else assets.c[paging.sort_by]
    listed = list_rows(db, query, paging, order, assets.c.id)
    return Listed(_shown(db, listed.items), listed.total)


def write_version(
    db: Connection,
    account: str,
    kind: AssetKind,
    id: str,
    name: str,
    packed: Packed,
    expected: Expected,
    now: int,
    *,
    inherits: bool = True,
) -> Asset:
    """Give an asset new content, and a name. Where ``packed`` has no origin, no picture or no files, it ``inherits`` those of
    the version before. Raises 404, 409 in the kind's code, and 409 ``user_conflict``."""
    row, head = hold_asset(db, account, kind, id, expected)
    version_id = new_short_id()
    written = _inherited(db, packed, head) if inherits else packed
    _insert_version(db, account, id, version_id, head.version_no + 1, written, now)
    return _changed(db, row, now, name=name, folded_name=name.casefold(), current_version_id=version_id)


def update_asset(db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int, edit: Edit) -> Asset:
    """Change what ``edit`` names. Raises as ``write_version`` does."""
    row, _ = hold_asset(db, account, kind, id, expected)
    if edit.tags is not None:
        set_tags(db, account, id, edit.tags)
    if edit.status is not None:
        db.execute(update(assets).where(assets.c.id == id).values(status=edit.status))
    if edit.content is not None:
        return write_version(db, account, kind, id, *edit.content, NOTHING, now)
    return _changed(db, row, now)


def set_consent(db: Connection, account: str, kind: AssetKind, id: str, now: int, consent: str) -> Asset:
    """Write down which scripts inside an asset run, by their hash, in whatever version they stand; its content stays. Raises
    404."""
    row, _ = hold_asset(db, account, kind, id)
    return _changed(db, row, now, scripts_allowed=consent)


def delete_asset(db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int) -> Asset:
    """Mark an asset as deleted; its versions stay, for the chats that use them. Raises 404 and 409 in the kind's code."""
    row, _ = hold_asset(db, account, kind, id, expected)
    return _changed(db, row, now, status="deleted", deleted_at=now)


def restore_asset(db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int) -> Asset:
    """Take a deletion back; nothing happens to an asset that is not deleted. Raises 404, 409 in the kind's code, and 409
    ``user_conflict`` where another user has the name by now."""
    row, _ = hold_asset(db, account, kind, id, expected, gone=True)
    if row.status != "deleted":
        return _shown(db, [row])[0]
    return _changed(db, row, now, status="active", deleted_at=None)


def set_status_of_assets(
    db: Connection, account: str, kind: AssetKind, ids: Sequence[str], status: AssetStatus, now: int
) -> list[BatchResult]:
    """Give many assets a status, also ``deleted``; unknown and deleted ones are reported, not refused."""
    where = (assets.c.account_id == account, assets.c.kind == kind, assets.c.id.in_(ids), assets.c.status != "deleted")
    held = set(db.execute(select(assets.c.id).where(*where).order_by(assets.c.id).with_for_update()).scalars())
    deleted_at = now if status == "deleted" else None
    db.execute(
        update(assets)
        .where(assets.c.id.in_(held))
        .values(status=status, deleted_at=deleted_at, updated_at=now, revision=assets.c.revision + 1)
    )
    action: Literal["deleted", "updated"] = "deleted" if status == "deleted" else "updated"
    return [BatchResult(index, id, action if id in held else "not_found") for index, id in enumerate(ids)]


def hold_asset(
    db: Connection, account: str, kind: AssetKind, id: str, expected: Expected = NOTHING, *, gone: bool = False
) -> tuple[AnyRow, AnyRow]:
    """An asset's row and the head of its newest version, held until the transaction ends. Raises 404; 409
    ``character_deleted`` for a character that must be restored first; 409 in the kind's code."""
    row = _find_row(db, account, kind, id, gone=gone or kind == "character", hold=True)
    if row.status == "deleted" and not gone:
        raise failure("character_deleted", "The character was deleted: restore it first.", id=id)
    head: AnyRow = db.execute(select(*_HEADS).where(asset_versions.c.id == row.current_version_id)).one()
    check_expected(kind, row, head.version_no, expected)
    return row, head


def set_tags(db: Connection, account: str, id: str, tags: Sequence[str]) -> None:
    """Give an asset these tags and no others."""
    db.execute(delete(asset_tags).where(asset_tags.c.asset_id == id))
    if tags:
        db.execute(insert(asset_tags), [{"asset_id": id, "tag": tag, "account_id": account} for tag in dict.fromkeys(tags)])


def _find_row(
    db: Connection, account: str, kind: AssetKind, id: str, *, code: str = "not_found", gone: bool = False, hold: bool = False
) -> AnyRow:
    query = select(assets).where(assets.c.id == id, assets.c.account_id == account, assets.c.kind == kind)
    row = db.execute(query.with_for_update() if hold else query).one_or_none()
    if row is None or (row.status == "deleted" and not gone):
        raise failure(code, f"There is no such {KINDS[kind].word}.", id=id)
    return row


def _changed(db: Connection, row: AnyRow, now: int, **values: Json) -> Asset:
    """Write to a row that is held; its revision goes up."""
    try:
        db.execute(update(assets).where(assets.c.id == row.id).values(updated_at=now, revision=row.revision + 1, **values))
    except IntegrityError as error:
        raise _name_taken(values.get("name", row.name)) from error
    return _shown(db, [db.execute(select(assets).where(assets.c.id == row.id)).one()])[0]


def _name_taken(name: str) -> Exception:
    return failure("user_conflict", f"Another user is called {name!r}: choose another name.", name=name)


def _insert_version(db: Connection, account: str, id: str, version_id: str, number: int, packed: Packed, now: int) -> None:
    if packed.image is not None and packed.image_hash is not None:
        keep_blob(db, account, packed.image_hash, packed.image, now)
    if packed.files is not None and packed.files_hash is not None:
        keep_blob(db, account, packed.files_hash, packed.files, now)
    values = {
        "id": version_id,
        "account_id": account,
        "asset_id": id,
        "version_no": number,
        "content_hash": packed.hash,
        "image": packed.image_hash,
        "files": packed.files_hash,
        "created_at": now,
        "origin_json": packed.origin_text,
        "content_json": packed.text,
    }
    db.execute(insert(asset_versions), values)


def _inherited(db: Connection, packed: Packed, head: AnyRow) -> Packed:
    query = select(asset_versions.c.origin_json, asset_versions.c.files).where(asset_versions.c.id == head.id)
    before = db.execute(query).one()
    return replace(
        packed,
        origin_text=before.origin_json if packed.origin_text is None else packed.origin_text,
        image_hash=packed.image_hash or head.image,
        files_hash=packed.files_hash or before.files,
    )


def _shown(db: Connection, rows: Sequence[AnyRow]) -> list[Asset]:
    """Rows of ``assets`` with what stands in other tables: two queries, however many there are."""
    newest = [row.current_version_id for row in rows]
    heads = {head.id: head for head in _among(db, select(*_HEADS), asset_versions.c.id, newest)}
    tags: dict[str, list[str]] = {row.id: [] for row in rows}
    for tagged in _among(db, select(asset_tags).order_by(asset_tags.c.tag), asset_tags.c.asset_id, list(tags)):
        tags[tagged.asset_id].append(tagged.tag)
    return [asset_of(row, heads[row.current_version_id], tags[row.id]) for row in rows]


def _among(db: Connection, query: Select[Any], column: ColumnElement[Any], values: Sequence[str]) -> Sequence[AnyRow]:
    return db.execute(query.where(column.in_(values))).all() if values else ()
