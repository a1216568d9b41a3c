"""What turns changed in the tiers that outlive them, so that it can be taken back: one row a page and variable.

    commit of a turn            its output page keeps what was there before each of its writes, and what it left
    another version, a reset    take_back(changes of the page)
    the old version again       bring_back(changes of the page)

A variable goes back only from the very value that the page left: who has changed it since keeps his. Only global, chat and
branch variables are here; those of a floor and of a page go with them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, insert, select

from agentui.store.prepared import Prepared, named
from agentui.store.tables import variable_changes, variables
from agentui.variables.records import COLUMNS, Put, Variable, Written, delete_at, upsert
from agentui.variables.resolve import Layers
from agentui.variables.scopes import Target

Place = tuple[Target, str]
"""A variable's tier and key."""


class Change(NamedTuple):
    """A variable's JSON text before a turn and after it; None where there was none."""

    target: Target
    key: str
    before: str | None
    after: str | None

    @property
    def place(self) -> Place:
        """The variable that changed."""
        return self.target, self.key

    def reversed(self) -> "Change":
        """The change that makes this one undone."""
        return Change(self.target, self.key, self.after, self.before)


def keep_changes(db: Connection, account: str, page_id: str, changes: Iterable[Change]) -> None:
    """Write down what the turn of an output page changed; what stayed as it was is no change."""
    rows = [
        {
            "page_id": page_id,
            "scope": change.target.scope,
            "scope_id": change.target.scope_id,
            "key": change.key,
            "account_id": account,
            "before_json": change.before,
            "after_json": change.after,
        }
        for change in changes
        if change.before != change.after
    ]
    if rows:
        _KEEP.each(db, rows)


_KEEP = Prepared(insert(variable_changes).values(named(variable_changes, *(column.name for column in variable_changes.c))))


def changes_of(db: Connection, account: str, page_id: str) -> list[Change]:
    """What the turn of a page changed, in the order of places."""
    rows = _OF_PAGE.all(db, {"page": page_id, "account": account})
    return [Change(Target(scope, scope_id), key, before, after) for scope, scope_id, key, before, after in rows]


_FIELDS = tuple(variable_changes.c[name] for name in ("scope", "scope_id", "key", "before_json", "after_json"))
_OF_PAGE = Prepared(
    select(*_FIELDS)
    .where(variable_changes.c.page_id == bindparam("page"), variable_changes.c.account_id == bindparam("account"))
    .order_by(variable_changes.c.scope, variable_changes.c.scope_id, variable_changes.c.key)
)


def take_back(db: Connection, account: str, changes: Sequence[Change], now: int) -> None:
    """Undo changes, newest first, as far as nobody has changed what they left."""
    bring_back(db, account, [change.reversed() for change in changes], now)


def bring_back(db: Connection, account: str, changes: Sequence[Change], now: int) -> None:
    """Make changes again, in their order, where what they began with is there."""
    if not changes:
        return
    current = {place: variable.value_json for place, variable in hold_current(db, account, (c.place for c in changes)).items()}
    texts: dict[Place, str | None] = {place: current.get(place) for place in (change.place for change in changes)}
    for change in changes:
        if texts[change.place] == change.before:
            texts[change.place] = change.after
    changed = {place: text for place, text in texts.items() if text != current.get(place)}
    set_texts(db, account, changed, now)


def set_texts(db: Connection, account: str, texts: Mapping[Place, str | None], now: int) -> list[Written]:
    """Give variables these texts without asking whether their hosts allow it; None deletes one. Returns those that have one."""
    for place in sorted(place for place, text in texts.items() if text is None):
        delete_at(db, account, *place)
    return upsert(db, account, [Put(*place, text) for place, text in texts.items() if text is not None], now)


def before_changes(layers: Layers, changes: Iterable[Change]) -> Layers:
    """What is durable, with changes taken back where what they left is still there."""
    past = {scope: dict(tier) for scope, tier in layers.items()}
    for change in changes:
        tier = past[change.target.scope]
        variable = tier.get(change.key)
        if (None if variable is None else variable.value_json) == change.after:
            set_text(tier, change.target, change.key, change.before)
    return past


def set_text(tier: dict[str, Variable], target: Target, key: str, text: str | None) -> None:
    """Show a variable with another text; what is known of its row stays, so that a commit can tell whether it changed."""
    variable = tier.get(key)
    if text is None:
        tier.pop(key, None)
    elif variable is None:
        tier[key] = Variable("", target.scope, target.scope_id, key, text, 0, 0)
    else:
        tier[key] = variable._replace(value_json=text)


def hold_current(db: Connection, account: str, places: Iterable[Place]) -> dict[Place, Variable]:
    """The variables as they are now; nobody else changes them until the transaction ends."""
    keys_by_target: dict[Target, list[str]] = {}
    for target, key in dict.fromkeys(places):
        keys_by_target.setdefault(target, []).append(key)
    found = {}
    # A search for each tier, for SQLite finds no index for pairs; in one order, so that two commits never wait in a ring.
    for target, keys in sorted(keys_by_target.items()):
        for row in _held(db, account, target, keys):
            variable = Variable._make(row)
            found[target, variable.key] = variable
    return found


_AT_ONCE = 5000
"""Keys in one statement; PostgreSQL takes 65,535 parameters."""


def _held(db: Connection, account: str, target: Target, keys: Sequence[str]) -> Iterable[Sequence[object]]:
    of_tier = {"account": account, "scope": target.scope, "scope_id": target.scope_id}
    if len(keys) == 1:
        yield from _ONE_HELD.all(db, {**of_tier, "key": keys[0]})
        return
    ordered = sorted(keys)
    for start in range(0, len(ordered), _AT_ONCE):
        yield from db.execute(_SOME_HELD, {**of_tier, "keys": ordered[start : start + _AT_ONCE]})


_of_tier = select(*COLUMNS).where(
    variables.c.account_id == bindparam("account"),
    variables.c.scope == bindparam("scope"),
    variables.c.scope_id == bindparam("scope_id"),
)
_ONE_HELD = Prepared(_of_tier.where(variables.c.key == bindparam("key")).with_for_update())
_SOME_HELD = _of_tier.where(variables.c.key.in_(bindparam("keys", expanding=True))).order_by(variables.c.key).with_for_update()
