"""What the server speaks of: models, llm profiles."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class Activated(TypedDict):
    """A profile that serves a slot."""

    profile_id: str
    scope: Literal["global", "session"]
    scope_id: str
    instance_slot: Literal["*", "narrator", "director", "verifier", "memory"]
    params: dict[str, Json] | None
    activated: NotRequired[Literal[True]]


class Activation(TypedDict):
    """Which slot a profile is to serve, and where. Without ``params`` those of the binding there was stay; null clears
    them.
    """

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str | None]
    """The session, where the scope is session."""
    instance_slot: NotRequired[Json]
    params: NotRequired[Json]


class Asking(TypedDict):
    """Whom to ask for its models: a provider with a key, or a profile, whose own key and address are used."""

    provider: NotRequired[Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"] | None]
    api_key: NotRequired[str | None]
    base_url: NotRequired[str | None]
    profile_id: NotRequired[str | None]
    allow_private_network: NotRequired[bool | None]
    """true asks for private addresses, which the server has to allow; false refuses them in any case."""


class DiscoveredModel(TypedDict):
    """A model of a provider's list."""

    id: str
    label: str


class NewProfile(TypedDict):
    """A profile to make."""

    preset_name: str
    provider: Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"]
    model_id: str
    base_url: NotRequired[str | None]
    api_key_name: NotRequired[str | None]
    api_key: str
    """Write only: no answer shows it."""


class ProfilePatch(TypedDict):
    """What to change of a profile. A key is bound to the address that it was given for: with another one it is given
    again.
    """

    preset_name: NotRequired[str]
    provider: NotRequired[Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"]]
    model_id: NotRequired[str]
    base_url: NotRequired[str | None]
    api_key_name: NotRequired[str | None]
    api_key: NotRequired[str | None]
    status: NotRequired[Literal["active", "disabled"]]


class Runtime(TypedDict):
    """What serves each slot."""

    session_id: str | None
    slots: list[RuntimeSlot]


class RuntimeSlot(TypedDict):
    """What serves a slot, why, and what was passed over. ``provider`` and ``model_id`` are null where the pipeline's
    own upstream serves it and no provider preset is the default.
    """

    slot: Literal["*", "narrator", "director", "verifier", "memory"]
    source: Literal["env", "global_profile", "session_profile"]
    scope: Literal["global", "session"] | None
    profile_id: str | None
    params: dict[str, Json] | None
    preset_name: str | None
    provider: str | None
    model_id: str | None
    reason: str
    skipped: list[Skipped]


class ShownProfile(TypedDict):
    """A profile without its key."""

    id: str
    preset_name: str
    provider: Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"]
    model_id: str
    base_url: str | None
    api_key_name: str | None
    api_key_masked: str
    status: Literal["active", "disabled", "deleted"]
    last_used_at: int | None
    created_at: int
    updated_at: int


class Skipped(TypedDict):
    """A binding that would have counted. ``reason``: disabled, deleted, or the code of why its key cannot be opened."""

    profile_id: str
    preset_name: str
    scope: Literal["global", "session"]
    instance_slot: Literal["*", "narrator", "director", "verifier", "memory"]
    reason: str
    message: str


class Trial(TypedDict):
    """Which model to say hello to."""

    provider: NotRequired[Literal["openai", "anthropic", "google", "deepseek", "xai", "openai-compatible"] | None]
    api_key: NotRequired[str | None]
    base_url: NotRequired[str | None]
    profile_id: NotRequired[str | None]
    allow_private_network: NotRequired[bool | None]
    """true asks for private addresses, which the server has to allow; false refuses them in any case."""
    model_id: NotRequired[str | None]
    reasoning_effort: NotRequired[Literal["low", "medium", "high"] | None]


class TrialAnswer(TypedDict):
    """What a model was said, and what it answered."""

    request_text: str
    response_text: str


class Unbound(TypedDict):
    """A slot that has no profile any more."""

    scope: Literal["global", "session"]
    scope_id: str
    instance_slot: Literal["*", "narrator", "director", "verifier", "memory"]
    unbound: NotRequired[Literal[True]]
