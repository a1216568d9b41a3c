"""Session State as values: what is written, and what is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agentui.jsonio import Json
from agentui.variables.values import parse

GAME: Final = "game_state"
"""The built-in namespace, which clients read only; names that begin with it and a dot are kept free too."""
SCHEMA_VERSION: Final = 1
PREVIEW: Final = 256
"""Characters of a value that lists show."""

ReplaySafety: TypeAlias = Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
"""Whether a turn that wrote may be generated anew: at once, after somebody confirmed it, or never by itself."""
WriteMode: TypeAlias = Literal["direct", "commit_bound"]
"""Whether a value was written by itself or with a turn."""
MutationStatus: TypeAlias = Literal["applied", "discarded"]
Source: TypeAlias = Literal["live_head", "source_floor_snapshot", "none"]


class Key(NamedTuple):
    """A slot of a namespace."""

    namespace: str
    slot: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which slots are asked for: all, those of a namespace, or one of it."""

    namespace: str | None = None
    slot: str | None = None

    def fits(self, key: Key) -> bool:
        """Whether a slot is among them."""
        return self.namespace in (None, key.namespace) and self.slot in (None, key.slot)


EVERYTHING: Final = Wanted()


class Write(NamedTuple):
    """A value to be written, as JSON text; None takes the value away."""

    key: Key
    value_json: str | None


@dataclass(frozen=True, slots=True)
class Mutation:
    """One write that happened. ``before_id`` is the mutation that it took the place of on its branch; times are milliseconds
    since 1970."""

    id: str
    session_id: str
    branch_id: str
    namespace: str
    slot: str
    page_id: str | None
    floor_id: str | None
    run_id: str | None
    write_mode: WriteMode
    status: MutationStatus
    replay_safety: ReplaySafety
    before_id: str | None
    is_present: bool
    value_json: str
    size: int
    created_at: int
    updated_at: int

    @property
    def key(self) -> Key:
        """What was written."""
        return Key(self.namespace, self.slot)

    @property
    def value(self) -> Json:
        """The value; None where it was taken away."""
        return parse(self.value_json)

    @property
    def preview(self) -> str:
        """The beginning of the value's JSON."""
        return self.value_json[:PREVIEW]


@dataclass(frozen=True, slots=True)
class StateValue:
    """What a slot holds at a place. ``at`` is when that was written, in milliseconds since 1970; None where nothing was."""

    key: Key
    source: Source
    is_present: bool = False
    value: Json = None
    floor_id: str | None = None
    mutation_ids: tuple[str, ...] = ()
    at: int | None = None
    size: int = 4

    @property
    def is_known(self) -> bool:
        """Whether anything was ever written there."""
        return self.source != "none"


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot as clients are told of it."""

    name: str
    size_budget: int


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace that was registered, with the slots that were ever written in the session."""

    name: str
    owner_type: str
    owner_id: str
    replay_safety: ReplaySafety
    slots: tuple[Slot, ...] = ()


Heads: TypeAlias = Mapping[Key, str]
"""Ids of mutations by their slots."""


def mutation_of(row: Any) -> Mutation:
    """A row of ``state_mutations``."""
    return Mutation(
        id=row.id,
        session_id=row.session_id,
        branch_id=row.branch_id,
        namespace=row.namespace,
        slot=row.slot,
        page_id=row.page_id,
        floor_id=row.floor_id,
        run_id=row.run_id,
        write_mode=row.write_mode,
        status=row.status,
        replay_safety=row.replay_safety,
        before_id=row.before_id,
        is_present=row.is_present,
        value_json=row.value_json,
        size=row.size,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
