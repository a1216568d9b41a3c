"""The operation log: who changed what (TavernHeadless' contract, 9)."""

from typing import Literal

from aiohttp import web

from agentui.api.chats.protocol import account_asked, account_of, described, list_answer, path_id, read_query, route
from agentui.api.keys import STORE
from agentui.http.route import Route
from agentui.operations.log import LoggedOperation, list_operations
from agentui.schemas.forms import ListData
from agentui.schemas.operations import FloorOperationQuery, OperationQuery, OperationsQuery, SessionOperationQuery


async def get_logs(request: web.Request) -> web.Response:
    """List what was done in the account, or for admins in all of them, the newest first."""
    query = read_query(request, OperationQuery)
    return await _listed(request, query, account_asked(request, query.account), None)


async def get_session_logs(request: web.Request) -> web.Response:
    """List what was done to a session and below it, the newest first."""
    query = read_query(request, SessionOperationQuery)
    return await _listed(request, query, account_of(request), ("session", path_id(request)))


async def get_floor_logs(request: web.Request) -> web.Response:
    """List what was done to a floor, the newest first."""
    query = read_query(request, FloorOperationQuery)
    return await _listed(request, query, account_of(request), ("floor", path_id(request)))


async def _listed(
    request: web.Request, query: OperationsQuery, account: str | None, host: tuple[Literal["session", "floor"], str] | None
) -> web.Response:
    span = query.start, query.end
    listed = await request.app[STORE].read(list_operations, account, query.paging, query.wanted, span, host)
    return list_answer(listed, query.paging)


_ANSWER = ListData[list[LoggedOperation]]

ROUTES: tuple[Route, ...] = (
    route("GET", "/operation-logs", get_logs, _ANSWER, 403, query=described(OperationQuery)),
    route("GET", "/sessions/{id}/operation-logs", get_session_logs, _ANSWER, query=described(SessionOperationQuery)),
    route("GET", "/floors/{id}/operation-logs", get_floor_logs, _ANSWER, query=described(FloorOperationQuery)),
)
