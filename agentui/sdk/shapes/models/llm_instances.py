"""What the server speaks of: models, llm instances."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class ConfigForm(TypedDict):
    """What a slot is to do. Of ``preset_id`` and ``params`` what is left out stays as it was; null clears it."""

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str | None]
    """The session, where the scope is session."""
    preset_id: NotRequired[str | None]
    enabled: NotRequired[bool]
    params: NotRequired[Json]


class DeletedConfig(TypedDict):
    """A slot that has no instance config any more."""

    instance_slot: Literal["*", "narrator", "director", "verifier", "memory"]
    scope: Literal["global", "session"]
    deleted: NotRequired[Literal[True]]


class InstanceConfig(TypedDict):
    """What a slot is to do in a place: whether it acts at all, with which prompt preset, and with which parameters."""

    id: str
    scope: Literal["global", "session"]
    scope_id: str
    instance_slot: Literal["*", "narrator", "director", "verifier", "memory"]
    preset_id: str | None
    enabled: bool
    params: dict[str, Json] | None
    created_at: int
    updated_at: int


class ResolvedConfigs(TypedDict):
    """What each slot is to do."""

    session_id: str | None
    slots: list[ResolvedSlot]


class ResolvedSlot(TypedDict):
    """What a slot is to do."""

    slot: Literal["*", "narrator", "director", "verifier", "memory"]
    source: Literal["session_config", "global_config", "default"]
    scope: Literal["global", "session"] | None
    config_id: str | None
    preset_id: str | None
    enabled: bool
    params: dict[str, Json] | None
