"""What the server speaks of: library, preset entries."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.library.common import EntriesDeleted, EntriesUpdated, PresetEntry


class DeletedPresetEntry(TypedDict):
    """A prompt that is gone."""

    identifier: str
    deleted: NotRequired[Literal[True]]


class IdentifierBatch(TypedDict):
    """Which prompts."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    identifiers: list[str]


class NewPresetEntry(TypedDict):
    """A prompt to be added."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    name: NotRequired[str]
    role: NotRequired[Literal["assistant", "system", "user"]]
    content: NotRequired[str]
    system_prompt: NotRequired[bool]
    marker: NotRequired[bool]
    injection_position: NotRequired[int]
    injection_depth: NotRequired[int | None]
    injection_order: NotRequired[int | None]
    forbid_overrides: NotRequired[bool | None]
    injection_trigger: NotRequired[list[Json] | None]
    enabled: NotRequired[bool]
    extra: NotRequired[dict[str, Json]]
    identifier: str


class PresetEntries(TypedDict):
    """The prompts of a prompt preset; ``default_character_id`` names the order that counts."""

    preset_id: str
    default_character_id: int
    entries: list[PresetEntry]


class PresetEntryBatch(TypedDict):
    """Prompts, and what to change of each."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    identifiers: list[str]
    fields: PresetEntryChange


class PresetEntryChange(TypedDict):
    """What to change of several prompts."""

    name: NotRequired[str]
    role: NotRequired[Literal["assistant", "system", "user"]]
    content: NotRequired[str]
    system_prompt: NotRequired[bool]
    marker: NotRequired[bool]
    injection_position: NotRequired[int]
    injection_depth: NotRequired[int | None]
    injection_order: NotRequired[int | None]
    forbid_overrides: NotRequired[bool | None]
    injection_trigger: NotRequired[list[Json] | None]
    enabled: NotRequired[bool]
    extra: NotRequired[dict[str, Json]]


class PresetEntryPatch(TypedDict):
    """What to change of a prompt."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    name: NotRequired[str]
    role: NotRequired[Literal["assistant", "system", "user"]]
    content: NotRequired[str]
    system_prompt: NotRequired[bool]
    marker: NotRequired[bool]
    injection_position: NotRequired[int]
    injection_depth: NotRequired[int | None]
    injection_order: NotRequired[int | None]
    forbid_overrides: NotRequired[bool | None]
    injection_trigger: NotRequired[list[Json] | None]
    enabled: NotRequired[bool]
    extra: NotRequired[dict[str, Json]]


class PresetEntryResult(TypedDict):
    """What became of one prompt of a batch; ``data`` is the prompt as it is now, where it is there."""

    index: int
    identifier: str
    action: Literal["updated", "deleted", "not_found"]
    data: NotRequired[PresetEntry | None]


class PresetEntryResults(TypedDict):
    """What became of every prompt of a batch."""

    results: list[PresetEntryResult]
    meta: EntriesUpdated | EntriesDeleted
