"""The floors that a floor goes on from, and that a branch leads through.

    main   0 - 1 - 2 - 3
    alt             '- 3' - 4'      leads through 0, 1, 2, 3' and 4': its source is floor 2

A floor knows its parent, so that a branch keeps its past whatever happens to the one it was forked from. One without a parent
that exists goes on from the committed floor before it on its branch, else from where the branch was forked.
"""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, literal, or_, select, update

from agentui.chats.records import Branch, Floor, floor_of
from agentui.chats.rows import find_floor, on_branch
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, floors

_AT_ONCE = 64
"""Floors of one statement."""


def ancestors(db: Connection, account: str, floor_id: str) -> Iterator[list[str]]:
    """The ids of all floors before a floor, newest first, as many at once as one statement finds."""
    return (list(found) for found in _walk(db, account, floor_id))


def committed_before(db: Connection, account: str, floor: Floor) -> list[str]:
    """The ids of a floor and of all before it that are committed, first to last."""
    ids = [floor.id] if floor.state == "committed" else []
    for found in _walk(db, account, floor.id):
        ids += [id for id, state in found.items() if state == "committed"]
    ids.reverse()
    return ids


def committed_since(db: Connection, account: str, floor: Floor, known: str | None) -> list[str] | None:
    """The same of the floors behind ``known``, all where that is None; None where the floor does not go on from it."""
    if known is None or known == floor.id:
        return committed_before(db, account, floor) if known is None else []
    ids = [floor.id] if floor.state == "committed" else []
    for found in _walk(db, account, floor.id):
        for id, state in found.items():
            if id == known:
                return ids[::-1]
            if state == "committed":
                ids.append(id)
    return None


def _walk(db: Connection, account: str, floor_id: str) -> Iterator[dict[str, str]]:
    """The states of all floors before a floor by id, newest first, as many at once as one statement finds."""
    last: str | None = floor_id
    seen = {floor_id}
    while last is not None:
        rows = _NEXT.all(db, {"floor": last, "account": account})
        found = {id: state for id, state in rows if id not in seen}
        if found:
            yield found
        seen.update(found)
        last = next(reversed(found)) if len(found) == _AT_ONCE else None


def _next() -> Prepared:
    """The floors before a floor, one a row: id and state, newest first."""
    mine = (floors.c.id == bindparam("floor"), floors.c.account_id == bindparam("account"))
    chain = select(floors.c.id, literal(0).label("steps")).where(*mine)
    walk = chain.cte("walk", recursive=True)
    child, parent, before, source = (floors.alias(name) for name in ("child", "parent", "before", "source"))
    known = select(parent.c.id).where(parent.c.id == child.c.parent_floor_id, parent.c.session_id == child.c.session_id)
    live = and_(before.c.superseded_at.is_(None), before.c.state == "committed", before.c.floor_no < child.c.floor_no)
    here = and_(before.c.session_id == child.c.session_id, before.c.branch_id == child.c.branch_id)
    # What came onto the branch after the floor was set aside is no past of it: a branch begins anew where all its floors went.
    earlier = or_(child.c.superseded_at.is_(None), before.c.created_at < child.c.superseded_at)
    below = select(before.c.id).where(here, live, earlier).order_by(before.c.floor_no.desc()).limit(1)
    forked = (
        select(source.c.id)
        .join(branches, branches.c.source_floor_id == source.c.id)
        .where(branches.c.session_id == child.c.session_id, branches.c.branch_id == child.c.branch_id)
    )
    found = func.coalesce(*(part.correlate(child).scalar_subquery() for part in (known, below, forked)))
    step = (
        select(found, walk.c.steps + 1)
        .select_from(walk.join(child, child.c.id == walk.c.id))
        .where(walk.c.steps < _AT_ONCE, found.is_not(None))
    )
    walk = walk.union_all(step)
    found_floors = select(walk.c.id, floors.c.state).join(floors, floors.c.id == walk.c.id)
    return Prepared(found_floors.where(walk.c.steps > 0).order_by(walk.c.steps))


_NEXT = _next()


def branch_path(db: Connection, account: str, session_id: str, branch_id: str) -> list[Floor]:
    """Every floor that a branch leads through, first to last. Of its own all live ones, whatever their state; before them the
    floor behind which it was forked, superseded or not, and that one's ancestors. Nothing for an unknown branch."""
    own = own_floors(db, account, session_id, branch_id)
    source = source_of(db, account, session_id, branch_id)
    if source is None:
        return own
    before = [source]
    for ids in ancestors(db, account, source.id):
        found = {row.id: floor_of(row) for row in db.execute(select(floors).where(floors.c.id.in_(ids)))}
        before += [found[id] for id in ids]
    return [*reversed(before), *own]


def own_floors(db: Connection, account: str, session_id: str, branch_id: str) -> list[Floor]:
    """The live floors that lie on the branch itself, in order."""
    rows = db.execute(select(floors).where(*on_branch(account, session_id, branch_id)).order_by(floors.c.floor_no))
    return [floor_of(row) for row in rows]


def source_of(db: Connection, account: str, session_id: str, branch_id: str) -> Floor | None:
    """The floor that a branch was forked from; None for one that has no source."""
    row = db.execute(
        select(floors)
        .join(branches, branches.c.source_floor_id == floors.c.id)
        .where(branches.c.session_id == session_id, branches.c.branch_id == branch_id, branches.c.account_id == account)
    ).one_or_none()
    return floor_of(row) if row is not None else None


def bridge_floor(db: Connection, account: str, floor: Floor) -> None:
    """Let what stands behind a floor stand behind the one before it: the floor is about to be removed."""
    ids = next(ancestors(db, account, floor.id), None)
    before = find_floor(db, account, ids[0]) if ids else None
    _bridge(db, account, floor.session_id, select(floors.c.id).where(floors.c.id == floor.id), before)


def bridge_branch(db: Connection, account: str, branch: Branch) -> None:
    """Let what was forked from a branch stand behind that one's source: the branch is about to be removed."""
    lying = (floors.c.session_id == branch.session_id, floors.c.branch_id == branch.branch_id)
    source = source_of(db, account, branch.session_id, branch.branch_id)
    _bridge(db, account, branch.session_id, select(floors.c.id).where(*lying), source, floors.c.branch_id != branch.branch_id)


def _bridge(
    db: Connection,
    account: str,
    session_id: str,
    removed: Select[tuple[str]],
    before: Floor | None,
    *stays: ColumnElement[bool],
) -> None:
    """Put ``before`` in the place of the removed floors wherever one is named as a parent, by a floor that ``stays``, or as a
    source."""
    here = (floors.c.account_id == account, floors.c.session_id == session_id, *stays)
    before_id = before.id if before is not None else None
    db.execute(update(floors).where(*here, floors.c.parent_floor_id.in_(removed)).values(parent_floor_id=before_id))
    db.execute(update(floors).where(*here, floors.c.superseded_by_floor_id.in_(removed)).values(superseded_by_floor_id=None))
    db.execute(
        update(branches)
        .where(branches.c.account_id == account, branches.c.session_id == session_id, branches.c.source_floor_id.in_(removed))
        .values(source_floor_id=before_id, source_branch_id=before.branch_id if before is not None else None)
    )
