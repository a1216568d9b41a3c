"""Messages: what stands on pages. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import ByPipeline, Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.common import Respond
from agentui.sdk.shapes.chats.messages import (
    EditForm,
    Message,
    MessagePatch,
    NewMessageForm,
    VisibilityBatch,
    VisibilityResults,
)
from agentui.sdk.shapes.common import Deleted, DeleteResults, IdBatch
from agentui.sdk.streams import AsyncTurnStream, TurnStream
from agentui.sdk.transport import Resource


class MessagesCreateCall(NewMessageForm, Options, Repeatable):
    """What ``messages.create`` may be told."""


class MessagesListCall(Options):
    """What ``messages.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    page_id: NotRequired[str]
    """Only messages of this page."""
    floor_id: NotRequired[str]
    """Only messages of this floor."""
    session_id: NotRequired[str]
    """Only messages of this session's live floors."""
    role: NotRequired[Literal["user", "assistant", "system", "narrator"]]
    """user, assistant, system or narrator."""
    is_hidden: NotRequired[bool]
    """true or false."""
    sort_by: NotRequired[Literal["created_at", "seq"]]
    """created_at or seq."""


class MessagesUpdateVisibilityBatchCall(VisibilityBatch, Options, Repeatable):
    """What ``messages.update_visibility_batch`` may be told."""


class MessagesDeleteBatchCall(IdBatch, Options, Repeatable):
    """What ``messages.delete_batch`` may be told."""


class MessagesUpdateCall(MessagePatch, Options, Repeatable):
    """What ``messages.update`` may be told."""


class MessagesDeleteCall(Options, Repeatable):
    """What ``messages.delete`` may be told."""


class MessagesEditAndRegenerateCall(EditForm, Options, Repeatable, ByPipeline):
    """What ``messages.edit_and_regenerate`` may be told."""


class MessagesEditAndRegenerateStreamCall(EditForm, Options, Repeatable, ByPipeline):
    """What ``messages.edit_and_regenerate_stream`` may be told."""


_CREATE = Endpoint[Message]("POST", "/messages", body="json")
_LIST = Endpoint[ListOf[Items[Message]]](
    "GET",
    "/messages",
    query=("limit", "offset", "sort_order", "page_id", "floor_id", "session_id", "role", "is_hidden", "sort_by"),
    answer="whole",
)
_UPDATE_VISIBILITY_BATCH = Endpoint[VisibilityResults]("PATCH", "/messages/batch/visibility", body="json")
_DELETE_BATCH = Endpoint[DeleteResults]("POST", "/messages/batch/delete", body="json")
_GET = Endpoint[Message]("GET", "/messages/{id}")
_GET_BLOB = Endpoint[bytes]("GET", "/messages/{id}/blobs/{hash}")
_UPDATE = Endpoint[Message]("PATCH", "/messages/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/messages/{id}")
_EDIT_AND_REGENERATE = Endpoint[Respond]("POST", "/messages/{id}/edit-and-regenerate", body="json", by_pipeline=True)
_EDIT_AND_REGENERATE_STREAM = Endpoint[bytes](
    "POST", "/messages/{id}/edit-and-regenerate/stream", body="json", by_pipeline=True
)


class MessagesResource(Resource):
    """Messages: what stands on pages."""

    def create(self, **given: Unpack[MessagesCreateCall]) -> Message:
        """Write a message on a page of a floor that is not committed. ``POST /messages``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[MessagesListCall]) -> ListOf[Items[Message]]:
        """List messages. ``GET /messages``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MessagesListCall]) -> Iterator[Message]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def update_visibility_batch(self, **given: Unpack[MessagesUpdateVisibilityBatchCall]) -> VisibilityResults:
        """Hide messages, or show them again; one on a committed floor refuses all. ``PATCH /messages/batch/visibility``"""
        return self._call(_UPDATE_VISIBILITY_BATCH, (), given)

    def delete_batch(self, **given: Unpack[MessagesDeleteBatchCall]) -> DeleteResults:
        """Remove messages; one on a committed floor refuses all. ``POST /messages/batch/delete``"""
        return self._call(_DELETE_BATCH, (), given)

    def get(self, message_id: str, **given: Unpack[Options]) -> Message:
        """Read a message. ``GET /messages/{id}``"""
        return self._call(_GET, (message_id,), given)

    def get_blob(self, message_id: str, hash: str, **given: Unpack[Options]) -> Download:
        """Read the data of an image, sound, film or file among a message's parts, by its ``blob``. ``GET
        /messages/{id}/blobs/{hash}``
        """
        return self._download(_GET_BLOB, (message_id, hash), given)

    def update(self, message_id: str, **given: Unpack[MessagesUpdateCall]) -> Message:
        """Change a message of a floor that is not committed. ``PATCH /messages/{id}``"""
        return self._call(_UPDATE, (message_id,), given)

    def delete(self, message_id: str, **given: Unpack[MessagesDeleteCall]) -> Deleted:
        """Remove a message of a floor that is not committed. ``DELETE /messages/{id}``"""
        return self._call(_DELETE, (message_id,), given)

    def edit_and_regenerate(self, message_id: str, **given: Unpack[MessagesEditAndRegenerateCall]) -> Respond:
        """Say a message of the user's otherwise, and go on from there on a branch of its own. ``POST
        /messages/{id}/edit-and-regenerate``
        """
        return self._call(_EDIT_AND_REGENERATE, (message_id,), given)

    def edit_and_regenerate_stream(self, message_id: str, **given: Unpack[MessagesEditAndRegenerateStreamCall]) -> TurnStream:
        """Say a message of the user's otherwise, and go on from there as events. ``POST
        /messages/{id}/edit-and-regenerate/stream``
        """
        return self._turn(_EDIT_AND_REGENERATE_STREAM, (message_id,), given)


class AsyncMessagesResource(AsyncResource):
    """Messages: what stands on pages."""

    async def create(self, **given: Unpack[MessagesCreateCall]) -> Message:
        """Write a message on a page of a floor that is not committed. ``POST /messages``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[MessagesListCall]) -> ListOf[Items[Message]]:
        """List messages. ``GET /messages``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[MessagesListCall]) -> AsyncIterator[Message]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def update_visibility_batch(self, **given: Unpack[MessagesUpdateVisibilityBatchCall]) -> VisibilityResults:
        """Hide messages, or show them again; one on a committed floor refuses all. ``PATCH /messages/batch/visibility``"""
        return await self._call(_UPDATE_VISIBILITY_BATCH, (), given)

    async def delete_batch(self, **given: Unpack[MessagesDeleteBatchCall]) -> DeleteResults:
        """Remove messages; one on a committed floor refuses all. ``POST /messages/batch/delete``"""
        return await self._call(_DELETE_BATCH, (), given)

    async def get(self, message_id: str, **given: Unpack[Options]) -> Message:
        """Read a message. ``GET /messages/{id}``"""
        return await self._call(_GET, (message_id,), given)

    def get_blob(self, message_id: str, hash: str, **given: Unpack[Options]) -> AsyncDownload:
        """Read the data of an image, sound, film or file among a message's parts, by its ``blob``. ``GET
        /messages/{id}/blobs/{hash}``
        """
        return self._download(_GET_BLOB, (message_id, hash), given)

    async def update(self, message_id: str, **given: Unpack[MessagesUpdateCall]) -> Message:
        """Change a message of a floor that is not committed. ``PATCH /messages/{id}``"""
        return await self._call(_UPDATE, (message_id,), given)

    async def delete(self, message_id: str, **given: Unpack[MessagesDeleteCall]) -> Deleted:
        """Remove a message of a floor that is not committed. ``DELETE /messages/{id}``"""
        return await self._call(_DELETE, (message_id,), given)

    async def edit_and_regenerate(self, message_id: str, **given: Unpack[MessagesEditAndRegenerateCall]) -> Respond:
        """Say a message of the user's otherwise, and go on from there on a branch of its own. ``POST
        /messages/{id}/edit-and-regenerate``
        """
        return await self._call(_EDIT_AND_REGENERATE, (message_id,), given)

    def edit_and_regenerate_stream(
        self, message_id: str, **given: Unpack[MessagesEditAndRegenerateStreamCall]
    ) -> AsyncTurnStream:
        """Say a message of the user's otherwise, and go on from there as events. ``POST
        /messages/{id}/edit-and-regenerate/stream``
        """
        return self._turn(_EDIT_AND_REGENERATE_STREAM, (message_id,), given)
