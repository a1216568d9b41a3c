"""Profiles of regex scripts in versions. Made by ``python -m tests.sdk.generate``."""

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
from agentui.sdk.shapes.library.regex_profiles import NewRegexProfile, RegexProfilePut, RegexTestForm, TriedText
from agentui.sdk.transport import Resource


class RegexProfilesCreateCall(NewRegexProfile, Options, Repeatable):
    """What ``regex_profiles.create`` may be told."""


class RegexProfilesListCall(Options):
    """What ``regex_profiles.list`` may be told."""

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


class RegexProfilesTestCall(RegexTestForm, Options):
    """What ``regex_profiles.test`` may be told."""


class RegexProfilesPutCall(RegexProfilePut, Options, Repeatable):
    """What ``regex_profiles.put`` may be told."""


class RegexProfilesUpdateCall(AssetPatch, Options, Repeatable):
    """What ``regex_profiles.update`` may be told."""


class RegexProfilesDeleteCall(Options, Repeatable):
    """What ``regex_profiles.delete`` may be told."""

    expected_version: NotRequired[int]
    """Refuse where this is not its version."""


class RegexProfilesRestoreCall(ExpectedRevision, Options, Repeatable):
    """What ``regex_profiles.restore`` may be told."""


class RegexProfilesListVersionsCall(Options):
    """What ``regex_profiles.list_versions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["version_no", "created_at"]]
    """version_no or created_at."""


class RegexProfilesCompareVersionsCall(Compare, Options):
    """What ``regex_profiles.compare_versions`` may be told."""


class RegexProfilesRollbackVersionCall(ExpectedVersion, Options, Repeatable):
    """What ``regex_profiles.rollback_version`` may be told."""


_CREATE = Endpoint[AssetDetail]("POST", "/regex-profiles", body="json")
_LIST = Endpoint[ListOf[Items[Asset]]](
    "GET", "/regex-profiles", query=("limit", "offset", "sort_order", "keyword", "tag", "status", "sort_by"), answer="whole"
)
_TEST = Endpoint[TriedText]("POST", "/regex-profiles/test", body="json")
_GET = Endpoint[AssetDetail]("GET", "/regex-profiles/{id}")
_PUT = Endpoint[AssetDetail]("PUT", "/regex-profiles/{id}", body="json")
_UPDATE = Endpoint[Asset]("PATCH", "/regex-profiles/{id}", body="json")
_DELETE = Endpoint[None]("DELETE", "/regex-profiles/{id}", query=("expected_version",), answer="none")
_RESTORE = Endpoint[Asset]("POST", "/regex-profiles/{id}/restore", body="json")
_LIST_VERSIONS = Endpoint[ListOf[Items[AssetVersion]]](
    "GET", "/regex-profiles/{id}/versions", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_COMPARE_VERSIONS = Endpoint[VersionComparison]("POST", "/regex-profiles/{id}/versions/compare", body="json")
_GET_VERSION = Endpoint[AssetVersion]("GET", "/regex-profiles/{id}/versions/{version_id}")
_ROLLBACK_VERSION = Endpoint[RolledBack]("POST", "/regex-profiles/{id}/versions/{version_id}/rollback", body="json")


class RegexProfilesResource(Resource):
    """Profiles of regex scripts in versions."""

    def create(self, **given: Unpack[RegexProfilesCreateCall]) -> AssetDetail:
        """Make one. ``POST /regex-profiles``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[RegexProfilesListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /regex-profiles``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[RegexProfilesListCall]) -> Iterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def test(self, **given: Unpack[RegexProfilesTestCall]) -> TriedText:
        """Run regex scripts over a text, in each of the four channels. ``POST /regex-profiles/test``"""
        return self._call(_TEST, (), given)

    def get(self, regex_profile_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /regex-profiles/{id}``"""
        return self._call(_GET, (regex_profile_id,), given)

    def put(self, regex_profile_id: str, **given: Unpack[RegexProfilesPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /regex-profiles/{id}``"""
        return self._call(_PUT, (regex_profile_id,), given)

    def update(self, regex_profile_id: str, **given: Unpack[RegexProfilesUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /regex-profiles/{id}``"""
        return self._call(_UPDATE, (regex_profile_id,), given)

    def delete(self, regex_profile_id: str, **given: Unpack[RegexProfilesDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /regex-profiles/{id}``"""
        self._call(_DELETE, (regex_profile_id,), given)

    def restore(self, regex_profile_id: str, **given: Unpack[RegexProfilesRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /regex-profiles/{id}/restore``"""
        return self._call(_RESTORE, (regex_profile_id,), given)

    def list_versions(
        self, regex_profile_id: str, **given: Unpack[RegexProfilesListVersionsCall]
    ) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /regex-profiles/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (regex_profile_id,), given)

    def iterate_versions(self, regex_profile_id: str, **given: Unpack[RegexProfilesListVersionsCall]) -> Iterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (regex_profile_id,), given)

    def compare_versions(self, regex_profile_id: str, **given: Unpack[RegexProfilesCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /regex-profiles/{id}/versions/compare``"""
        return self._call(_COMPARE_VERSIONS, (regex_profile_id,), given)

    def get_version(self, regex_profile_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /regex-profiles/{id}/versions/{version_id}``"""
        return self._call(_GET_VERSION, (regex_profile_id, version_id), given)

    def rollback_version(
        self, regex_profile_id: str, version_id: str, **given: Unpack[RegexProfilesRollbackVersionCall]
    ) -> RolledBack:
        """Make a new version that is like an old one. ``POST /regex-profiles/{id}/versions/{version_id}/rollback``"""
        return self._call(_ROLLBACK_VERSION, (regex_profile_id, version_id), given)


class AsyncRegexProfilesResource(AsyncResource):
    """Profiles of regex scripts in versions."""

    async def create(self, **given: Unpack[RegexProfilesCreateCall]) -> AssetDetail:
        """Make one. ``POST /regex-profiles``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[RegexProfilesListCall]) -> ListOf[Items[Asset]]:
        """List them without their contents. ``GET /regex-profiles``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[RegexProfilesListCall]) -> AsyncIterator[Asset]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def test(self, **given: Unpack[RegexProfilesTestCall]) -> TriedText:
        """Run regex scripts over a text, in each of the four channels. ``POST /regex-profiles/test``"""
        return await self._call(_TEST, (), given)

    async def get(self, regex_profile_id: str, **given: Unpack[Options]) -> AssetDetail:
        """Read one with its content. ``GET /regex-profiles/{id}``"""
        return await self._call(_GET, (regex_profile_id,), given)

    async def put(self, regex_profile_id: str, **given: Unpack[RegexProfilesPutCall]) -> AssetDetail:
        """Give one a name and new content. ``PUT /regex-profiles/{id}``"""
        return await self._call(_PUT, (regex_profile_id,), given)

    async def update(self, regex_profile_id: str, **given: Unpack[RegexProfilesUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /regex-profiles/{id}``"""
        return await self._call(_UPDATE, (regex_profile_id,), given)

    async def delete(self, regex_profile_id: str, **given: Unpack[RegexProfilesDeleteCall]) -> None:
        """Mark one as deleted; sessions that name it go on without it. ``DELETE /regex-profiles/{id}``"""
        await self._call(_DELETE, (regex_profile_id,), given)

    async def restore(self, regex_profile_id: str, **given: Unpack[RegexProfilesRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /regex-profiles/{id}/restore``"""
        return await self._call(_RESTORE, (regex_profile_id,), given)

    async def list_versions(
        self, regex_profile_id: str, **given: Unpack[RegexProfilesListVersionsCall]
    ) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /regex-profiles/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (regex_profile_id,), given)

    def iterate_versions(
        self, regex_profile_id: str, **given: Unpack[RegexProfilesListVersionsCall]
    ) -> AsyncIterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (regex_profile_id,), given)

    async def compare_versions(
        self, regex_profile_id: str, **given: Unpack[RegexProfilesCompareVersionsCall]
    ) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /regex-profiles/{id}/versions/compare``"""
        return await self._call(_COMPARE_VERSIONS, (regex_profile_id,), given)

    async def get_version(self, regex_profile_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /regex-profiles/{id}/versions/{version_id}``"""
        return await self._call(_GET_VERSION, (regex_profile_id, version_id), given)

    async def rollback_version(
        self, regex_profile_id: str, version_id: str, **given: Unpack[RegexProfilesRollbackVersionCall]
    ) -> RolledBack:
        """Make a new version that is like an old one. ``POST /regex-profiles/{id}/versions/{version_id}/rollback``"""
        return await self._call(_ROLLBACK_VERSION, (regex_profile_id, version_id), given)
