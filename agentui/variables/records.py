"""The durable variables: one row each, written whole, found by id or by place and key.

A write makes a variable or changes the one that is there; its id stays, its version counts up. Variables whose host is
gone (orphans) are never shown, but can be deleted by id (seed 000, "删除变量").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, delete, func, literal, select, true

from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.paging import fitting, length
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import branches, floors, pages, sessions, variables
from agentui.variables.errors import DuplicateTarget, VariableNotFound
from agentui.variables.places import has_host, hold_writable
from agentui.variables.scopes import Scope, Target, scope_ref
from agentui.variables.values import parse

SortBy = Literal["updated_at", "key"]


class Variable(NamedTuple):
    """One variable as it is kept; ``value_json`` is its JSON text, ``updated_at`` milliseconds since 1970."""

    id: str
    scope: Scope
    scope_id: str
    key: str
    value_json: str
    version: int
    updated_at: int

    @property
    def value(self) -> Json:
        """The value, read anew with every access, so that nobody shares it."""
        return parse(self.value_json)

    @property
    def target(self) -> Target:
        """Where it stands."""
        return Target(self.scope, self.scope_id)

    def as_json(self) -> dict[str, Json]:
        """The Variable object of seed 000."""
        return {
            "id": self.id,
            "scope": self.scope,
            "scope_id": self.scope_id,
            **scope_ref(self.target),
            "key": self.key,
            "value": self.value,
            "updated_at": self.updated_at,
        }


COLUMNS = tuple(variables.c[name] for name in Variable._fields)
"""The columns of a Variable, in its order."""


@dataclass(frozen=True, slots=True)
class Put:
    """A variable to write; ``value_json`` comes from ``values.render``, ``key`` has passed ``values.check_key``."""

    target: Target
    key: str
    value_json: str


class Written(NamedTuple):
    """A variable after its writing, and whether that made it."""

    variable: Variable
    is_new: bool


def put(db: Connection, account: str, write: Put, now: int) -> Written:
    """Write one variable. Raises HostNotFound and TargetLocked."""
    return put_all(db, account, [write], now)[0]


def put_all(db: Connection, account: str, writes: Sequence[Put], now: int) -> list[Written]:
    """Write variables of unlocked hosts, in the order given: all, or none when one cannot be written.

    Raises DuplicateTarget, HostNotFound and TargetLocked.
    """
    seen: dict[tuple[Target, str], int] = {}
    for index, write in enumerate(writes):
        first = seen.setdefault((write.target, write.key), index)
        if first != index:
            raise DuplicateTarget(
                f"Item {index} writes the same variable as item {first}: {write.key[:200]!r} of {write.target.scope_id!r}.",
                index=index,
                first_index=first,
            )
    hold_writable(db, account, (write.target for write in writes))
    return upsert(db, account, writes, now)


def upsert(db: Connection, account: str, writes: Sequence[Put], now: int) -> list[Written]:
    """Write variables without asking whether their hosts allow it; no two may be the same variable."""
    if not writes:
        return []
    rows = [
        {
            "id": new_short_id(),
            "account_id": account,
            "scope": write.target.scope,
            "scope_id": write.target.scope_id,
            "key": write.key,
            "value_json": write.value_json,
            "version": 1,
            "updated_at": now,
        }
        for write in writes
    ]
    # One order for all writers: two never wait for each other. Ids were given before, so a list by time keeps the caller's.
    rows.sort(key=lambda row: (row["scope"], row["scope_id"], row["key"]))
    written = {}
    for id, scope, scope_id, key, version in _UPSERT.each(db, rows):
        written[scope, scope_id, key] = id, version
    results = []
    for write in writes:
        target = write.target
        id, version = written[target.scope, target.scope_id, write.key]
        variable = Variable(id, target.scope, target.scope_id, write.key, write.value_json, version, now)
        results.append(Written(variable, version == 1))
    return results


def _upsert_of(insert: Any) -> Any:
    columns = ("id", "account_id", "scope", "scope_id", "key", "value_json", "version", "updated_at")
    statement = insert(variables).values(named(variables, *columns))
    return statement.on_conflict_do_update(
        index_elements=["account_id", "scope", "scope_id", "key"],
        set_={
            "value_json": statement.excluded.value_json,
            "updated_at": statement.excluded.updated_at,
            "version": variables.c.version + 1,
        },
    ).returning(variables.c.id, variables.c.scope, variables.c.scope_id, variables.c.key, variables.c.version)


_SIZE = length(variables.c.key, variables.c.value_json)
_UPSERT = Prepared({engine: _upsert_of(insert) for engine, insert in INSERT.items()})


def get(db: Connection, account: str, id: str) -> Variable:
    """A variable by its id. Raises VariableNotFound, also for an orphan."""
    variable = _by_id(db, account, id)
    if variable is None or not has_host(db, account, variable.target):
        raise VariableNotFound(f"There is no variable {id[:100]!r}.", id=id[:100])
    return variable


def remove(db: Connection, account: str, id: str) -> None:
    """Delete a variable by its id, an orphan too. Raises VariableNotFound and TargetLocked."""
    variable = _by_id(db, account, id)
    if variable is None:
        raise VariableNotFound(f"There is no variable {id[:100]!r}.", id=id[:100])
    if has_host(db, account, variable.target):
        hold_writable(db, account, [variable.target])
    db.execute(delete(variables).where(variables.c.id == id, variables.c.account_id == account))


def delete_at(db: Connection, account: str, target: Target, key: str) -> None:
    """Delete the variable at a place, if there is one, without asking whether its host allows it."""
    place = variables.c.scope == target.scope, variables.c.scope_id == target.scope_id, variables.c.key == key
    db.execute(delete(variables).where(variables.c.account_id == account, *place))


def _by_id(db: Connection, account: str, id: str) -> Variable | None:
    row = db.execute(select(*COLUMNS).where(variables.c.id == id, variables.c.account_id == account)).one_or_none()
    return None if row is None else Variable._make(row)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which variables to list; None asks nothing. ``session_id``: those of all branches of this session."""

    scope: Scope | None = None
    scope_id: str | None = None
    key: str | None = None
    session_id: str | None = None


def find(
    db: Connection,
    account: str,
    wanted: Filter,
    *,
    sort_by: SortBy = "updated_at",
    descending: bool = True,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Variable], int]:
    """One page of the account's variables and how many there are in all; equal ones stay in the order they were made."""
    conditions = [variables.c.account_id == account, _has_host(account)]
    for column, value in (
        (variables.c.scope, wanted.scope),
        (variables.c.scope_id, wanted.scope_id),
        (variables.c.key, wanted.key),
    ):
        if value is not None:
            conditions.append(column == value)
    if wanted.session_id is not None:
        conditions.append(variables.c.scope_id.in_(_branch_ids(account).where(branches.c.session_id == wanted.session_id)))
    total = db.execute(select(func.count()).select_from(variables).where(*conditions)).scalar_one()
    column = variables.c[sort_by]
    query = select(*COLUMNS).where(*conditions).order_by(column.desc() if descending else column, variables.c.id)
    limit = fitting(db, query, _SIZE, limit, offset)
    return [Variable._make(row) for row in db.execute(query.limit(limit).offset(offset))], total


def _has_host(account: str) -> ColumnElement[bool]:
    """True of a row whose host exists.

    Branches have no single column to look up, so their ids are put together once for the whole query.
    """
    host_id = variables.c.scope_id
    hosts = {
        "chat": select(sessions.c.id).where(sessions.c.id == host_id, sessions.c.account_id == account).exists(),
        "branch": host_id.in_(_branch_ids(account)),
        "floor": select(floors.c.id).where(floors.c.id == host_id, floors.c.account_id == account).exists(),
        "page": select(pages.c.id).where(pages.c.id == host_id, pages.c.account_id == account).exists(),
    }
    return case(*((variables.c.scope == scope, has_host) for scope, has_host in hosts.items()), else_=true())


def _branch_ids(account: str) -> Select[Any]:
    """The scope_ids of the account's branches."""
    ids = literal("branch:") + branches.c.session_id + literal(":") + branches.c.branch_id
    return select(ids).where(branches.c.account_id == account)
