"""Which mutations hold on a branch, and which held when a floor was committed.

    direct write             the branch's head of the slot points to a new mutation
    commit of a turn         the same, and the floor's snapshot keeps all heads of its branch
    fork, reset              the branch gets the heads of a snapshot
    another version          heads that the old one set go back, unless somebody has written since

A floor without a snapshot was committed when its branch held nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, Select, String, Text, bindparam, cast, delete, func, insert, select, update

from agentui.chats.state.records import EVERYTHING, PREVIEW, Heads, Key, Mutation, Wanted, mutation_of
from agentui.jsonio import dumps_text, loads
from agentui.store.prepared import INSERT, Prepared
from agentui.store.tables import state_heads, state_mutations, state_snapshots

_AT_ONCE = 5000
"""Ids in one statement; PostgreSQL takes 65,535 parameters."""


def heads_of(db: Connection, session_id: str, branch_id: str) -> dict[Key, str]:
    """The mutations that hold on a branch."""
    return {Key(namespace, slot): id for namespace, slot, id in _HEADS.all(db, {"session": session_id, "branch": branch_id})}


_NAMED_BRANCH = state_heads.c.session_id == bindparam("session"), state_heads.c.branch_id == bindparam("branch")
_HEADS = Prepared(select(state_heads.c.namespace, state_heads.c.slot, state_heads.c.mutation_id).where(*_NAMED_BRANCH))
_FORGET_HEADS = Prepared(delete(state_heads).where(*_NAMED_BRANCH))


def set_head(db: Connection, account: str, session_id: str, branch_id: str, mutation: Mutation) -> None:
    """Let a mutation hold on a branch."""
    delete_head(db, session_id, branch_id, mutation.key)
    db.execute(insert(state_heads), _row(account, session_id, branch_id, mutation))


def delete_head(db: Connection, session_id: str, branch_id: str, key: Key) -> None:
    """Let nothing be known of a slot on a branch."""
    db.execute(delete(state_heads).where(*_of_branch(session_id, branch_id), *_at(key)))


def set_heads(db: Connection, account: str, session_id: str, branch_id: str, heads: Heads) -> None:
    """Let these mutations hold on a branch, and no others."""
    _FORGET_HEADS.run(db, {"session": session_id, "branch": branch_id})
    rows = [_row(account, session_id, branch_id, mutation) for mutation in mutations_of(db, heads.values())]
    if rows:
        db.execute(insert(state_heads), rows)


def shown_mutations() -> "Select[tuple[object, ...]]":
    """Mutations with the beginnings of their values: what is asked of many, whose values may be gigabytes together."""
    columns = [column for column in state_mutations.c if column.name != "value_json"]
    return select(*columns, func.substr(state_mutations.c.value_json, 1, PREVIEW).label("value_json"))


def mutations_of(
    db: Connection, ids: Iterable[str], wanted: Wanted = EVERYTHING, *, with_values: bool = False
) -> Iterator[Mutation]:
    """Mutations by their ids, those that exist and are wanted; they are read as they are taken, and have only the beginnings of
    their values unless they are asked for ``with_values``."""
    every = list(ids)
    query: Select[Any] = select(state_mutations) if with_values else shown_mutations()
    named = {"namespace": wanted.namespace, "slot": wanted.slot}
    where = [state_mutations.c[name] == value for name, value in named.items() if value is not None]
    for start in range(0, len(every), _AT_ONCE):
        part = state_mutations.c.id.in_(every[start : start + _AT_ONCE])
        with db.execute(query.where(part, *where)) as rows:
            for row in rows:
                yield mutation_of(row)


def save_snapshot(db: Connection, account: str, floor_id: str, session_id: str, branch_id: str, now: int) -> None:
    """Keep what holds on the branch of a floor that is committed now."""
    _SAVE.run(db, {"floor": floor_id, "account": account, "session": session_id, "branch": branch_id, "now": now})


def renew_snapshot(db: Connection, account: str, floor_id: str, session_id: str, branch_id: str, now: int) -> None:
    """The same in place of an older snapshot."""
    _FORGET_SNAPSHOT.run(db, {"floor": floor_id})
    save_snapshot(db, account, floor_id, session_id, branch_id, now)


def save_snapshot_heads(db: Connection, account: str, floor_id: str, heads: Heads, now: int) -> None:
    """Keep these mutations as what held when a floor was committed, in place of an older snapshot."""
    _FORGET_SNAPSHOT.run(db, {"floor": floor_id})
    row = {"floor_id": floor_id, "account_id": account, "mutations_json": dumps_text([*heads.values()]), "created_at": now}
    db.execute(insert(state_snapshots), row)


def snapshot_ids(db: Connection, floor_id: str) -> list[str]:
    """The mutations that held when a floor was committed."""
    found = _SNAPSHOT.first(db, {"floor": floor_id})
    ids: list[str] = [] if found is None else loads(found[0])
    return ids


_SNAPSHOT = Prepared(select(state_snapshots.c.mutations_json).where(state_snapshots.c.floor_id == bindparam("floor")))
_FORGET_SNAPSHOT = Prepared(delete(state_snapshots).where(state_snapshots.c.floor_id == bindparam("floor")))


def snapshot_heads(db: Connection, floor_id: str) -> dict[Key, str]:
    """The same by their slots."""
    return {mutation.key: mutation.id for mutation in mutations_of(db, snapshot_ids(db, floor_id))}


def heads_before(db: Connection, floor_id: str, page_id: str | None) -> dict[Key, str]:
    """What held when a floor was committed, without what the turn of its page wrote."""
    return without(snapshot_heads(db, floor_id), written_by(db, page_id))


def without(heads: Heads, made: Iterable[Mutation]) -> dict[Key, str]:
    """What held, without mutations of one turn."""
    left = dict(heads)
    for mutation in made:
        if left.get(mutation.key) == mutation.id:
            del left[mutation.key]
            if mutation.before_id is not None:
                left[mutation.key] = mutation.before_id
    return left


def written_by(db: Connection, page_id: str | None) -> Sequence[Mutation]:
    """What the turn of an output page wrote, whether it holds or not, with the beginnings of the values."""
    if page_id is None:
        return ()
    return [mutation_of(row) for row in _WRITTEN_BY.rows(db, {"page": page_id})]


_WRITTEN_BY = Prepared(shown_mutations().where(state_mutations.c.page_id == bindparam("page")))


def take_back(db: Connection, account: str, session_id: str, branch_id: str, page_id: str | None, now: int) -> None:
    """Undo what the turn of a page wrote, as far as nobody has written there since."""
    made = written_by(db, page_id)
    _move(db, account, session_id, branch_id, [(each.key, each.id, each.before_id) for each in made])
    _mark(db, page_id, "discarded", now)


def bring_back(db: Connection, account: str, session_id: str, branch_id: str, page_id: str, now: int) -> None:
    """Let what the turn of a page wrote hold again, where what it began with is there."""
    made = written_by(db, page_id)
    _move(db, account, session_id, branch_id, [(each.key, each.before_id, each.id) for each in made])
    _mark(db, page_id, "applied", now)


def _move(
    db: Connection, account: str, session_id: str, branch_id: str, steps: Sequence[tuple[Key, str | None, str | None]]
) -> None:
    """Let slots point elsewhere, each from the mutation (None: none) that must be there."""
    if not steps:
        return
    heads = heads_of(db, session_id, branch_id)
    found = {mutation.id: mutation for mutation in mutations_of(db, [new for _, _, new in steps if new is not None])}
    for key, old, new in steps:
        if heads.get(key) != old:
            continue
        if new is None:
            delete_head(db, session_id, branch_id, key)
        elif new in found:
            set_head(db, account, session_id, branch_id, found[new])


def discard_of_floors(db: Connection, session_id: str, floor_ids: Sequence[str], now: int) -> None:
    """Say of what the turns of floors of a session wrote that it holds no longer: the floors were set aside."""
    for start in range(0, len(floor_ids), _AT_ONCE):
        # No index has the floor; one has the session.
        of_floors = (
            state_mutations.c.session_id == session_id,
            state_mutations.c.floor_id.in_(floor_ids[start : start + _AT_ONCE]),
        )
        db.execute(update(state_mutations).where(*of_floors).values(status="discarded", updated_at=now))


def _mark(db: Connection, page_id: str | None, status: str, now: int) -> None:
    _MARK.run(db, {"page": page_id, "status_now": status, "now": now})


_MARK = Prepared(
    update(state_mutations)
    .where(state_mutations.c.page_id == bindparam("page"), state_mutations.c.status != bindparam("status_now"))
    .values(status=bindparam("status_now"), updated_at=bindparam("now"))
)


def _row(account: str, session_id: str, branch_id: str, mutation: Mutation) -> dict[str, object]:
    return {
        "session_id": session_id,
        "branch_id": branch_id,
        "namespace": mutation.namespace,
        "slot": mutation.slot,
        "account_id": account,
        "mutation_id": mutation.id,
        "size": mutation.size,
    }


def _of_branch(session_id: str, branch_id: str) -> tuple[Any, ...]:
    return state_heads.c.session_id == session_id, state_heads.c.branch_id == branch_id


def _at(key: Key) -> tuple[Any, ...]:
    return state_heads.c.namespace == key.namespace, state_heads.c.slot == key.slot


_IDS: Final[dict[str, Any]] = {
    "sqlite": func.json_group_array(state_heads.c.mutation_id),
    "postgresql": cast(func.json_agg(state_heads.c.mutation_id), Text),
}
_COLUMNS = ("floor_id", "account_id", "mutations_json", "created_at")


def _saving(engine: str) -> Any:
    """Put the ids together where they are; a branch that holds nothing leaves no row."""
    of_branch = (state_heads.c.session_id == bindparam("session"), state_heads.c.branch_id == bindparam("branch"))
    held = select(_IDS[engine].label("ids"), func.count().label("number")).where(*of_branch).subquery()
    row = select(
        bindparam("floor", type_=String), bindparam("account", type_=String), held.c.ids, bindparam("now", type_=BigInteger)
    ).where(held.c.number > 0)
    return INSERT[engine](state_snapshots).from_select(_COLUMNS, row)


_SAVE = Prepared({engine: _saving(engine) for engine in INSERT})
