"""The shapes of LLM profiles and instance configs over HTTP (TavernHeadless' contract, part 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from agentui.chats.codes import failure
from agentui.jsonio import Json
from agentui.profiles.records import SLOTS, InstanceConfig, Place, Profile, ProfileStatus, Provider, ScopeKind, Slot
from agentui.profiles.resolver import Choice, ConfigSource, ProfileSource, Skipped, config_source
from agentui.schemas.forms import NO_NUL, Form, Patch, QueryBool

Effort = Literal["low", "medium", "high"]


def _without_macros(text: str) -> str:
    # These are put into a node's fields, where double brackets are read as macros.
    if "[[" in text or "{{" in text:
        raise ValueError("may not hold [[ or {{")
    return text.strip()


PresetName = Annotated[str, Field(min_length=1, max_length=120), NO_NUL]
ModelId = Annotated[str, Field(min_length=1, max_length=200), NO_NUL, AfterValidator(_without_macros)]
BaseUrl = Annotated[str, Field(min_length=1, max_length=500), NO_NUL, AfterValidator(_without_macros)]
KeyName = Annotated[str, Field(min_length=1, max_length=120), NO_NUL]
ApiKey = Annotated[str, Field(min_length=1, max_length=2048, description="Write only: no answer shows it."), NO_NUL]
SessionId = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]


class SlotParams(BaseModel):
    """How a model is asked; other members are dropped."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)

    max_context_tokens: int | None = Field(None, ge=1)
    max_output_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    stream: bool | None = None
    timeout_ms: int | None = Field(None, ge=1)
    max_retries: int | None = Field(None, ge=0, le=10)
    reasoning_effort: Effort | None = None


PARAMS_SCHEMA: Final[dict[str, Json]] = {
    "type": ["object", "null"],
    "properties": {
        name: {key: value for key, value in schema["anyOf"][0].items() if key != "title"}
        for name, schema in SlotParams.model_json_schema()["properties"].items()
    },
}
"""What OpenAPI says of the parameters. They are read apart from the form, for what is wrong with them has a code of its own."""


def read_params(given: JsonValue) -> dict[str, Json] | None:
    """Parameters, or the word that there are none. Raises 400 ``invalid_params``."""
    if given is None:
        return None
    try:
        params = SlotParams.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in ("params", *first["loc"]))
        raise failure("invalid_params", f"{where}: {first['msg']}.", field=where) from error
    return params.model_dump(exclude_none=True)


def read_slot(given: str) -> Slot:
    """A slot's name. Raises 400 ``invalid_slot``."""
    for slot in SLOTS:
        if slot == given:
            return slot
    raise failure("invalid_slot", f"A slot is one of {', '.join(SLOTS)}.")


class _Placed(Form):
    scope: ScopeKind = Field("global", description="global, or session.")
    session_id: SessionId | None = Field(None, description="The session, where the scope is session.")

    @property
    def place(self) -> Place:
        """The place that is meant. Raises 400 ``missing_session_id``."""
        return placed(self.scope, self.session_id)


def placed(scope: ScopeKind, session_id: str | None) -> Place:
    """A place by its scope. Raises 400 ``missing_session_id``."""
    if scope == "global":
        return Place.of(None)
    if session_id is None:
        raise failure("missing_session_id", "With scope session, session_id says which one.")
    return Place.of(session_id)


class NewProfile(Form):
    """A profile to make."""

    preset_name: PresetName
    provider: Provider
    model_id: ModelId
    base_url: BaseUrl | None = None
    api_key_name: KeyName | None = None
    api_key: ApiKey

    @property
    def fields(self) -> dict[str, Any]:
        """All but the key."""
        return self.model_dump(exclude={"api_key"})


class ProfilePatch(Patch):
    """What to change of a profile. A key is bound to the address that it was given for: with another one it is given again."""

    preset_name: PresetName = "unnamed"
    provider: Provider = "openai-compatible"
    model_id: ModelId = "none"
    base_url: BaseUrl | None = None
    api_key_name: KeyName | None = None
    api_key: ApiKey | None = None
    status: Literal["active", "disabled"] = "active"

    @property
    def fields(self) -> dict[str, Any]:
        """What was given, but the key."""
        return {name: value for name, value in self.given.items() if name != "api_key"}


class ProfileQuery(Form):
    """Which profiles."""

    include_deleted: QueryBool = Field(False, description="true: deleted ones, too.")
    status: ProfileStatus | None = Field(None, description="active, disabled or deleted: only those.")


class Activation(_Placed):
    """Which slot a profile is to serve, and where. Without ``params`` those of the binding there was stay; null clears them."""

    instance_slot: JsonValue = Field("*", json_schema_extra={"enum": list(SLOTS)})
    params: JsonValue = Field(None, json_schema_extra=PARAMS_SCHEMA)


class PlaceQuery(_Placed):
    """Where."""


class SessionQuery(Form):
    """Which session is asked for."""

    session_id: SessionId | None = Field(None, description="A session: its own bindings count as well.")


class ConfigForm(_Placed):
    """What a slot is to do. Of ``preset_id`` and ``params`` what is left out stays as it was; null clears it."""

    preset_id: Annotated[str, Field(min_length=1, max_length=200), NO_NUL] | None = None
    enabled: bool = True
    params: JsonValue = Field(None, json_schema_extra=PARAMS_SCHEMA)

    @property
    def fields(self) -> dict[str, Any]:
        """What is to be kept. Raises 400 ``invalid_params``."""
        kept: dict[str, Any] = {"enabled": self.enabled}
        if "preset_id" in self.model_fields_set:
            kept["preset_id"] = self.preset_id
        if "params" in self.model_fields_set:
            kept["params"] = read_params(self.params)
        return kept


class Asking(Form):
    """Whom to ask for its models: a provider with a key, or a profile, whose own key and address are used."""

    provider: Provider | None = None
    api_key: ApiKey | None = None
    base_url: BaseUrl | None = None
    profile_id: Annotated[str, Field(min_length=1, max_length=64), NO_NUL] | None = None
    allow_private_network: bool | None = Field(
        None, description="true asks for private addresses, which the server has to allow; false refuses them in any case."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> "Asking":
        if self.profile_id is None and (self.provider is None or self.api_key is None):
            raise ValueError("name provider and api_key, or the profile_id of a stored profile")
        if self.profile_id is not None and (self.api_key is not None or self.base_url is not None):
            raise ValueError("a profile is asked with its own key and address: leave out api_key and base_url")
        return self


class Trial(Asking):
    """Which model to say hello to."""

    model_id: ModelId | None = None
    reasoning_effort: Effort | None = None

    @model_validator(mode="after")
    def _names_a_model(self) -> "Trial":
        if self.profile_id is None and self.model_id is None:
            raise ValueError("name the model_id")
        return self


@dataclass(frozen=True, slots=True)
class ShownProfile:
    """A profile without its key."""

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

    @classmethod
    def of(cls, profile: Profile) -> "ShownProfile":
        """That of a profile."""
        return cls(**{name: getattr(profile, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class Activated:
    """A profile that serves a slot."""

    profile_id: str
    scope: ScopeKind
    scope_id: str
    instance_slot: Slot
    params: Mapping[str, Json] | None
    activated: Literal[True] = True


@dataclass(frozen=True, slots=True)
class Unbound:
    """A slot that has no profile any more."""

    scope: ScopeKind
    scope_id: str
    instance_slot: Slot
    unbound: Literal[True] = True


@dataclass(frozen=True, slots=True)
class RuntimeSlot:
    """What serves a slot, why, and what was passed over. ``provider`` and ``model_id`` are null where the pipeline's own
    upstream serves it and no provider preset is the default."""

    slot: Slot
    source: ProfileSource
    scope: ScopeKind | None
    profile_id: str | None
    params: Mapping[str, Json] | None
    preset_name: str | None
    provider: str | None
    model_id: str | None
    reason: str
    skipped: Sequence[Skipped]

    @classmethod
    def of(cls, choice: Choice, provider: str | None, model: str | None) -> "RuntimeSlot":
        """That of a choice; ``provider`` and ``model`` are those of the default."""
        told = choice.reason, choice.skipped
        if choice.binding is None:
            return cls(choice.slot, choice.source, None, None, None, None, provider, model, *told)
        bound, profile = choice.binding, choice.binding.profile
        own = bound.place.scope, profile.id, bound.params, profile.preset_name, profile.provider, profile.model_id
        return cls(choice.slot, choice.source, *own, *told)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What serves each slot."""

    session_id: str | None
    slots: Sequence[RuntimeSlot]


@dataclass(frozen=True, slots=True)
class DiscoveredModel:
    """A model of a provider's list."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a model was said, and what it answered."""

    request_text: str
    response_text: str


@dataclass(frozen=True, slots=True)
class DeletedConfig:
    """A slot that has no instance config any more."""

    instance_slot: Slot
    scope: ScopeKind
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class ResolvedSlot:
    """What a slot is to do."""

    slot: Slot
    source: ConfigSource
    scope: ScopeKind | None
    config_id: str | None
    preset_id: str | None
    enabled: bool
    params: Mapping[str, Json] | None

    @classmethod
    def of(cls, slot: Slot, config: InstanceConfig | None) -> "ResolvedSlot":
        """That of a config; without one a slot acts, as it is."""
        if config is None:
            return cls(slot, "default", None, None, None, True, None)
        own = config.id, config.preset_id, config.enabled, config.params
        return cls(slot, config_source(config), config.scope, *own)


@dataclass(frozen=True, slots=True)
class ResolvedConfigs:
    """What each slot is to do."""

    session_id: str | None
    slots: Sequence[ResolvedSlot]
