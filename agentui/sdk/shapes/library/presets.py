"""What the server speaks of: library, presets."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.library.common import PresetEntry


class NewPreset(TypedDict):
    """A prompt preset to be made."""

    name: str
    data: dict[str, Json]
    tags: NotRequired[list[str]]


class OrderContext(TypedDict):
    """An order of prompts, with what else its file says of it."""

    character_id: Json
    order: Json
    extra: dict[str, Json]


class PresetEditor(TypedDict):
    """A prompt preset for an editor (spec: tavern-api-2 part 1.9); ``PUT`` takes ``editor`` back."""

    id: str
    name: str
    source: str
    version: int
    version_id: str
    created_at: int
    updated_at: int
    editor: PresetParts


class PresetEditorForm(TypedDict):
    """A prompt preset in parts: its prompts, the orders they are sent in, and everything else.
    ``default_character_id`` is taken back as it was given out, and changes nothing: which order counts follows from
    their ids.
    """

    default_character_id: NotRequired[int | None]
    entries: list[dict[str, Json]]
    order_contexts: list[dict[str, Json]]
    top_level: dict[str, Json]


class PresetParts(TypedDict):
    """A prompt preset in parts: its prompts, the orders they are sent in, and everything else.
    ``default_character_id`` names the order that counts.
    """

    format: Literal["st-raw"]
    default_character_id: Json
    entries: list[PresetEntry]
    order_contexts: list[OrderContext]
    top_level: Json


class PresetPut(TypedDict):
    """What a prompt preset shall be like from now on, in the parts that ``/presets/{id}/editor`` gives."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    name: str
    editor: PresetEditorForm


class PresetTestForm(TypedDict):
    """A prompt preset as what it holds, and what the user would say. With a session its chat, its character and its
    lore are in the prompt, as on the branch; else nothing but the preset, and ``macros`` are values by name.
    """

    preset: dict[str, Json]
    message: NotRequired[str]
    session_id: NotRequired[str | None]
    branch_id: NotRequired[str | None]
    prompt_intent: NotRequired[Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]]
    macros: NotRequired[dict[str, str]]


class TriedPreset(TypedDict):
    """The prompt that a preset makes: its messages, and each of its texts with its tokens. ``is_used`` is false where
    the session makes its prompts without presets (mode ``native``).
    """

    is_used: bool
    messages: list[dict[str, Json]]
    sections: list[dict[str, Json]]
    token_estimate: int
    window: int
    available_for_reply: int
    trigger_filtered_entry_ids: list[str]
    warnings: list[str]
