"""The entries of a worldbook. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.shapes.library.worldbook_entries import (
    EntryIds,
    EntryOrder,
    NewWorldbookEntry,
    WorldbookEntry,
    WorldbookEntryBatch,
    WorldbookEntryPatch,
    WorldbookEntryResults,
)
from agentui.sdk.transport import Resource


class WorldbookEntriesListCall(Options):
    """What ``worldbook_entries.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["order", "updated_at", "uid"]]
    """order, updated_at or uid."""
    disable: NotRequired[bool]
    """Only those that are switched off, or on."""
    constant: NotRequired[bool]
    """Only those that always join, or only others."""
    position: NotRequired[int]
    """Only those at this position, by SillyTavern's number."""
    q: NotRequired[str]
    """A part of a key, the comment or the content, in any case."""


class WorldbookEntriesCreateCall(NewWorldbookEntry, Options, Repeatable):
    """What ``worldbook_entries.create`` may be told."""


class WorldbookEntriesUpdateBatchCall(WorldbookEntryBatch, Options, Repeatable):
    """What ``worldbook_entries.update_batch`` may be told."""


class WorldbookEntriesDeleteBatchCall(EntryIds, Options, Repeatable):
    """What ``worldbook_entries.delete_batch`` may be told."""


class WorldbookEntriesReorderCall(EntryOrder, Options, Repeatable):
    """What ``worldbook_entries.reorder`` may be told."""


class WorldbookEntriesUpdateCall(WorldbookEntryPatch, Options, Repeatable):
    """What ``worldbook_entries.update`` may be told."""


class WorldbookEntriesDeleteCall(Options, Repeatable):
    """What ``worldbook_entries.delete`` may be told."""

    expected_version: NotRequired[int]
    """Refuse where this is not its version."""


_LIST = Endpoint[ListOf[Items[WorldbookEntry]]](
    "GET",
    "/worldbooks/{id}/entries",
    query=("limit", "offset", "sort_order", "sort_by", "disable", "constant", "position", "q"),
    answer="whole",
)
_CREATE = Endpoint[WorldbookEntry]("POST", "/worldbooks/{id}/entries", body="json")
_UPDATE_BATCH = Endpoint[WorldbookEntryResults]("PATCH", "/worldbooks/{id}/entries/batch/update", body="json")
_DELETE_BATCH = Endpoint[WorldbookEntryResults]("POST", "/worldbooks/{id}/entries/batch/delete", body="json")
_REORDER = Endpoint[WorldbookEntryResults]("PUT", "/worldbooks/{id}/entries/batch/reorder", body="json")
_GET = Endpoint[WorldbookEntry]("GET", "/worldbooks/{id}/entries/{entry_id}")
_UPDATE = Endpoint[WorldbookEntry]("PATCH", "/worldbooks/{id}/entries/{entry_id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/worldbooks/{id}/entries/{entry_id}", query=("expected_version",))


class WorldbookEntriesResource(Resource):
    """The entries of a worldbook."""

    def list(self, worldbook_id: str, **given: Unpack[WorldbookEntriesListCall]) -> ListOf[Items[WorldbookEntry]]:
        """List the entries of a worldbook. ``GET /worldbooks/{id}/entries``"""
        return self._call(_LIST, (worldbook_id,), given)

    def iterate(self, worldbook_id: str, **given: Unpack[WorldbookEntriesListCall]) -> Iterator[WorldbookEntry]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (worldbook_id,), given)

    def create(self, worldbook_id: str, **given: Unpack[WorldbookEntriesCreateCall]) -> WorldbookEntry:
        """Add an entry to a worldbook; it gets the next free uid. ``POST /worldbooks/{id}/entries``"""
        return self._call(_CREATE, (worldbook_id,), given)

    def update_batch(self, worldbook_id: str, **given: Unpack[WorldbookEntriesUpdateBatchCall]) -> WorldbookEntryResults:
        """Change the same fields of several entries of a worldbook. ``PATCH /worldbooks/{id}/entries/batch/update``"""
        return self._call(_UPDATE_BATCH, (worldbook_id,), given)

    def delete_batch(self, worldbook_id: str, **given: Unpack[WorldbookEntriesDeleteBatchCall]) -> WorldbookEntryResults:
        """Remove several entries of a worldbook. ``POST /worldbooks/{id}/entries/batch/delete``"""
        return self._call(_DELETE_BATCH, (worldbook_id,), given)

    def reorder(self, worldbook_id: str, **given: Unpack[WorldbookEntriesReorderCall]) -> WorldbookEntryResults:
        """Give entries of a worldbook other places: their ``order``. ``PUT /worldbooks/{id}/entries/batch/reorder``"""
        return self._call(_REORDER, (worldbook_id,), given)

    def get(self, worldbook_id: str, entry_id: str, **given: Unpack[Options]) -> WorldbookEntry:
        """Read one entry of a worldbook. ``GET /worldbooks/{id}/entries/{entry_id}``"""
        return self._call(_GET, (worldbook_id, entry_id), given)

    def update(self, worldbook_id: str, entry_id: str, **given: Unpack[WorldbookEntriesUpdateCall]) -> WorldbookEntry:
        """Change fields of an entry of a worldbook. ``PATCH /worldbooks/{id}/entries/{entry_id}``"""
        return self._call(_UPDATE, (worldbook_id, entry_id), given)

    def delete(self, worldbook_id: str, entry_id: str, **given: Unpack[WorldbookEntriesDeleteCall]) -> Deleted:
        """Remove an entry of a worldbook. ``DELETE /worldbooks/{id}/entries/{entry_id}``"""
        return self._call(_DELETE, (worldbook_id, entry_id), given)


class AsyncWorldbookEntriesResource(AsyncResource):
    """The entries of a worldbook."""

    async def list(self, worldbook_id: str, **given: Unpack[WorldbookEntriesListCall]) -> ListOf[Items[WorldbookEntry]]:
        """List the entries of a worldbook. ``GET /worldbooks/{id}/entries``"""
        return await self._call(_LIST, (worldbook_id,), given)

    def iterate(self, worldbook_id: str, **given: Unpack[WorldbookEntriesListCall]) -> AsyncIterator[WorldbookEntry]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (worldbook_id,), given)

    async def create(self, worldbook_id: str, **given: Unpack[WorldbookEntriesCreateCall]) -> WorldbookEntry:
        """Add an entry to a worldbook; it gets the next free uid. ``POST /worldbooks/{id}/entries``"""
        return await self._call(_CREATE, (worldbook_id,), given)

    async def update_batch(self, worldbook_id: str, **given: Unpack[WorldbookEntriesUpdateBatchCall]) -> WorldbookEntryResults:
        """Change the same fields of several entries of a worldbook. ``PATCH /worldbooks/{id}/entries/batch/update``"""
        return await self._call(_UPDATE_BATCH, (worldbook_id,), given)

    async def delete_batch(self, worldbook_id: str, **given: Unpack[WorldbookEntriesDeleteBatchCall]) -> WorldbookEntryResults:
        """Remove several entries of a worldbook. ``POST /worldbooks/{id}/entries/batch/delete``"""
        return await self._call(_DELETE_BATCH, (worldbook_id,), given)

    async def reorder(self, worldbook_id: str, **given: Unpack[WorldbookEntriesReorderCall]) -> WorldbookEntryResults:
        """Give entries of a worldbook other places: their ``order``. ``PUT /worldbooks/{id}/entries/batch/reorder``"""
        return await self._call(_REORDER, (worldbook_id,), given)

    async def get(self, worldbook_id: str, entry_id: str, **given: Unpack[Options]) -> WorldbookEntry:
        """Read one entry of a worldbook. ``GET /worldbooks/{id}/entries/{entry_id}``"""
        return await self._call(_GET, (worldbook_id, entry_id), given)

    async def update(self, worldbook_id: str, entry_id: str, **given: Unpack[WorldbookEntriesUpdateCall]) -> WorldbookEntry:
        """Change fields of an entry of a worldbook. ``PATCH /worldbooks/{id}/entries/{entry_id}``"""
        return await self._call(_UPDATE, (worldbook_id, entry_id), given)

    async def delete(self, worldbook_id: str, entry_id: str, **given: Unpack[WorldbookEntriesDeleteCall]) -> Deleted:
        """Remove an entry of a worldbook. ``DELETE /worldbooks/{id}/entries/{entry_id}``"""
        return await self._call(_DELETE, (worldbook_id, entry_id), given)
