"""How Session State came to be what it is: every mutation, and where the values that hold come from."""

from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import Floor, Page
from agentui.chats.rows import find_floor, find_page, find_session
from agentui.chats.state.heads import mutations_of, shown_mutations, snapshot_ids, written_by
from agentui.chats.state.reading import Difference, compare, read_snapshot, resolve
from agentui.chats.state.records import (
    Mutation,
    MutationStatus,
    ReplaySafety,
    StateValue,
    Wanted,
    WriteMode,
    mutation_of,
)
from agentui.jsonio import Json
from agentui.store.tables import state_heads, state_mutations


@dataclass(frozen=True, slots=True)
class MutationFilter:
    """Which mutations of a session; times are milliseconds since 1970, and belong to what is asked for."""

    branch_id: str | None = None
    status: MutationStatus | None = None
    source_floor_id: str | None = None
    run_id: str | None = None
    target_slot: str | None = None
    state_namespace: str | None = None
    write_mode: WriteMode | None = None
    replay_safety: ReplaySafety | None = None
    created_after: int | None = None
    created_before: int | None = None


_COLUMNS = {"source_floor_id": "floor_id", "target_slot": "slot", "state_namespace": "namespace"}
"""Names of filters for columns that are called otherwise."""


def list_mutations(db: Connection, account: str, session_id: str, wanted: MutationFilter, paging: Paging) -> Listed[Mutation]:
    """The mutations of a session by the time they were made, of each value the beginning. Raises 404 ``not_found``."""
    find_session(db, account, session_id)
    query = shown_mutations().where(state_mutations.c.session_id == session_id, state_mutations.c.account_id == account)
    for name in MutationFilter.__slots__:
        value: Json = getattr(wanted, name)
        if value is None:
            continue
        if name == "created_after":
            query = query.where(state_mutations.c.created_at >= value)
        elif name == "created_before":
            query = query.where(state_mutations.c.created_at <= value)
        else:
            query = query.where(state_mutations.c[_COLUMNS.get(name, name)] == value)
    listed = list_rows(db, query, paging, state_mutations.c.created_at, state_mutations.c.id)
    return Listed([mutation_of(row) for row in listed.items], listed.total)


def find_mutation(db: Connection, account: str, session_id: str, mutation_id: str) -> Mutation:
    """A mutation of a session with its whole value. Raises 404 ``not_found``."""
    find_session(db, account, session_id)
    found = next(mutations_of(db, [mutation_id], with_values=True), None)
    if found is None or found.session_id != session_id:
        raise failure("not_found", "The session has no such mutation.", session_id=session_id, mutation_id=mutation_id)
    return found


def list_page_mutations(db: Connection, account: str, page_id: str) -> tuple[Page, Floor, list[Mutation]]:
    """A page, its floor, and what the page's turn wrote, of each value the beginning, by the time it was written. Raises 404
    ``not_found``."""
    page = find_page(db, account, page_id)
    made = sorted(written_by(db, page_id), key=lambda each: (each.created_at, each.id))
    return page, find_floor(db, account, page.floor_id), made


def list_live(
    db: Connection, account: str, session_id: str, branch_id: str | None, namespace: str | None
) -> list[tuple[str, Mutation]]:
    """What holds on the branches of a session, each with its branch, of each value the beginning. Raises 404 ``not_found``."""
    find_session(db, account, session_id)
    query = (
        shown_mutations()
        .add_columns(state_heads.c.branch_id.label("of_branch"))
        .join(state_heads, state_heads.c.mutation_id == state_mutations.c.id)
        .where(state_heads.c.session_id == session_id)
        .order_by(state_heads.c.branch_id, state_heads.c.namespace, state_heads.c.slot)
    )
    if branch_id is not None:
        query = query.where(state_heads.c.branch_id == branch_id)
    if namespace is not None:
        query = query.where(state_heads.c.namespace == namespace)
    return [(row.of_branch, mutation_of(row)) for row in db.execute(query)]


def live_value(
    db: Connection, account: str, session_id: str, branch_id: str, wanted: Wanted, source_floor_id: str | None
) -> StateValue:
    """What one slot holds on a branch, or held at a floor. Raises as ``resolve`` does, and 404 ``not_found`` for a slot that
    was never written in the session."""
    found = resolve(db, account, session_id, branch_id, wanted, source_floor_id)
    return _only(found, wanted)


def list_kept(db: Connection, account: str, floor_id: str, namespace: str | None) -> tuple[Floor, list[Mutation]]:
    """A floor, and what held when it was committed. Raises 404 ``not_found``."""
    floor = find_floor(db, account, floor_id)
    kept = mutations_of(db, snapshot_ids(db, floor_id), Wanted(namespace))
    return floor, sorted(kept, key=lambda mutation: mutation.key)


def kept_value(db: Connection, account: str, floor_id: str, wanted: Wanted) -> tuple[Floor, StateValue]:
    """A floor, and what one slot held when it was committed. Raises 404 ``not_found``."""
    session_id = find_floor(db, account, floor_id).session_id
    floor, found = read_snapshot(db, account, session_id, floor_id, wanted)
    return floor, _only(found, wanted)


def compare_floor(
    db: Connection, account: str, floor_id: str, against_floor_id: str | None, branch_id: str | None, wanted: Wanted
) -> list[Difference]:
    """A floor beside another or a branch. Raises as ``compare`` does."""
    session_id = find_floor(db, account, floor_id).session_id
    return compare(db, account, session_id, floor_id, against_floor_id, branch_id, wanted)


def _only(found: list[StateValue], wanted: Wanted) -> StateValue:
    if not found:
        raise failure("not_found", "Nothing was ever written there.", namespace=wanted.namespace, slot=wanted.slot)
    return found[0]
