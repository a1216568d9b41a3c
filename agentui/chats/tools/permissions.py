"""What a session allows models to do with tools: kept as its caller wrote it, so that what nobody said follows the defaults."""

from collections.abc import Mapping

from sqlalchemy import Connection, select, update

from agentui.chats.codes import failure
from agentui.chats.rows import find_session
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.tables import sessions
from agentui.tools.permissions import Permissions


def read_permissions(db: Connection, account: str, session_id: str) -> dict[str, Json]:
    """What was said of tools in a session, by the API's names; empty where nothing was. Raises 404 ``not_found``."""
    find_session(db, account, session_id)
    return _read(db, session_id)


def replace_permissions(db: Connection, account: str, session_id: str, fields: Mapping[str, Json], now: int) -> dict[str, Json]:
    """Say anew what a session allows: what ``fields`` leave out, or have null for, follows the defaults. Raises 404."""
    find_session(db, account, session_id)
    return _write(db, session_id, fields, now)


def change_permissions(db: Connection, account: str, session_id: str, fields: Mapping[str, Json], now: int) -> dict[str, Json]:
    """Change what ``fields`` name of what a session allows; null takes away what was said. Raises 404."""
    held = select(sessions.c.id).where(sessions.c.id == session_id, sessions.c.account_id == account)
    if db.execute(held.with_for_update(key_share=True)).one_or_none() is None:
        raise failure("not_found", "There is no such session.", session_id=session_id)
    return _write(db, session_id, {**_read(db, session_id), **fields}, now)


def permissions_of(said: Mapping[str, Json]) -> Permissions:
    """What a session's words come to, the defaults filling in what they leave out."""
    lists = ("slot_allow_list", "slot_deny_list")
    named = {name: {slot: frozenset(tools) for slot, tools in said.get(name, {}).items()} for name in lists}
    agreed = frozenset(said.get("irreversible_allow_list", ()))
    return Permissions(**{**said, **named, "irreversible_allow_list": agreed})


def _read(db: Connection, session_id: str) -> dict[str, Json]:
    text = db.execute(select(sessions.c.tools_json).where(sessions.c.id == session_id)).scalar_one()
    said: dict[str, Json] = {} if text is None else loads(text)
    return said


def _write(db: Connection, session_id: str, fields: Mapping[str, Json], now: int) -> dict[str, Json]:
    said = {name: value for name, value in fields.items() if value is not None}
    text = dumps_text(said) if said else None
    db.execute(update(sessions).where(sessions.c.id == session_id).values(tools_json=text, updated_at=now))
    return said
