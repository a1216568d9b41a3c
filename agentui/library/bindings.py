"""What a session is bound to: that the assets exist, which of their versions it uses, and what it keeps of them itself.

A session keeps a snapshot of its character and its user, so that it goes on as it was when these change or are deleted. Prompt
presets, worldbooks and regex profiles it names by id; a version beside the id stays, without one the newest counts. With
``deep_binding`` the versions of the moment are written down, and taken away when it is switched off.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from agentui.chats import conversations
from agentui.chats.codes import failure
from agentui.chats.greetings import FIRST, MAX_OTHERS, OTHERS
from agentui.chats.records import Session
from agentui.errors import ApiError
from agentui.jsonio import Json, loads
from agentui.library.assets import find_content
from agentui.library.records import KINDS, AssetKind, Kept
from agentui.store.tables import assets, sessions

CHAT_HEADER: Final = "chat_header"
"""The member that keeps what stood beside it in the file's first line."""

Fields = Mapping[str, Json]


class _Bound(NamedTuple):
    """The fields by which a session names an asset of a kind, and the code of a version that is not there."""

    kind: AssetKind
    id: str
    version: str
    version_code: str


_CHARACTER: Final = _Bound("character", "character_id", "character_version_id", "character_not_found")
_PROFILES: Final = (
    _Bound("preset", "preset_id", "preset_version_id", "asset_version_not_found"),
    _Bound("regex", "regex_profile_id", "regex_profile_version_id", "asset_version_not_found"),
    _Bound("worldbook", "worldbook_profile_id", "worldbook_version_id", "asset_version_not_found"),
)
_LEFT_OUT: Final = ("character_book", "assets")
"""Members of a card that a session keeps no copy of: they are long, and prompts take them from the library."""


def create_session(db: Connection, account: str, fields: Fields, now: int) -> Session:
    """Make a session that is bound to what ``fields`` name. Raises 404 in the code of what is not there, 409
    ``user_not_active``, and as ``conversations.create_session`` does."""
    return conversations.create_session(db, account, _resolved(db, account, {}, fields), now)


def update_session(db: Connection, account: str, session_id: str, fields: Fields, now: int) -> Session:
    """Change what ``fields`` name. Raises as ``create_session`` does."""
    old = _hold_bindings(db, account, session_id)
    return conversations.update_session(db, account, session_id, _resolved(db, account, old, fields), now)


def sync_character(db: Connection, account: str, session_id: str, force: bool, now: int) -> Session:
    """Bring a session's character up to its newest version; what was said already stays. Raises 404, 409
    ``character_binding_missing``, and 409 ``character_sync_blocked`` where the session pins its version and none forces it."""
    character = _hold_bindings(db, account, session_id).get("character_binding") or {}
    id = character.get("character_id")
    if id is None:
        raise failure("character_binding_missing", "The session has no character of the library.", session_id=session_id)
    if character["sync_policy"] == "pin" and not force:
        message = "The session pins the version of its character: send force to bring it up to date."
        raise failure("character_sync_blocked", message, session_id=session_id)
    kept = _find(db, account, _CHARACTER, id)
    fields = {"character_version_id": kept.version_id, "character_snapshot": snapshot_of(kept)}
    return conversations.update_session(db, account, session_id, fields, now)


def snapshot_of(kept: Kept) -> dict[str, Json]:
    """What a session keeps of a character or a user: the content without what is long, with greetings that are texts."""
    content = loads(kept.text)
    snapshot = {name: value for name, value in content.items() if name not in _LEFT_OUT}
    snapshot["name"] = kept.name
    for name in FIRST:
        if not isinstance(snapshot.get(name, ""), str):
            del snapshot[name]
    for name in OTHERS:
        others = snapshot.get(name)
        if others is not None:
            snapshot[name] = [said for said in others if isinstance(said, str)][:MAX_OTHERS] if isinstance(others, list) else []
    return snapshot


def _hold_bindings(db: Connection, account: str, session_id: str) -> dict[str, Json]:
    """What a session is bound to, its row held until the transaction ends."""
    mine = (sessions.c.id == session_id, sessions.c.account_id == account)
    text = db.execute(select(sessions.c.bindings_json).where(*mine).with_for_update(key_share=True)).scalar_one_or_none()
    if text is None:
        raise failure("not_found", "There is no such session.", session_id=session_id)
    bindings: dict[str, Json] = loads(text)
    return bindings


def _resolved(db: Connection, account: str, old: Fields, fields: Fields) -> dict[str, Json]:
    """The fields of a session as they are to be kept: what they name exists, and what follows from it is added."""
    found = dict(fields)
    found.update(_character(db, account, old.get("character_binding") or {}, fields))
    found.update(_user(db, account, old.get("user_binding") or {}, fields))
    deep = fields["deep_binding"] if "deep_binding" in fields else old.get("deep_binding")
    for bound in _PROFILES:
        found.update(_profile(db, account, bound, old, fields, bool(deep)))
    return found


def _character(db: Connection, account: str, old: Fields, fields: Fields) -> dict[str, Json]:
    """The version of the character, and what the session keeps of it."""
    if not {_CHARACTER.id, _CHARACTER.version} & fields.keys():
        return {}
    id = fields[_CHARACTER.id] if _CHARACTER.id in fields else old.get(_CHARACTER.id)
    version_id = fields.get(_CHARACTER.version)
    if id is None:
        if version_id is not None:
            raise _missing(_CHARACTER.version_code, "version of a character", _CHARACTER.version, version_id)
        gone = {"character_snapshot": None} if old.get(_CHARACTER.id) is not None else {}
        return {**gone, **_given(fields, "character_snapshot"), _CHARACTER.version: None}
    kept = _find(db, account, _CHARACTER, id, version_id)
    return {
        "character_snapshot": snapshot_of(kept),
        **_given(fields, "character_snapshot"),
        _CHARACTER.version: kept.version_id,
    }


def _user(db: Connection, account: str, old: Fields, fields: Fields) -> dict[str, Json]:
    """What the session keeps of the user."""
    if "user_id" not in fields:
        return {}
    id = fields["user_id"]
    if id is None:
        gone = {"user_snapshot": None} if old.get("user_id") is not None else {}
        return {**gone, **_given(fields, "user_snapshot")}
    kept = _find(db, account, _Bound("user", "user_id", "", ""), id)
    status = db.execute(select(assets.c.status).where(assets.c.id == id)).scalar_one()
    if status != "active":
        raise failure("user_not_active", "The user is disabled: make it active, or take another one.", user_id=id)
    return {"user_snapshot": snapshot_of(kept), **_given(fields, "user_snapshot")}


def _profile(db: Connection, account: str, bound: _Bound, old: Fields, fields: Fields, deep: bool) -> dict[str, Json]:
    """The version of a preset, a regex profile or a worldbook: the one that is named, with ``deep`` the newest, else none."""
    if not {bound.id, bound.version, "deep_binding"} & fields.keys():
        return {}
    id = fields[bound.id] if bound.id in fields else old.get(bound.id)
    version_id = fields.get(bound.version)
    if id is None:
        if version_id is not None:
            raise _missing(bound.version_code, f"version of a {KINDS[bound.kind].word}", bound.version, version_id)
        return {bound.version: None}
    is_same = id == old.get(bound.id) and bound.version not in fields
    if is_same and not deep and old.get("deep_binding"):
        return {bound.version: None}
    if is_same and (not deep or old.get(bound.version) is not None):
        return {}
    kept = _find(db, account, bound, id, version_id)
    return {bound.version: kept.version_id if deep or version_id is not None else None}


def _given(fields: Fields, name: str) -> dict[str, Json]:
    """A snapshot that the caller sends wins over the library's."""
    return {name: fields[name]} if fields.get(name) is not None else {}


def _find(db: Connection, account: str, bound: _Bound, id: str, version_id: str | None = None) -> Kept:
    """An asset that is not deleted, by its id or its version's. Raises 404 in the code that sessions have for it."""
    word = KINDS[bound.kind].word
    status = db.execute(
        select(assets.c.status).where(assets.c.id == id, assets.c.account_id == account, assets.c.kind == bound.kind)
    ).scalar_one_or_none()
    if status is None or status == "deleted":
        raise _missing(KINDS[bound.kind].missing, word, bound.id, id)
    try:
        return find_content(db, account, bound.kind, id, version_id)
    except ApiError as error:
        raise _missing(bound.version_code, f"version of a {word}", bound.version, version_id) from error


def _missing(code: str, word: str, field: str, id: Any) -> ApiError:
    return failure(code, f"This server has no {word} {id!r}: leave {field} out.", **{field: id})
