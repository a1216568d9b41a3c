"""Tags: names of turns and of versions of assets. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.tags import NewTag, Tag
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class TagsCreateCall(NewTag, Options, Repeatable):
    """What ``tags.create`` may be told."""


class TagsListCall(Options):
    """What ``tags.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    target_type: NotRequired[Literal["floor", "asset_version"]]
    """floor or asset_version: only those of such."""
    target_id: NotRequired[str]
    """Only those of this floor or version."""
    session_id: NotRequired[str]
    """Only those given in this session."""


class TagsDeleteCall(Options, Repeatable):
    """What ``tags.delete`` may be told."""


_CREATE = Endpoint[Tag]("POST", "/vc-tags", body="json")
_LIST = Endpoint[ListOf[Items[Tag]]](
    "GET", "/vc-tags", query=("limit", "offset", "sort_order", "target_type", "target_id", "session_id"), answer="whole"
)
_GET = Endpoint[Tag]("GET", "/vc-tags/{id}")
_DELETE = Endpoint[Deleted]("DELETE", "/vc-tags/{id}")


class TagsResource(Resource):
    """Tags: names of turns and of versions of assets."""

    def create(self, **given: Unpack[TagsCreateCall]) -> Tag:
        """Name a turn, or a version of an asset. ``POST /vc-tags``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[TagsListCall]) -> ListOf[Items[Tag]]:
        """List tags, the newest first. ``GET /vc-tags``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[TagsListCall]) -> Iterator[Tag]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def get(self, tag_id: str, **given: Unpack[Options]) -> Tag:
        """Read a tag. ``GET /vc-tags/{id}``"""
        return self._call(_GET, (tag_id,), given)

    def delete(self, tag_id: str, **given: Unpack[TagsDeleteCall]) -> Deleted:
        """Remove a tag; what it names stays. ``DELETE /vc-tags/{id}``"""
        return self._call(_DELETE, (tag_id,), given)


class AsyncTagsResource(AsyncResource):
    """Tags: names of turns and of versions of assets."""

    async def create(self, **given: Unpack[TagsCreateCall]) -> Tag:
        """Name a turn, or a version of an asset. ``POST /vc-tags``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[TagsListCall]) -> ListOf[Items[Tag]]:
        """List tags, the newest first. ``GET /vc-tags``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[TagsListCall]) -> AsyncIterator[Tag]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def get(self, tag_id: str, **given: Unpack[Options]) -> Tag:
        """Read a tag. ``GET /vc-tags/{id}``"""
        return await self._call(_GET, (tag_id,), given)

    async def delete(self, tag_id: str, **given: Unpack[TagsDeleteCall]) -> Deleted:
        """Remove a tag; what it names stays. ``DELETE /vc-tags/{id}``"""
        return await self._call(_DELETE, (tag_id,), given)
