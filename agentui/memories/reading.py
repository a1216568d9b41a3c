"""What the rule of sight asks for, read from the store: the path to a floor, items with their sources, and edges.

Read in parts: on PostgreSQL a transaction runs in the event loop, and others are served between two statements.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
)

from agentui.chats.lineage import committed_since, source_of
from agentui.chats.records import MAIN, Floor
from agentui.chats.rows import branch_head, find_branch, find_floor, find_session
from agentui.memories.hosts import branch_scope_id
from agentui.memories.records import HIDING, HiddenReason
from agentui.memories.revisions import NO_SESSION
from agentui.memories.sight import NOTHING_NAMED, EdgeFact, ItemFact, NamedFloor, PageState, Place, Sight, no_sight
from agentui.store.prepared import Found, Prepared
from agentui.store.tables import (
    branches,
    floors,
    memory_edge_sources,
    memory_edges,
    memory_items,
    memory_revisions,
    memory_sources,
    messages,
    pages,
    sessions,
)

AT_ONCE: Final = 200
"""Items of one statement: on PostgreSQL its rows are read in the event loop, which some hundred of them hold a few
milliseconds."""


class Spot(NamedTuple):
    """From where a reader looks: the head of a branch of a session, or a floor. With both, the floor's path and the branch's
    scope: a turn that makes an answer anew looks from the floor before it."""

    session_id: str | None = None
    branch_id: str = MAIN
    floor_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """As of when something was read: while it is the same, nothing of it has changed. ``rewritten`` are the writes by which
    something changed that was there, of the chat's memories and of the global ones, ``revision`` all."""

    floor_id: str | None
    shape: int
    revision: tuple[int, int]
    rewritten: tuple[int, int]

    def is_part_of(self, later: "Stamp") -> bool:
        """Whether what was read as of this one is still so, and only more of it came."""
        is_kept = all(changed <= read for changed, read in zip(later.rewritten, self.revision, strict=True))
        return self.shape == later.shape and is_kept


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read: all, or what is ``new`` since a stamp."""

    place: Place
    stamp: Stamp
    is_new: bool
    floors: Sequence[str]
    items: Sequence[ItemFact]
    edges: Sequence[EdgeFact]

    @property
    def weight(self) -> int:
        """About how many things were read."""
        return len(self.floors) + len(self.items) + len(self.edges)


def look(db: Connection, account: str, spot: Spot) -> Sight:
    """What is seen from a place, inside a transaction. Raises 404 for a session, a branch or a floor that is not there."""
    facts = read_facts(db, account, spot)
    return no_sight(facts.place).extended(facts.place, facts.floors, facts.items, facts.edges)


def read_facts(db: Connection, account: str, spot: Spot, known: Stamp | None = None) -> Facts:
    """What is to be known of a place: what is new since ``known`` where the rest is still so, else all. Where nothing was ever
    remembered, nothing but that is read. Raises 404 as ``look`` does."""
    session_id, branch_id, floor = found_place(db, account, spot)
    place_ids = {"account": account, "session": session_id}
    shape, *counts = _STAMP.first(db, place_ids) or (0, None, None, None, None)
    own_revision, own_rewritten, global_revision, global_rewritten = (count or 0 for count in counts)
    floor_id = None if floor is None else floor.id
    stamp = Stamp(floor_id, shape, (own_revision, global_revision), (own_rewritten, global_rewritten))
    if stamp == known:
        return Facts(Place(account, session_id, branch_id, floor_id, {}), stamp, True, (), (), ())
    place = Place(account, session_id, branch_id, floor_id, _branches(db, account, session_id, branch_id))
    if stamp.revision == (0, 0):
        return Facts(place, stamp, False, (), (), ())
    is_new, path = False, None
    if known is not None and known.revision != (0, 0) and known.is_part_of(stamp):
        path = () if floor is None else committed_since(db, account, floor, known.floor_id)
        is_new = path is not None
    if path is None:
        path = () if floor is None else committed_since(db, account, floor, None) or ()
    since = known.revision if is_new and known is not None else (0, 0)
    items, edges = list[ItemFact](), list[EdgeFact]()
    for owner, after in zip((session_id, None), since, strict=True):
        items += _items(db, account, owner, after)
        edges += _edges(db, account, owner, after)
    return Facts(place, stamp, is_new, path, items, edges)


def found_place(db: Connection, account: str, spot: Spot) -> tuple[str, str, Floor | None]:
    """The session and the branch that are meant, and the floor at which the path ends."""
    if spot.floor_id is not None:
        floor = find_floor(db, account, spot.floor_id)
        return floor.session_id, floor.branch_id if spot.session_id is None else spot.branch_id, floor
    session_id = spot.session_id or ""
    find_session(db, account, session_id)
    find_branch(db, account, session_id, spot.branch_id)
    head = branch_head(db, account, session_id, spot.branch_id)
    return session_id, spot.branch_id, head or source_of(db, account, session_id, spot.branch_id)


def _branches(db: Connection, account: str, session_id: str, branch_id: str) -> Mapping[str, int | None]:
    """A branch and those that it was forked from, by their scope_ids, with the times of the forks."""
    found: dict[str, int | None] = {branch_scope_id(session_id, branch_id): None}
    until: int | None = None
    next_id: str | None = branch_id
    while next_id is not None:
        row = _FORK.first(db, {"account": account, "session": session_id, "branch": next_id})
        if row is None:
            break
        source, created_at = row
        until = created_at if until is None else min(until, created_at)
        if source is None or branch_scope_id(session_id, source) in found:
            break
        found[branch_scope_id(session_id, source)] = until
        next_id = source
    return found


_FORK = Prepared(
    # Where the floor stands that it was forked behind: a merge may have given that to another branch.
    select(func.coalesce(floors.c.branch_id, branches.c.source_branch_id), branches.c.created_at)
    .select_from(branches.outerjoin(floors, floors.c.id == branches.c.source_floor_id))
    .where(
        branches.c.session_id == bindparam("session", type_=String),
        branches.c.branch_id == bindparam("branch", type_=String),
        branches.c.account_id == bindparam("account", type_=String),
    )
)


def _stamping() -> Prepared:
    account, session = bindparam("account", type_=String), bindparam("session", type_=String)
    own = memory_revisions.alias("own")
    every = memory_revisions.alias("every")
    return Prepared(
        select(sessions.c.shape, own.c.revision, own.c.rewritten, every.c.revision, every.c.rewritten)
        .select_from(
            sessions.outerjoin(own, and_(own.c.account_id == account, own.c.session_id == session)).outerjoin(
                every, and_(every.c.account_id == account, every.c.session_id == literal_column(f"'{NO_SESSION}'"))
            )
        )
        .where(sessions.c.id == session, sessions.c.account_id == account)
    )


_STAMP = _stamping()


def _status() -> Any:
    """Why an item is hidden everywhere; null where it is not."""
    columns = memory_items.c
    return case(
        (or_(columns.status != "active", columns.lifecycle_status == "deprecated"), literal_column("'deprecated'")),
        (columns.lifecycle_status != "active", literal_column("'compacted'")),
        (columns.is_waiting, literal_column("'waiting'")),
        else_=null(),
    )


def _state(page: Any) -> Any:
    """Whether a page is active, as a number; null where it is not there."""
    return case((page.c.id.is_(None), null()), (page.c.is_active, literal_column("1")), else_=literal_column("0"))


def _reading(query: Select[Any], table: Any, *, is_of_session: bool) -> Select[Any]:
    """The next rows of a table, behind a revision and an id."""
    own = table.c.session_id == bindparam("session", type_=String) if is_of_session else table.c.session_id.is_(None)
    later = tuple_(table.c.revision, table.c.id) > tuple_(
        bindparam("revision", type_=BigInteger), bindparam("after", type_=String)
    )
    own_account = table.c.account_id == bindparam("account", type_=String)
    return query.where(own_account, own, later).order_by(table.c.revision, table.c.id).limit(bindparam("most", type_=Integer))


def _reading_items(*, is_of_session: bool) -> Prepared:
    columns = memory_items.c
    plain = [columns[name] for name in ("id", "scope", "scope_id", "created_at", "revision")]
    hints = columns.source_floor_id, columns.source_message_id
    some = _reading(select(*plain, *hints, _status().label("why")), memory_items, is_of_session=is_of_session).cte("some")
    page, told = pages.alias("page"), pages.alias("told")
    floor, account = floors.alias("floor"), bindparam("account", type_=String)
    by_hand = memory_sources.c.item_id.is_(None)  # whoever has sources is seen by them alone
    joined = (
        some.outerjoin(memory_sources, memory_sources.c.item_id == some.c.id)
        .outerjoin(page, and_(page.c.id == memory_sources.c.page_id, page.c.account_id == account))
        .outerjoin(messages, and_(by_hand, messages.c.id == some.c.source_message_id, messages.c.account_id == account))
        .outerjoin(told, told.c.id == messages.c.page_id)
        .outerjoin(
            floor,
            and_(by_hand, floor.c.id == func.coalesce(some.c.source_floor_id, told.c.floor_id), floor.c.account_id == account),
        )
    )
    is_aside = case((floor.c.superseded_at.is_(None), literal_column("0")), else_=literal_column("1"))
    return Prepared(
        select(
            *(some.c[name] for name in ("id", "scope", "scope_id", "why", "created_at", "revision")),
            memory_sources.c.floor_id,
            _state(page),
            floor.c.id,
            is_aside,
            _state(told),
        )
        .select_from(joined)
        .order_by(some.c.revision, some.c.id)
    )


_ITEMS: Final = {True: _reading_items(is_of_session=True), False: _reading_items(is_of_session=False)}


def _reading_edges(*, is_of_session: bool) -> Prepared:
    columns = memory_edges.c
    plain = [columns[name] for name in ("id", "from_id", "to_id", "relation", "revision")]
    hiding = select(*plain).where(columns.relation.in_([literal_column(f"'{name}'") for name in HIDING]))
    some = _reading(hiding, memory_edges, is_of_session=is_of_session).cte("some")
    sources = memory_edge_sources
    page_of = and_(pages.c.id == sources.c.page_id, pages.c.account_id == bindparam("account", type_=String))
    joined = some.outerjoin(sources, sources.c.edge_id == some.c.id).outerjoin(pages, page_of)
    return Prepared(
        select(
            *(some.c[name] for name in ("id", "from_id", "to_id", "relation", "revision")), sources.c.floor_id, _state(pages)
        )
        .select_from(joined)
        .order_by(some.c.revision, some.c.id)
    )


_EDGES: Final = {True: _reading_edges(is_of_session=True), False: _reading_edges(is_of_session=False)}


def _items(db: Connection, account: str, session_id: str | None, revision: int) -> Iterator[ItemFact]:
    """The items of a chat, or those of none, that were written since a revision."""
    known = dict[tuple[Any, Any], PageState]()
    for group in _groups(db, _ITEMS[session_id is not None], account, session_id, revision, at=5):
        id, scope, scope_id, why, created_at, *_ = group[0]
        reason: HiddenReason | None = why
        yield ItemFact(id, scope, scope_id, reason, created_at, _states(group, 6, known), _named(group[0][8:]))


def _edges(db: Connection, account: str, session_id: str | None, revision: int) -> Iterator[EdgeFact]:
    """The edges of a chat, or those of none, that were written since a revision and may hide something."""
    known = dict[tuple[Any, Any], PageState]()
    for group in _groups(db, _EDGES[session_id is not None], account, session_id, revision, at=4):
        id, from_id, to_id, relation, *_ = group[0]
        yield EdgeFact(id, from_id, to_id, relation, _states(group, 5, known))


def _groups(
    db: Connection, statement: Prepared, account: str, session_id: str | None, revision: int, *, at: int
) -> Iterator[list[Found]]:
    """The rows of a statement that begin with the same id, together. Their revision stands ``at`` this place."""
    after = "\x7f"  # behind every id: what was written at the revision itself is known
    while True:
        own = {} if session_id is None else {"session": session_id}
        values = {"account": account, **own, "revision": revision, "after": after, "most": AT_ONCE}
        count = 0
        group: list[Found] = []
        for row in statement.all(db, values):
            if group and group[0][0] != row[0]:
                yield group
                group = []
                count += 1
            group.append(row)
        if group:
            yield group
            count += 1
            revision, after = group[0][at], group[0][0]
        if count < AT_ONCE:
            return


def _states(group: Sequence[Found], at: int, known: dict[tuple[Any, Any], PageState]) -> tuple[PageState, ...]:
    """The sources of a group of rows. Many name the same page: each is made once."""
    found = []
    for row in group:
        floor_id, active = pair = row[at], row[at + 1]
        if floor_id is None:
            continue
        state = known.get(pair)
        if state is None:
            state = known[pair] = PageState(floor_id, None if active is None else active == 1)
        found.append(state)
    return tuple(found)


def _named(hints: Found) -> NamedFloor:
    floor_id, is_aside, told = hints
    if floor_id is None and told is None:
        return NOTHING_NAMED
    return NamedFloor(floor_id, is_set_aside=floor_id is not None and is_aside == 1, is_replaced=told == 0)
