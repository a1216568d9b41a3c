"""The shapes of the library over HTTP: characters, users, prompt presets, worldbooks, regex profiles and their versions."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agentui.chats.conversations import BatchResult
from agentui.jsonio import Json
from agentui.library.assets import AssetFilter
from agentui.library.content import MAX_NAME, MAX_TAG, MAX_TAGS, wrong_content
from agentui.library.preset_entries import PresetEntry
from agentui.library.prompts import joined
from agentui.library.records import Asset, AssetKind, AssetStatus, AssetVersion, Expected
from agentui.library.versions import VersionDifference
from agentui.schemas.forms import MAX_INTEGER, NO_NUL, Form, Id, Ids, ListQuery, LongListQuery, QueryBool

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), NO_NUL]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG), NO_NUL]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Number = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Moment = Annotated[int, Field(ge=0, le=2**53)]


def _content_of(kind: AssetKind) -> AfterValidator:
    def check(content: dict[str, Json]) -> dict[str, Json]:
        wrong = wrong_content(kind, content)
        if wrong is not None:
            raise ValueError(wrong)
        return content

    return AfterValidator(check)


CharacterContent = Annotated[dict[str, Json], _content_of("character")]
UserContent = Annotated[dict[str, Json], _content_of("user")]
PresetContent = Annotated[dict[str, Json], _content_of("preset")]
WorldbookContent = Annotated[dict[str, Json], _content_of("worldbook")]
Objects = Annotated[list[dict[str, Json]], Field(fail_fast=True)]
"""Of what is none only the first is told: there may be millions."""
Scripts = Annotated[list[dict[str, Json]], Field(max_length=10_000)]


class ExpectedRevision(Form):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_revision: Number | None = None

    @property
    def expected(self) -> Expected:
        """The same for the store."""
        return Expected(revision=self.expected_revision)


class RevisionQuery(Form):
    """The revision that the caller thinks is there."""

    expected_revision: int | None = Field(None, ge=0, le=MAX_INTEGER, description="Refuse where this is not its revision.")

    @property
    def expected(self) -> Expected:
        """The same for the store."""
        return Expected(revision=self.expected_revision)


class ExpectedVersion(Form):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_version: Number | None = None
    expected_updated_at: Moment | None = None

    @property
    def expected(self) -> Expected:
        """The same for the store."""
        return Expected(version=self.expected_version, updated_at=self.expected_updated_at)


class DeleteQuery(Form):
    """The version that the caller thinks is there."""

    expected_version: int | None = Field(None, ge=1, le=MAX_INTEGER, description="Refuse where this is not its version.")

    @property
    def expected(self) -> Expected:
        """The same for the store."""
        return Expected(version=self.expected_version)


class NewCharacter(Form):
    """A character to be made; without ``tags`` it gets those of its card."""

    snapshot: CharacterContent
    tags: Tags | None = None


class NewCharacterVersion(ExpectedRevision):
    """What a character shall be like from now on."""

    snapshot: CharacterContent


class AssetPatch(ExpectedRevision):
    """The tags that an asset shall have."""

    tags: Tags


class NewUser(Form):
    """A user to be made."""

    snapshot: UserContent
    tags: Tags = Field(default_factory=list)


class UserPatch(ExpectedRevision):
    """What to change of a user: at least one field beside ``expected_revision``."""

    snapshot: UserContent | None = None
    status: Literal["active", "disabled"] | None = None
    tags: Tags | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.snapshot is None and self.status is None and self.tags is None:
            raise ValueError("name at least one field to change")
        return self


class UserStatusBatch(Form):
    """Users and the status that they get."""

    ids: Ids
    status: Literal["active", "disabled"]


class PresetEditorForm(Form):
    """A prompt preset in parts: its prompts, the orders they are sent in, and everything else.

    ``default_character_id`` is taken back as it was given out, and changes nothing: which order counts follows from their ids.
    """

    default_character_id: int | None = None
    entries: Objects
    order_contexts: Objects
    top_level: dict[str, Json]

    @model_validator(mode="after")
    def _is_a_preset(self) -> Self:
        wrong = wrong_content("preset", self.content)
        if wrong is not None:
            raise ValueError(wrong)
        return self

    @property
    def content(self) -> dict[str, Json]:
        """The content that the parts make."""
        return joined(self.top_level, self.entries, self.order_contexts)


class PresetPut(ExpectedVersion):
    """What a prompt preset shall be like from now on, in the parts that ``/presets/{id}/editor`` gives."""

    name: Name
    editor: PresetEditorForm


class NewPreset(Form):
    """A prompt preset to be made."""

    name: Name
    data: PresetContent
    tags: Tags = Field(default_factory=list)


class NewWorldbook(Form):
    """A worldbook to be made."""

    name: Name
    data: WorldbookContent
    tags: Tags = Field(default_factory=list)


class WorldbookPut(ExpectedVersion):
    """What a worldbook shall be like from now on."""

    name: Name
    data: WorldbookContent


class NewRegexProfile(Form):
    """A regex profile to be made; ``data`` are its scripts."""

    name: Name
    data: Scripts
    tags: Tags = Field(default_factory=list)


class RegexProfilePut(ExpectedVersion):
    """What a regex profile shall be like from now on; ``data`` are its scripts."""

    name: Name
    data: Scripts


class AssetQuery(LongListQuery):
    """Which assets."""

    keyword: Name | None = Field(None, description="A part of the name, in any case.")
    tag: Tag | None = Field(None, description="Only those with this tag.")
    status: AssetStatus | None = Field(None, description="active, disabled or deleted; all but deleted ones without it.")
    sort_by: Literal["created_at", "updated_at", "name"] = Field("updated_at", description="created_at, updated_at or name.")

    @property
    def wanted(self) -> AssetFilter:
        """The same for the store."""
        statuses: tuple[AssetStatus, ...] = ("active", "disabled") if self.status is None else (self.status,)
        return AssetFilter(statuses, self.keyword, self.tag)


class UserQuery(AssetQuery):
    """Which users."""

    include_deleted: QueryBool = Field(False, description="true shows deleted ones as well.")

    @property
    def wanted(self) -> AssetFilter:
        """The same for the store."""
        wanted = super().wanted
        if not self.include_deleted or self.status is not None:
            return wanted
        return AssetFilter(("active", "disabled", "deleted"), wanted.keyword, wanted.tag)


class VersionQuery(ListQuery):
    """Which versions."""

    sort_by: Literal["version_no", "created_at"] = Field("version_no", description="version_no or created_at.")


class Compare(Form):
    """Which two versions to compare; ``full`` tells the values as well."""

    left_version_id: Id
    right_version_id: Id
    mode: Literal["summary", "full"] = "summary"


class ImageQuery(Form):
    """Of which version."""

    version_id: Id | None = Field(None, description="The version; the newest unless said otherwise.")


@dataclass(frozen=True, slots=True)
class Character(Asset):
    """A character."""

    latest_version_no: int


@dataclass(frozen=True, slots=True)
class CharacterVersion:
    """What a character was at some time."""

    id: str
    character_id: str
    version_no: int
    content_hash: str
    image: str | None
    snapshot: Json
    created_at: int


@dataclass(frozen=True, slots=True)
class WrittenVersion(CharacterVersion):
    """The version that a change made, and the character's revision behind it."""

    revision: int
    rolled_back_from_version_id: str | None


@dataclass(frozen=True, slots=True)
class CharacterDetail(Character):
    """A character with its content."""

    latest_version: CharacterVersion


@dataclass(frozen=True, slots=True)
class DeletedCharacter:
    """Whether a character is deleted."""

    id: str
    status: AssetStatus
    deleted_at: int | None
    updated_at: int
    revision: int


@dataclass(frozen=True, slots=True)
class User(Asset):
    """A user with its content."""

    snapshot: Json


@dataclass(frozen=True, slots=True)
class DeletedUser:
    """A user that is gone."""

    id: str
    revision: int
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class AssetDetail(Asset):
    """A worldbook, a prompt preset or a regex profile with its content."""

    data: Json


@dataclass(frozen=True, slots=True)
class RolledBack(Asset):
    """An asset that is again as it was."""

    rolled_back_from_version_id: str


@dataclass(frozen=True, slots=True)
class UserStatusMeta:
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: AssetStatus


@dataclass(frozen=True, slots=True)
class UserStatusResults:
    """What became of every user of a batch."""

    results: list[BatchResult]
    meta: UserStatusMeta


@dataclass(frozen=True, slots=True)
class OrderContext:
    """An order of prompts, with what else its file says of it."""

    character_id: Json
    order: Json
    extra: dict[str, Json]


@dataclass(frozen=True, slots=True)
class PresetParts:
    """A prompt preset in parts: its prompts, the orders they are sent in, and everything else. ``default_character_id`` names
    the order that counts."""

    format: Literal["st-raw"]
    default_character_id: Json
    entries: list[PresetEntry]
    order_contexts: list[OrderContext]
    top_level: Json


@dataclass(frozen=True, slots=True)
class PresetEditor:
    """A prompt preset for an editor (spec: tavern-api-2 part 1.9); ``PUT`` takes ``editor`` back."""

    id: str
    name: str
    source: str
    version: int
    version_id: str
    created_at: int
    updated_at: int
    editor: PresetParts


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """What two versions differ in."""

    asset_id: str
    kind: AssetKind
    left_version_id: str
    right_version_id: str
    diff: VersionDifference


def character_version(version: AssetVersion) -> CharacterVersion:
    """A version in the words of the characters' routes."""
    return CharacterVersion(
        version.id,
        version.asset_id,
        version.version_no,
        version.content_hash,
        version.image,
        version.snapshot,
        version.created_at,
    )
