"""What the server speaks of: common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class BatchResult(TypedDict):
    """What became of one id of a batch."""

    index: int
    id: str
    action: Literal["updated", "deleted", "not_found", "conflict"]


class CharacterBinding(TypedDict):
    """The character that a session was given."""

    character_id: NotRequired[str | None]
    character_version_id: NotRequired[str | None]
    sync_policy: NotRequired[Literal["pin", "manual", "force"]]
    snapshot_summary: NotRequired[dict[str, Json] | None]


class DeleteMeta(TypedDict):
    """How a batch went."""

    total: int
    deleted: int
    not_found: int
    conflicts: int


class DeleteResults(TypedDict):
    """What became of every item of a batch."""

    results: list[BatchResult]
    meta: DeleteMeta


class Deleted(TypedDict):
    """What is gone."""

    id: str
    deleted: NotRequired[Literal[True]]


class IdBatch(TypedDict):
    """What a batch is about."""

    ids: list[str]


class Session(TypedDict):
    """A conversation. ``name`` is the caller's own name for it; the ids of other things are kept as they were given."""

    id: str
    name: str | None
    title: str | None
    status: Literal["active", "archived"]
    character_binding: CharacterBinding | None
    user_binding: UserBinding | None
    project_id: str | None
    preset_id: str | None
    regex_profile_id: str | None
    worldbook_profile_id: str | None
    deep_binding: bool
    preset_version_id: str | None
    regex_profile_version_id: str | None
    worldbook_version_id: str | None
    model_provider: str | None
    model_name: str | None
    model_params: dict[str, Json] | None
    prompt_mode: Literal["compat_strict", "compat_plus", "native"] | None
    assemble: bool
    pipeline_id: str | None
    director_pipeline_id: str | None
    verifier_pipeline_id: str | None
    memory: Literal["on", "off", "incognito"] | None
    metadata: dict[str, Json]
    created_at: int
    updated_at: int


class UserBinding(TypedDict):
    """The user that a session was given."""

    user_id: NotRequired[str | None]
    snapshot_summary: NotRequired[dict[str, Json] | None]
