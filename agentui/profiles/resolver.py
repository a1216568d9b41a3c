"""Which profile serves a slot, and what the slot is to do there: pure functions over rows, which say why.

Profiles: session and slot, everywhere and slot, session and ``*``, everywhere and ``*``; then nobody, which is the pipeline's
own upstream (TavernHeadless' contract, 6.1). What cannot serve (disabled, deleted, a key that cannot be opened) is skipped and
told. Instance configs have an order of their own: session and slot, session and ``*``, everywhere and slot, everywhere and
``*`` (6.2).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentui.errors import ApiError
from agentui.jsonio import Json
from agentui.profiles.records import ANY, Binding, InstanceConfig, Profile, ScopeKind, Slot
from agentui.secrets.store import Secret

ProfileSource: TypeAlias = Literal["env", "global_profile", "session_profile"]
ConfigSource: TypeAlias = Literal["session_config", "global_config", "default"]
Open: TypeAlias = Callable[[Profile], Secret]
"""Opens the key of a profile. Raises ApiError."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A binding that would have counted. ``reason``: disabled, deleted, or the code of why its key cannot be opened."""

    profile_id: str
    preset_name: str
    scope: ScopeKind
    instance_slot: Slot
    reason: str
    message: str

    def warning(self, slot: Slot) -> str:
        """What a run, and what tells of a session, say of it."""
        return f"{self.message} It is passed over for the slot {slot}."


@dataclass(frozen=True, slots=True)
class Choice:
    """What serves a slot: a binding with its profile's key, or nobody. ``skipped`` are those before it that cannot."""

    slot: Slot
    binding: Binding | None
    key: Secret | None
    skipped: tuple[Skipped, ...]

    @property
    def source(self) -> ProfileSource:
        """Where it comes from, in the contract's words."""
        if self.binding is None:
            return "env"
        return "session_profile" if self.binding.place.scope == "session" else "global_profile"

    @property
    def reason(self) -> str:
        """Why it is this one, in a sentence."""
        if self.binding is None:
            return "No profile is bound that can serve: the pipeline's own provider answers."
        where = "in this session" if self.binding.place.scope == "session" else "for all sessions"
        what = "to all slots" if self.binding.slot == ANY else f"to the slot {self.binding.slot}"
        return f"{self.binding.profile.preset_name} is bound {what} {where}."


def choose_profile(slot: Slot, bindings: Sequence[Binding], open_key: Open) -> Choice:
    """The profile that serves a slot, of the bindings of a session and of everywhere."""
    by_place = {(binding.place.scope, binding.slot): binding for binding in bindings}
    order: tuple[tuple[ScopeKind, Slot], ...] = (("session", slot), ("global", slot), ("session", ANY), ("global", ANY))
    skipped: list[Skipped] = []
    for binding in (by_place[place] for place in dict.fromkeys(order) if place in by_place):
        profile = binding.profile
        if profile.status != "active":
            skipped.append(_skipped(binding, profile.status, f"The profile {profile.preset_name!r} is {profile.status}."))
            continue
        try:
            key = open_key(profile)
        except ApiError as error:
            skipped.append(_skipped(binding, error.code, error.message))
            continue
        return Choice(slot, binding, key, tuple(skipped))
    return Choice(slot, None, None, tuple(skipped))


def _skipped(binding: Binding, reason: str, message: str) -> Skipped:
    profile = binding.profile
    return Skipped(profile.id, profile.preset_name, binding.place.scope, binding.slot, reason, message)


def choose_config(slot: Slot, configs: Sequence[InstanceConfig]) -> InstanceConfig | None:
    """The instance config of a slot, of those of a session and of everywhere; None where there is none."""
    by_place = {(config.scope, config.instance_slot): config for config in configs}
    order: tuple[tuple[ScopeKind, Slot], ...] = (("session", slot), ("session", ANY), ("global", slot), ("global", ANY))
    return next((by_place[place] for place in order if place in by_place), None)


def config_source(config: InstanceConfig | None) -> ConfigSource:
    """Where an instance config comes from, in the contract's words."""
    if config is None:
        return "default"
    return "session_config" if config.scope == "session" else "global_config"


def bound_params(choice: Choice, config: InstanceConfig | None) -> dict[str, Json]:
    """The parameters of a slot: the instance config's over the binding's."""
    of_binding: Mapping[str, Json] = (choice.binding.params or {}) if choice.binding is not None else {}
    return {**of_binding, **((config.params or {}) if config is not None else {})}
