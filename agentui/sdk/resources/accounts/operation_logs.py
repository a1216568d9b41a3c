"""The operation log: who changed what. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options
from agentui.sdk.shapes.accounts.operation_logs import LoggedOperation
from agentui.sdk.transport import Resource


class OperationLogsListCall(Options):
    """What ``operation_logs.list`` may be told."""

    limit: NotRequired[int]
    offset: NotRequired[str]
    sort_order: NotRequired[str]
    start: NotRequired[str]
    end: NotRequired[str]
    workspace_id: NotRequired[str]
    project_id: NotRequired[str]
    actor_account_id: NotRequired[str]
    actor_client_id: NotRequired[str]
    actor_type: NotRequired[str]
    permission_action: NotRequired[str]
    result: NotRequired[str]
    status: NotRequired[str]
    action: NotRequired[str]
    run_id: NotRequired[str]
    target_type: NotRequired[str]
    target_id: NotRequired[str]
    operation_group_id: NotRequired[str]
    request_id: NotRequired[str]
    floor_id: NotRequired[str]
    account: NotRequired[str]
    session_id: NotRequired[str]


class OperationLogsListBySessionCall(Options):
    """What ``operation_logs.list_by_session`` may be told."""

    limit: NotRequired[int]
    offset: NotRequired[str]
    sort_order: NotRequired[str]
    start: NotRequired[str]
    end: NotRequired[str]
    workspace_id: NotRequired[str]
    project_id: NotRequired[str]
    actor_account_id: NotRequired[str]
    actor_client_id: NotRequired[str]
    actor_type: NotRequired[str]
    permission_action: NotRequired[str]
    result: NotRequired[str]
    status: NotRequired[str]
    action: NotRequired[str]
    run_id: NotRequired[str]
    target_type: NotRequired[str]
    target_id: NotRequired[str]
    operation_group_id: NotRequired[str]
    request_id: NotRequired[str]
    floor_id: NotRequired[str]


class OperationLogsListByFloorCall(Options):
    """What ``operation_logs.list_by_floor`` may be told."""

    limit: NotRequired[int]
    offset: NotRequired[str]
    sort_order: NotRequired[str]
    start: NotRequired[str]
    end: NotRequired[str]
    workspace_id: NotRequired[str]
    project_id: NotRequired[str]
    actor_account_id: NotRequired[str]
    actor_client_id: NotRequired[str]
    actor_type: NotRequired[str]
    permission_action: NotRequired[str]
    result: NotRequired[str]
    status: NotRequired[str]
    action: NotRequired[str]
    run_id: NotRequired[str]
    target_type: NotRequired[str]
    target_id: NotRequired[str]
    operation_group_id: NotRequired[str]
    request_id: NotRequired[str]
    session_id: NotRequired[str]


_LIST = Endpoint[ListOf[Items[LoggedOperation]]](
    "GET",
    "/operation-logs",
    query=(
        "limit",
        "offset",
        "sort_order",
        "start",
        "end",
        "workspace_id",
        "project_id",
        "actor_account_id",
        "actor_client_id",
        "actor_type",
        "permission_action",
        "result",
        "status",
        "action",
        "run_id",
        "target_type",
        "target_id",
        "operation_group_id",
        "request_id",
        "floor_id",
        "account",
        "session_id",
    ),
    answer="whole",
)
_LIST_BY_SESSION = Endpoint[ListOf[Items[LoggedOperation]]](
    "GET",
    "/sessions/{id}/operation-logs",
    query=(
        "limit",
        "offset",
        "sort_order",
        "start",
        "end",
        "workspace_id",
        "project_id",
        "actor_account_id",
        "actor_client_id",
        "actor_type",
        "permission_action",
        "result",
        "status",
        "action",
        "run_id",
        "target_type",
        "target_id",
        "operation_group_id",
        "request_id",
        "floor_id",
    ),
    answer="whole",
)
_LIST_BY_FLOOR = Endpoint[ListOf[Items[LoggedOperation]]](
    "GET",
    "/floors/{id}/operation-logs",
    query=(
        "limit",
        "offset",
        "sort_order",
        "start",
        "end",
        "workspace_id",
        "project_id",
        "actor_account_id",
        "actor_client_id",
        "actor_type",
        "permission_action",
        "result",
        "status",
        "action",
        "run_id",
        "target_type",
        "target_id",
        "operation_group_id",
        "request_id",
        "session_id",
    ),
    answer="whole",
)


class OperationLogsResource(Resource):
    """The operation log: who changed what."""

    def list(self, **given: Unpack[OperationLogsListCall]) -> ListOf[Items[LoggedOperation]]:
        """List what was done in the account, or for admins in all of them, the newest first. ``GET /operation-logs``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[OperationLogsListCall]) -> Iterator[LoggedOperation]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def list_by_session(
        self, session_id: str, **given: Unpack[OperationLogsListBySessionCall]
    ) -> ListOf[Items[LoggedOperation]]:
        """List what was done to a session and below it, the newest first. ``GET /sessions/{id}/operation-logs``"""
        return self._call(_LIST_BY_SESSION, (session_id,), given)

    def iterate_by_session(self, session_id: str, **given: Unpack[OperationLogsListBySessionCall]) -> Iterator[LoggedOperation]:
        """All that ``list_by_session`` gives, part after part as they are needed."""
        return self._iterate(_LIST_BY_SESSION, (session_id,), given)

    def list_by_floor(self, floor_id: str, **given: Unpack[OperationLogsListByFloorCall]) -> ListOf[Items[LoggedOperation]]:
        """List what was done to a floor, the newest first. ``GET /floors/{id}/operation-logs``"""
        return self._call(_LIST_BY_FLOOR, (floor_id,), given)

    def iterate_by_floor(self, floor_id: str, **given: Unpack[OperationLogsListByFloorCall]) -> Iterator[LoggedOperation]:
        """All that ``list_by_floor`` gives, part after part as they are needed."""
        return self._iterate(_LIST_BY_FLOOR, (floor_id,), given)


class AsyncOperationLogsResource(AsyncResource):
    """The operation log: who changed what."""

    async def list(self, **given: Unpack[OperationLogsListCall]) -> ListOf[Items[LoggedOperation]]:
        """List what was done in the account, or for admins in all of them, the newest first. ``GET /operation-logs``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[OperationLogsListCall]) -> AsyncIterator[LoggedOperation]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def list_by_session(
        self, session_id: str, **given: Unpack[OperationLogsListBySessionCall]
    ) -> ListOf[Items[LoggedOperation]]:
        """List what was done to a session and below it, the newest first. ``GET /sessions/{id}/operation-logs``"""
        return await self._call(_LIST_BY_SESSION, (session_id,), given)

    def iterate_by_session(
        self, session_id: str, **given: Unpack[OperationLogsListBySessionCall]
    ) -> AsyncIterator[LoggedOperation]:
        """All that ``list_by_session`` gives, part after part as they are needed."""
        return self._iterate(_LIST_BY_SESSION, (session_id,), given)

    async def list_by_floor(
        self, floor_id: str, **given: Unpack[OperationLogsListByFloorCall]
    ) -> ListOf[Items[LoggedOperation]]:
        """List what was done to a floor, the newest first. ``GET /floors/{id}/operation-logs``"""
        return await self._call(_LIST_BY_FLOOR, (floor_id,), given)

    def iterate_by_floor(self, floor_id: str, **given: Unpack[OperationLogsListByFloorCall]) -> AsyncIterator[LoggedOperation]:
        """All that ``list_by_floor`` gives, part after part as they are needed."""
        return self._iterate(_LIST_BY_FLOOR, (floor_id,), given)
