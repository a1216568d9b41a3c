"""The shapes of entries over HTTP: the prompts of a prompt preset, and what stands in a worldbook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agentui.jsonio import Json
from agentui.library import book_entries, preset_entries
from agentui.library.book_entries import EntryFilter, WorldbookEntry
from agentui.library.preset_entries import PresetEntry
from agentui.schemas.forms import MAX_INTEGER, NO_NUL, Form, Id, Ids, LongListQuery, QueryBool
from agentui.schemas.library import ExpectedVersion

MAX_IDENTIFIERS = 1000
"""The entries of a prompt preset that one batch changes."""

Whole = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Natural = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")]


def _different(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise ValueError("the same identifier stands twice")
    return values


Identifiers = Annotated[list[Id], Field(min_length=1, max_length=MAX_IDENTIFIERS), AfterValidator(_different)]


def _extra_beside(members: frozenset[str]) -> AfterValidator:
    def check(extra: dict[str, Json]) -> dict[str, Json]:
        taken = sorted(members & extra.keys())
        if taken:
            raise ValueError(f"{taken[0]} is a field of its own")
        return extra

    return AfterValidator(check)


class Fields(Form):
    """Fields of an entry: those that are given count."""

    @property
    def written(self) -> dict[str, Json]:
        """What the caller gave of the entry itself."""
        return {name: value for name, value in self.given.items() if not name.startswith("expected_")}


class FieldsPatch(Fields):
    """Fields of an entry that shall be otherwise: at least one."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if all(name.startswith("expected_") for name in self.model_fields_set):
            raise ValueError("name at least one field to change")
        return self


class PresetEntryFields(Fields):
    """What can be said of a prompt; null takes out what need not be said."""

    name: str = ""
    role: Literal["assistant", "system", "user"] = "system"
    content: str = ""
    system_prompt: bool = False
    marker: bool = False
    injection_position: Whole = 0
    injection_depth: Whole | None = None
    injection_order: Whole | None = None
    forbid_overrides: bool | None = None
    injection_trigger: list[Json] | None = None
    enabled: bool = True
    extra: Annotated[dict[str, Json], _extra_beside(frozenset(preset_entries.MEMBERS))] = Field(default_factory=dict)


class NewPresetEntry(PresetEntryFields, ExpectedVersion):
    """A prompt to be added."""

    identifier: Identifier

    @property
    def written(self) -> dict[str, Json]:
        """What the caller gave of the entry beside its identifier."""
        return {name: value for name, value in super().written.items() if name != "identifier"}


class PresetEntryPatch(FieldsPatch, PresetEntryFields, ExpectedVersion):
    """What to change of a prompt."""


class PresetEntryChange(FieldsPatch, PresetEntryFields):
    """What to change of several prompts."""


class PresetEntryBatch(ExpectedVersion):
    """Prompts, and what to change of each."""

    identifiers: Identifiers
    fields: PresetEntryChange


class IdentifierBatch(ExpectedVersion):
    """Which prompts."""

    identifiers: Identifiers


class PresetEntryQuery(Form):
    """Which prompts."""

    enabled: QueryBool | None = Field(None, description="Only those that are switched on, or off.")
    marker: QueryBool | None = Field(None, description="Only markers, or only others.")

    def takes(self, entry: PresetEntry) -> bool:
        """Whether an entry is asked for."""
        return self.enabled in (None, entry.enabled) and self.marker in (None, entry.marker)


class WorldbookEntryFields(Fields):
    """What can be said of an entry, with SillyTavern's numbers; null leaves it to the settings."""

    keys: list[str] = Field(default_factory=list)
    content: str = ""
    comment: str = ""
    keys_secondary: list[str] = Field(default_factory=list)
    selective: bool = True
    selective_logic: Annotated[int, Field(ge=0, le=3)] = 0
    constant: bool = False
    position: Annotated[int, Field(ge=0, le=7)] = 0
    order: Whole = 100
    depth: Natural = 4
    role: Annotated[int, Field(ge=0, le=2)] = 0
    disable: bool = False
    scan_depth: Natural | None = None
    case_sensitive: bool | None = None
    match_whole_words: bool | None = None
    exclude_recursion: bool = False
    prevent_recursion: bool = False
    delay_until_recursion: Annotated[int, Field(ge=1, le=MAX_INTEGER)] | None = None
    outlet_name: str = ""
    extra: Annotated[dict[str, Json], _extra_beside(book_entries.MEMBERS)] = Field(default_factory=dict)


class NewWorldbookEntry(WorldbookEntryFields, ExpectedVersion):
    """An entry to be added."""

    keys: list[str]
    content: str


class WorldbookEntryPatch(FieldsPatch, WorldbookEntryFields, ExpectedVersion):
    """What to change of an entry."""


class WorldbookEntryChange(FieldsPatch, WorldbookEntryFields):
    """What to change of several entries."""


class WorldbookEntryBatch(ExpectedVersion):
    """Entries, and what to change of each."""

    ids: Ids
    fields: WorldbookEntryChange


class EntryIds(ExpectedVersion):
    """Which entries."""

    ids: Ids


class EntryPlace(Form):
    """Where an entry shall stand."""

    id: Id
    order: Whole


def _places_of_different(items: list[EntryPlace]) -> list[EntryPlace]:
    if len({item.id for item in items}) != len(items):
        raise ValueError("the same id stands twice")
    return items


class EntryOrder(ExpectedVersion):
    """Where entries shall stand."""

    items: Annotated[list[EntryPlace], Field(min_length=1, max_length=100), AfterValidator(_places_of_different)]


class WorldbookEntryQuery(LongListQuery):
    """Which entries."""

    sort_by: Literal["order", "updated_at", "uid"] = Field("order", description="order, updated_at or uid.")
    sort_order: Literal["asc", "desc"] = Field("asc", description="asc or desc.")
    disable: QueryBool | None = Field(None, description="Only those that are switched off, or on.")
    constant: QueryBool | None = Field(None, description="Only those that always join, or only others.")
    position: Natural | None = Field(None, description="Only those at this position, by SillyTavern's number.")
    q: Annotated[str, Field(min_length=1), NO_NUL] | None = Field(
        None, description="A part of a key, the comment or the content, in any case."
    )

    @property
    def wanted(self) -> EntryFilter:
        """The same for the library."""
        return EntryFilter(self.disable, self.constant, self.position, self.q)


@dataclass(frozen=True, slots=True)
class PresetEntries:
    """The prompts of a prompt preset; ``default_character_id`` names the order that counts."""

    preset_id: str
    default_character_id: int
    entries: Sequence[PresetEntry]


@dataclass(frozen=True, slots=True)
class DeletedPresetEntry:
    """A prompt that is gone."""

    identifier: str
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class PresetEntryResult:
    """What became of one prompt of a batch; ``data`` is the prompt as it is now, where it is there."""

    index: int
    identifier: str
    action: Literal["updated", "deleted", "not_found"]
    data: PresetEntry | None = None


@dataclass(frozen=True, slots=True)
class WorldbookEntryResult:
    """What became of one entry of a batch; ``data`` is the entry as it is now, where it is there."""

    index: int
    id: str
    action: Literal["updated", "deleted", "not_found"]
    data: WorldbookEntry | None = None


@dataclass(frozen=True, slots=True)
class EntriesUpdated:
    """How a batch of changes went."""

    total: int
    updated: int
    not_found: int


@dataclass(frozen=True, slots=True)
class EntriesDeleted:
    """How a batch of removals went."""

    total: int
    deleted: int
    not_found: int


@dataclass(frozen=True, slots=True)
class PresetEntryResults:
    """What became of every prompt of a batch."""

    results: Sequence[PresetEntryResult]
    meta: EntriesUpdated | EntriesDeleted


@dataclass(frozen=True, slots=True)
class WorldbookEntryResults:
    """What became of every entry of a batch."""

    results: Sequence[WorldbookEntryResult]
    meta: EntriesUpdated | EntriesDeleted
