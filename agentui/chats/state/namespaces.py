"""The namespaces of a session: registering them, and saying which slots there are."""

from collections.abc import Set
from dataclasses import dataclass

from sqlalchemy import Connection, select

from agentui.chats.codes import failure
from agentui.chats.rows import find_session, insert_new
from agentui.chats.state.limits import LIMITS, StateLimits, check_namespaces
from agentui.chats.state.records import GAME, Key, Namespace, ReplaySafety, Slot
from agentui.store.tables import state_heads, state_namespaces
from agentui.variables.values import MAX_VALUE_BYTES

GAME_SLOTS: tuple[Slot, ...] = (Slot("scene", 262_144), Slot("world", 524_288))
"""The slots of ``game_state``."""


@dataclass(frozen=True, slots=True)
class NewNamespace:
    """A namespace that is to be registered, and whose it is."""

    name: str
    owner_type: str
    owner_id: str
    replay_safety: ReplaySafety = "safe"


def is_reserved(namespace: str) -> bool:
    """Whether the name is the server's own."""
    return namespace == GAME or namespace.startswith(f"{GAME}.")


def register_namespace(
    db: Connection, account: str, session_id: str, new: NewNamespace, now: int, limits: StateLimits = LIMITS
) -> Namespace:
    """Register a namespace in a session. Raises 404 ``not_found``, 409 ``session_state_namespace_reserved``,
    ``session_state_namespace_already_registered``, ``session_state_namespace_count_limit_exceeded``."""
    find_session(db, account, session_id, hold=True)
    if is_reserved(new.name):
        message = f"{GAME!r}, and what begins with it and a dot, belongs to the server: choose another name."
        raise failure("session_state_namespace_reserved", message, namespace=new.name)
    check_namespaces(db, session_id, limits)
    row = {
        "session_id": session_id,
        "namespace": new.name,
        "account_id": account,
        "owner_type": new.owner_type,
        "owner_id": new.owner_id,
        "replay_safety": new.replay_safety,
        "created_at": now,
    }
    if not insert_new(db, state_namespaces, row):
        message = f"The session has a namespace {new.name!r} already."
        raise failure("session_state_namespace_already_registered", message, namespace=new.name)
    return Namespace(new.name, new.owner_type, new.owner_id, new.replay_safety)


def list_namespaces(db: Connection, account: str, session_id: str) -> list[Namespace]:
    """The registered namespaces, oldest first, with the slots that hold something on any branch. Raises 404 ``not_found``."""
    find_session(db, account, session_id)
    slots: dict[str, list[Slot]] = {}
    for key in known_slots(db, session_id):
        slots.setdefault(key.namespace, []).append(Slot(key.slot, MAX_VALUE_BYTES))
    rows = db.execute(
        select(state_namespaces)
        .where(state_namespaces.c.session_id == session_id)
        .order_by(state_namespaces.c.created_at, state_namespaces.c.namespace)
    )
    return [
        Namespace(row.namespace, row.owner_type, row.owner_id, row.replay_safety, tuple(slots.get(row.namespace, ())))
        for row in rows
    ]


def registered_at(db: Connection, account: str, session_id: str) -> list[tuple[str, int]]:
    """The namespaces of a session, the server's own first, and when each was registered, in milliseconds since 1970; the
    server's is as old as the session. Raises 404 ``not_found``."""
    session = find_session(db, account, session_id)
    columns = state_namespaces.c
    query = select(columns.namespace, columns.created_at).where(columns.session_id == session_id)
    rows = db.execute(query.order_by(columns.created_at, columns.namespace))
    return [(GAME, session.created_at), *((row.namespace, row.created_at) for row in rows)]


def known_slots(db: Connection, session_id: str) -> list[Key]:
    """The slots of a session that were written on any of its branches, by namespace and name."""
    query = select(state_heads.c.namespace, state_heads.c.slot).where(state_heads.c.session_id == session_id).distinct()
    return [Key(*row) for row in db.execute(query.order_by(state_heads.c.namespace, state_heads.c.slot))]


def check_writable(db: Connection, session_id: str, namespaces: Set[str]) -> dict[str, ReplaySafety]:
    """How turns that write to these namespaces may be repeated. Raises 409 ``session_state_public_write_forbidden`` for the
    server's own, 404 ``session_state_namespace_not_registered``."""
    for name in sorted(namespaces):
        if is_reserved(name):
            message = f"Clients do not write to {name!r}: the server keeps it."
            raise failure("session_state_public_write_forbidden", message, namespace=name)
    if not namespaces:
        return {}
    query = select(state_namespaces.c.namespace, state_namespaces.c.replay_safety).where(
        state_namespaces.c.session_id == session_id, state_namespaces.c.namespace.in_(namespaces)
    )
    found: dict[str, ReplaySafety] = {row.namespace: row.replay_safety for row in db.execute(query)}
    for name in sorted(namespaces - found.keys()):
        message = f"The session has no namespace {name!r}: register it with POST /sessions/{{id}}/state/namespaces."
        raise failure("session_state_namespace_not_registered", message, namespace=name)
    return found
