"""Floors: a question with its answers. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import ByPipeline, Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.common import FloorResult, Respond
from agentui.sdk.shapes.chats.floors import Floor, FloorPatch, FloorRun, NewFloorForm, RetryForm
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.streams import AsyncTurnStream, TurnStream
from agentui.sdk.transport import Resource


class FloorsCreateCall(NewFloorForm, Options, Repeatable):
    """What ``floors.create`` may be told."""


class FloorsListCall(Options):
    """What ``floors.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    session_id: NotRequired[str]
    """Only floors of this session."""
    branch_id: NotRequired[str]
    """Only floors of branches of this name."""
    state: NotRequired[Literal["draft", "generating", "committed", "failed"]]
    """draft, generating, committed or failed."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "floor_no"]]
    """created_at, updated_at or floor_no."""


class FloorsUpdateCall(FloorPatch, Options, Repeatable):
    """What ``floors.update`` may be told."""


class FloorsDeleteCall(Options, Repeatable):
    """What ``floors.delete`` may be told."""


class FloorsRetryCall(RetryForm, Options, Repeatable, ByPipeline):
    """What ``floors.retry`` may be told."""


class FloorsRetryStreamCall(RetryForm, Options, Repeatable, ByPipeline):
    """What ``floors.retry_stream`` may be told."""


_CREATE = Endpoint[Floor]("POST", "/floors", body="json")
_LIST = Endpoint[ListOf[Items[Floor]]](
    "GET", "/floors", query=("limit", "offset", "sort_order", "session_id", "branch_id", "state", "sort_by"), answer="whole"
)
_GET = Endpoint[Floor]("GET", "/floors/{id}")
_UPDATE = Endpoint[Floor]("PATCH", "/floors/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/floors/{id}")
_GET_RUN = Endpoint[FloorRun]("GET", "/floors/{id}/run")
_GET_RESULT = Endpoint[FloorResult]("GET", "/floors/{id}/result")
_RETRY = Endpoint[Respond]("POST", "/floors/{id}/retry", body="json", by_pipeline=True)
_RETRY_STREAM = Endpoint[bytes]("POST", "/floors/{id}/retry/stream", body="json", by_pipeline=True)


class FloorsResource(Resource):
    """Floors: a question with its answers."""

    def create(self, **given: Unpack[FloorsCreateCall]) -> Floor:
        """Make a floor, in any state. ``POST /floors``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[FloorsListCall]) -> ListOf[Items[Floor]]:
        """List the floors that have not been superseded. ``GET /floors``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[FloorsListCall]) -> Iterator[Floor]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def get(self, floor_id: str, **given: Unpack[Options]) -> Floor:
        """Read a floor, superseded or not. ``GET /floors/{id}``"""
        return self._call(_GET, (floor_id,), given)

    def update(self, floor_id: str, **given: Unpack[FloorsUpdateCall]) -> Floor:
        """Give a floor another number, branch or parent. ``PATCH /floors/{id}``"""
        return self._call(_UPDATE, (floor_id,), given)

    def delete(self, floor_id: str, **given: Unpack[FloorsDeleteCall]) -> Deleted:
        """Remove a floor with its pages, messages and their variables. ``DELETE /floors/{id}``"""
        return self._call(_DELETE, (floor_id,), given)

    def get_run(self, floor_id: str, **given: Unpack[Options]) -> FloorRun:
        """Read what the model call of a floor is doing, or how it ended. ``GET /floors/{id}/run``"""
        return self._call(_GET_RUN, (floor_id,), given)

    def get_result(self, floor_id: str, **given: Unpack[Options]) -> FloorResult:
        """Read what the turn of a committed floor came to. ``GET /floors/{id}/result``"""
        return self._call(_GET_RESULT, (floor_id,), given)

    def retry(self, floor_id: str, **given: Unpack[FloorsRetryCall]) -> Respond:
        """Generate another version of a floor's answer; the older ones stay, inactive. ``POST /floors/{id}/retry``"""
        return self._call(_RETRY, (floor_id,), given)

    def retry_stream(self, floor_id: str, **given: Unpack[FloorsRetryStreamCall]) -> TurnStream:
        """Generate another version of a floor's answer, as events. ``POST /floors/{id}/retry/stream``"""
        return self._turn(_RETRY_STREAM, (floor_id,), given)


class AsyncFloorsResource(AsyncResource):
    """Floors: a question with its answers."""

    async def create(self, **given: Unpack[FloorsCreateCall]) -> Floor:
        """Make a floor, in any state. ``POST /floors``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[FloorsListCall]) -> ListOf[Items[Floor]]:
        """List the floors that have not been superseded. ``GET /floors``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[FloorsListCall]) -> AsyncIterator[Floor]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def get(self, floor_id: str, **given: Unpack[Options]) -> Floor:
        """Read a floor, superseded or not. ``GET /floors/{id}``"""
        return await self._call(_GET, (floor_id,), given)

    async def update(self, floor_id: str, **given: Unpack[FloorsUpdateCall]) -> Floor:
        """Give a floor another number, branch or parent. ``PATCH /floors/{id}``"""
        return await self._call(_UPDATE, (floor_id,), given)

    async def delete(self, floor_id: str, **given: Unpack[FloorsDeleteCall]) -> Deleted:
        """Remove a floor with its pages, messages and their variables. ``DELETE /floors/{id}``"""
        return await self._call(_DELETE, (floor_id,), given)

    async def get_run(self, floor_id: str, **given: Unpack[Options]) -> FloorRun:
        """Read what the model call of a floor is doing, or how it ended. ``GET /floors/{id}/run``"""
        return await self._call(_GET_RUN, (floor_id,), given)

    async def get_result(self, floor_id: str, **given: Unpack[Options]) -> FloorResult:
        """Read what the turn of a committed floor came to. ``GET /floors/{id}/result``"""
        return await self._call(_GET_RESULT, (floor_id,), given)

    async def retry(self, floor_id: str, **given: Unpack[FloorsRetryCall]) -> Respond:
        """Generate another version of a floor's answer; the older ones stay, inactive. ``POST /floors/{id}/retry``"""
        return await self._call(_RETRY, (floor_id,), given)

    def retry_stream(self, floor_id: str, **given: Unpack[FloorsRetryStreamCall]) -> AsyncTurnStream:
        """Generate another version of a floor's answer, as events. ``POST /floors/{id}/retry/stream``"""
        return self._turn(_RETRY_STREAM, (floor_id,), given)
