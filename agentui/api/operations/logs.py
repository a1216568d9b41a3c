"""The operation log: who changed what (TavernHeadless' contract, 9)."""

from typing import Literal

from aiohttp import web

from agentui.api.chats.protocol import described, list_answer, path_id, read, read_query, route
from agentui.http.route import Route
from agentui.operations.log import LoggedOperation, list_operations
from agentui.schemas.forms import ListData
from agentui.schemas.operations import FloorOperationQuery, OperationQuery, OperationsQuery, SessionOperationQuery


async def get_logs(request: web.Request) -> web.Response:
    """List what was done in the account, the newest first."""
    return await _listed(request, OperationQuery, None)


async def get_session_logs(request: web.Request) -> web.Response:
    """List what was done to a session and below it, the newest first."""
    return await _listed(request, SessionOperationQuery, ("session", path_id(request)))


async def get_floor_logs(request: web.Request) -> web.Response:
    """List what was done to a floor, the newest first."""
    return await _listed(request, FloorOperationQuery, ("floor", path_id(request)))


async def _listed(
    request: web.Request, form: type[OperationsQuery], host: tuple[Literal["session", "floor"], str] | None
) -> web.Response:
    query = read_query(request, form)
    return list_answer(await read(request, list_operations, query.paging, query.wanted, host), query.paging)


_ANSWER = ListData[list[LoggedOperation]]

ROUTES: tuple[Route, ...] = (
    route("GET", "/operation-logs", get_logs, _ANSWER, query=described(OperationQuery)),
    route("GET", "/sessions/{id}/operation-logs", get_session_logs, _ANSWER, query=described(SessionOperationQuery)),
    route("GET", "/floors/{id}/operation-logs", get_floor_logs, _ANSWER, query=described(FloorOperationQuery)),
)
