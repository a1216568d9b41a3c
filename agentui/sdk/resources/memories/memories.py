"""Memories: what chats know, and from where each is seen. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import Deleted, IdBatch
from agentui.sdk.shapes.memories.memories import (
    Item,
    ItemChange,
    MemoryForm,
    MemoryPatch,
    MemoryStats,
    MemoryStatusAnswer,
    MemoryStatusForm,
    PageLedger,
    RemovedAnswer,
)
from agentui.sdk.transport import Resource


class MemoriesListCall(Options):
    """What ``memories.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    session_id: NotRequired[str]
    """From the head of a branch of this chat: its items and global ones."""
    branch_id: NotRequired[str]
    """With session_id: the branch, else main."""
    floor_id: NotRequired[str]
    """From this floor of a chat: that chat's items and global ones."""
    scope: NotRequired[Literal["global", "chat", "branch", "floor"]]
    """global, chat, branch or floor."""
    scope_id: NotRequired[str]
    """The host: a branch as the JSON of its session and its name."""
    type: NotRequired[Literal["fact", "summary", "open_loop"]]
    """fact, summary or open_loop."""
    summary_tier: NotRequired[Literal["micro", "macro"]]
    """micro or macro."""
    status: NotRequired[Literal["active", "deprecated"]]
    """active or deprecated."""
    lifecycle_status: NotRequired[Literal["active", "compacted", "deprecated"]]
    """active, compacted or deprecated."""
    fact_key: NotRequired[str]
    """The key of a fact, in any case."""
    source_floor_id: NotRequired[str]
    """The floor that the item names."""
    source_message_id: NotRequired[str]
    """The message that the item names."""
    pinned: NotRequired[bool]
    """true: only pinned items; false: only others."""
    waiting: NotRequired[bool]
    """true: only items that a person has to agree to; false: only others."""
    created_from: NotRequired[int]
    """Made at this time or later, in ms."""
    created_to: NotRequired[int]
    """Made at this time or earlier."""
    updated_from: NotRequired[int]
    """Changed at this time or later."""
    updated_to: NotRequired[int]
    """Changed at this time or earlier."""
    importance_min: NotRequired[float]
    """This importance or more."""
    importance_max: NotRequired[float]
    """This importance or less."""
    confidence_min: NotRequired[float]
    """This confidence or more."""
    confidence_max: NotRequired[float]
    """This confidence or less."""
    q: NotRequired[str]
    """Words of the content, literally, in any case."""
    visible: NotRequired[bool]
    """true: what is seen from the place that session_id or floor_id name; false: what is hidden there."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "importance", "confidence"]]
    """created_at, updated_at, importance or confidence."""


class MemoriesCreateCall(MemoryForm, Options, Repeatable):
    """What ``memories.create`` may be told."""


class MemoriesGetStatsCall(Options):
    """What ``memories.get_stats`` may be told."""

    session_id: NotRequired[str]
    """From the head of a branch of this chat: its items and global ones."""
    branch_id: NotRequired[str]
    """With session_id: the branch, else main."""
    floor_id: NotRequired[str]
    """From this floor of a chat: that chat's items and global ones."""
    scope: NotRequired[Literal["global", "chat", "branch", "floor"]]
    """global, chat, branch or floor."""
    scope_id: NotRequired[str]
    """The host: a branch as the JSON of its session and its name."""
    type: NotRequired[Literal["fact", "summary", "open_loop"]]
    """fact, summary or open_loop."""
    summary_tier: NotRequired[Literal["micro", "macro"]]
    """micro or macro."""
    status: NotRequired[Literal["active", "deprecated"]]
    """active or deprecated."""
    lifecycle_status: NotRequired[Literal["active", "compacted", "deprecated"]]
    """active, compacted or deprecated."""
    fact_key: NotRequired[str]
    """The key of a fact, in any case."""
    source_floor_id: NotRequired[str]
    """The floor that the item names."""
    source_message_id: NotRequired[str]
    """The message that the item names."""
    pinned: NotRequired[bool]
    """true: only pinned items; false: only others."""
    waiting: NotRequired[bool]
    """true: only items that a person has to agree to; false: only others."""
    created_from: NotRequired[int]
    """Made at this time or later, in ms."""
    created_to: NotRequired[int]
    """Made at this time or earlier."""
    updated_from: NotRequired[int]
    """Changed at this time or later."""
    updated_to: NotRequired[int]
    """Changed at this time or earlier."""
    importance_min: NotRequired[float]
    """This importance or more."""
    importance_max: NotRequired[float]
    """This importance or less."""
    confidence_min: NotRequired[float]
    """This confidence or more."""
    confidence_max: NotRequired[float]
    """This confidence or less."""
    q: NotRequired[str]
    """Words of the content, literally, in any case."""
    visible: NotRequired[bool]
    """true: what is seen from the place that session_id or floor_id name; false: what is hidden there."""


class MemoriesUpdateStatusBatchCall(MemoryStatusForm, Options, Repeatable):
    """What ``memories.update_status_batch`` may be told."""


class MemoriesDeleteBatchCall(IdBatch, Options, Repeatable):
    """What ``memories.delete_batch`` may be told."""


class MemoriesGetCall(Options):
    """What ``memories.get`` may be told."""

    session_id: NotRequired[str]
    """From the head of a branch of this chat: its items and global ones."""
    branch_id: NotRequired[str]
    """With session_id: the branch, else main."""
    floor_id: NotRequired[str]
    """From this floor of a chat: that chat's items and global ones."""


class MemoriesUpdateCall(MemoryPatch, Options, Repeatable):
    """What ``memories.update`` may be told."""


class MemoriesDeleteCall(Options, Repeatable):
    """What ``memories.delete`` may be told."""


class MemoriesUndoCall(Options, Repeatable):
    """What ``memories.undo`` may be told."""


_LIST = Endpoint[ListOf[Items[Item]]](
    "GET",
    "/memories",
    query=(
        "limit",
        "offset",
        "sort_order",
        "session_id",
        "branch_id",
        "floor_id",
        "scope",
        "scope_id",
        "type",
        "summary_tier",
        "status",
        "lifecycle_status",
        "fact_key",
        "source_floor_id",
        "source_message_id",
        "pinned",
        "waiting",
        "created_from",
        "created_to",
        "updated_from",
        "updated_to",
        "importance_min",
        "importance_max",
        "confidence_min",
        "confidence_max",
        "q",
        "visible",
        "sort_by",
    ),
    answer="whole",
)
_CREATE = Endpoint[Item]("POST", "/memories", body="json")
_GET_STATS = Endpoint[MemoryStats](
    "GET",
    "/memories/stats",
    query=(
        "session_id",
        "branch_id",
        "floor_id",
        "scope",
        "scope_id",
        "type",
        "summary_tier",
        "status",
        "lifecycle_status",
        "fact_key",
        "source_floor_id",
        "source_message_id",
        "pinned",
        "waiting",
        "created_from",
        "created_to",
        "updated_from",
        "updated_to",
        "importance_min",
        "importance_max",
        "confidence_min",
        "confidence_max",
        "q",
        "visible",
    ),
)
_UPDATE_STATUS_BATCH = Endpoint[MemoryStatusAnswer]("PATCH", "/memories/batch/status", body="json")
_DELETE_BATCH = Endpoint[RemovedAnswer]("POST", "/memories/batch/delete", body="json")
_GET = Endpoint[Item]("GET", "/memories/{id}", query=("session_id", "branch_id", "floor_id"))
_UPDATE = Endpoint[Item]("PATCH", "/memories/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/memories/{id}")
_GET_HISTORY = Endpoint[Items[ItemChange]]("GET", "/memories/{id}/history")
_UNDO = Endpoint[Item]("POST", "/memories/{id}/undo")
_GET_PAGE_PROPOSALS = Endpoint[PageLedger]("GET", "/pages/{id}/memory/proposals")
_GET_PAGE_PROMOTIONS = Endpoint[PageLedger]("GET", "/pages/{id}/memory/promotions")


class MemoriesResource(Resource):
    """Memories: what chats know, and from where each is seen."""

    def list(self, **given: Unpack[MemoriesListCall]) -> ListOf[Items[Item]]:
        """List memories; from a place also whether each is seen there, and why not. ``GET /memories``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoriesListCall]) -> Iterator[Item]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def create(self, **given: Unpack[MemoriesCreateCall]) -> Item:
        """Write a memory by hand. ``POST /memories``"""
        return self._call(_CREATE, (), given)

    def get_stats(self, **given: Unpack[MemoriesGetStatsCall]) -> MemoryStats:
        """Count memories: how many there are of each kind, and about how long they are. ``GET /memories/stats``"""
        return self._call(_GET_STATS, (), given)

    def update_status_batch(self, **given: Unpack[MemoriesUpdateStatusBatchCall]) -> MemoryStatusAnswer:
        """Give many memories a status. ``PATCH /memories/batch/status``"""
        return self._call(_UPDATE_STATUS_BATCH, (), given)

    def delete_batch(self, **given: Unpack[MemoriesDeleteBatchCall]) -> RemovedAnswer:
        """Remove many memories with their edges. ``POST /memories/batch/delete``"""
        return self._call(_DELETE_BATCH, (), given)

    def get(self, memory_id: str, **given: Unpack[MemoriesGetCall]) -> Item:
        """Read a memory; from a place also whether it is seen there, and why not. ``GET /memories/{id}``"""
        return self._call(_GET, (memory_id,), given)

    def update(self, memory_id: str, **given: Unpack[MemoriesUpdateCall]) -> Item:
        """Change a memory. ``PATCH /memories/{id}``"""
        return self._call(_UPDATE, (memory_id,), given)

    def delete(self, memory_id: str, **given: Unpack[MemoriesDeleteCall]) -> Deleted:
        """Remove a memory with its edges; undo brings it back, without them. ``DELETE /memories/{id}``"""
        return self._call(_DELETE, (memory_id,), given)

    def get_history(self, memory_id: str, **given: Unpack[Options]) -> Items[ItemChange]:
        """List what people changed of a memory, the latest first, with what it was before each change. ``GET
        /memories/{id}/history``
        """
        return self._call(_GET_HISTORY, (memory_id,), given)

    def undo(self, memory_id: str, **given: Unpack[MemoriesUndoCall]) -> Item:
        """Bring a memory back to what it was before its last change, or its removal. ``POST /memories/{id}/undo``"""
        return self._call(_UNDO, (memory_id,), given)

    def get_page_proposals(self, page_id: str, **given: Unpack[Options]) -> PageLedger:
        """List what was proposed for a page. ``GET /pages/{id}/memory/proposals``"""
        return self._call(_GET_PAGE_PROPOSALS, (page_id,), given)

    def get_page_promotions(self, page_id: str, **given: Unpack[Options]) -> PageLedger:
        """List what was proposed for a page and is decided. ``GET /pages/{id}/memory/promotions``"""
        return self._call(_GET_PAGE_PROMOTIONS, (page_id,), given)


class AsyncMemoriesResource(AsyncResource):
    """Memories: what chats know, and from where each is seen."""

    async def list(self, **given: Unpack[MemoriesListCall]) -> ListOf[Items[Item]]:
        """List memories; from a place also whether each is seen there, and why not. ``GET /memories``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoriesListCall]) -> AsyncIterator[Item]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def create(self, **given: Unpack[MemoriesCreateCall]) -> Item:
        """Write a memory by hand. ``POST /memories``"""
        return await self._call(_CREATE, (), given)

    async def get_stats(self, **given: Unpack[MemoriesGetStatsCall]) -> MemoryStats:
        """Count memories: how many there are of each kind, and about how long they are. ``GET /memories/stats``"""
        return await self._call(_GET_STATS, (), given)

    async def update_status_batch(self, **given: Unpack[MemoriesUpdateStatusBatchCall]) -> MemoryStatusAnswer:
        """Give many memories a status. ``PATCH /memories/batch/status``"""
        return await self._call(_UPDATE_STATUS_BATCH, (), given)

    async def delete_batch(self, **given: Unpack[MemoriesDeleteBatchCall]) -> RemovedAnswer:
        """Remove many memories with their edges. ``POST /memories/batch/delete``"""
        return await self._call(_DELETE_BATCH, (), given)

    async def get(self, memory_id: str, **given: Unpack[MemoriesGetCall]) -> Item:
        """Read a memory; from a place also whether it is seen there, and why not. ``GET /memories/{id}``"""
        return await self._call(_GET, (memory_id,), given)

    async def update(self, memory_id: str, **given: Unpack[MemoriesUpdateCall]) -> Item:
        """Change a memory. ``PATCH /memories/{id}``"""
        return await self._call(_UPDATE, (memory_id,), given)

    async def delete(self, memory_id: str, **given: Unpack[MemoriesDeleteCall]) -> Deleted:
        """Remove a memory with its edges; undo brings it back, without them. ``DELETE /memories/{id}``"""
        return await self._call(_DELETE, (memory_id,), given)

    async def get_history(self, memory_id: str, **given: Unpack[Options]) -> Items[ItemChange]:
        """List what people changed of a memory, the latest first, with what it was before each change. ``GET
        /memories/{id}/history``
        """
        return await self._call(_GET_HISTORY, (memory_id,), given)

    async def undo(self, memory_id: str, **given: Unpack[MemoriesUndoCall]) -> Item:
        """Bring a memory back to what it was before its last change, or its removal. ``POST /memories/{id}/undo``"""
        return await self._call(_UNDO, (memory_id,), given)

    async def get_page_proposals(self, page_id: str, **given: Unpack[Options]) -> PageLedger:
        """List what was proposed for a page. ``GET /pages/{id}/memory/proposals``"""
        return await self._call(_GET_PAGE_PROPOSALS, (page_id,), given)

    async def get_page_promotions(self, page_id: str, **given: Unpack[Options]) -> PageLedger:
        """List what was proposed for a page and is decided. ``GET /pages/{id}/memory/promotions``"""
        return await self._call(_GET_PAGE_PROMOTIONS, (page_id,), given)
