"""How far the jobs of scopes have come (TavernHeadless' contract, 3.11). Jobs write it; a scope without jobs has no row."""

from typing import Any

from sqlalchemy import Connection, func, literal_column, select

from agentui.chats.listing import Listed, Paging, list_rows
from agentui.jsonio import Json
from agentui.memories.hosts import Host, normal_scope_id
from agentui.memories.records import MemoryScope, ScopeState
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import memory_scopes


def list_scopes(
    db: Connection, account: str, paging: Paging, scope: MemoryScope | None = None, scope_id: str | None = None
) -> Listed[ScopeState]:
    """The states of the account's scopes, sorted by ``updated_at``, ``revision``, ``last_compaction_at`` or
    ``last_processed_floor_no``. Raises 400 for what names no branch."""
    query = select(memory_scopes).where(memory_scopes.c.account_id == account)
    if scope is not None:
        query = query.where(memory_scopes.c.scope == scope)
    if scope_id is not None:
        named = normal_scope_id(account, scope, scope_id) if scope is not None else scope_id
        query = query.where(memory_scopes.c.scope_id == named)
    # What never happened sorts before all that did, on both engines alike.
    first = func.coalesce(memory_scopes.c[paging.sort_by], -1)
    listed = list_rows(db, query, paging, first, memory_scopes.c.scope, memory_scopes.c.scope_id)
    return Listed([_state_of(row) for row in listed.items], listed.total)


def advance_scope(
    db: Connection, account: str, host: Host, now: int, *, floor_no: int | None = None, is_compacted: bool = False
) -> int:
    """Note that a job changed something in a scope, up to a floor; returns the scope's revision."""
    values: dict[str, Json] = {
        "account_id": account,
        "scope": host.scope,
        "scope_id": host.scope_id,
        "session_id": host.session_id,
    }
    values |= {"revision": 1, "last_processed_floor_no": floor_no, "updated_at": now}
    found = _ADVANCE.first(db, {**values, "last_compaction_at": now if is_compacted else None})
    assert found is not None
    return int(found[0])


def _advancing(insert: Any) -> Any:
    place, progress = ("account_id", "scope", "scope_id"), ("last_processed_floor_no", "last_compaction_at")
    columns = (*place, "session_id", "revision", *progress, "updated_at")
    statement = insert(memory_scopes).values(named(memory_scopes, *columns))
    kept = {name: func.coalesce(statement.excluded[name], memory_scopes.c[name]) for name in progress}
    changed = {"revision": memory_scopes.c.revision + literal_column("1"), "updated_at": statement.excluded.updated_at}
    again = statement.on_conflict_do_update(index_elements=place, set_={**changed, **kept})
    return again.returning(memory_scopes.c.revision)


_ADVANCE = Prepared({engine: _advancing(insert) for engine, insert in INSERT.items()})


def _state_of(row: object) -> ScopeState:
    return ScopeState(**{name: getattr(row, name) for name in ScopeState.__dataclass_fields__})
