"""The parts of prompt presets and worldbooks, changed one by one: each change makes a version of the whole."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.jsonio import InvalidJson, loads
from agentui.library.assets import find_asset, find_content, hold_asset, write_version
from agentui.library.content import MAX_CONTENT, Content, packed
from agentui.library.records import KINDS, Asset, AssetKind, Expected, Kept

T = TypeVar("T")


def find_whole(db: Connection, account: str, kind: AssetKind, id: str) -> tuple[Asset, Kept]:
    """An asset with its newest content. Raises 404."""
    return find_asset(db, account, kind, id), find_content(db, account, kind, id)


def edit_content(
    db: Connection,
    account: str,
    kind: AssetKind,
    id: str,
    expected: Expected,
    now: int,
    edit: Callable[[Content], T],
) -> tuple[Asset, T]:
    """Let ``edit`` change the newest content of an asset, which makes a version unless nothing changes, and give the asset
    with what ``edit`` returns. Raises 404 and 409 in the kind's code, 413 ``payload_too_large``, and what ``edit`` raises."""
    hold_asset(db, account, kind, id, expected)
    kept = find_content(db, account, kind, id)
    content = loads(kept.text)
    done = edit(content)
    made = packed(content)
    if made.hash == kept.content_hash:
        return find_asset(db, account, kind, id), done
    check_length(kind, len(made.text))
    try:
        loads(made.text)
    except InvalidJson as error:
        raise failure("payload_too_large", f"The {KINDS[kind].word} would be too large to be read: {error}.", id=id) from error
    return write_version(db, account, kind, id, kept.name, made, expected, now), done


def check_length(kind: AssetKind, size: int) -> None:
    """Raise 413 for a content of more characters than are kept."""
    if size > MAX_CONTENT:
        raise failure("payload_too_large", f"The {KINDS[kind].word} would be too large.", size=size, limit=MAX_CONTENT)


def part_missing(kind: AssetKind, id: str) -> Exception:
    """The error of an entry that an asset does not have."""
    return failure("not_found", f"The {KINDS[kind].word} has no such entry.", entry=id)
