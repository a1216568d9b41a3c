"""Users: whom the model speaks to. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import Endpoint, FileAlone, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import DeleteResults, IdBatch
from agentui.sdk.shapes.library.common import (
    Asset,
    AssetVersion,
    Compare,
    ExpectedRevision,
    ExpectedVersion,
    RolledBack,
    VersionComparison,
)
from agentui.sdk.shapes.library.users import DeletedUser, NewUser, User, UserPatch, UserStatusBatch, UserStatusResults
from agentui.sdk.transport import Resource


class UsersCreateCall(NewUser, Options, Repeatable):
    """What ``users.create`` may be told."""


class UsersListCall(Options):
    """What ``users.list`` may be told."""

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
    include_deleted: NotRequired[bool]
    """true shows deleted ones as well."""


class UsersDeleteBatchCall(IdBatch, Options, Repeatable):
    """What ``users.delete_batch`` may be told."""


class UsersUpdateStatusBatchCall(UserStatusBatch, Options, Repeatable):
    """What ``users.update_status_batch`` may be told."""


class UsersUpdateCall(UserPatch, Options, Repeatable):
    """What ``users.update`` may be told."""


class UsersDeleteCall(ExpectedRevision, Options, Repeatable):
    """What ``users.delete`` may be told."""


class UsersRestoreCall(ExpectedRevision, Options, Repeatable):
    """What ``users.restore`` may be told."""


class UsersGetImageCall(Options):
    """What ``users.get_image`` may be told."""

    version_id: NotRequired[str]
    """The version; the newest unless said otherwise."""


class UsersPutImageCall(Options, Repeatable, FileAlone):
    """What ``users.put_image`` may be told."""

    expected_revision: NotRequired[int]
    """Refuse where this is not its revision."""


class UsersDeleteImageCall(Options, Repeatable):
    """What ``users.delete_image`` may be told."""

    expected_revision: NotRequired[int]
    """Refuse where this is not its revision."""


class UsersListVersionsCall(Options):
    """What ``users.list_versions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["version_no", "created_at"]]
    """version_no or created_at."""


class UsersCompareVersionsCall(Compare, Options):
    """What ``users.compare_versions`` may be told."""


class UsersRollbackVersionCall(ExpectedVersion, Options, Repeatable):
    """What ``users.rollback_version`` may be told."""


_CREATE = Endpoint[User]("POST", "/users", body="json")
_LIST = Endpoint[ListOf[Items[User]]](
    "GET",
    "/users",
    query=("limit", "offset", "sort_order", "keyword", "tag", "status", "sort_by", "include_deleted"),
    answer="whole",
)
_DELETE_BATCH = Endpoint[DeleteResults]("POST", "/users/batch/delete", body="json")
_UPDATE_STATUS_BATCH = Endpoint[UserStatusResults]("PATCH", "/users/batch/status", body="json")
_GET = Endpoint[User]("GET", "/users/{id}")
_UPDATE = Endpoint[User]("PATCH", "/users/{id}", body="json")
_DELETE = Endpoint[DeletedUser]("DELETE", "/users/{id}", body="json")
_RESTORE = Endpoint[Asset]("POST", "/users/{id}/restore", body="json")
_GET_IMAGE = Endpoint[bytes]("GET", "/users/{id}/image", query=("version_id",))
_PUT_IMAGE = Endpoint[Asset]("PUT", "/users/{id}/image", query=("expected_revision",), body="file")
_DELETE_IMAGE = Endpoint[Asset]("DELETE", "/users/{id}/image", query=("expected_revision",))
_LIST_VERSIONS = Endpoint[ListOf[Items[AssetVersion]]](
    "GET", "/users/{id}/versions", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_COMPARE_VERSIONS = Endpoint[VersionComparison]("POST", "/users/{id}/versions/compare", body="json")
_GET_VERSION = Endpoint[AssetVersion]("GET", "/users/{id}/versions/{version_id}")
_ROLLBACK_VERSION = Endpoint[RolledBack]("POST", "/users/{id}/versions/{version_id}/rollback", body="json")


class UsersResource(Resource):
    """Users: whom the model speaks to."""

    def create(self, **given: Unpack[UsersCreateCall]) -> User:
        """Make a user. ``POST /users``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[UsersListCall]) -> ListOf[Items[User]]:
        """List users with their contents. ``GET /users``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[UsersListCall]) -> Iterator[User]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def delete_batch(self, **given: Unpack[UsersDeleteBatchCall]) -> DeleteResults:
        """Mark up to 100 users as deleted. ``POST /users/batch/delete``"""
        return self._call(_DELETE_BATCH, (), given)

    def update_status_batch(self, **given: Unpack[UsersUpdateStatusBatchCall]) -> UserStatusResults:
        """Disable up to 100 users, or make them active again. ``PATCH /users/batch/status``"""
        return self._call(_UPDATE_STATUS_BATCH, (), given)

    def get(self, user_id: str, **given: Unpack[Options]) -> User:
        """Read a user. ``GET /users/{id}``"""
        return self._call(_GET, (user_id,), given)

    def update(self, user_id: str, **given: Unpack[UsersUpdateCall]) -> User:
        """Change a user's content, status or tags. ``PATCH /users/{id}``"""
        return self._call(_UPDATE, (user_id,), given)

    def delete(self, user_id: str, **given: Unpack[UsersDeleteCall]) -> DeletedUser:
        """Mark a user as deleted; chats that use it go on, and its name is free. ``DELETE /users/{id}``"""
        return self._call(_DELETE, (user_id,), given)

    def restore(self, user_id: str, **given: Unpack[UsersRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /users/{id}/restore``"""
        return self._call(_RESTORE, (user_id,), given)

    def get_image(self, user_id: str, **given: Unpack[UsersGetImageCall]) -> Download:
        """Read the picture of a character or a user. ``GET /users/{id}/image``"""
        return self._download(_GET_IMAGE, (user_id,), given)

    def put_image(self, user_id: str, **given: Unpack[UsersPutImageCall]) -> Asset:
        """Give a character or a user a picture: the part file of a form. ``PUT /users/{id}/image``"""
        return self._call(_PUT_IMAGE, (user_id,), given)

    def delete_image(self, user_id: str, **given: Unpack[UsersDeleteImageCall]) -> Asset:
        """Take the picture of a character or a user away; older versions keep theirs. ``DELETE /users/{id}/image``"""
        return self._call(_DELETE_IMAGE, (user_id,), given)

    def list_versions(self, user_id: str, **given: Unpack[UsersListVersionsCall]) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /users/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (user_id,), given)

    def iterate_versions(self, user_id: str, **given: Unpack[UsersListVersionsCall]) -> Iterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (user_id,), given)

    def compare_versions(self, user_id: str, **given: Unpack[UsersCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /users/{id}/versions/compare``"""
        return self._call(_COMPARE_VERSIONS, (user_id,), given)

    def get_version(self, user_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /users/{id}/versions/{version_id}``"""
        return self._call(_GET_VERSION, (user_id, version_id), given)

    def rollback_version(self, user_id: str, version_id: str, **given: Unpack[UsersRollbackVersionCall]) -> RolledBack:
        """Make a new version that is like an old one. ``POST /users/{id}/versions/{version_id}/rollback``"""
        return self._call(_ROLLBACK_VERSION, (user_id, version_id), given)


class AsyncUsersResource(AsyncResource):
    """Users: whom the model speaks to."""

    async def create(self, **given: Unpack[UsersCreateCall]) -> User:
        """Make a user. ``POST /users``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[UsersListCall]) -> ListOf[Items[User]]:
        """List users with their contents. ``GET /users``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[UsersListCall]) -> AsyncIterator[User]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def delete_batch(self, **given: Unpack[UsersDeleteBatchCall]) -> DeleteResults:
        """Mark up to 100 users as deleted. ``POST /users/batch/delete``"""
        return await self._call(_DELETE_BATCH, (), given)

    async def update_status_batch(self, **given: Unpack[UsersUpdateStatusBatchCall]) -> UserStatusResults:
        """Disable up to 100 users, or make them active again. ``PATCH /users/batch/status``"""
        return await self._call(_UPDATE_STATUS_BATCH, (), given)

    async def get(self, user_id: str, **given: Unpack[Options]) -> User:
        """Read a user. ``GET /users/{id}``"""
        return await self._call(_GET, (user_id,), given)

    async def update(self, user_id: str, **given: Unpack[UsersUpdateCall]) -> User:
        """Change a user's content, status or tags. ``PATCH /users/{id}``"""
        return await self._call(_UPDATE, (user_id,), given)

    async def delete(self, user_id: str, **given: Unpack[UsersDeleteCall]) -> DeletedUser:
        """Mark a user as deleted; chats that use it go on, and its name is free. ``DELETE /users/{id}``"""
        return await self._call(_DELETE, (user_id,), given)

    async def restore(self, user_id: str, **given: Unpack[UsersRestoreCall]) -> Asset:
        """Take back that an asset was deleted. ``POST /users/{id}/restore``"""
        return await self._call(_RESTORE, (user_id,), given)

    def get_image(self, user_id: str, **given: Unpack[UsersGetImageCall]) -> AsyncDownload:
        """Read the picture of a character or a user. ``GET /users/{id}/image``"""
        return self._download(_GET_IMAGE, (user_id,), given)

    async def put_image(self, user_id: str, **given: Unpack[UsersPutImageCall]) -> Asset:
        """Give a character or a user a picture: the part file of a form. ``PUT /users/{id}/image``"""
        return await self._call(_PUT_IMAGE, (user_id,), given)

    async def delete_image(self, user_id: str, **given: Unpack[UsersDeleteImageCall]) -> Asset:
        """Take the picture of a character or a user away; older versions keep theirs. ``DELETE /users/{id}/image``"""
        return await self._call(_DELETE_IMAGE, (user_id,), given)

    async def list_versions(self, user_id: str, **given: Unpack[UsersListVersionsCall]) -> ListOf[Items[AssetVersion]]:
        """List the versions of an asset with their contents, newest first. ``GET /users/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (user_id,), given)

    def iterate_versions(self, user_id: str, **given: Unpack[UsersListVersionsCall]) -> AsyncIterator[AssetVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (user_id,), given)

    async def compare_versions(self, user_id: str, **given: Unpack[UsersCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /users/{id}/versions/compare``"""
        return await self._call(_COMPARE_VERSIONS, (user_id,), given)

    async def get_version(self, user_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /users/{id}/versions/{version_id}``"""
        return await self._call(_GET_VERSION, (user_id, version_id), given)

    async def rollback_version(self, user_id: str, version_id: str, **given: Unpack[UsersRollbackVersionCall]) -> RolledBack:
        """Make a new version that is like an old one. ``POST /users/{id}/versions/{version_id}/rollback``"""
        return await self._call(_ROLLBACK_VERSION, (user_id, version_id), given)
