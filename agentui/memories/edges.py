"""The rows of edges (TavernHeadless' contract, 3.4): what one item is to another, and the pages that say so.

An edge from an item to itself, and edges in a circle, are accepted: they hide nothing (``sight.py``).
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, String, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.chats.rows import insert_new
from agentui.ids import new_short_id
from agentui.memories.items import find_sources
from agentui.memories.records import Edge, Relation, Source
from agentui.memories.revisions import count_write
from agentui.store.prepared import OneOf, Prepared, named, texts
from agentui.store.tables import memory_edge_sources, memory_edges, memory_items


def create_edge(
    db: Connection,
    account: str,
    from_id: str,
    to_id: str,
    relation: Relation,
    now: int,
    sources: Sequence[tuple[str, str | None]] = (),
) -> Edge:
    """Write an edge. Raises 404 ``memory_edge_node_not_found`` where one end is not there, 404 ``not_found`` for a page that is
    not, 409 ``memory_edge_conflict`` for one that there is."""
    # Held, so that neither end goes before the edge is there.
    ends = select(memory_items.c.id, memory_items.c.session_id).where(
        memory_items.c.account_id == account, memory_items.c.id.in_({from_id, to_id})
    )
    found = {row.id: row.session_id for row in db.execute(ends.order_by(memory_items.c.id).with_for_update(read=True))}
    for end in (from_id, to_id):
        if end not in found:
            raise failure("memory_edge_node_not_found", "There is no such memory to be an end of an edge.", id=end)
    told = find_sources(db, account, sources)
    session_id = found[to_id] or found[from_id]
    values = {
        "id": new_short_id(),
        "account_id": account,
        "session_id": session_id,
        "from_id": from_id,
        "to_id": to_id,
        "relation": relation,
        "revision": count_write(db, account, session_id),
        "created_at": now,
    }
    if not insert_new(db, memory_edges, values):
        raise _conflict(from_id, to_id, relation)
    _put_sources(db, account, values["id"], told)
    return find_edge(db, account, values["id"])


def _put_sources(db: Connection, account: str, edge_id: str, sources: Iterable[Source]) -> None:
    for source in sources:
        names = {"edge_id": edge_id, "page_id": source.page_id, "floor_id": source.floor_id}
        _INSERT_SOURCE.run(db, {**names, "account_id": account, "quote": source.quote})


_INSERT_SOURCE = Prepared(insert(memory_edge_sources).values(named(memory_edge_sources, *memory_edge_sources.c.keys())))


def find_edge(db: Connection, account: str, edge_id: str, *, hold: bool = False) -> Edge:
    """An edge. Raises 404 ``not_found``. ``hold`` lets nobody else change it until the transaction ends."""
    row = (_HOLD if hold else _FIND).row(db, {"edge": edge_id, "account": account})
    if row is None:
        raise failure("not_found", "There is no such edge.", id=edge_id)
    return _edges_of(db, account, [row])[0]


_NAMED = select(memory_edges).where(
    memory_edges.c.id == bindparam("edge", type_=String), memory_edges.c.account_id == bindparam("account", type_=String)
)
_FIND, _HOLD = Prepared(_NAMED), Prepared(_NAMED.with_for_update())


def list_edges(
    db: Connection,
    account: str,
    paging: Paging,
    from_id: str | None = None,
    to_id: str | None = None,
    relation: Relation | None = None,
) -> Listed[Edge]:
    """The account's edges, by the time when they were made."""
    query = select(memory_edges).where(memory_edges.c.account_id == account)
    for name, value in (("from_id", from_id), ("to_id", to_id), ("relation", relation)):
        if value is not None:
            query = query.where(memory_edges.c[name] == value)
    listed = list_rows(db, query, paging, memory_edges.c.created_at, memory_edges.c.id)
    return Listed(_edges_of(db, account, listed.items), listed.total)


def change_edge(db: Connection, account: str, edge_id: str, relation: Relation) -> Edge:
    """Give an edge another relation. Raises 404 ``not_found``, 409 ``memory_edge_conflict``."""
    number = count_write(db, account, _session_of(db, account, edge_id), rewrites=True)
    before = find_edge(db, account, edge_id, hold=True)
    own = memory_edges.c.id == edge_id, memory_edges.c.account_id == account
    try:
        with db.begin_nested():
            db.execute(update(memory_edges).where(*own).values(relation=relation, revision=number))
    except IntegrityError as error:
        raise _conflict(before.from_id, before.to_id, relation) from error
    return find_edge(db, account, edge_id)


def delete_edge(db: Connection, account: str, edge_id: str) -> None:
    """Remove an edge. Raises 404 ``not_found``."""
    count_write(db, account, _session_of(db, account, edge_id), rewrites=True)
    find_edge(db, account, edge_id, hold=True)
    db.execute(delete(memory_edges).where(memory_edges.c.id == edge_id, memory_edges.c.account_id == account))


def _session_of(db: Connection, account: str, edge_id: str) -> str | None:
    """The chat of an edge, whose write is counted before the edge is held: who removes an item counts that, and then waits for
    its edges. Raises 404 ``not_found``."""
    find_edge(db, account, edge_id)
    own = memory_edges.c.id == edge_id, memory_edges.c.account_id == account
    session_id: str | None = db.execute(select(memory_edges.c.session_id).where(*own)).scalar_one()
    return session_id


def _conflict(from_id: str, to_id: str, relation: str) -> Exception:
    message = f"There is an edge {relation} between these memories already."
    return failure("memory_edge_conflict", message, from_id=from_id, to_id=to_id, relation=relation)


def _edges_of(db: Connection, account: str, rows: Sequence[AnyRow]) -> list[Edge]:
    by_edge: dict[str, list[Source]] = {}
    if rows:
        for edge_id, *source in _SOURCES.all(db, {"ids": texts([row.id for row in rows]), "account": account}):
            by_edge.setdefault(edge_id, []).append(Source(*source))
    return [Edge(row.id, row.from_id, row.to_id, row.relation, row.created_at, by_edge.get(row.id, [])) for row in rows]


_SOURCES = Prepared(
    select(
        memory_edge_sources.c.edge_id,
        memory_edge_sources.c.page_id,
        memory_edge_sources.c.floor_id,
        memory_edge_sources.c.quote,
    )
    .where(OneOf(memory_edge_sources.c.edge_id, "ids"), memory_edge_sources.c.account_id == bindparam("account", type_=String))
    .order_by(memory_edge_sources.c.edge_id, memory_edge_sources.c.page_id)
)
