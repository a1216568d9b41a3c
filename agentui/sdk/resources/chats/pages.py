"""Pages: a floor's question, or one version of its answer. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.pages import NewPageForm, Page, PagePatch
from agentui.sdk.shapes.common import Deleted, DeleteResults, IdBatch
from agentui.sdk.transport import Resource


class PagesCreateCall(NewPageForm, Options, Repeatable):
    """What ``pages.create`` may be told."""


class PagesListCall(Options):
    """What ``pages.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    floor_id: NotRequired[str]
    """Only pages of this floor."""
    page_kind: NotRequired[Literal["input", "output", "mixed"]]
    """input, output or mixed."""
    is_active: NotRequired[bool]
    """true or false."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "page_no", "version"]]
    """created_at, updated_at, page_no or version."""


class PagesDeleteBatchCall(IdBatch, Options, Repeatable):
    """What ``pages.delete_batch`` may be told."""


class PagesUpdateCall(PagePatch, Options, Repeatable):
    """What ``pages.update`` may be told."""


class PagesActivateCall(Options, Repeatable):
    """What ``pages.activate`` may be told."""


class PagesDeleteCall(Options, Repeatable):
    """What ``pages.delete`` may be told."""


_CREATE = Endpoint[Page]("POST", "/pages", body="json")
_LIST = Endpoint[ListOf[Items[Page]]](
    "GET", "/pages", query=("limit", "offset", "sort_order", "floor_id", "page_kind", "is_active", "sort_by"), answer="whole"
)
_DELETE_BATCH = Endpoint[DeleteResults]("POST", "/pages/batch/delete", body="json")
_GET = Endpoint[Page]("GET", "/pages/{id}")
_UPDATE = Endpoint[Page]("PATCH", "/pages/{id}", body="json")
_ACTIVATE = Endpoint[Page]("PATCH", "/pages/{id}/activate")
_DELETE = Endpoint[Deleted]("DELETE", "/pages/{id}")


class PagesResource(Resource):
    """Pages: a floor's question, or one version of its answer."""

    def create(self, **given: Unpack[PagesCreateCall]) -> Page:
        """Make a page of a floor that is not committed. ``POST /pages``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[PagesListCall]) -> ListOf[Items[Page]]:
        """List pages. ``GET /pages``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[PagesListCall]) -> Iterator[Page]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def delete_batch(self, **given: Unpack[PagesDeleteBatchCall]) -> DeleteResults:
        """Remove pages with their messages and variables; one on a committed floor refuses all. ``POST
        /pages/batch/delete``
        """
        return self._call(_DELETE_BATCH, (), given)

    def get(self, page_id: str, **given: Unpack[Options]) -> Page:
        """Read a page. ``GET /pages/{id}``"""
        return self._call(_GET, (page_id,), given)

    def update(self, page_id: str, **given: Unpack[PagesUpdateCall]) -> Page:
        """Change a page of a floor that is not committed. ``PATCH /pages/{id}``"""
        return self._call(_UPDATE, (page_id,), given)

    def activate(self, page_id: str, **given: Unpack[PagesActivateCall]) -> Page:
        """Make a page the active version of its page number; works on committed floors too, but not for input pages.
        ``PATCH /pages/{id}/activate``
        """
        return self._call(_ACTIVATE, (page_id,), given)

    def delete(self, page_id: str, **given: Unpack[PagesDeleteCall]) -> Deleted:
        """Remove a page of a floor that is not committed, with its messages and variables. ``DELETE /pages/{id}``"""
        return self._call(_DELETE, (page_id,), given)


class AsyncPagesResource(AsyncResource):
    """Pages: a floor's question, or one version of its answer."""

    async def create(self, **given: Unpack[PagesCreateCall]) -> Page:
        """Make a page of a floor that is not committed. ``POST /pages``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[PagesListCall]) -> ListOf[Items[Page]]:
        """List pages. ``GET /pages``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[PagesListCall]) -> AsyncIterator[Page]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def delete_batch(self, **given: Unpack[PagesDeleteBatchCall]) -> DeleteResults:
        """Remove pages with their messages and variables; one on a committed floor refuses all. ``POST
        /pages/batch/delete``
        """
        return await self._call(_DELETE_BATCH, (), given)

    async def get(self, page_id: str, **given: Unpack[Options]) -> Page:
        """Read a page. ``GET /pages/{id}``"""
        return await self._call(_GET, (page_id,), given)

    async def update(self, page_id: str, **given: Unpack[PagesUpdateCall]) -> Page:
        """Change a page of a floor that is not committed. ``PATCH /pages/{id}``"""
        return await self._call(_UPDATE, (page_id,), given)

    async def activate(self, page_id: str, **given: Unpack[PagesActivateCall]) -> Page:
        """Make a page the active version of its page number; works on committed floors too, but not for input pages.
        ``PATCH /pages/{id}/activate``
        """
        return await self._call(_ACTIVATE, (page_id,), given)

    async def delete(self, page_id: str, **given: Unpack[PagesDeleteCall]) -> Deleted:
        """Remove a page of a floor that is not committed, with its messages and variables. ``DELETE /pages/{id}``"""
        return await self._call(_DELETE, (page_id,), given)
