"""``LlmProfiles``: what serves the slots of an account's turns, read in one transaction and with the keys opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from agentui.jsonio import Json
from agentui.profiles.records import Binding, InstanceConfig, Profile, Slot
from agentui.profiles.resolver import Choice, Open, bound_params, choose_config, choose_profile
from agentui.profiles.sealing import KeySeal
from agentui.profiles.stored import has_preset, list_bindings, list_configs
from agentui.secrets.store import Secret
from agentui.store.base import Store
from agentui.threads import in_thread


@dataclass(frozen=True, slots=True)
class BoundModels:
    """What is bound in a session and everywhere, and what slots are to do there."""

    bindings: Sequence[Binding] = ()
    configs: Sequence[InstanceConfig] = ()


NO_MODELS = BoundModels()
"""Nothing is bound, and nobody says anything of slots."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What may serve the slots of a session, and what they are to do."""

    bindings: Sequence[Binding]
    configs: Sequence[InstanceConfig]
    open_key: Open

    def choice(self, slot: Slot) -> Choice:
        """What serves a slot. A key is opened only where its binding counts."""
        return choose_profile(slot, self.bindings, self.open_key)

    def config(self, slot: Slot) -> InstanceConfig | None:
        """What a slot is to do; None where nobody says."""
        return choose_config(slot, self.configs)

    def is_enabled(self, slot: Slot) -> bool:
        """Whether a slot acts."""
        config = self.config(slot)
        return config is None or config.enabled

    def params(self, slot: Slot, choice: Choice) -> dict[str, Json]:
        """The parameters of a slot, with those of the binding that serves it."""
        return bound_params(choice, self.config(slot))


class LlmProfiles:
    """The profiles of all accounts of a store."""

    def __init__(self, store: Store, seal: KeySeal) -> None:
        self._store = store
        self.seal = seal

    async def select(self, account: str, session: str | None) -> Selection:
        """What is bound in a session, and everywhere; everywhere alone where there is no session."""
        return await self._store.read(partial(read_selection, open_key=self.seal.open), account, session)

    async def key_of(self, profile: Profile) -> Secret:
        """A profile's key. Raises as ``KeySeal.open`` does."""
        return await in_thread(partial(self.seal.open, profile))


def read_models(db: Connection, account: str, session: str | None) -> BoundModels:
    """What is bound in a session, and everywhere."""
    return BoundModels(list_bindings(db, account, session), list_configs(db, account, session=session))


def with_narrator_preset(db: Connection, account: str, bindings: Mapping[str, Json], models: BoundModels) -> Mapping[str, Json]:
    """What a session is bound to, with the prompt preset that the narrator's instance config names in the place of its own.
    One that is no longer there replaces nothing."""
    config = choose_config("narrator", models.configs)
    if config is None or config.preset_id is None or not has_preset(db, account, config.preset_id):
        return bindings
    return {**bindings, "preset_id": config.preset_id, "preset_version_id": None}


def read_selection(db: Connection, account: str, session: str | None, *, open_key: Open) -> Selection:
    """The rows of a selection."""
    return Selection(list_bindings(db, account, session), list_configs(db, account, session=session), open_key)
