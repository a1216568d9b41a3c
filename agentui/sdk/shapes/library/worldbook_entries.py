"""What the server speaks of: library, worldbook entries."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.library.common import EntriesDeleted, EntriesUpdated


class EntryIds(TypedDict):
    """Which entries."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    ids: list[str]


class EntryOrder(TypedDict):
    """Where entries shall stand."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    items: list[EntryPlace]


class EntryPlace(TypedDict):
    """Where an entry shall stand."""

    id: str
    order: int


class NewWorldbookEntry(TypedDict):
    """An entry to be added."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    keys: list[str]
    content: str
    comment: NotRequired[str]
    keys_secondary: NotRequired[list[str]]
    selective: NotRequired[bool]
    selective_logic: NotRequired[int]
    constant: NotRequired[bool]
    position: NotRequired[int]
    order: NotRequired[int]
    depth: NotRequired[int]
    role: NotRequired[int]
    disable: NotRequired[bool]
    scan_depth: NotRequired[int | None]
    case_sensitive: NotRequired[bool | None]
    match_whole_words: NotRequired[bool | None]
    exclude_recursion: NotRequired[bool]
    prevent_recursion: NotRequired[bool]
    delay_until_recursion: NotRequired[int | None]
    outlet_name: NotRequired[str]
    extra: NotRequired[dict[str, Json]]


class WorldbookEntry(TypedDict):
    """One entry. Positions, logics and roles are SillyTavern's numbers. The times are those of its book: an entry has
    none of its own.
    """

    id: str
    worldbook_id: str
    uid: Json
    comment: str
    content: str
    keys: list[str]
    keys_secondary: list[str]
    selective: bool
    selective_logic: int
    constant: bool
    position: int
    order: int
    depth: int
    role: int
    disable: bool
    scan_depth: int | None
    case_sensitive: bool | None
    match_whole_words: bool | None
    exclude_recursion: bool
    prevent_recursion: bool
    delay_until_recursion: int | None
    outlet_name: str
    extra: dict[str, Json]
    created_at: int
    updated_at: int


class WorldbookEntryBatch(TypedDict):
    """Entries, and what to change of each."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    ids: list[str]
    fields: WorldbookEntryChange


class WorldbookEntryChange(TypedDict):
    """What to change of several entries."""

    keys: NotRequired[list[str]]
    content: NotRequired[str]
    comment: NotRequired[str]
    keys_secondary: NotRequired[list[str]]
    selective: NotRequired[bool]
    selective_logic: NotRequired[int]
    constant: NotRequired[bool]
    position: NotRequired[int]
    order: NotRequired[int]
    depth: NotRequired[int]
    role: NotRequired[int]
    disable: NotRequired[bool]
    scan_depth: NotRequired[int | None]
    case_sensitive: NotRequired[bool | None]
    match_whole_words: NotRequired[bool | None]
    exclude_recursion: NotRequired[bool]
    prevent_recursion: NotRequired[bool]
    delay_until_recursion: NotRequired[int | None]
    outlet_name: NotRequired[str]
    extra: NotRequired[dict[str, Json]]


class WorldbookEntryPatch(TypedDict):
    """What to change of an entry."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    keys: NotRequired[list[str]]
    content: NotRequired[str]
    comment: NotRequired[str]
    keys_secondary: NotRequired[list[str]]
    selective: NotRequired[bool]
    selective_logic: NotRequired[int]
    constant: NotRequired[bool]
    position: NotRequired[int]
    order: NotRequired[int]
    depth: NotRequired[int]
    role: NotRequired[int]
    disable: NotRequired[bool]
    scan_depth: NotRequired[int | None]
    case_sensitive: NotRequired[bool | None]
    match_whole_words: NotRequired[bool | None]
    exclude_recursion: NotRequired[bool]
    prevent_recursion: NotRequired[bool]
    delay_until_recursion: NotRequired[int | None]
    outlet_name: NotRequired[str]
    extra: NotRequired[dict[str, Json]]


class WorldbookEntryResult(TypedDict):
    """What became of one entry of a batch; ``data`` is the entry as it is now, where it is there."""

    index: int
    id: str
    action: Literal["updated", "deleted", "not_found"]
    data: NotRequired[WorldbookEntry | None]


class WorldbookEntryResults(TypedDict):
    """What became of every entry of a batch."""

    results: list[WorldbookEntryResult]
    meta: EntriesUpdated | EntriesDeleted
