"""The shapes of memories over HTTP (TavernHeadless' contract, part 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agentui.memories.items import ItemFilter, NewItem, StatusResult
from agentui.memories.records import (
    LifecycleStatus,
    MemoryScope,
    MemoryStatus,
    MemoryType,
    Relation,
    SummaryTier,
)
from agentui.memories.writing.jobs import JobFilter, JobStatus, JobType
from agentui.schemas.forms import NO_NUL, Form, Id, Ids, ListQuery, LongListQuery, Patch, QueryBool

MAX_CONTENT: Final = 64 * 1024
"""The longest content of an item, in characters."""
MAX_WORDS: Final = 64
"""Most keys, entities and sources of an item."""

ScopeId = Annotated[str, Field(min_length=1, max_length=800), NO_NUL]
Words = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Text = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT), NO_NUL]
Quote = Annotated[str, Field(min_length=1, max_length=1000), NO_NUL]
FactKey = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Millis = Annotated[int, Field(ge=0, le=2**53)]


class ContentObject(BaseModel):
    """A content as an object: its words, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    text: Text


class GivenSource(Form):
    """A page that an item was made of, and the words of it that say so."""

    page_id: Id
    quote: Quote | None = None


def _all_different(sources: list[GivenSource]) -> list[GivenSource]:
    if len({source.page_id for source in sources}) != len(sources):
        raise ValueError("the same page stands twice")
    return sources


Content = Text | ContentObject
WordList = Annotated[list[Words], Field(max_length=MAX_WORDS)]
Sources = Annotated[list[GivenSource], Field(max_length=MAX_WORDS), AfterValidator(_all_different)]


def _pairs(sources: list[GivenSource]) -> list[tuple[str, str | None]]:
    return [(source.page_id, source.quote) for source in sources]


def _content(content: str | ContentObject) -> Any:
    return content if isinstance(content, str) else {"text": content.text}


class MemoryForm(Form):
    """An item to write. With ``sources`` it is seen where these pages are; without them its scope says where."""

    scope: MemoryScope
    scope_id: ScopeId
    type: MemoryType
    content: Content
    summary_tier: SummaryTier | None = None
    importance: Share = 0.5
    fact_key: FactKey | None = None
    confidence: Share = 1.0
    source_floor_id: Id | None = None
    source_message_id: Id | None = None
    status: MemoryStatus | None = None
    lifecycle_status: LifecycleStatus | None = None
    sources: Sources = Field(default_factory=list)
    keys: WordList = Field(default_factory=list)
    entities: WordList = Field(default_factory=list)
    pinned: bool = False

    @property
    def item(self) -> NewItem:
        """The item that is meant."""
        plain = {name: getattr(self, name) for name in type(self).model_fields if name not in ("content", "sources")}
        return NewItem(**plain, content=_content(self.content), sources=_pairs(self.sources))


class MemoryPatch(Patch):
    """What to change of an item. Its status alone changes the lifecycle status, too; a new list takes the old one's place."""

    scope: MemoryScope = "global"
    scope_id: ScopeId = "global"
    type: MemoryType = "fact"
    content: Content = "none"
    summary_tier: SummaryTier | None = None
    importance: Share = 0.5
    fact_key: FactKey | None = None
    confidence: Share = 1.0
    source_floor_id: Id | None = None
    source_message_id: Id | None = None
    status: MemoryStatus = "active"
    lifecycle_status: LifecycleStatus = "active"
    sources: Sources = Field(default_factory=list)
    keys: WordList = Field(default_factory=list)
    entities: WordList = Field(default_factory=list)
    pinned: bool = False
    waiting: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """What was given."""
        found = {name: getattr(self, name) for name in self.model_fields_set}
        if "content" in found:
            found["content"] = _content(self.content)
        if "sources" in found:
            found["sources"] = _pairs(self.sources)
        return found


class PlaceQuery(Form):
    """From where items are seen."""

    session_id: Id | None = Field(None, description="From the head of a branch of this chat: its items and global ones.")
    branch_id: Annotated[str, Field(min_length=1, max_length=100), NO_NUL] | None = Field(
        None, description="With session_id: the branch, else main."
    )
    floor_id: Id | None = Field(None, description="From this floor of a chat: that chat's items and global ones.")

    @model_validator(mode="after")
    def _names_one_place(self) -> "PlaceQuery":
        if self.branch_id is not None and self.session_id is None:
            raise ValueError("branch_id goes with session_id")
        if self.floor_id is not None and self.session_id is not None:
            raise ValueError("name a branch by session_id, or a floor by floor_id")
        return self

    @property
    def has_place(self) -> bool:
        """Whether a place is named."""
        return self.session_id is not None or self.floor_id is not None


class MemoryFilter(PlaceQuery):
    """Which items."""

    scope: MemoryScope | None = Field(None, description="global, chat, branch or floor.")
    scope_id: ScopeId | None = Field(None, description="The host: a branch as the JSON of its session and its name.")
    type: MemoryType | None = Field(None, description="fact, summary or open_loop.")
    summary_tier: SummaryTier | None = Field(None, description="micro or macro.")
    status: MemoryStatus | None = Field(None, description="active or deprecated.")
    lifecycle_status: LifecycleStatus | None = Field(None, description="active, compacted or deprecated.")
    fact_key: FactKey | None = Field(None, description="The key of a fact, in any case.")
    source_floor_id: Id | None = Field(None, description="The floor that the item names.")
    source_message_id: Id | None = Field(None, description="The message that the item names.")
    pinned: QueryBool | None = Field(None, description="true: only pinned items; false: only others.")
    waiting: QueryBool | None = Field(None, description="true: only items that a person has to agree to; false: only others.")
    created_from: Millis | None = Field(None, description="Made at this time or later, in ms.")
    created_to: Millis | None = Field(None, description="Made at this time or earlier.")
    updated_from: Millis | None = Field(None, description="Changed at this time or later.")
    updated_to: Millis | None = Field(None, description="Changed at this time or earlier.")
    importance_min: float | None = Field(None, allow_inf_nan=False, description="This importance or more.")
    importance_max: float | None = Field(None, allow_inf_nan=False, description="This importance or less.")
    confidence_min: float | None = Field(None, allow_inf_nan=False, description="This confidence or more.")
    confidence_max: float | None = Field(None, allow_inf_nan=False, description="This confidence or less.")
    q: Annotated[str, Field(min_length=1, max_length=1000), NO_NUL] | None = Field(
        None, description="Words of the content, literally, in any case."
    )
    visible: QueryBool | None = Field(
        None, description="true: what is seen from the place that session_id or floor_id name; false: what is hidden there."
    )

    @model_validator(mode="after")
    def _says_from_where(self) -> "MemoryFilter":
        if self.visible is not None and not self.has_place:
            raise ValueError("visible asks from a place: name it by session_id or floor_id")
        return self

    @property
    def equal(self) -> Mapping[str, Any]:
        """What columns have to hold."""
        names = ("scope", "scope_id", "type", "summary_tier", "status", "lifecycle_status", "fact_key")
        named = {name: getattr(self, name) for name in (*names, "source_floor_id", "source_message_id")}
        flags = {"is_pinned": self.pinned, "is_waiting": self.waiting}
        return {name: value for name, value in (named | flags).items() if value is not None}

    @property
    def filter(self) -> ItemFilter:
        """All but what is seen from where."""
        ranges: dict[str, tuple[float | None, float | None]] = {
            "created_at": (self.created_from, self.created_to),
            "updated_at": (self.updated_from, self.updated_to),
            "importance": (self.importance_min, self.importance_max),
            "confidence": (self.confidence_min, self.confidence_max),
        }
        return ItemFilter(self.equal, ranges, self.q)


class MemoryQuery(MemoryFilter, LongListQuery):
    """Which items, and which part of them."""

    sort_by: Literal["created_at", "updated_at", "importance", "confidence"] = Field(
        "created_at", description="created_at, updated_at, importance or confidence."
    )


class MemoryStatusForm(Form):
    """The status that items are to have."""

    ids: Ids
    status: MemoryStatus


@dataclass(frozen=True, slots=True)
class MemoryStatusMeta:
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: MemoryStatus


@dataclass(frozen=True, slots=True)
class MemoryStatusAnswer:
    """What became of every item of a batch."""

    results: list[StatusResult]
    meta: MemoryStatusMeta


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """What became of an item that was to go."""

    index: int
    id: str
    action: Literal["deleted", "not_found"]


@dataclass(frozen=True, slots=True)
class RemovedMeta:
    """How many of a batch went."""

    total: int
    deleted: int
    not_found: int


@dataclass(frozen=True, slots=True)
class RemovedAnswer:
    """What became of every item of a batch."""

    results: list[RemovedItem]
    meta: RemovedMeta


class EdgeForm(Form):
    """An edge to write. With ``sources`` it counts where these pages are seen."""

    from_id: Id
    to_id: Id
    relation: Relation
    sources: Sources = Field(default_factory=list)

    @property
    def pairs(self) -> list[tuple[str, str | None]]:
        """The sources."""
        return _pairs(self.sources)


class EdgePatch(Form):
    """What an edge is to say."""

    relation: Relation


class EdgeQuery(LongListQuery):
    """Which edges."""

    from_id: Id | None = Field(None, description="Edges that begin at this item.")
    to_id: Id | None = Field(None, description="Edges that lead to this item.")
    relation: Relation | None = Field(None, description="supports, contradicts, updates, derived_from, compacts or resolves.")
    sort_by: Literal["created_at"] = Field("created_at", description="created_at.")


class ScopeQuery(ListQuery):
    """Which scopes."""

    scope: MemoryScope | None = Field(None, description="global, chat, branch or floor.")
    scope_id: ScopeId | None = Field(None, description="The host.")
    sort_by: Literal["updated_at", "revision", "last_compaction_at", "last_processed_floor_no"] = Field(
        "updated_at", description="updated_at, revision, last_compaction_at or last_processed_floor_no."
    )


class JobQuery(ListQuery):
    """Which jobs."""

    scope: MemoryScope | None = Field(None, description="global, chat, branch or floor.")
    scope_id: ScopeId | None = Field(None, description="The host.")
    job_type: JobType | None = Field(None, description="ingest_turn, compact_macro, maintenance or rebuild_scope.")
    status: JobStatus | None = Field(
        None, description="pending, leased, running, succeeded, retry_waiting, dead_letter or cancelled."
    )
    floor_id: Id | None = Field(None, description="The floor that is read.")
    created_from: Millis | None = Field(None, description="Queued at this time or later, in ms.")
    created_to: Millis | None = Field(None, description="Queued at this time or earlier.")
    available_from: Millis | None = Field(None, description="To be tried at this time or later.")
    available_to: Millis | None = Field(None, description="To be tried at this time or earlier.")
    sort_by: Literal["created_at", "updated_at", "available_at"] = Field(
        "created_at", description="created_at, updated_at or available_at."
    )

    @property
    def filter(self) -> JobFilter:
        """What is asked for."""
        named = {name: getattr(self, name) for name in ("scope", "scope_id", "job_type", "status", "floor_id")}
        ranges: dict[str, tuple[float | None, float | None]] = {
            "created_at": (self.created_from, self.created_to),
            "available_at": (self.available_from, self.available_to),
        }
        return JobFilter({name: value for name, value in named.items() if value is not None}, ranges)


class CompactForm(Form):
    """A compaction that is asked for; ``force`` makes one of a few summaries."""

    trigger_floor_id: Id | None = None
    force: bool = True


class RebuildForm(Form):
    """A scope that is to be looked through."""

    trigger_floor_id: Id | None = None
    force_compaction: bool = True


class JobPath(Form):
    """The id of a job in a path: it may hold the JSON of a branch."""

    id: Annotated[str, Field(min_length=1, max_length=1000), NO_NUL]


class ScopePath(Form):
    """A scope in a path."""

    scope: MemoryScope
    scope_id: ScopeId
