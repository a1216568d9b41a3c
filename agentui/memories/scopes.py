"""How far the jobs of scopes have come (TavernHeadless' contract, 3.11). Jobs write it; a scope without jobs has no row."""

from sqlalchemy import Connection, func, select

from agentui.chats.listing import Listed, Paging, list_rows
from agentui.memories.hosts import normal_scope_id
from agentui.memories.records import MemoryScope, ScopeState
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


def _state_of(row: object) -> ScopeState:
    return ScopeState(**{name: getattr(row, name) for name in ScopeState.__dataclass_fields__})
