"""Chats that come in or go out in the background. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.library.common import ChatTransferJob
from agentui.sdk.transport import Resource


class ChatTransferJobsListCall(Options):
    """What ``chat_transfer_jobs.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["created_at", "updated_at", "available_at"]]
    """What the list is sorted by."""
    job_kind: NotRequired[Literal["import_chat", "export_chat"]]
    """import_chat or export_chat."""
    status: NotRequired[Literal["pending", "leased", "running", "retry_waiting", "succeeded", "dead_letter", "cancelled"]]
    """In this state."""
    format: NotRequired[Literal["thchat", "st_jsonl"] | Literal["sillytavern_jsonl"]]
    """thchat or st_jsonl, which may be called sillytavern_jsonl."""
    requested_session_id: NotRequired[str]
    """Exports of this session."""
    result_session_id: NotRequired[str]
    """The import that made this session."""
    created_from: NotRequired[int]
    """Made then or later, in milliseconds since 1970."""
    created_to: NotRequired[int]
    """Made then or before."""
    available_from: NotRequired[int]
    """To be tried then or later."""
    available_to: NotRequired[int]
    """To be tried then or before."""


class ChatTransferJobsCancelCall(Options, Repeatable):
    """What ``chat_transfer_jobs.cancel`` may be told."""


class ChatTransferJobsRetryCall(Options, Repeatable):
    """What ``chat_transfer_jobs.retry`` may be told."""


_LIST = Endpoint[ListOf[Items[ChatTransferJob]]](
    "GET",
    "/chat-transfer-jobs",
    query=(
        "limit",
        "offset",
        "sort_order",
        "sort_by",
        "job_kind",
        "status",
        "format",
        "requested_session_id",
        "result_session_id",
        "created_from",
        "created_to",
        "available_from",
        "available_to",
    ),
    answer="whole",
)
_GET = Endpoint[ChatTransferJob]("GET", "/chat-transfer-jobs/{id}")
_CANCEL = Endpoint[ChatTransferJob]("POST", "/chat-transfer-jobs/{id}/cancel")
_RETRY = Endpoint[ChatTransferJob]("POST", "/chat-transfer-jobs/{id}/retry")
_GET_FILE = Endpoint[bytes]("GET", "/chat-transfer-jobs/{id}/file")


class ChatTransferJobsResource(Resource):
    """Chats that come in or go out in the background."""

    def list(self, **given: Unpack[ChatTransferJobsListCall]) -> ListOf[Items[ChatTransferJob]]:
        """List the chats that come in or go out in the background. ``GET /chat-transfer-jobs``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[ChatTransferJobsListCall]) -> Iterator[ChatTransferJob]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def get(self, job_id: str, **given: Unpack[Options]) -> ChatTransferJob:
        """Tell how far a chat is that comes in or goes out. ``GET /chat-transfer-jobs/{id}``"""
        return self._call(_GET, (job_id,), given)

    def cancel(self, job_id: str, **given: Unpack[ChatTransferJobsCancelCall]) -> ChatTransferJob:
        """End a job that has not ended; it leaves nothing. ``POST /chat-transfer-jobs/{id}/cancel``"""
        return self._call(_CANCEL, (job_id,), given)

    def retry(self, job_id: str, **given: Unpack[ChatTransferJobsRetryCall]) -> ChatTransferJob:
        """Try a job again that failed or was cancelled. ``POST /chat-transfer-jobs/{id}/retry``"""
        return self._call(_RETRY, (job_id,), given)

    def get_file(self, job_id: str, **given: Unpack[Options]) -> Download:
        """Download the file that an export wrote. ``GET /chat-transfer-jobs/{id}/file``"""
        return self._download(_GET_FILE, (job_id,), given)


class AsyncChatTransferJobsResource(AsyncResource):
    """Chats that come in or go out in the background."""

    async def list(self, **given: Unpack[ChatTransferJobsListCall]) -> ListOf[Items[ChatTransferJob]]:
        """List the chats that come in or go out in the background. ``GET /chat-transfer-jobs``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[ChatTransferJobsListCall]) -> AsyncIterator[ChatTransferJob]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def get(self, job_id: str, **given: Unpack[Options]) -> ChatTransferJob:
        """Tell how far a chat is that comes in or goes out. ``GET /chat-transfer-jobs/{id}``"""
        return await self._call(_GET, (job_id,), given)

    async def cancel(self, job_id: str, **given: Unpack[ChatTransferJobsCancelCall]) -> ChatTransferJob:
        """End a job that has not ended; it leaves nothing. ``POST /chat-transfer-jobs/{id}/cancel``"""
        return await self._call(_CANCEL, (job_id,), given)

    async def retry(self, job_id: str, **given: Unpack[ChatTransferJobsRetryCall]) -> ChatTransferJob:
        """Try a job again that failed or was cancelled. ``POST /chat-transfer-jobs/{id}/retry``"""
        return await self._call(_RETRY, (job_id,), given)

    def get_file(self, job_id: str, **given: Unpack[Options]) -> AsyncDownload:
        """Download the file that an export wrote. ``GET /chat-transfer-jobs/{id}/file``"""
        return self._download(_GET_FILE, (job_id,), given)
