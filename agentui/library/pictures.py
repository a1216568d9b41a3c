"""The pictures of characters and users. A picture belongs to a version: another one makes another version."""

from sqlalchemy import Connection

from agentui.library.assets import find_content, hold_asset, write_version
from agentui.library.content import Packed
from agentui.library.records import Asset, AssetKind, Expected


def set_picture(
    db: Connection,
    account: str,
    kind: AssetKind,
    id: str,
    expected: Expected,
    now: int,
    picture: bytes | None,
    hash: str | None,
) -> Asset:
    """Give an asset a picture, with the SHA-256 of its bytes, or take it away (None): a version that is like the newest
    otherwise. Raises 404 and 409 in the kind's code."""
    hold_asset(db, account, kind, id, expected)
    kept = find_content(db, account, kind, id)
    packed = Packed(kept.text, kept.content_hash, kept.origin_text, picture, hash, files_hash=kept.files)
    return write_version(db, account, kind, id, kept.name, packed, expected, now, inherits=False)
