"""How much Session State is kept: the sizes of values, the slots of namespaces and accounts."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from agentui.chats.codes import failure
from agentui.chats.state.records import Key
from agentui.jsonio import Json
from agentui.store.tables import state_heads, state_namespaces
from agentui.variables.errors import ValueTooLarge
from agentui.variables.values import MAX_VALUE_BYTES, render

MAX_WRITES: Final = 100
"""Of one turn."""


@dataclass(frozen=True, slots=True)
class StateLimits:
    """The most of everything: namespaces of a session; slots and bytes of a namespace on one branch; slots and bytes of an
    account on all branches of all sessions. What counts is what holds now, not what held before."""

    namespaces: int = 100
    namespace_slots: int = 1_000
    namespace_bytes: int = 16 * 1024 * 1024
    account_slots: int = 1_000_000
    account_bytes: int = 4 * 1024 * 1024 * 1024


LIMITS: Final = StateLimits()


def rendered(value: Json, path: str) -> str:
    """A value's JSON text; ``path`` names it in errors. Raises 409 ``session_state_payload_too_large`` and InvalidWrite."""
    try:
        return render(value, path)
    except ValueTooLarge as error:
        message = f"{path}: a value's JSON may be at most {MAX_VALUE_BYTES} bytes long."
        raise failure("session_state_payload_too_large", message, path=path, limit=MAX_VALUE_BYTES) from error


def check_namespaces(db: Connection, session_id: str, limits: StateLimits) -> None:
    """Raise 409 ``session_state_namespace_count_limit_exceeded`` where a session takes no further namespace."""
    query = select(func.count()).select_from(state_namespaces).where(state_namespaces.c.session_id == session_id)
    if db.execute(query).scalar_one() >= limits.namespaces:
        raise _too_many("namespace_count", f"A session may have {limits.namespaces} namespaces.", limits.namespaces)


def check_room(db: Connection, account: str, session_id: str, branch_id: str, key: Key, size: int, limits: StateLimits) -> None:
    """Raise 409 ``session_state_*_limit_exceeded`` where a value of ``size`` bytes does not fit into its slot; one that is no
    larger than what is there always does."""
    of_branch = (state_heads.c.session_id == session_id, state_heads.c.branch_id == branch_id)
    here = (*of_branch, state_heads.c.namespace == key.namespace)
    query = select(state_heads.c.size).where(*here, state_heads.c.slot == key.slot)
    old: int | None = db.execute(query).scalar_one_or_none()
    if old is not None and size <= old:
        return
    for name, where, most_slots, most_bytes in (
        ("namespace", here, limits.namespace_slots, limits.namespace_bytes),
        ("account", (state_heads.c.account_id == account,), limits.account_slots, limits.account_bytes),
    ):
        slots, used = db.execute(select(func.count(), func.coalesce(func.sum(state_heads.c.size), 0)).where(*where)).one()
        if old is None and slots >= most_slots:
            raise _too_many(f"{name}_item", f"The {name} may have {most_slots} slots: use one again.", most_slots)
        if used - (old or 0) + size > most_bytes:
            raise _too_many(f"{name}_byte", f"The values of the {name} may take {most_bytes} bytes together.", most_bytes)


def _too_many(what: str, message: str, limit: int) -> Exception:
    return failure(f"session_state_{what}_limit_exceeded", message, limit=limit)
