"""Characters in versions. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import Endpoint, FileAlone, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.library.characters import (
    Character,
    CharacterDetail,
    CharacterVersion,
    DeletedCharacter,
    NewCharacter,
    NewCharacterVersion,
    WrittenVersion,
)
from agentui.sdk.shapes.library.common import (
    Asset,
    AssetPatch,
    AssetVersion,
    Compare,
    ExpectedRevision,
    ScriptConsent,
    ScriptsAllowed,
    VersionComparison,
)
from agentui.sdk.transport import Resource


class CharactersCreateCall(NewCharacter, Options, Repeatable):
    """What ``characters.create`` may be told."""


class CharactersListCall(Options):
    """What ``characters.list`` may be told."""

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


class CharactersUpdateCall(AssetPatch, Options, Repeatable):
    """What ``characters.update`` may be told."""


class CharactersDeleteCall(ExpectedRevision, Options, Repeatable):
    """What ``characters.delete`` may be told."""


class CharactersRestoreCall(ExpectedRevision, Options, Repeatable):
    """What ``characters.restore`` may be told."""


class CharactersGetImageCall(Options):
    """What ``characters.get_image`` may be told."""

    version_id: NotRequired[str]
    """The version; the newest unless said otherwise."""


class CharactersPutImageCall(Options, Repeatable, FileAlone):
    """What ``characters.put_image`` may be told."""

    expected_revision: NotRequired[int]
    """Refuse where this is not its revision."""


class CharactersDeleteImageCall(Options, Repeatable):
    """What ``characters.delete_image`` may be told."""

    expected_revision: NotRequired[int]
    """Refuse where this is not its revision."""


class CharactersAllowScriptsCall(ScriptConsent, Options, Repeatable):
    """What ``characters.allow_scripts`` may be told."""


class CharactersListVersionsCall(Options):
    """What ``characters.list_versions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["version_no", "created_at"]]
    """version_no or created_at."""


class CharactersCreateVersionCall(NewCharacterVersion, Options, Repeatable):
    """What ``characters.create_version`` may be told."""


class CharactersCompareVersionsCall(Compare, Options):
    """What ``characters.compare_versions`` may be told."""


class CharactersRollbackVersionCall(ExpectedRevision, Options, Repeatable):
    """What ``characters.rollback_version`` may be told."""


_CREATE = Endpoint[CharacterDetail]("POST", "/characters", body="json")
_LIST = Endpoint[ListOf[Items[Character]]](
    "GET", "/characters", query=("limit", "offset", "sort_order", "keyword", "tag", "status", "sort_by"), answer="whole"
)
_GET = Endpoint[CharacterDetail]("GET", "/characters/{id}")
_UPDATE = Endpoint[Asset]("PATCH", "/characters/{id}", body="json")
_DELETE = Endpoint[DeletedCharacter]("DELETE", "/characters/{id}", body="json")
_RESTORE = Endpoint[DeletedCharacter]("POST", "/characters/{id}/restore", body="json")
_GET_IMAGE = Endpoint[bytes]("GET", "/characters/{id}/image", query=("version_id",))
_PUT_IMAGE = Endpoint[Asset]("PUT", "/characters/{id}/image", query=("expected_revision",), body="file")
_DELETE_IMAGE = Endpoint[Asset]("DELETE", "/characters/{id}/image", query=("expected_revision",))
_GET_SCRIPTS = Endpoint[ScriptsAllowed]("GET", "/characters/{id}/scripts")
_ALLOW_SCRIPTS = Endpoint[ScriptsAllowed]("PUT", "/characters/{id}/scripts", body="json")
_LIST_VERSIONS = Endpoint[ListOf[Items[CharacterVersion]]](
    "GET", "/characters/{id}/versions", query=("limit", "offset", "sort_order", "sort_by"), answer="whole"
)
_CREATE_VERSION = Endpoint[WrittenVersion]("POST", "/characters/{id}/versions", body="json")
_COMPARE_VERSIONS = Endpoint[VersionComparison]("POST", "/characters/{id}/versions/compare", body="json")
_GET_VERSION = Endpoint[AssetVersion]("GET", "/characters/{id}/versions/{version_id}")
_ROLLBACK_VERSION = Endpoint[WrittenVersion]("POST", "/characters/{id}/versions/{version_id}/rollback", body="json")


class CharactersResource(Resource):
    """Characters in versions."""

    def create(self, **given: Unpack[CharactersCreateCall]) -> CharacterDetail:
        """Make a character. ``POST /characters``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[CharactersListCall]) -> ListOf[Items[Character]]:
        """List characters without their contents. ``GET /characters``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[CharactersListCall]) -> Iterator[Character]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def get(self, character_id: str, **given: Unpack[Options]) -> CharacterDetail:
        """Read a character with its newest version, also one that was deleted. ``GET /characters/{id}``"""
        return self._call(_GET, (character_id,), given)

    def update(self, character_id: str, **given: Unpack[CharactersUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /characters/{id}``"""
        return self._call(_UPDATE, (character_id,), given)

    def delete(self, character_id: str, **given: Unpack[CharactersDeleteCall]) -> DeletedCharacter:
        """Mark a character as deleted; chats that use it go on. ``DELETE /characters/{id}``"""
        return self._call(_DELETE, (character_id,), given)

    def restore(self, character_id: str, **given: Unpack[CharactersRestoreCall]) -> DeletedCharacter:
        """Take back that a character was deleted. ``POST /characters/{id}/restore``"""
        return self._call(_RESTORE, (character_id,), given)

    def get_image(self, character_id: str, **given: Unpack[CharactersGetImageCall]) -> Download:
        """Read the picture of a character or a user. ``GET /characters/{id}/image``"""
        return self._download(_GET_IMAGE, (character_id,), given)

    def put_image(self, character_id: str, **given: Unpack[CharactersPutImageCall]) -> Asset:
        """Give a character or a user a picture: the part file of a form. ``PUT /characters/{id}/image``"""
        return self._call(_PUT_IMAGE, (character_id,), given)

    def delete_image(self, character_id: str, **given: Unpack[CharactersDeleteImageCall]) -> Asset:
        """Take the picture of a character or a user away; older versions keep theirs. ``DELETE /characters/{id}/image``"""
        return self._call(_DELETE_IMAGE, (character_id,), given)

    def get_scripts(self, character_id: str, **given: Unpack[Options]) -> ScriptsAllowed:
        """Tell whether the regex scripts inside an asset run. ``GET /characters/{id}/scripts``"""
        return self._call(_GET_SCRIPTS, (character_id,), given)

    def allow_scripts(self, character_id: str, **given: Unpack[CharactersAllowScriptsCall]) -> ScriptsAllowed:
        """Allow the regex scripts inside an asset to run, or forbid it. ``PUT /characters/{id}/scripts``"""
        return self._call(_ALLOW_SCRIPTS, (character_id,), given)

    def list_versions(self, character_id: str, **given: Unpack[CharactersListVersionsCall]) -> ListOf[Items[CharacterVersion]]:
        """List the versions of a character with their contents. ``GET /characters/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (character_id,), given)

    def iterate_versions(self, character_id: str, **given: Unpack[CharactersListVersionsCall]) -> Iterator[CharacterVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (character_id,), given)

    def create_version(self, character_id: str, **given: Unpack[CharactersCreateVersionCall]) -> WrittenVersion:
        """Give a character new content; it keeps its picture. ``POST /characters/{id}/versions``"""
        return self._call(_CREATE_VERSION, (character_id,), given)

    def compare_versions(self, character_id: str, **given: Unpack[CharactersCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /characters/{id}/versions/compare``"""
        return self._call(_COMPARE_VERSIONS, (character_id,), given)

    def get_version(self, character_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /characters/{id}/versions/{version_id}``"""
        return self._call(_GET_VERSION, (character_id, version_id), given)

    def rollback_version(
        self, character_id: str, version_id: str, **given: Unpack[CharactersRollbackVersionCall]
    ) -> WrittenVersion:
        """Make a new version of a character that is like an old one. ``POST
        /characters/{id}/versions/{version_id}/rollback``
        """
        return self._call(_ROLLBACK_VERSION, (character_id, version_id), given)


class AsyncCharactersResource(AsyncResource):
    """Characters in versions."""

    async def create(self, **given: Unpack[CharactersCreateCall]) -> CharacterDetail:
        """Make a character. ``POST /characters``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[CharactersListCall]) -> ListOf[Items[Character]]:
        """List characters without their contents. ``GET /characters``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[CharactersListCall]) -> AsyncIterator[Character]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def get(self, character_id: str, **given: Unpack[Options]) -> CharacterDetail:
        """Read a character with its newest version, also one that was deleted. ``GET /characters/{id}``"""
        return await self._call(_GET, (character_id,), given)

    async def update(self, character_id: str, **given: Unpack[CharactersUpdateCall]) -> Asset:
        """Give an asset other tags; its content stays. ``PATCH /characters/{id}``"""
        return await self._call(_UPDATE, (character_id,), given)

    async def delete(self, character_id: str, **given: Unpack[CharactersDeleteCall]) -> DeletedCharacter:
        """Mark a character as deleted; chats that use it go on. ``DELETE /characters/{id}``"""
        return await self._call(_DELETE, (character_id,), given)

    async def restore(self, character_id: str, **given: Unpack[CharactersRestoreCall]) -> DeletedCharacter:
        """Take back that a character was deleted. ``POST /characters/{id}/restore``"""
        return await self._call(_RESTORE, (character_id,), given)

    def get_image(self, character_id: str, **given: Unpack[CharactersGetImageCall]) -> AsyncDownload:
        """Read the picture of a character or a user. ``GET /characters/{id}/image``"""
        return self._download(_GET_IMAGE, (character_id,), given)

    async def put_image(self, character_id: str, **given: Unpack[CharactersPutImageCall]) -> Asset:
        """Give a character or a user a picture: the part file of a form. ``PUT /characters/{id}/image``"""
        return await self._call(_PUT_IMAGE, (character_id,), given)

    async def delete_image(self, character_id: str, **given: Unpack[CharactersDeleteImageCall]) -> Asset:
        """Take the picture of a character or a user away; older versions keep theirs. ``DELETE /characters/{id}/image``"""
        return await self._call(_DELETE_IMAGE, (character_id,), given)

    async def get_scripts(self, character_id: str, **given: Unpack[Options]) -> ScriptsAllowed:
        """Tell whether the regex scripts inside an asset run. ``GET /characters/{id}/scripts``"""
        return await self._call(_GET_SCRIPTS, (character_id,), given)

    async def allow_scripts(self, character_id: str, **given: Unpack[CharactersAllowScriptsCall]) -> ScriptsAllowed:
        """Allow the regex scripts inside an asset to run, or forbid it. ``PUT /characters/{id}/scripts``"""
        return await self._call(_ALLOW_SCRIPTS, (character_id,), given)

    async def list_versions(
        self, character_id: str, **given: Unpack[CharactersListVersionsCall]
    ) -> ListOf[Items[CharacterVersion]]:
        """List the versions of a character with their contents. ``GET /characters/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (character_id,), given)

    def iterate_versions(
        self, character_id: str, **given: Unpack[CharactersListVersionsCall]
    ) -> AsyncIterator[CharacterVersion]:
        """All that ``list_versions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_VERSIONS, (character_id,), given)

    async def create_version(self, character_id: str, **given: Unpack[CharactersCreateVersionCall]) -> WrittenVersion:
        """Give a character new content; it keeps its picture. ``POST /characters/{id}/versions``"""
        return await self._call(_CREATE_VERSION, (character_id,), given)

    async def compare_versions(self, character_id: str, **given: Unpack[CharactersCompareVersionsCall]) -> VersionComparison:
        """Tell what two versions of an asset differ in. ``POST /characters/{id}/versions/compare``"""
        return await self._call(_COMPARE_VERSIONS, (character_id,), given)

    async def get_version(self, character_id: str, version_id: str, **given: Unpack[Options]) -> AssetVersion:
        """Read one version of an asset. ``GET /characters/{id}/versions/{version_id}``"""
        return await self._call(_GET_VERSION, (character_id, version_id), given)

    async def rollback_version(
        self, character_id: str, version_id: str, **given: Unpack[CharactersRollbackVersionCall]
    ) -> WrittenVersion:
        """Make a new version of a character that is like an old one. ``POST
        /characters/{id}/versions/{version_id}/rollback``
        """
        return await self._call(_ROLLBACK_VERSION, (character_id, version_id), given)
