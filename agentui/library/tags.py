"""Tags: names that an account gives to turns and to versions of assets (TavernHeadless' contract, 10). A tag goes with what it
names; the reference keeps tags of what is gone."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.rows import find_floor, find_session
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.tables import asset_versions, assets, tags

TargetType: TypeAlias = Literal["floor", "asset_version"]
_KINDS = ("preset", "worldbook", "regex_profile", "character")
"""The kinds of assets whose versions have tags."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A name of a turn or of a version of an asset. ``created_by_operation_id`` is null where no operation log is kept."""

    id: str
    account_id: str
    name: str
    target_type: TargetType
    target_id: str
    session_id: str | None
    metadata: Json
    created_by_operation_id: str | None
    created_at: int


def create_tag(
    db: Connection,
    account: str,
    name: str,
    target_type: TargetType,
    target_id: str,
    session_id: str | None,
    metadata: Json,
    now: int,
) -> Tag:
    """Give a name. Raises 404 ``floor_not_found``, ``asset_version_not_found``, ``session_not_found``, 400
    ``invalid_tag_session`` where a floor is of another session, 409 ``tag_exists``."""
    if target_type == "floor":
        floor = find_floor(db, account, target_id, code="floor_not_found", hold=True)
        if session_id is not None and session_id != floor.session_id:
            raise failure("invalid_tag_session", "The floor is in another session.", session_id=session_id)
        session_id = floor.session_id
    else:
        _find_version(db, account, target_id)
        if session_id is not None:
            find_session(db, account, session_id, code="session_not_found", hold=True)
    id = new_short_id()
    row = {
        "id": id,
        "account_id": account,
        "name": name,
        "target_type": target_type,
        "floor_id": target_id if target_type == "floor" else None,
        "asset_version_id": target_id if target_type == "asset_version" else None,
        "session_id": session_id,
        "metadata_json": None if metadata is None else dumps_text(metadata),
        "created_at": now,
    }
    try:
        with db.begin_nested():
            db.execute(insert(tags).values(row))
    except IntegrityError as error:
        raise failure("tag_exists", f"There is a tag {name!r} already: choose another name.", name=name) from error
    return find_tag(db, account, id)


def find_tag(db: Connection, account: str, id: str) -> Tag:
    """A tag. Raises 404 ``tag_not_found``."""
    row = db.execute(select(tags).where(tags.c.id == id, tags.c.account_id == account)).one_or_none()
    if row is None:
        raise failure("tag_not_found", "There is no such tag.", id=id)
    return _tag(row)


def list_tags(
    db: Connection,
    account: str,
    paging: Paging,
    target_type: TargetType | None,
    target_id: str | None,
    session_id: str | None,
) -> Listed[Tag]:
    """The account's tags, by the time when they were given; those of a kind of target, of one, or of a session."""
    query = select(tags).where(tags.c.account_id == account)
    if target_type is not None:
        query = query.where(tags.c.target_type == target_type)
    if target_id is not None:
        query = query.where((tags.c.floor_id == target_id) | (tags.c.asset_version_id == target_id))
    if session_id is not None:
        query = query.where(tags.c.session_id == session_id)
    listed = list_rows(db, query, paging, tags.c.created_at, tags.c.id)
    return Listed([_tag(row) for row in listed.items], listed.total)


def delete_tag(db: Connection, account: str, id: str) -> None:
    """Take a name away; what it named stays. Raises 404 ``tag_not_found``."""
    if not db.execute(delete(tags).where(tags.c.id == id, tags.c.account_id == account)).rowcount:
        raise failure("tag_not_found", "There is no such tag.", id=id)


def note_operation(db: Connection, account: str, tag: Tag, operation: str) -> Tag:
    """Keep which entry of the operation log tells of a tag that was given just now."""
    db.execute(update(tags).where(tags.c.id == tag.id, tags.c.account_id == account).values(operation_id=operation))
    return replace(tag, created_by_operation_id=operation)


def _find_version(db: Connection, account: str, id: str) -> None:
    own = asset_versions.c.id == id, asset_versions.c.account_id == account, assets.c.kind.in_(_KINDS)
    query = select(asset_versions.c.id).join(assets, assets.c.id == asset_versions.c.asset_id).where(*own)
    if db.execute(query.with_for_update(of=asset_versions, read=True)).one_or_none() is None:
        raise failure("asset_version_not_found", "There is no such version of an asset.", id=id)


def _tag(row: Row[Any]) -> Tag:
    metadata = None if row.metadata_json is None else loads(row.metadata_json)
    target = row.floor_id or row.asset_version_id
    return Tag(
        row.id,
        row.account_id,
        row.name,
        row.target_type,
        target,
        row.session_id,
        metadata,
        row.operation_id,
        row.created_at,
    )
