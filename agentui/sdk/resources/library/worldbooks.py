"""Worldbooks in versions. Made by ``python -m tests.sdk.generate``."""

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
    VersionComparison,
)
from agentui.sdk.shapes.library.worldbooks import LoreTestForm, NewWorldbook, TriedLore, WorldbookPut
from agentui.sdk.transport import Resource


class WorldbooksCreateCall(NewWorldbook, Options, Repeatable):
    """What ``worldbooks.create`` may be told."""


class WorldbooksListCall(Options):
    """What ``worldbooks.list`` may be told."""

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


class WorldbooksTestCall(LoreTestForm, Options):
    """What ``worldbooks.test`` may be told."""


class WorldbooksPutCall(WorldbookPut, Options, Repeatable):
    """What ``worldbooks.put`` may be told."""


class WorldbooksUpdateCall(AssetPatch, Options, Repeatable):
    """What ``worldbooks.update`` may be told."""


class WorldbooksDeleteCall(Options, Repeatable):
    """What ``worldbooks.delete`` may be told."""

    expected_version: NotRequired[int]
    """Refuse where this is not its version."""


class WorldbooksRestoreCall(ExpectedRevision, Options, Repeatable):
    """What ``worldbooks.restore`` may be told."""


class WorldbooksListVersionsCall(Options):
    """What ``worldbooks.list_versions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["version_no", "created_at"]]
    """version_no or created_at."""


class WorldbooksCompareVersionsCall(Compare, Options):
    """What ``worldbooks.compare_versions`` may be told."""


class WorldbooksRollbackVersionCall(ExpectedVersion, Options, Repeatable):
    """What ``worldbooks.rollback_version`` may be told."""


_CREATE = Endpoint[AssetDetail]("POST", "/worldbooks", body="json")
_LIST = Endpoint[ListOf[Items[Asset]]](
    "GET", "/worldbooks", query=("limit", "offset", "sort_order", "keyword", "tag", "status", "sort_by"), answer="whole"
)
_TEST = Endpoint[TriedLore]("POST", "/worldbooks/test", body="json")
_GET = Endpoint[AssetDetail]("GET", "/worldbooks/{id}")
_PUT = Endpoint[AssetDetail]("PUT", "/worldbooks/{id}", body="json")
_UPDATE = Endpoint[Asset]("PATCH", "/worldbooks/{id}", body="json")
_DELETE = Endpoint[None]("DELETE", "/worldbooks/{id}", query=("expected_version",), answer="none")
_RESTORE = Endpoint[Asset]("POST", "/worldbooks/{id}/restore", body="json")
_LIST_VERSIONS = Endpoint[ListOf[Items[AssetVersion]]](
    "GET", "/worldbooks/{id}/versions", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_COMPARE_VERSIONS = Endpoint[VersionComparison]("POST", "/worldbooks/{id}/versions/compare", body="json")
_GET_VERSION = Endpoint[AssetVersion]("GET", "/worldbooks/{id}/versions/{version_id}")
_ROLLBACK_VERSION = Endpoint[RolledBack]("POST", "/worldbooks/{id}/versions/{version_id}/rollback", body="json")


class WorldbooksResource(Resource):
    """Worldbooks in versions."""

    def create(self, **given: Unpack[WorldbooksCreateCall]) -> AssetDetail:
        """Make one. ``POST /worldbooks``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[WorldbooksListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /worldbooks``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[WorldbooksListCall]) -> Iterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def test(self, **given: Unpack[WorldbooksTestCall]) -> TriedLore:
        """Say of each entry of some lorebooks whether a text calls for it, and why not. ``POST /worldbooks/test``"""
        return self._call(_TEST, (), given)

    def get(self, worldbook_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /worldbooks/{id}``"""
        return self._call(_GET, (worldbook_id,), given)

    def put(self, worldbook_id: str, **given: Unpack[WorldbooksPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /worldbooks/{id}``"""
        return self._call(_PUT, (worldbook_id,), given)

    def update(self, worldbook_id: str, **given: Unpack[WorldbooksUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /worldbooks/{id}``"""
        return self._call(_UPDATE, (worldbook_id,), given)

    def delete(self, worldbook_id: str, **given: Unpack[WorldbooksDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /worldbooks/{id}``"""
        self._call(_DELETE, (worldbook_id,), given)

    def restore(self, worldbook_id: str, **given: Unpack[WorldbooksRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /worldbooks/{id}/restore``"""
        return self._call(_RESTORE, (worldbook_id,), given)

    def list_versions(self, worldbook_id: str, **given: Unpack[WorldbooksListVersionsCall]) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /worldbooks/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (worldbook_id,), given)

    def iterate_versions(self, worldbook_id: str, **given: Unpack[WorldbooksListVersionsCall]) -> Iterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (worldbook_id,), given)

    def compare_versions(self, worldbook_id: str, **given: Unpack[WorldbooksCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /worldbooks/{id}/versions/compare``"""
        return self._call(_COMPARE_VERSIONS, (worldbook_id,), given)

    def get_version(self, worldbook_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /worldbooks/{id}/versions/{version_id}``"""
        return self._call(_GET_VERSION, (worldbook_id, version_id), given)

    def rollback_version(
        self, worldbook_id: str, version_id: str, **given: Unpack[WorldbooksRollbackVersionCall]
    ) -> RolledBack:
        """Make a new version that is like an old one. ``POST /worldbooks/{id}/versions/{version_id}/rollback``"""
        return self._call(_ROLLBACK_VERSION, (worldbook_id, version_id), given)


class AsyncWorldbooksResource(AsyncResource):
    """Worldbooks in versions."""

    async def create(self, **given: Unpack[WorldbooksCreateCall]) -> AssetDetail:
        """Make one. ``POST /worldbooks``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[WorldbooksListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /worldbooks``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[WorldbooksListCall]) -> AsyncIterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def test(self, **given: Unpack[WorldbooksTestCall]) -> TriedLore:
        """Say of each entry of some lorebooks whether a text calls for it, and why not. ``POST /worldbooks/test``"""
        return await self._call(_TEST, (), given)

    async def get(self, worldbook_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /worldbooks/{id}``"""
        return await self._call(_GET, (worldbook_id,), given)

    async def put(self, worldbook_id: str, **given: Unpack[WorldbooksPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /worldbooks/{id}``"""
        return await self._call(_PUT, (worldbook_id,), given)

    async def update(self, worldbook_id: str, **given: Unpack[WorldbooksUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /worldbooks/{id}``"""
        return await self._call(_UPDATE, (worldbook_id,), given)

    async def delete(self, worldbook_id: str, **given: Unpack[WorldbooksDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /worldbooks/{id}``"""
        await self._call(_DELETE, (worldbook_id,), given)

    async def restore(self, worldbook_id: str, **given: Unpack[WorldbooksRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /worldbooks/{id}/restore``"""
        return await self._call(_RESTORE, (worldbook_id,), given)

    async def list_versions(
        self, worldbook_id: str, **given: Unpack[WorldbooksListVersionsCall]
    ) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /worldbooks/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (worldbook_id,), given)

    def iterate_versions(self, worldbook_id: str, **given: Unpack[WorldbooksListVersionsCall]) -> AsyncIterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (worldbook_id,), given)

    async def compare_versions(self, worldbook_id: str, **given: Unpack[WorldbooksCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /worldbooks/{id}/versions/compare``"""
        return await self._call(_COMPARE_VERSIONS, (worldbook_id,), given)

    async def get_version(self, worldbook_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /worldbooks/{id}/versions/{version_id}``"""
        return await self._call(_GET_VERSION, (worldbook_id, version_id), given)

    async def rollback_version(
        self, worldbook_id: str, version_id: str, **given: Unpack[WorldbooksRollbackVersionCall]
    ) -> RolledBack:
        """Make a new version that is like an old one. ``POST /worldbooks/{id}/versions/{version_id}/rollback``"""
        return await self._call(_ROLLBACK_VERSION, (worldbook_id, version_id), given)
