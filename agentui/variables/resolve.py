"""The five tiers as one mapping: page > floor > branch > chat > global."""

from collections.abc import Mapping, Sequence, Set
from functools import cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson
from sqlalchemy import Connection, Integer, Text, bindparam, cast, func, literal, literal_column, select, union_all

from agentui.store.paging import total_length
from agentui.store.prepared import INSERT, Prepared
from agentui.store.tables import variables
from agentui.variables.errors import TooMuchAtOnce
from agentui.variables.places import Place, find_place
from agentui.variables.records import Variable
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target

T = TypeVar("T")

MOST_NAMES = 100
"""Who asks for more variables by name gets all of them."""

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

    Raises HostNotFound, InvalidContext, and TooMuchAtOnce where they are too large together.
    """
    place = find_place(db, account, session_id, branch_id, floor_id, page_id)
    targets = (GLOBAL, *place.targets)
    TooMuchAtOnce.check(sum(_length(db, account, target) for target in targets))
    return place, load_targets(db, account, targets)


_LENGTH = Prepared(
    total_length(
        variables.c.account_id == bindparam("account"),
        variables.c.scope == bindparam("scope"),
        variables.c.scope_id == bindparam("id"),
        of=(variables.c.key, variables.c.value_json),
    )
)


def _length(db: Connection, account: str, target: Target) -> int:
    """The characters of one tier's variables."""
    found = _LENGTH.first(db, {"account": account, "scope": target.scope, "id": target.scope_id})
    return 0 if found is None else int(found[0])


def load_layers(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str | None,
    floor_id: str | None,
    page_id: str | None,
    names: Set[str] | None = None,
) -> Layers:
    """The variables visible from a place, in one statement and so of one moment. The hosts are not looked for.

    ``names`` leaves out those whose name, up to its first dot, is none of them.
    """
    return load_targets(db, account, (GLOBAL, *Place(session_id, branch_id, floor_id, page_id).targets), names)


def load_global(db: Connection, account: str) -> Layers:
    """The global variables alone: what a request without a session sees."""
    return load_targets(db, account, (GLOBAL,))


def load_targets(db: Connection, account: str, targets: Sequence[Target], names: Set[str] | None = None) -> Layers:
    """The variables of some tiers, at most one of each scope; ``names`` as in ``load_layers``."""
    layers: Layers = {target.scope: {} for target in targets}
    # A name that no variable can have finds none, and PostgreSQL takes no such text.
    wanted = None if names is None or len(names) > MOST_NAMES else [name for name in sorted(names) if "\0" not in name]
    if wanted == []:
        return layers
    ids: dict[str, str] = {"account": account}
    ids.update((target.scope, target.scope_id) for target in targets)
    ids.update((f"name{number}", name) for number, name in enumerate(wanted or ()))
    tiers = [(target.scope, target.scope_id, layers[target.scope]) for target in targets]
    visible = _visible(tuple(layers), None if wanted is None else len(wanted))
    for number, rows in visible.all(db, ids):
        scope, scope_id, tier = tiers[number]
        for id, key, value_json, version, updated_at in orjson.loads(rows) if rows is not None else ():
            # The class's own constructor is a function of Python's, which takes half as long again.
            tier[key] = tuple.__new__(Variable, (id, scope, scope_id, key, value_json, version, updated_at))
    return layers


_KEY = variables.c.key
_BEGINNING: Final[Mapping[str, Any]] = {
    "sqlite": func.substr(_KEY, 1, func.instr(_KEY + ".", ".") - 1),
    "postgresql": func.split_part(_KEY, ".", 1),
}
"""A variable's name up to its first dot, in each engine's words."""
_FIELDS = [variables.c[name] for name in ("id", "key", "value_json", "version", "updated_at")]
_ROWS: Final[Mapping[str, Any]] = {
    "sqlite": func.json_group_array(func.json_array(*_FIELDS)),
    "postgresql": cast(func.json_agg(func.json_build_array(*_FIELDS)), Text),
}
"""All rows as one JSON text, in each engine's words: a row that is handed over by itself costs several times what it takes
to find it."""


@cache
def _visible(scopes: tuple[Scope, ...], names: int | None) -> Prepared:
    """The variables of one host of each scope, and among so many names: a row for each, of the scope's number among them and
    of the variables' fields as JSON, or null.

    One search of the unique index for each; put together by OR, SQLite would walk through the whole account.
    """
    wanted = [bindparam(f"name{number}", type_=Text) for number in range(names or 0)]

    def of_engine(engine: str) -> Any:
        return union_all(
            *(
                select(literal_column(str(number), Integer), _ROWS[engine]).where(
                    variables.c.account_id == bindparam("account"),
                    variables.c.scope == literal(scope),
                    variables.c.scope_id == bindparam(scope),
                    *((_BEGINNING[engine].in_(wanted),) if wanted else ()),
                )
                for number, scope in enumerate(scopes)
            )
        )

    return Prepared({engine: of_engine(engine) for engine in INSERT})
