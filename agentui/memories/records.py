"""Items of memories, their sources and the edges between them, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.jsonio import Json

MemoryScope: TypeAlias = Literal["global", "chat", "branch", "floor"]
MemoryType: TypeAlias = Literal["fact", "summary", "open_loop"]
SummaryTier: TypeAlias = Literal["micro", "macro"]
MemoryStatus: TypeAlias = Literal["active", "deprecated"]
LifecycleStatus: TypeAlias = Literal["active", "compacted", "deprecated"]
Author: TypeAlias = Literal["user", "model", "rule"]
Relation: TypeAlias = Literal["supports", "contradicts", "updates", "derived_from", "compacts", "resolves"]

HIDING: Final[Mapping[str, Literal["superseded", "compacted"]]] = {
    "updates": "superseded",
    "resolves": "superseded",
    "compacts": "compacted",
}
"""What an edge makes of the item that it leads to, where both its ends are seen."""

HiddenReason: TypeAlias = Literal[
    "deprecated", "compacted", "waiting", "other_scope", "off_path", "replaced", "gone", "superseded"
]
"""Why an item is not seen from a place.

deprecated, compacted   by its own status, everywhere; compacted also by an edge
waiting                 a person has not agreed to it yet
other_scope             it was written for another chat, branch or floor
off_path                a floor that it was made of does not lead there
replaced                a page that it was made of is not the active version of its floor
gone                    a page that it was made of is removed
superseded              another item that is seen updates or resolves it
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that something was made of, with its floor, and the words of it that say so."""

    page_id: str
    floor_id: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A memory. ``visible`` and why it is hidden are told where somebody asks from a place, else null; ``hidden_by`` is the
    item that supersedes or compacts it."""

    id: str
    scope: MemoryScope
    scope_id: str
    type: MemoryType
    summary_tier: SummaryTier | None
    content: Json
    importance: float
    fact_key: str | None
    confidence: float
    source_floor_id: str | None
    source_message_id: str | None
    status: MemoryStatus
    lifecycle_status: LifecycleStatus
    source_job_id: str | None
    token_count_estimate: int | None
    last_used_at: int | None
    coverage_start_floor_no: int | None
    coverage_end_floor_no: int | None
    derived_from_count: int | None
    created_at: int
    updated_at: int
    session_id: str | None
    author: Author
    pinned: bool
    waiting: bool
    keys: Sequence[str]
    entities: Sequence[str]
    sources: Sequence[Source]
    visible: bool | None = None
    hidden_reason: HiddenReason | None = None
    hidden_by: str | None = None

    @property
    def text(self) -> str:
        """The words of the content, in whichever form it was sent."""
        return self.content if isinstance(self.content, str) else str(self.content["text"])


@dataclass(frozen=True, slots=True)
class Edge:
    """What one item is to another: ``from`` updates, resolves, compacts ... ``to``."""

    id: str
    from_id: str
    to_id: str
    relation: Relation
    created_at: int
    sources: Sequence[Source] = ()


@dataclass(frozen=True, slots=True)
class ItemTypes:
    """How many items there are of each type."""

    fact: int
    summary: int
    open_loop: int


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """A set of items in numbers; a token is counted for each four characters of an item, rounded up."""

    total: int
    active: int
    deprecated: int
    by_type: ItemTypes
    avg_importance: float
    avg_confidence: float
    estimated_tokens: int


@dataclass(frozen=True, slots=True)
class ScopeState:
    """How far the jobs of a scope have come."""

    scope: MemoryScope
    scope_id: str
    revision: int
    lease_owner: str | None
    lease_until: int | None
    last_processed_floor_no: int | None
    last_compaction_at: int | None
    updated_at: int
