"""What one run writes: kept in memory while it runs, made durable with its floor.

    stage("chat", "gold", 5)     seen by later nodes at once, by nobody else
    commit_staged(...)           in the transaction that commits the floor

A page's write ends on the output page. A floor's write does too, and is promoted from there to the floor; both leave a
row in the page's ledger. Writes to branch, chat and global go to their tier directly (seed 000), but for one that asks to be
promoted: it ends on the page as well, and in its ledger.

No update is lost. Two runs may both read ``gold`` of one chat and write ``gold + 1``; the second to commit would overwrite the
first. So a run remembers what it read: where it read a branch's, chat's or global variable and also writes it, its commit
asks for the very row (id and version) that the run began with, and raises VariableChanged when another write came
between; the turn can then be run again. What a run writes without having read it simply wins. Writes into a path
(``assets.gold``) are applied to the root variable as it is at the commit, so that two runs that write different paths
without reading the root both count.
"""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, cast

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, Step
from agentui.variables.errors import CannotStage, InvalidWrite, ValueTooLarge
from agentui.variables.paths import PathBlocked, root_of, write_path
from agentui.variables.records import Variable
from agentui.variables.resolve import Layers
from agentui.variables.scopes import SCOPES, Scope
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

    ``expected`` is the state that the run read: a Stamp, None for "there was none", NOT_READ when it never looked. ``before``
    is the variable's JSON text as it was durable when the run began. ``is_promoted`` says of one to a shared tier that it goes
    there from the page.
    ``reason`` and ``source`` of the last write go into the ledger; ``staged_at`` is in milliseconds since 1970.
    """

    tier: Scope
    key: str
    edits: tuple[Edit, ...]
    expected: Stamp | Literal["not read"] | None
    staged_at: int
    reason: str | None = None
    source: Mapping[str, Json] = field(default_factory=dict)
    before: str | None = None
    is_promoted: bool = False


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
        self.state: Mapping[str, Json] = {}
        """The chat's Session State, by the parts of its namespaces, where the run has asked for it."""

    @cached_property
    def durable_size(self) -> int:
        """The characters of what was durable when the run began."""
        return sum(len(variable.value_json) for tier in self._tiers.values() for variable in tier.durable.values())

    def view(self) -> tuple[Mapping[str, Json], Mapping[Scope, Mapping[str, Json]]]:
        """All tiers merged, and each by its name. Both are live: what is staged shows at once."""
        return self._merged, self._tiers

    def stage(
        self,
        tier: Scope,
        path: str,
        value: Json,
        *,
        kept: Json = MISSING,
        reason: str | None = None,
        source: Mapping[str, Json] | None = None,
        is_promoted: bool = False,
    ) -> None:
        """Write ``value`` to a variable, or into one by a path. A value is copied: later changes to it do not show. The commit
        writes ``kept`` in its place, where that is given. ``is_promoted`` as in ``Write``.

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
            shown = parse(render(value))
            edit = Edit(steps, shown if kept is MISSING or kept == value else parse(render(kept)))
            changed = shown if not steps else write_path(values.peek(key), steps, shown)
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
        self._writes[tier, key] = Write(
            tier, key, edits, NOT_READ, self._now(), reason, dict(source or {}), is_promoted=is_promoted
        )
        values.stage(key, changed, is_whole=not steps)

    @property
    def writable(self) -> Collection[Scope]:
        """The tiers that will have a host when the run commits."""
        return self._writable

    def delete(self, tier: Scope, key: str) -> None:
        """Take a variable of a shared tier away; nothing happens where there is none. Raises CannotStage."""
        if tier not in self._writable or tier not in SHARED:
            raise CannotStage(f"Variable {key[:200]!r} of tier {tier!r} cannot be deleted here.", variable=key[:200], tier=tier)
        self._writes[tier, key] = Write(tier, key, (Edit((), MISSING),), NOT_READ, self._now())
        self._tiers[tier].stage(key, MISSING, is_whole=True)

    def writes(self) -> tuple[Write, ...]:
        """What there is to commit, in the order it was first written; unchanging, for the commit's transaction."""
        return tuple(
            replace(write, expected=tier.expected(write.key), before=None if durable is None else durable.value_json)
            for write in self._writes.values()
            for tier in (self._tiers[write.tier],)
            for durable in (tier.durable.get(write.key),)
        )


class _Tier(Mapping[str, Json]):
    """One tier as a run sees it. Remembers what was read of the durable state."""

    def __init__(self, durable: Mapping[str, Variable]) -> None:
        self.durable = durable
        self._staged: dict[str, Json] = {}
        self._whole: set[str] = set()
        self._read: set[str] = set()
        self._all_read = False
        self._parsed: dict[str, Json] = {}

    @property
    def names(self) -> Collection[str]:
        """The keys; looking here does not count as reading."""
        # Not copied, for there may be thousands: nobody writes through it.
        return ChainMap[str, Any](self._staged, cast(dict[str, Any], self.durable))

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
        return (key for key in self.names if self._staged.get(key) is not MISSING)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def peek(self, key: str) -> Json:
        """The value without counting as read, or MISSING."""
        if key in self._staged:
            return self._staged[key]
        if key not in self._parsed:
            variable = self.durable.get(key)
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
        variable = self.durable.get(key)
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
