"""What the server speaks of: memories, memories."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.memories.common import GivenSource, Source


class ContentObject(TypedDict):
    """A content as an object: its words, and nothing else."""

    text: str


class Item(TypedDict):
    """A memory. ``visible`` and why it is hidden are told where somebody asks from a place, else null; ``hidden_by``
    is the item that supersedes or compacts it.
    """

    id: str
    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str
    type: Literal["fact", "summary", "open_loop"]
    summary_tier: Literal["micro", "macro"] | None
    content: Json
    importance: float
    fact_key: str | None
    confidence: float
    source_floor_id: str | None
    source_message_id: str | None
    status: Literal["active", "deprecated"]
    lifecycle_status: Literal["active", "compacted", "deprecated"]
    source_job_id: str | None
    token_count_estimate: int | None
    last_used_at: int | None
    coverage_start_floor_no: int | None
    coverage_end_floor_no: int | None
    derived_from_count: int | None
    created_at: int
    updated_at: int
    session_id: str | None
    author: Literal["user", "model", "rule"]
    pinned: bool
    waiting: bool
    keys: list[str]
    entities: list[str]
    sources: list[Source]
    visible: NotRequired[bool | None]
    hidden_reason: NotRequired[
        Literal["deprecated", "compacted", "waiting", "other_scope", "off_path", "replaced", "gone", "superseded"] | None
    ]
    hidden_by: NotRequired[str | None]


class ItemChange(TypedDict):
    """A change of an item, and the item as it was before."""

    id: str
    item_id: str
    action: Literal["update", "delete"]
    before: Item
    created_at: int


class ItemTypes(TypedDict):
    """How many items there are of each type."""

    fact: int
    summary: int
    open_loop: int


class MemoryForm(TypedDict):
    """An item to write. With ``sources`` it is seen where these pages are; without them its scope says where."""

    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str
    type: Literal["fact", "summary", "open_loop"]
    content: str | ContentObject
    summary_tier: NotRequired[Literal["micro", "macro"] | None]
    importance: NotRequired[float]
    fact_key: NotRequired[str | None]
    confidence: NotRequired[float]
    source_floor_id: NotRequired[str | None]
    source_message_id: NotRequired[str | None]
    status: NotRequired[Literal["active", "deprecated"] | None]
    lifecycle_status: NotRequired[Literal["active", "compacted", "deprecated"] | None]
    sources: NotRequired[list[GivenSource]]
    keys: NotRequired[list[str]]
    entities: NotRequired[list[str]]
    pinned: NotRequired[bool]


class MemoryPatch(TypedDict):
    """What to change of an item. Its status alone changes the lifecycle status, too; a new list takes the old one's
    place.
    """

    scope: NotRequired[Literal["global", "chat", "branch", "floor"]]
    scope_id: NotRequired[str]
    type: NotRequired[Literal["fact", "summary", "open_loop"]]
    content: NotRequired[str | ContentObject]
    summary_tier: NotRequired[Literal["micro", "macro"] | None]
    importance: NotRequired[float]
    fact_key: NotRequired[str | None]
    confidence: NotRequired[float]
    source_floor_id: NotRequired[str | None]
    source_message_id: NotRequired[str | None]
    status: NotRequired[Literal["active", "deprecated"]]
    lifecycle_status: NotRequired[Literal["active", "compacted", "deprecated"]]
    sources: NotRequired[list[GivenSource]]
    keys: NotRequired[list[str]]
    entities: NotRequired[list[str]]
    pinned: NotRequired[bool]
    waiting: NotRequired[bool]


class MemoryStats(TypedDict):
    """A set of items in numbers; a token is counted for each four characters of an item, rounded up."""

    total: int
    active: int
    deprecated: int
    by_type: ItemTypes
    avg_importance: float
    avg_confidence: float
    estimated_tokens: int


class MemoryStatusAnswer(TypedDict):
    """What became of every item of a batch."""

    results: list[StatusResult]
    meta: MemoryStatusMeta


class MemoryStatusForm(TypedDict):
    """The status that items are to have."""

    ids: list[str]
    status: Literal["active", "deprecated"]


class MemoryStatusMeta(TypedDict):
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: Literal["active", "deprecated"]


class PageLedger(TypedDict):
    """What was proposed for a page."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[ProposalBatch]


class Proposal(TypedDict):
    """One thing that a job proposed."""

    id: str
    memory_kind: str
    operation_kind: Literal[
        "refresh_summary", "add_fact", "update_fact", "deprecate_fact", "add_open_loop", "resolve_open_loop"
    ]
    target_scope: Literal["global", "chat", "branch", "floor"]
    payload: Json
    importance: float | None
    reason: str | None
    evidence_json: Json
    status: Literal["proposed", "promoted", "rejected", "superseded"]
    created_at: int
    updated_at: int


class ProposalBatch(TypedDict):
    """What a job proposed at once, and how it was decided."""

    id: str
    proposal_batch_id: str
    runtime_mode: str
    strategy: str
    source_kind: str
    actor_client_id: str | None
    source_json: Json
    evidence_json: Json
    proposal_status: Literal["proposed", "promoted", "rejected", "superseded"]
    promotion_status: str | None
    decision_reason: str | None
    decision_code: str | None
    summary_text_hash: str | None
    token_stats: Json
    scope_resolution: Json
    created_at: int
    updated_at: int
    decided_at: int | None
    items: list[Proposal]


class RemovedAnswer(TypedDict):
    """What became of every item of a batch."""

    results: list[RemovedItem]
    meta: RemovedMeta


class RemovedItem(TypedDict):
    """What became of an item that was to go."""

    index: int
    id: str
    action: Literal["deleted", "not_found"]


class RemovedMeta(TypedDict):
    """How many of a batch went."""

    total: int
    deleted: int
    not_found: int


class StatusResult(TypedDict):
    """What became of one id whose status was to change."""

    index: int
    id: str
    action: Literal["updated", "deleted", "not_found", "conflict"]
    data: NotRequired[Item | None]
