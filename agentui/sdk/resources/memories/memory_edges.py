"""What memories are to each other. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.shapes.memories.memory_edges import Edge, EdgeForm, EdgePatch
from agentui.sdk.transport import Resource


class MemoryEdgesListCall(Options):
    """What ``memory_edges.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    from_id: NotRequired[str]
    """Edges that begin at this item."""
    to_id: NotRequired[str]
    """Edges that lead to this item."""
    relation: NotRequired[Literal["supports", "contradicts", "updates", "derived_from", "compacts", "resolves"]]
    """supports, contradicts, updates, derived_from, compacts or resolves."""
    sort_by: NotRequired[Literal["created_at"]]
    """created_at."""


class MemoryEdgesCreateCall(EdgeForm, Options, Repeatable):
    """What ``memory_edges.create`` may be told."""


class MemoryEdgesUpdateCall(EdgePatch, Options, Repeatable):
    """What ``memory_edges.update`` may be told."""


class MemoryEdgesDeleteCall(Options, Repeatable):
    """What ``memory_edges.delete`` may be told."""


_LIST = Endpoint[ListOf[Items[Edge]]](
    "GET", "/memory-edges", query=("limit", "offset", "sort_order", "from_id", "to_id", "relation", "sort_by"), answer="whole"
)
_CREATE = Endpoint[Edge]("POST", "/memory-edges", body="json")
_GET = Endpoint[Edge]("GET", "/memory-edges/{id}")
_UPDATE = Endpoint[Edge]("PATCH", "/memory-edges/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/memory-edges/{id}")


class MemoryEdgesResource(Resource):
    """What memories are to each other."""

    def list(self, **given: Unpack[MemoryEdgesListCall]) -> ListOf[Items[Edge]]:
        """List edges. ``GET /memory-edges``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryEdgesListCall]) -> Iterator[Edge]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def create(self, **given: Unpack[MemoryEdgesCreateCall]) -> Edge:
        """Say what one memory is to another. ``POST /memory-edges``"""
        return self._call(_CREATE, (), given)

    def get(self, edge_id: str, **given: Unpack[Options]) -> Edge:
        """Read an edge. ``GET /memory-edges/{id}``"""
        return self._call(_GET, (edge_id,), given)

    def update(self, edge_id: str, **given: Unpack[MemoryEdgesUpdateCall]) -> Edge:
        """Give an edge another relation. ``PATCH /memory-edges/{id}``"""
        return self._call(_UPDATE, (edge_id,), given)

    def delete(self, edge_id: str, **given: Unpack[MemoryEdgesDeleteCall]) -> Deleted:
        """Remove an edge. ``DELETE /memory-edges/{id}``"""
        return self._call(_DELETE, (edge_id,), given)


class AsyncMemoryEdgesResource(AsyncResource):
    """What memories are to each other."""

    async def list(self, **given: Unpack[MemoryEdgesListCall]) -> ListOf[Items[Edge]]:
        """List edges. ``GET /memory-edges``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MemoryEdgesListCall]) -> AsyncIterator[Edge]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def create(self, **given: Unpack[MemoryEdgesCreateCall]) -> Edge:
        """Say what one memory is to another. ``POST /memory-edges``"""
        return await self._call(_CREATE, (), given)

    async def get(self, edge_id: str, **given: Unpack[Options]) -> Edge:
        """Read an edge. ``GET /memory-edges/{id}``"""
        return await self._call(_GET, (edge_id,), given)

    async def update(self, edge_id: str, **given: Unpack[MemoryEdgesUpdateCall]) -> Edge:
        """Give an edge another relation. ``PATCH /memory-edges/{id}``"""
        return await self._call(_UPDATE, (edge_id,), given)

    async def delete(self, edge_id: str, **given: Unpack[MemoryEdgesDeleteCall]) -> Deleted:
        """Remove an edge. ``DELETE /memory-edges/{id}``"""
        return await self._call(_DELETE, (edge_id,), given)
