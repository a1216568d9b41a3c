"""Prompt presets in versions. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.library.common import (
    Asset,
    AssetDetail,
    AssetPatch,
    AssetVersion,
    Compare,
    ExpectedRevision,
    ExpectedVersion,
    RolledBack,
    ScriptConsent,
    ScriptsAllowed,
    VersionComparison,
)
from agentui.sdk.shapes.library.presets import NewPreset, PresetEditor, PresetPut, PresetTestForm, TriedPreset
from agentui.sdk.transport import Resource


class PresetsCreateCall(NewPreset, Options, Repeatable):
    """What ``presets.create`` may be told."""


class PresetsTestCall(PresetTestForm, Options):
    """What ``presets.test`` may be told."""


class PresetsListCall(Options):
    """What ``presets.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    keyword: NotRequired[str]
    """A part of the name, in any case."""
    tag: NotRequired[str]
    """Only those with this tag."""
    status: NotRequired[Literal["active", "disabled", "deleted"]]
    """active, disabled or deleted; all but deleted ones without it."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "name"]]
    """created_at, updated_at or name."""


class PresetsPutCall(PresetPut, Options, Repeatable):
    """What ``presets.put`` may be told."""


class PresetsUpdateCall(AssetPatch, Options, Repeatable):
    """What ``presets.update`` may be told."""


class PresetsDeleteCall(Options, Repeatable):
    """What ``presets.delete`` may be told."""

    expected_version: NotRequired[int]
    """Refuse where this is not its version."""


class PresetsRestoreCall(ExpectedRevision, Options, Repeatable):
    """What ``presets.restore`` may be told."""


class PresetsAllowScriptsCall(ScriptConsent, Options, Repeatable):
    """What ``presets.allow_scripts`` may be told."""


class PresetsListVersionsCall(Options):
    """What ``presets.list_versions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["version_no", "created_at"]]
    """version_no or created_at."""


class PresetsCompareVersionsCall(Compare, Options):
    """What ``presets.compare_versions`` may be told."""


class PresetsRollbackVersionCall(ExpectedVersion, Options, Repeatable):
    """What ``presets.rollback_version`` may be told."""


_CREATE = Endpoint[AssetDetail]("POST", "/presets", body="json")
_TEST = Endpoint[TriedPreset]("POST", "/presets/test", body="json")
_LIST = Endpoint[ListOf[Items[Asset]]](
    "GET", "/presets", query=("limit", "offset", "sort_order", "keyword", "tag", "status", "sort_by"), answer="whole"
)
_GET = Endpoint[AssetDetail]("GET", "/presets/{id}")
_PUT = Endpoint[AssetDetail]("PUT", "/presets/{id}", body="json")
_UPDATE = Endpoint[Asset]("PATCH", "/presets/{id}", body="json")
_DELETE = Endpoint[None]("DELETE", "/presets/{id}", query=("expected_version",), answer="none")
_RESTORE = Endpoint[Asset]("POST", "/presets/{id}/restore", body="json")
_GET_EDITOR = Endpoint[PresetEditor]("GET", "/presets/{id}/editor")
_GET_SCRIPTS = Endpoint[ScriptsAllowed]("GET", "/presets/{id}/scripts")
_ALLOW_SCRIPTS = Endpoint[ScriptsAllowed]("PUT", "/presets/{id}/scripts", body="json")
_LIST_VERSIONS = Endpoint[ListOf[Items[AssetVersion]]](
    "GET", "/presets/{id}/versions", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_COMPARE_VERSIONS = Endpoint[VersionComparison]("POST", "/presets/{id}/versions/compare", body="json")
_GET_VERSION = Endpoint[AssetVersion]("GET", "/presets/{id}/versions/{version_id}")
_ROLLBACK_VERSION = Endpoint[RolledBack]("POST", "/presets/{id}/versions/{version_id}/rollback", body="json")


class PresetsResource(Resource):
    """Prompt presets in versions."""

    def create(self, **given: Unpack[PresetsCreateCall]) -> AssetDetail:
        """Make one. ``POST /presets``"""
        return self._call(_CREATE, (), given)

    def test(self, **given: Unpack[PresetsTestCall]) -> TriedPreset:
        """Tell the prompt that a prompt preset would make, with what each of its texts costs. ``POST /presets/test``"""
        return self._call(_TEST, (), given)

    def list(self, **given: Unpack[PresetsListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /presets``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[PresetsListCall]) -> Iterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def get(self, preset_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /presets/{id}``"""
        return self._call(_GET, (preset_id,), given)

    def put(self, preset_id: str, **given: Unpack[PresetsPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /presets/{id}``"""
        return self._call(_PUT, (preset_id,), given)

    def update(self, preset_id: str, **given: Unpack[PresetsUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /presets/{id}``"""
        return self._call(_UPDATE, (preset_id,), given)

    def delete(self, preset_id: str, **given: Unpack[PresetsDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /presets/{id}``"""
        self._call(_DELETE, (preset_id,), given)

    def restore(self, preset_id: str, **given: Unpack[PresetsRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /presets/{id}/restore``"""
        return self._call(_RESTORE, (preset_id,), given)

    def get_editor(self, preset_id: str, **given: Unpack[Options]) -> PresetEditor:
        """Read a prompt preset in the parts that an editor shows, and takes back. ``GET /presets/{id}/editor``"""
        return self._call(_GET_EDITOR, (preset_id,), given)

    def get_scripts(self, preset_id: str, **given: Unpack[Options]) -> ScriptsAllowed:
        """Tell whether the regex scripts inside an asset run. ``GET /presets/{id}/scripts``"""
        return self._call(_GET_SCRIPTS, (preset_id,), given)

    def allow_scripts(self, preset_id: str, **given: Unpack[PresetsAllowScriptsCall]) -> ScriptsAllowed:
        """Allow the regex scripts inside an asset to run, or forbid it. ``PUT /presets/{id}/scripts``"""
        return self._call(_ALLOW_SCRIPTS, (preset_id,), given)

    def list_versions(self, preset_id: str, **given: Unpack[PresetsListVersionsCall]) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /presets/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (preset_id,), given)

    def iterate_versions(self, preset_id: str, **given: Unpack[PresetsListVersionsCall]) -> Iterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (preset_id,), given)

    def compare_versions(self, preset_id: str, **given: Unpack[PresetsCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /presets/{id}/versions/compare``"""
        return self._call(_COMPARE_VERSIONS, (preset_id,), given)

    def get_version(self, preset_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /presets/{id}/versions/{version_id}``"""
        return self._call(_GET_VERSION, (preset_id, version_id), given)

    def rollback_version(self, preset_id: str, version_id: str, **given: Unpack[PresetsRollbackVersionCall]) -> RolledBack:
        """Make a new version that is like an old one. ``POST /presets/{id}/versions/{version_id}/rollback``"""
        return self._call(_ROLLBACK_VERSION, (preset_id, version_id), given)


class AsyncPresetsResource(AsyncResource):
    """Prompt presets in versions."""

    async def create(self, **given: Unpack[PresetsCreateCall]) -> AssetDetail:
        """Make one. ``POST /presets``"""
        return await self._call(_CREATE, (), given)

    async def test(self, **given: Unpack[PresetsTestCall]) -> TriedPreset:
        """Tell the prompt that a prompt preset would make, with what each of its texts costs. ``POST /presets/test``"""
        return await self._call(_TEST, (), given)

    async def list(self, **given: Unpack[PresetsListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /presets``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[PresetsListCall]) -> AsyncIterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def get(self, preset_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /presets/{id}``"""
        return await self._call(_GET, (preset_id,), given)

    async def put(self, preset_id: str, **given: Unpack[PresetsPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /presets/{id}``"""
        return await self._call(_PUT, (preset_id,), given)

    async def update(self, preset_id: str, **given: Unpack[PresetsUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /presets/{id}``"""
        return await self._call(_UPDATE, (preset_id,), given)

    async def delete(self, preset_id: str, **given: Unpack[PresetsDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /presets/{id}``"""
        await self._call(_DELETE, (preset_id,), given)

    async def restore(self, preset_id: str, **given: Unpack[PresetsRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /presets/{id}/restore``"""
        return await self._call(_RESTORE, (preset_id,), given)

    async def get_editor(self, preset_id: str, **given: Unpack[Options]) -> PresetEditor:
        """Read a prompt preset in the parts that an editor shows, and takes back. ``GET /presets/{id}/editor``"""
        return await self._call(_GET_EDITOR, (preset_id,), given)

    async def get_scripts(self, preset_id: str, **given: Unpack[Options]) -> ScriptsAllowed:
        """Tell whether the regex scripts inside an asset run. ``GET /presets/{id}/scripts``"""
        return await self._call(_GET_SCRIPTS, (preset_id,), given)

    async def allow_scripts(self, preset_id: str, **given: Unpack[PresetsAllowScriptsCall]) -> ScriptsAllowed:
        """Allow the regex scripts inside an asset to run, or forbid it. ``PUT /presets/{id}/scripts``"""
        return await self._call(_ALLOW_SCRIPTS, (preset_id,), given)

    async def list_versions(self, preset_id: str, **given: Unpack[PresetsListVersionsCall]) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /presets/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (preset_id,), given)

    def iterate_versions(self, preset_id: str, **given: Unpack[PresetsListVersionsCall]) -> AsyncIterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (preset_id,), given)

    async def compare_versions(self, preset_id: str, **given: Unpack[PresetsCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /presets/{id}/versions/compare``"""
        return await self._call(_COMPARE_VERSIONS, (preset_id,), given)

    async def get_version(self, preset_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /presets/{id}/versions/{version_id}``"""
        return await self._call(_GET_VERSION, (preset_id, version_id), given)

    async def rollback_version(
        self, preset_id: str, version_id: str, **given: Unpack[PresetsRollbackVersionCall]
    ) -> RolledBack:
        """Make a new version that is like an old one. ``POST /presets/{id}/versions/{version_id}/rollback``"""
        return await self._call(_ROLLBACK_VERSION, (preset_id, version_id), given)
