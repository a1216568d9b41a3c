"""A branch's variables as a floor saw them, for branches that begin at that floor.

The snapshot is exact: made in the transaction that commits the floor, after the run's writes. A fork copies it and never
falls back to what the branch holds today (seed 000, ``branch_local_variable_snapshot``).
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Connection,
    String,
    Text,
    bindparam,
    cast,
    func,
    literal,
    literal_column,
    select,
    true,
)

from agentui.jsonio import Json, dumps_text
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import branch_snapshots, variables
from agentui.variables.errors import SnapshotMissing
from agentui.variables.journal import set_texts
from agentui.variables.resolve import load_targets
from agentui.variables.scopes import branch_target
from agentui.variables.values import parse, render


def save_snapshot_of(db: Connection, account: str, floor_id: str, session_id: str, branch_id: str, now: int) -> None:
    """Keep the variables of the floor's branch as they are now, in place of an older snapshot. The caller knows that the floor
    lies on this branch."""
    branch = branch_target(session_id, branch_id).scope_id
    _SAVE.run(db, {"floor": floor_id, "account": account, "branch": branch, "now": now})


def load_branch_snapshot(db: Connection, account: str, floor_id: str) -> dict[str, Json]:
    """The branch's variables as the floor saw them. Raises SnapshotMissing."""
    found = _SNAPSHOT.first(db, {"floor": floor_id, "account": account})
    if found is None:
        raise SnapshotMissing(
            "This floor has no snapshot of its branch's variables, so no branch can take them over. Fork from another "
            "committed floor.",
            floor_id=floor_id,
        )
    values: dict[str, Json] = parse(found[0])
    return values


_SNAPSHOT = Prepared(
    select(branch_snapshots.c.values_json).where(
        branch_snapshots.c.floor_id == bindparam("floor"), branch_snapshots.c.account_id == bindparam("account")
    )
)


def fork_branch_variables(
    db: Connection, account: str, session_id: str, source_floor_id: str, new_branch_id: str, now: int
) -> None:
    """Give a new branch the variables that the source floor saw, and no others. Raises SnapshotMissing.

    The branch must be in the registry, in this transaction or before. Values stay as they are; ids and times are new.
    """
    set_branch_values(db, account, session_id, new_branch_id, load_branch_snapshot(db, account, source_floor_id), now)


def set_branch_values(
    db: Connection, account: str, session_id: str, branch_id: str, values: Mapping[str, Json], now: int
) -> None:
    """Give a branch these variables and no others; those that have their value already stay untouched."""
    target = branch_target(session_id, branch_id)
    current = {key: variable.value_json for key, variable in load_targets(db, account, [target])["branch"].items()}
    texts: dict[str, str | None] = {**dict.fromkeys(current), **{key: render(value) for key, value in values.items()}}
    set_texts(db, account, {(target, key): text for key, text in texts.items() if text != current.get(key)}, now)


def save_snapshot_values(db: Connection, account: str, floor_id: str, values: Mapping[str, Json], now: int) -> None:
    """Keep these variables as what the floor left on its branch, in place of an older snapshot."""
    row = {"floor_id": floor_id, "account_id": account, "values_json": _as_object(values), "created_at": now}
    _SAVE_VALUES.run(db, {**row, "is_journaled": True})


_KEY, _COLON, _COMMA = variables.c.key, literal_column("':'", Text), literal_column("','", Text)
_MEMBERS: Final[Mapping[str, Any]] = {
    "sqlite": func.group_concat(func.json_quote(_KEY) + _COLON + variables.c.value_json, _COMMA),
    "postgresql": func.string_agg(cast(func.to_json(_KEY), Text) + _COLON + variables.c.value_json, _COMMA),
}
"""All of a branch's variables as the members of a JSON object, in each engine's words; null where there is none."""


_COLUMNS = ("floor_id", "account_id", "values_json", "created_at", "is_journaled")


def _saving(engine: str) -> Any:
    """Put the branch's texts together where they are: fetching them only to send them back would cost and could change them."""
    members = func.coalesce(_MEMBERS[engine], literal_column("''", Text))
    account = bindparam("account", type_=String)
    row = select(
        bindparam("floor", type_=String),
        account,
        literal_column("'{'", Text) + members + literal_column("'}'", Text),
        bindparam("now", type_=BigInteger),
        true(),
    ).where(
        variables.c.account_id == account, variables.c.scope == literal("branch"), variables.c.scope_id == bindparam("branch")
    )
    statement = INSERT[engine](branch_snapshots).from_select(_COLUMNS, row)
    return statement.on_conflict_do_update(
        index_elements=["floor_id"],
        set_={name: statement.excluded[name] for name in _COLUMNS[1:]},
    )


def _as_object(values: Mapping[str, Json]) -> str:
    """A snapshot's JSON text; each value is one that can be kept, however many there are."""
    return "{" + ",".join(f"{dumps_text(key)}:{render(value)}" for key, value in values.items()) + "}"


def _saving_values(engine: str) -> Any:
    statement = INSERT[engine](branch_snapshots).values(named(branch_snapshots, *_COLUMNS))
    written = {name: statement.excluded[name] for name in _COLUMNS[1:]}
    return statement.on_conflict_do_update(index_elements=["floor_id"], set_=written)


_SAVE = Prepared({engine: _saving(engine) for engine in INSERT})
_SAVE_VALUES = Prepared({engine: _saving_values(engine) for engine in INSERT})
