"""The prompts of a prompt preset. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Options, Repeatable
from agentui.sdk.shapes.library.common import PresetEntry
from agentui.sdk.shapes.library.preset_entries import (
    DeletedPresetEntry,
    IdentifierBatch,
    NewPresetEntry,
    PresetEntries,
    PresetEntryBatch,
    PresetEntryPatch,
    PresetEntryResults,
)
from agentui.sdk.transport import Resource


class PresetEntriesListCall(Options):
    """What ``preset_entries.list`` may be told."""

    enabled: NotRequired[bool]
    """Only those that are switched on, or off."""
    marker: NotRequired[bool]
    """Only markers, or only others."""


class PresetEntriesCreateCall(NewPresetEntry, Options, Repeatable):
    """What ``preset_entries.create`` may be told."""


class PresetEntriesReorderCall(IdentifierBatch, Options, Repeatable):
    """What ``preset_entries.reorder`` may be told."""


class PresetEntriesUpdateBatchCall(PresetEntryBatch, Options, Repeatable):
    """What ``preset_entries.update_batch`` may be told."""


class PresetEntriesDeleteBatchCall(IdentifierBatch, Options, Repeatable):
    """What ``preset_entries.delete_batch`` may be told."""


class PresetEntriesUpdateCall(PresetEntryPatch, Options, Repeatable):
    """What ``preset_entries.update`` may be told."""


class PresetEntriesDeleteCall(Options, Repeatable):
    """What ``preset_entries.delete`` may be told."""

    expected_version: NotRequired[int]
    """Refuse where this is not its version."""


_LIST = Endpoint[PresetEntries]("GET", "/presets/{id}/entries", query=("enabled", "marker"))
_CREATE = Endpoint[PresetEntry]("POST", "/presets/{id}/entries", body="json")
_REORDER = Endpoint[PresetEntries]("PUT", "/presets/{id}/entries/reorder", body="json")
_UPDATE_BATCH = Endpoint[PresetEntryResults]("PATCH", "/presets/{id}/entries/batch/update", body="json")
_DELETE_BATCH = Endpoint[PresetEntryResults]("POST", "/presets/{id}/entries/batch/delete", body="json")
_GET = Endpoint[PresetEntry]("GET", "/presets/{id}/entries/{identifier}")
_UPDATE = Endpoint[PresetEntry]("PATCH", "/presets/{id}/entries/{identifier}", body="json")
_DELETE = Endpoint[DeletedPresetEntry]("DELETE", "/presets/{id}/entries/{identifier}", query=("expected_version",))


class PresetEntriesResource(Resource):
    """The prompts of a prompt preset."""

    def list(self, preset_id: str, **given: Unpack[PresetEntriesListCall]) -> PresetEntries:
        """List the entries of a prompt preset, in the order in which they are sent. ``GET /presets/{id}/entries``"""
        return self._call(_LIST, (preset_id,), given)

    def create(self, preset_id: str, **given: Unpack[PresetEntriesCreateCall]) -> PresetEntry:
        """Add an entry to a prompt preset. ``POST /presets/{id}/entries``"""
        return self._call(_CREATE, (preset_id,), given)

    def reorder(self, preset_id: str, **given: Unpack[PresetEntriesReorderCall]) -> PresetEntries:
        """Put entries of a prompt preset into an order, the others behind them. ``PUT /presets/{id}/entries/reorder``"""
        return self._call(_REORDER, (preset_id,), given)

    def update_batch(self, preset_id: str, **given: Unpack[PresetEntriesUpdateBatchCall]) -> PresetEntryResults:
        """Change the same fields of several entries of a prompt preset. ``PATCH /presets/{id}/entries/batch/update``"""
        return self._call(_UPDATE_BATCH, (preset_id,), given)

    def delete_batch(self, preset_id: str, **given: Unpack[PresetEntriesDeleteBatchCall]) -> PresetEntryResults:
        """Remove several entries of a prompt preset. ``POST /presets/{id}/entries/batch/delete``"""
        return self._call(_DELETE_BATCH, (preset_id,), given)

    def get(self, preset_id: str, identifier: str, **given: Unpack[Options]) -> PresetEntry:
        """Read one entry of a prompt preset. ``GET /presets/{id}/entries/{identifier}``"""
        return self._call(_GET, (preset_id, identifier), given)

    def update(self, preset_id: str, identifier: str, **given: Unpack[PresetEntriesUpdateCall]) -> PresetEntry:
        """Change fields of an entry of a prompt preset. ``PATCH /presets/{id}/entries/{identifier}``"""
        return self._call(_UPDATE, (preset_id, identifier), given)

    def delete(self, preset_id: str, identifier: str, **given: Unpack[PresetEntriesDeleteCall]) -> DeletedPresetEntry:
        """Remove an entry of a prompt preset, from every order too. ``DELETE /presets/{id}/entries/{identifier}``"""
        return self._call(_DELETE, (preset_id, identifier), given)


class AsyncPresetEntriesResource(AsyncResource):
    """The prompts of a prompt preset."""

    async def list(self, preset_id: str, **given: Unpack[PresetEntriesListCall]) -> PresetEntries:
        """List the entries of a prompt preset, in the order in which they are sent. ``GET /presets/{id}/entries``"""
        return await self._call(_LIST, (preset_id,), given)

    async def create(self, preset_id: str, **given: Unpack[PresetEntriesCreateCall]) -> PresetEntry:
        """Add an entry to a prompt preset. ``POST /presets/{id}/entries``"""
        return await self._call(_CREATE, (preset_id,), given)

    async def reorder(self, preset_id: str, **given: Unpack[PresetEntriesReorderCall]) -> PresetEntries:
        """Put entries of a prompt preset into an order, the others behind them. ``PUT /presets/{id}/entries/reorder``"""
        return await self._call(_REORDER, (preset_id,), given)

    async def update_batch(self, preset_id: str, **given: Unpack[PresetEntriesUpdateBatchCall]) -> PresetEntryResults:
        """Change the same fields of several entries of a prompt preset. ``PATCH /presets/{id}/entries/batch/update``"""
        return await self._call(_UPDATE_BATCH, (preset_id,), given)

    async def delete_batch(self, preset_id: str, **given: Unpack[PresetEntriesDeleteBatchCall]) -> PresetEntryResults:
        """Remove several entries of a prompt preset. ``POST /presets/{id}/entries/batch/delete``"""
        return await self._call(_DELETE_BATCH, (preset_id,), given)

    async def get(self, preset_id: str, identifier: str, **given: Unpack[Options]) -> PresetEntry:
        """Read one entry of a prompt preset. ``GET /presets/{id}/entries/{identifier}``"""
        return await self._call(_GET, (preset_id, identifier), given)

    async def update(self, preset_id: str, identifier: str, **given: Unpack[PresetEntriesUpdateCall]) -> PresetEntry:
        """Change fields of an entry of a prompt preset. ``PATCH /presets/{id}/entries/{identifier}``"""
        return await self._call(_UPDATE, (preset_id, identifier), given)

    async def delete(self, preset_id: str, identifier: str, **given: Unpack[PresetEntriesDeleteCall]) -> DeletedPresetEntry:
        """Remove an entry of a prompt preset, from every order too. ``DELETE /presets/{id}/entries/{identifier}``"""
        return await self._call(_DELETE, (preset_id, identifier), given)
