"""What comes out of files goes into the library: assets, and the session that begins with a character."""

from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.assets.files.scripts import embedded_scripts, origin_with_consent
from agentui.chats.records import Session
from agentui.jsonio import Json, dumps_text, loads
from agentui.library.assets import create_asset, find_content, hold_asset, write_version
from agentui.library.bindings import create_session
from agentui.library.content import Packed
from agentui.library.records import Asset, AssetKind, Expected, Kept


@dataclass(frozen=True, slots=True)
class FileAsset:
    """A file's content, ready to be kept; ``source`` is the format that it came in."""

    kind: AssetKind
    name: str
    packed: Packed
    source: str
    tags: tuple[str, ...] = ()


def import_asset(db: Connection, account: str, file: FileAsset, now: int) -> Asset:
    """Keep what a file held."""
    return create_asset(db, account, file.kind, file.name, file.packed, now, source=file.source, tags=file.tags)


def import_with_session(db: Connection, account: str, file: FileAsset, title: str | None, now: int) -> tuple[Asset, Session]:
    """Keep a character and begin a session with it."""
    asset = import_asset(db, account, file, now)
    fields = {"title": title, "character_id": asset.id}
    return asset, create_session(db, account, fields, now)


def allow_scripts(
    db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int, *, allowed: bool
) -> tuple[Kept, int]:
    """Make a version of a character or a prompt preset whose scripts run, or do not, and which is like the newest otherwise.
    Returns it with the number of its scripts: they are counted here, apart from the event loop. Raises 404 and 409 in the
    kind's code."""
    hold_asset(db, account, kind, id, expected)
    kept = find_content(db, account, kind, id)
    origin_text = dumps_text(origin_with_consent(origin_of(kept), allowed=allowed))
    packed = Packed(kept.text, kept.content_hash, origin_text, None, kept.image)
    write_version(db, account, kind, id, kept.name, packed, expected, now)
    return find_content(db, account, kind, id), count_scripts(kept)


def count_scripts(kept: Kept) -> int:
    """How many regex scripts a version of a character or a prompt preset holds."""
    return len(embedded_scripts(loads(kept.text)))


def origin_of(kept: Kept) -> Json:
    """What the file of a version held beside its content; None where there was none."""
    return None if kept.origin_text is None else loads(kept.origin_text)
