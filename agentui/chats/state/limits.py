"""How much Session State is kept: the sizes of values, the slots of namespaces and accounts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

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


def check_room(
    db: Connection, account: str, session_id: str, branch_id: str, sizes: Mapping[Key, int], limits: StateLimits = LIMITS
) -> None:
    """Raise 409 ``session_state_*_limit_exceeded`` where values of these sizes (bytes) do not fit into their slots; those that
    are no larger than what is there always do."""
    if not sizes:
        return
    here = (state_heads.c.session_id == session_id, state_heads.c.branch_id == branch_id)
    old = _sizes(db, here, sizes)
    growing = {key for key, size in sizes.items() if key not in old or size > old[key]}
    for namespace in sorted({key.namespace for key in growing}):
        added = {key: size for key, size in sizes.items() if key.namespace == namespace}
        where = (*here, state_heads.c.namespace == namespace)
        _check_sum(db, "namespace", where, old, added, limits.namespace_slots, limits.namespace_bytes)
    if growing:
        mine = (state_heads.c.account_id == account,)
        _check_sum(db, "account", mine, old, sizes, limits.account_slots, limits.account_bytes)


def _sizes(db: Connection, here: Sequence[ColumnElement[bool]], keys: Iterable[Key]) -> dict[Key, int]:
    """What the slots hold, in bytes; those that hold something."""
    each = [and_(state_heads.c.namespace == key.namespace, state_heads.c.slot == key.slot) for key in keys]
    query = select(state_heads.c.namespace, state_heads.c.slot, state_heads.c.size).where(*here, or_(*each))
    return {Key(row.namespace, row.slot): row.size for row in db.execute(query)}


def _check_sum(
    db: Connection,
    name: str,
    where: Sequence[ColumnElement[bool]],
    old: Mapping[Key, int],
    sizes: Mapping[Key, int],
    most_slots: int,
    most_bytes: int,
) -> None:
    slots, used = db.execute(select(func.count(), func.coalesce(func.sum(state_heads.c.size), 0)).where(*where)).one()
    new = sum(key not in old for key in sizes)
    if new and slots + new > most_slots:
        raise _too_many(f"{name}_item", f"The {name} may have {most_slots} slots: use one again.", most_slots)
    if used + sum(size - old.get(key, 0) for key, size in sizes.items()) > most_bytes:
        raise _too_many(f"{name}_byte", f"The values of the {name} may take {most_bytes} bytes together.", most_bytes)


def _too_many(what: str, message: str, limit: int) -> Exception:
    return failure(f"session_state_{what}_limit_exceeded", message, limit=limit)
