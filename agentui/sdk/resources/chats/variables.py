"""Variables of the five tiers, as they are kept. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.variables import (
    BatchData,
    BatchForm,
    PageChanges,
    PagePromotions,
    PageStaged,
    ResolveData,
    VariableData,
    VariableForm,
)
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class VariablesPutCall(VariableForm, Options, Repeatable):
    """What ``variables.put`` may be told."""


class VariablesPutBatchCall(BatchForm, Options, Repeatable):
    """What ``variables.put_batch`` may be told."""


class VariablesListCall(Options):
    """What ``variables.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    scope: NotRequired[Literal["global", "chat", "branch", "floor", "page"]]
    """global, chat, branch, floor or page."""
    scope_id: NotRequired[str]
    """The id of the host."""
    session_id: NotRequired[str]
    """With scope=branch: variables of this session's branches."""
    branch_id: NotRequired[str]
    """With scope=branch and session_id: variables of this branch."""
    key: NotRequired[str]
    """Only variables of this name."""
    sort_by: NotRequired[Literal["updated_at", "key"]]
    """updated_at or key."""


class VariablesResolveContextCall(Options):
    """What ``variables.resolve_context`` may be told."""

    session_id: str
    """The session; required."""
    branch_id: NotRequired[str]
    """The branch; a floor or a page names it too."""
    floor_id: NotRequired[str]
    """The floor; a page names it too."""
    page_id: NotRequired[str]
    """The page."""
    include_layers: NotRequired[bool]
    """true adds the variables of every tier as they are."""


class VariablesDeleteCall(Options, Repeatable):
    """What ``variables.delete`` may be told."""


_PUT = Endpoint[VariableData]("PUT", "/variables", body="json")
_PUT_BATCH = Endpoint[BatchData]("PUT", "/variables/batch", body="json")
_LIST = Endpoint[ListOf[Items[VariableData]]](
    "GET",
    "/variables",
    query=("limit", "offset", "sort_order", "scope", "scope_id", "session_id", "branch_id", "key", "sort_by"),
    answer="whole",
)
_RESOLVE_CONTEXT = Endpoint[ResolveData](
    "GET", "/variables/resolve", query=("session_id", "branch_id", "floor_id", "page_id", "include_layers")
)
_GET = Endpoint[VariableData]("GET", "/variables/{id}")
_DELETE = Endpoint[Deleted]("DELETE", "/variables/{id}")
_GET_PAGE_STAGED_WRITES = Endpoint[PageStaged]("GET", "/pages/{id}/variables/staged")
_GET_PAGE_PROMOTIONS = Endpoint[PagePromotions]("GET", "/pages/{id}/variables/promotions")
_GET_PAGE_CHANGES = Endpoint[PageChanges]("GET", "/pages/{id}/variables/changes")


class VariablesResource(Resource):
    """Variables of the five tiers, as they are kept."""

    def put(self, **given: Unpack[VariablesPutCall]) -> VariableData:
        """Write one variable: 201 when that makes it, 200 when it was there. ``PUT /variables``"""
        return self._call(_PUT, (), given)

    def put_batch(self, **given: Unpack[VariablesPutBatchCall]) -> BatchData:
        """Write up to 100 variables, all or none. ``PUT /variables/batch``"""
        return self._call(_PUT_BATCH, (), given)

    def list(self, **given: Unpack[VariablesListCall]) -> ListOf[Items[VariableData]]:
        """List variables whose hosts exist. ``GET /variables``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[VariablesListCall]) -> Iterator[VariableData]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def resolve_context(self, **given: Unpack[VariablesResolveContextCall]) -> ResolveData:
        """What is visible from a place, the nearest tier winning; durable values only. ``GET /variables/resolve``"""
        return self._call(_RESOLVE_CONTEXT, (), given)

    def get(self, variable_id: str, **given: Unpack[Options]) -> VariableData:
        """Read a variable; one whose host is gone is not found. ``GET /variables/{id}``"""
        return self._call(_GET, (variable_id,), given)

    def delete(self, variable_id: str, **given: Unpack[VariablesDeleteCall]) -> Deleted:
        """Delete a variable, also one whose host is gone. ``DELETE /variables/{id}``"""
        return self._call(_DELETE, (variable_id,), given)

    def get_page_staged_writes(self, page_id: str, **given: Unpack[Options]) -> PageStaged:
        """What the run of a page wrote to it and to its floor; changes nothing. ``GET /pages/{id}/variables/staged``"""
        return self._call(_GET_PAGE_STAGED_WRITES, (page_id,), given)

    def get_page_promotions(self, page_id: str, **given: Unpack[Options]) -> PagePromotions:
        """What went from a page to its floor; changes nothing. ``GET /pages/{id}/variables/promotions``"""
        return self._call(_GET_PAGE_PROMOTIONS, (page_id,), given)

    def get_page_changes(self, page_id: str, **given: Unpack[Options]) -> PageChanges:
        """What the turn of a page changed in the tiers that outlive it; changes nothing. ``GET
        /pages/{id}/variables/changes``
        """
        return self._call(_GET_PAGE_CHANGES, (page_id,), given)


class AsyncVariablesResource(AsyncResource):
    """Variables of the five tiers, as they are kept."""

    async def put(self, **given: Unpack[VariablesPutCall]) -> VariableData:
        """Write one variable: 201 when that makes it, 200 when it was there. ``PUT /variables``"""
        return await self._call(_PUT, (), given)

    async def put_batch(self, **given: Unpack[VariablesPutBatchCall]) -> BatchData:
        """Write up to 100 variables, all or none. ``PUT /variables/batch``"""
        return await self._call(_PUT_BATCH, (), given)

    async def list(self, **given: Unpack[VariablesListCall]) -> ListOf[Items[VariableData]]:
        """List variables whose hosts exist. ``GET /variables``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[VariablesListCall]) -> AsyncIterator[VariableData]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def resolve_context(self, **given: Unpack[VariablesResolveContextCall]) -> ResolveData:
        """What is visible from a place, the nearest tier winning; durable values only. ``GET /variables/resolve``"""
        return await self._call(_RESOLVE_CONTEXT, (), given)

    async def get(self, variable_id: str, **given: Unpack[Options]) -> VariableData:
        """Read a variable; one whose host is gone is not found. ``GET /variables/{id}``"""
        return await self._call(_GET, (variable_id,), given)

    async def delete(self, variable_id: str, **given: Unpack[VariablesDeleteCall]) -> Deleted:
        """Delete a variable, also one whose host is gone. ``DELETE /variables/{id}``"""
        return await self._call(_DELETE, (variable_id,), given)

    async def get_page_staged_writes(self, page_id: str, **given: Unpack[Options]) -> PageStaged:
        """What the run of a page wrote to it and to its floor; changes nothing. ``GET /pages/{id}/variables/staged``"""
        return await self._call(_GET_PAGE_STAGED_WRITES, (page_id,), given)

    async def get_page_promotions(self, page_id: str, **given: Unpack[Options]) -> PagePromotions:
        """What went from a page to its floor; changes nothing. ``GET /pages/{id}/variables/promotions``"""
        return await self._call(_GET_PAGE_PROMOTIONS, (page_id,), given)

    async def get_page_changes(self, page_id: str, **given: Unpack[Options]) -> PageChanges:
        """What the turn of a page changed in the tiers that outlive it; changes nothing. ``GET
        /pages/{id}/variables/changes``
        """
        return await self._call(_GET_PAGE_CHANGES, (page_id,), given)
