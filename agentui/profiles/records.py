"""LLM profiles, their bindings and instance configs (TavernHeadless' contract, part 6). Times are milliseconds since 1970."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from agentui.jsonio import Json

Slot: TypeAlias = Literal["*", "narrator", "director", "verifier", "memory"]
"""What a model does in a turn; ``*`` stands for all that have none of their own."""
ScopeKind: TypeAlias = Literal["global", "session"]
ProfileStatus: TypeAlias = Literal["active", "disabled", "deleted"]
Provider: TypeAlias = Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"]

SLOTS: Final[tuple[Slot, ...]] = get_args(Slot)
ANY: Final[Slot] = "*"
GLOBAL: Final = "global"
"""The id of the scope that is not a session's."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A provider, an address, a model and a key of an account. ``sealed_key`` is the key as nobody can read it who has only the
    database; it is part of no answer."""

    id: str
    preset_name: str
    provider: Provider
    model_id: str
    base_url: str | None
    api_key_name: str | None
    api_key_masked: str
    status: ProfileStatus
    last_used_at: int | None
    created_at: int
    updated_at: int
    sealed_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is bound: everywhere, or in one session."""

    scope: ScopeKind
    scope_id: str

    @classmethod
    def of(cls, session: str | None) -> "Place":
        """That of a session; everywhere for None."""
        return cls("global", GLOBAL) if session is None else cls("session", session)


@dataclass(frozen=True, slots=True)
class Binding:
    """A profile that serves a slot in a place, with the parameters that go with it."""

    place: Place
    slot: Slot
    profile: Profile
    params: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class InstanceConfig:
    """What a slot is to do in a place: whether it acts at all, with which prompt preset, and with which parameters."""

    id: str
    scope: ScopeKind
    scope_id: str
    instance_slot: Slot
    preset_id: str | None
    enabled: bool
    params: Mapping[str, Json] | None
    created_at: int
    updated_at: int


def masked(key: str) -> str:
    """A key as people recognise theirs, and nobody can use it (contract, 6.1)."""
    if len(key) <= 4:
        return "****"
    ends = 1 if len(key) <= 8 else 4
    return f"{key[:ends]}****{key[-ends:]}"
