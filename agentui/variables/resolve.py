"""The five tiers as one mapping: page > floor > branch > chat > global."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import Connection, Integer, bindparam, literal, literal_column, select, union_all

from agentui.store.prepared import Prepared
from agentui.store.tables import variables
from agentui.variables.hosts import Place, find_place
from agentui.variables.records import Variable
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target

T = TypeVar("T")

Layers = dict[Scope, dict[str, Variable]]
"""The variables of each tier by their keys; a tier without a host is not there."""


class Winner(NamedTuple, Generic[T]):
    """The value that a key has here, and the tier it comes from."""

    scope: Scope
    value: T


def resolve(layers: Mapping[Scope, Mapping[str, T]]) -> dict[str, Winner[T]]:
    """The winning value of every key, keys in order. A null wins like any value."""
    won: dict[str, Winner[T]] = {}
    for scope in reversed(SCOPES):
        for key, value in layers.get(scope, {}).items():
            if key not in won:
                won[key] = Winner(scope, value)
    return {key: won[key] for key in sorted(won)}


def load_place(
    db: Connection, account: str, session_id: str, branch_id: str | None, floor_id: str | None, page_id: str | None
) -> tuple[Place, Layers]:
    """The place that the ids mean, what is deeper naming what is above it, and all variables visible from there.

    Raises HostNotFound and InvalidContext.
    """
    place = find_place(db, account, session_id, branch_id, floor_id, page_id)
    return place, load_targets(db, account, (GLOBAL, *place.targets))


def load_layers(
    db: Connection, account: str, session_id: str, branch_id: str | None, floor_id: str | None, page_id: str | None
) -> Layers:
    """All variables visible from a place, in one statement and so of one moment. The hosts are not looked for."""
    return load_targets(db, account, (GLOBAL, *Place(session_id, branch_id, floor_id, page_id).targets))


def load_global(db: Connection, account: str) -> Layers:
    """The global variables alone: what a request without a session sees."""
    return load_targets(db, account, (GLOBAL,))


def load_targets(db: Connection, account: str, targets: Sequence[Target]) -> Layers:
    """The variables of some tiers, at most one of each scope."""
    layers: Layers = {target.scope: {} for target in targets}
    ids: dict[str, str] = {"account": account}
    ids.update((target.scope, target.scope_id) for target in targets)
    tiers = [(target.scope, target.scope_id, layers[target.scope]) for target in targets]
    for number, id, key, value_json, version, updated_at in _visible(tuple(layers)).all(db, ids):
        scope, scope_id, tier = tiers[number]
        tier[key] = Variable(id, scope, scope_id, key, value_json, version, updated_at)
    return layers


@cache
def _visible(scopes: tuple[Scope, ...]) -> Prepared:
    """The variables of one host of each scope; the first column is the scope's number among them.

    One search of the unique index for each; put together by OR, SQLite would walk through the whole account.
    """
    columns = [variables.c[name] for name in ("id", "key", "value_json", "version", "updated_at")]
    return Prepared(
        union_all(
            *(
                select(literal_column(str(number), Integer), *columns).where(
                    variables.c.account_id == bindparam("account"),
                    variables.c.scope == literal(scope),
                    variables.c.scope_id == bindparam(scope),
                )
                for number, scope in enumerate(scopes)
            )
        )
    )
