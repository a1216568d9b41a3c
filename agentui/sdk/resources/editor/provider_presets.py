"""Provider presets: documents with versions. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Json, Matching, Options
from agentui.sdk.shapes.editor.common import DocumentLine, DocumentState, Version, VersionName, VersionState
from agentui.sdk.shapes.editor.provider_presets import ListedModel, ModelsRequest
from agentui.sdk.transport import Resource


class ProviderPresetsListModelsCall(ModelsRequest, Options):
    """What ``provider_presets.list_models`` may be told."""


class ProviderPresetsPutCall(Options, Matching):
    """What ``provider_presets.put`` may be told."""

    document: dict[str, Json]


class ProviderPresetsDeleteCall(Options, Matching):
    """What ``provider_presets.delete`` may be told."""


class ProviderPresetsNameVersionCall(VersionName, Options):
    """What ``provider_presets.name_version`` may be told."""


_LIST_MODELS = Endpoint[Items[ListedModel]]("POST", "/api/models", body="json", answer="whole")
_LIST = Endpoint[Items[DocumentLine]]("GET", "/api/presets", answer="whole")
_GET = Endpoint[DocumentState]("GET", "/api/presets/{id}", answer="whole")
_PUT = Endpoint[DocumentState]("PUT", "/api/presets/{id}", body="document", answer="whole")
_DELETE = Endpoint[None]("DELETE", "/api/presets/{id}", answer="none")
_LIST_VERSIONS = Endpoint[Items[Version]]("GET", "/api/presets/{id}/versions", answer="whole")
_GET_VERSION = Endpoint[VersionState]("GET", "/api/presets/{id}/versions/{number}", answer="whole")
_NAME_VERSION = Endpoint[Version]("PUT", "/api/presets/{id}/versions/{number}/name", body="json", answer="whole")


class ProviderPresetsResource(Resource):
    """Provider presets: documents with versions."""

    def list_models(self, **given: Unpack[ProviderPresetsListModelsCall]) -> Items[ListedModel]:
        """List the models of a provider, asked with what a ProviderCall of these fields would send. ``POST /api/models``"""
        return self._call(_LIST_MODELS, (), given)

    def list(self, **given: Unpack[Options]) -> Items[DocumentLine]:
        """List the presets. ``GET /api/presets``"""
        return self._call(_LIST, (), given)

    def get(self, preset_id: str, **given: Unpack[Options]) -> DocumentState:
        """Read a preset with its problems; the ETag is for saving. ``GET /api/presets/{id}``"""
        return self._call(_GET, (preset_id,), given)

    def put(self, preset_id: str, **given: Unpack[ProviderPresetsPutCall]) -> DocumentState:
        """Save a preset as it is given. ``PUT /api/presets/{id}``"""
        return self._call(_PUT, (preset_id,), given)

    def delete(self, preset_id: str, **given: Unpack[ProviderPresetsDeleteCall]) -> None:
        """Remove a preset; its versions stay. ``DELETE /api/presets/{id}``"""
        self._call(_DELETE, (preset_id,), given)

    def list_versions(self, preset_id: str, **given: Unpack[Options]) -> Items[Version]:
        """List the kept versions, newest first. ``GET /api/presets/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (preset_id,), given)

    def get_version(self, preset_id: str, number: int, **given: Unpack[Options]) -> VersionState:
        """Read one version; saving its document restores it. ``GET /api/presets/{id}/versions/{number}``"""
        return self._call(_GET_VERSION, (preset_id, number), given)

    def name_version(self, preset_id: str, number: int, **given: Unpack[ProviderPresetsNameVersionCall]) -> Version:
        """Name a version, which keeps it for good. ``PUT /api/presets/{id}/versions/{number}/name``"""
        return self._call(_NAME_VERSION, (preset_id, number), given)


class AsyncProviderPresetsResource(AsyncResource):
    """Provider presets: documents with versions."""

    async def list_models(self, **given: Unpack[ProviderPresetsListModelsCall]) -> Items[ListedModel]:
        """List the models of a provider, asked with what a ProviderCall of these fields would send. ``POST /api/models``"""
        return await self._call(_LIST_MODELS, (), given)

    async def list(self, **given: Unpack[Options]) -> Items[DocumentLine]:
        """List the presets. ``GET /api/presets``"""
        return await self._call(_LIST, (), given)

    async def get(self, preset_id: str, **given: Unpack[Options]) -> DocumentState:
        """Read a preset with its problems; the ETag is for saving. ``GET /api/presets/{id}``"""
        return await self._call(_GET, (preset_id,), given)

    async def put(self, preset_id: str, **given: Unpack[ProviderPresetsPutCall]) -> DocumentState:
        """Save a preset as it is given. ``PUT /api/presets/{id}``"""
        return await self._call(_PUT, (preset_id,), given)

    async def delete(self, preset_id: str, **given: Unpack[ProviderPresetsDeleteCall]) -> None:
        """Remove a preset; its versions stay. ``DELETE /api/presets/{id}``"""
        await self._call(_DELETE, (preset_id,), given)

    async def list_versions(self, preset_id: str, **given: Unpack[Options]) -> Items[Version]:
        """List the kept versions, newest first. ``GET /api/presets/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (preset_id,), given)

    async def get_version(self, preset_id: str, number: int, **given: Unpack[Options]) -> VersionState:
        """Read one version; saving its document restores it. ``GET /api/presets/{id}/versions/{number}``"""
        return await self._call(_GET_VERSION, (preset_id, number), given)

    async def name_version(self, preset_id: str, number: int, **given: Unpack[ProviderPresetsNameVersionCall]) -> Version:
        """Name a version, which keeps it for good. ``PUT /api/presets/{id}/versions/{number}/name``"""
        return await self._call(_NAME_VERSION, (preset_id, number), given)
