"""What one run writes: kept in memory while it runs, made durable with its floor.

    stage("chat", "gold", 5)     seen by later nodes at once, by nobody else
    commit_staged(...)           in the transaction that commits the floor

A page's write ends on the output page. A floor's write does too, and is promoted from there to the floor; both leave a
row in the page's ledger. Writes to branch, chat and global go to their tier directly (seed 000).

No update is lost. Two runs may both read ``gold`` of one chat and write ``gold + 1``; the second to commit would bury the
first. So a run remembers what it read: where it read a branch's, chat's or global variable and also writes it, its commit
asks for the very row (id and version) that the run began with, and raises VariableChanged when another write came
between; the turn can then be run again. What a run writes without having read it simply wins. Writes into a path
(``assets.gold``) are applied to the root variable as it is at the commit, so that two runs that write different paths
without reading the root both count.
"""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, cast

from sqlalchemy import Connection, bindparam, select, update

from agentui.jsonio import Json
from agentui.store.prepared import Prepared
from agentui.store.tables import variables
from agentui.templating.core.paths import MISSING, Step
from agentui.variables.errors import CannotStage, InvalidWrite, ValueTooLarge, VariableChanged
from agentui.variables.ledger import Entry, write_ledger
from agentui.variables.paths import PathBlocked, root_of, write_path
from agentui.variables.places import hold_session
from agentui.variables.records import COLUMNS, Put, Variable, Written, upsert
from agentui.variables.resolve import Layers
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target
from agentui.variables.values import check_key, parse, render

SHARED: Final[frozenset[Scope]] = frozenset({"global", "chat", "branch"})
"""Tiers that others may write while a run goes on; a floor that generates is locked, and so are its pages."""

NOT_READ: Final = "not read"


class Stamp(NamedTuple):
    """One state of a variable: a new row has a new id, a changed row a new version."""

    id: str
    version: int


class Edit(NamedTuple):
    """A value for a path inside a root variable; no steps replace the root."""

    steps: tuple[Step, ...]
    value: Json


@dataclass(frozen=True, slots=True)
class Write:
    """What a run wrote to one variable of one tier, in the order it wrote.

    ``expected`` is the state that the run read: a Stamp, None for "there was none", NOT_READ when it never looked.
    ``reason`` and ``source`` of the last write go into the ledger; ``staged_at`` is in milliseconds since 1970.
    """

    tier: Scope
    key: str
    edits: tuple[Edit, ...]
    expected: Stamp | Literal["not read"] | None
    staged_at: int
    reason: str | None = None
    source: Mapping[str, Json] = field(default_factory=dict)


class Staged:
    """The buffer of one run. One run has one; it belongs to the run's event loop."""

    def __init__(self, layers: Layers, *, writable: Collection[Scope] = SCOPES, now: Callable[[], int]) -> None:
        """``layers`` is what was durable when the run began (``load_layers``), ``now`` the clock in milliseconds.

        ``writable`` are the tiers that will have a host when the run commits: all for a turn, global alone without a
        session.
        """
        self._now = now
        self._writable = frozenset(writable)
        self._tiers: dict[Scope, _Tier] = {scope: _Tier(layers.get(scope, {})) for scope in SCOPES}
        self._merged = _Merged(tuple(self._tiers[scope] for scope in reversed(SCOPES)))
        self._writes: dict[tuple[Scope, str], Write] = {}

    def view(self) -> tuple[Mapping[str, Json], Mapping[Scope, Mapping[str, Json]]]:
        """All tiers merged, and each by its name. Both are live: what is staged shows at once."""
        return self._merged, self._tiers

    def stage(
        self, tier: Scope, path: str, value: Json, *, reason: str | None = None, source: Mapping[str, Json] | None = None
    ) -> None:
        """Write ``value`` to a variable, or into one by a path. A value is copied: later changes to it do not show.

        Raises CannotStage when the tier has no host, the path leads through something without fields, or the value or
        the key is not one that can be kept.
        """
        if tier not in self._writable:
            raise CannotStage(
                f"Variable {path[:200]!r} cannot be written to tier {tier!r}: this request names no session. "
                "Name one, or write to 'run' or 'global'.",
                variable=path[:200],
                tier=tier,
            )
        values = self._tiers[tier]
        key, steps = root_of(values.names, path)
        try:
            check_key(key)
            edit = Edit(steps, parse(render(value)))
            changed = edit.value if not steps else write_path(values.peek(key), steps, edit.value)
            render(changed)
        except PathBlocked as error:
            raise CannotStage(f"Variable {path[:200]!r} cannot be written: {error}.", variable=path[:200], tier=tier) from error
        except (InvalidWrite, ValueTooLarge) as error:
            raise CannotStage(
                f"Variable {path[:200]!r} cannot be kept. {error.message}", variable=path[:200], tier=tier
            ) from error
        before = self._writes.get((tier, key))
        # What a whole value replaces is not needed at the commit.
        edits = (*before.edits, edit) if before is not None and steps else (edit,)
        self._writes[tier, key] = Write(tier, key, edits, NOT_READ, self._now(), reason, dict(source or {}))
        values.stage(key, changed, is_whole=not steps)

    def writes(self) -> tuple[Write, ...]:
        """What there is to commit, in the order it was first written; unchanging, for the commit's transaction."""
        return tuple(replace(write, expected=self._tiers[write.tier].expected(write.key)) for write in self._writes.values())


class _Tier(Mapping[str, Json]):
    """One tier as a run sees it. Remembers what was read of the durable state."""

    def __init__(self, durable: Mapping[str, Variable]) -> None:
        self._durable = durable
        self._staged: dict[str, Json] = {}
        self._whole: set[str] = set()
        self._read: set[str] = set()
        self._all_read = False
        self._parsed: dict[str, Json] = {}

    @property
    def names(self) -> Collection[str]:
        """The keys; looking here does not count as reading."""
        # Not copied, for there may be thousands: nobody writes through it.
        return ChainMap[str, Any](self._staged, cast(dict[str, Any], self._durable))

    def __getitem__(self, key: str) -> Json:
        # A value that the run itself set whole says nothing of what was there before.
        if key not in self._whole:
            self._read.add(key)
        value = self.peek(key)
        if value is MISSING:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        self._all_read = True
        return iter(self.names)

    def __len__(self) -> int:
        self._all_read = True
        return len(self.names)

    def peek(self, key: str) -> Json:
        """The value without counting as read, or MISSING."""
        if key in self._staged:
            return self._staged[key]
        if key not in self._parsed:
            variable = self._durable.get(key)
            if variable is None:
                return MISSING
            self._parsed[key] = variable.value
        return self._parsed[key]

    def stage(self, key: str, value: Json, *, is_whole: bool) -> None:
        """Show a value from now on."""
        self._staged[key] = value
        if is_whole:
            self._whole.add(key)

    def expected(self, key: str) -> Stamp | Literal["not read"] | None:
        """What the run knows of the durable variable."""
        if not self._all_read and key not in self._read:
            return NOT_READ
        variable = self._durable.get(key)
        return None if variable is None else Stamp(variable.id, variable.version)


class _Merged(Mapping[str, Json]):
    """All tiers as one, the nearest first. Finding a key in a tier means having looked into the nearer ones too."""

    def __init__(self, tiers: Sequence[_Tier]) -> None:
        self._tiers = tiers

    def __getitem__(self, key: str) -> Json:
        for tier in self._tiers:
            if key in tier:
                return tier[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for tier in self._tiers for name in tier))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def commit_staged(
    db: Connection,
    account: str,
    run_id: str,
    session_id: str | None,
    branch_id: str | None,
    floor_id: str | None,
    output_page_id: str | None,
    writes: Sequence[Write],
    now: int,
    *,
    is_held: bool = False,
) -> None:
    """Make a run's writes durable, with their ledger; part of the transaction that commits the floor. Without a session the
    ids are None, and only global writes come. ``is_held`` says that the transaction keeps the session from being removed
    already.

    Raises VariableChanged when a variable that the run read and writes has changed since, HostNotFound when the session
    is gone.
    """
    if not writes:
        return
    if session_id is not None and not is_held:
        hold_session(db, account, session_id)
    targets = _targets(session_id, branch_id, floor_id, output_page_id)
    others = _replace_read(db, account, writes, now)
    if not others:
        return
    current = _load_current(db, account, [(targets[write.tier], write.key) for write in others if _needs_current(write)])
    texts: dict[tuple[Target, str], str] = {}
    for write in others:
        place = targets[write.tier], write.key
        texts[place] = _final_text(write, current.get(place))
    done = _upsert_texts(db, account, targets, texts, now)
    for write in others:
        _check_still_absent(write, current, done[targets[write.tier], write.key])
    entries = [_entry(write, targets, done) for write in others if write.tier not in SHARED]
    write_ledger(db, account, run_id, entries, now)


def _targets(
    session_id: str | None, branch_id: str | None, floor_id: str | None, output_page_id: str | None
) -> dict[Scope, Target]:
    """The tier that each scope means for this run."""
    targets: dict[Scope, Target] = {"global": GLOBAL}
    if session_id is not None:
        targets["chat"] = Target("chat", session_id)
        if branch_id is not None:
            targets["branch"] = branch_target(session_id, branch_id)
    if floor_id is not None:
        targets["floor"] = Target("floor", floor_id)
    if output_page_id is not None:
        targets["page"] = Target("page", output_page_id)
    return targets


def _replace_read(db: Connection, account: str, writes: Sequence[Write], now: int) -> list[Write]:
    """Write what replaces a whole variable that the run read, if it is still the very row that was read; returns the other
    writes. The commonest write of a turn, and done in one statement: the row need not be fetched to be compared.

    With other writes into shared tiers it returns all, so that all of them are locked in the one order of all writers.
    """
    others, replacing = [], []
    for write in writes:
        if write.tier in SHARED and isinstance(write.expected, Stamp) and not write.edits[0].steps:
            replacing.append((write, write.expected))
        else:
            others.append(write)
    if any(write.tier in SHARED for write in others):
        return list(writes)
    # In the one order of all writers: two never wait for each other.
    for write, read in sorted(replacing, key=lambda pair: (pair[0].tier, pair[0].key)):
        row = {"variable": read.id, "read": read.version, "account": account, "text": _edited_text(write, MISSING), "now": now}
        if _REPLACE_READ.run(db, row) == 0:
            raise _changed(write)
    return others


_REPLACE_READ = Prepared(
    update(variables)
    .where(
        variables.c.id == bindparam("variable"),
        variables.c.version == bindparam("read"),
        variables.c.account_id == bindparam("account"),
    )
    .values(value_json=bindparam("text"), updated_at=bindparam("now"), version=variables.c.version + 1)
)


def _needs_current(write: Write) -> bool:
    """Whether what is written depends on what is there."""
    return write.expected != NOT_READ or bool(write.edits[0].steps)


def _load_current(db: Connection, account: str, places: Sequence[tuple[Target, str]]) -> dict[tuple[Target, str], Variable]:
    """The variables as they are now; nobody else changes them until the transaction ends."""
    keys_by_target: dict[Target, list[str]] = {}
    for target, key in places:
        keys_by_target.setdefault(target, []).append(key)
    found = {}
    # A search for each tier, for SQLite finds no index for pairs; in one order, so that two commits never wait in a ring.
    for target, keys in sorted(keys_by_target.items()):
        of_tier = {"account": account, "scope": target.scope, "scope_id": target.scope_id}
        for row in (
            _ONE_HELD.all(db, {**of_tier, "key": keys[0]})
            if len(keys) == 1
            else db.execute(_SOME_HELD, {**of_tier, "keys": keys})
        ):
            variable = Variable._make(row)
            found[target, variable.key] = variable
    return found


_of_tier = select(*COLUMNS).where(
    variables.c.account_id == bindparam("account"),
    variables.c.scope == bindparam("scope"),
    variables.c.scope_id == bindparam("scope_id"),
)
_ONE_HELD = Prepared(_of_tier.where(variables.c.key == bindparam("key")).with_for_update())
_SOME_HELD = _of_tier.where(variables.c.key.in_(bindparam("keys", expanding=True))).order_by(variables.c.key).with_for_update()


def _final_text(write: Write, current: Variable | None) -> str:
    """The variable's new JSON text. Raises VariableChanged when what the run worked with is no longer there."""
    stamp = None if current is None else Stamp(current.id, current.version)
    if write.expected != NOT_READ and write.tier in SHARED and write.expected != stamp:
        raise _changed(write)
    return _edited_text(write, MISSING if current is None or not write.edits[0].steps else current.value)


def _edited_text(write: Write, value: Json) -> str:
    """What a variable's value becomes by the write's edits, as JSON text. Raises VariableChanged when they do not fit it."""
    try:
        for edit in write.edits:
            value = write_path(value, edit.steps, edit.value)
    except PathBlocked as error:
        raise _changed(write) from error
    return render(value)


def _upsert_texts(
    db: Connection, account: str, targets: Mapping[Scope, Target], texts: Mapping[tuple[Target, str], str], now: int
) -> dict[tuple[Target, str], Written]:
    """Write all variables at once. What is written to the floor is written to the page too, unless the run gave the page
    a value of its own."""
    every = dict(texts)
    for (target, key), text in texts.items():
        if target.scope == "floor":
            every.setdefault((targets["page"], key), text)
    puts = [Put(target, key, text) for (target, key), text in every.items()]
    return {(item.variable.target, item.variable.key): item for item in upsert(db, account, puts, now)}


def _check_still_absent(write: Write, current: Mapping[tuple[Target, str], Variable], written: Written) -> None:
    """Raise VariableChanged when the run took a variable for missing that somebody made in the same moment."""
    variable = written.variable
    was_absent = (variable.target, variable.key) not in current
    if write.tier in SHARED and _needs_current(write) and was_absent and not written.is_new:
        raise _changed(write)


def _changed(write: Write) -> VariableChanged:
    return VariableChanged(
        f"The {write.tier} variable {write.key[:200]!r} was changed by somebody else while this run computed its new value. "
        "Send the request again.",
        tier=write.tier,
        key=write.key[:200],
    )


def _entry(write: Write, targets: Mapping[Scope, Target], done: Mapping[tuple[Target, str], Written]) -> Entry:
    """What the page's ledger tells of a write to the page or the floor."""
    return Entry(
        variable=done[targets[write.tier], write.key].variable,
        on_page=done[targets["page"], write.key].variable,
        reason=write.reason,
        source=write.source,
        staged_at=write.staged_at,
    )
