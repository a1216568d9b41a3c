"""The calls of tools that turns made."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, described, list_answer, path_id, read, read_query, route
from agentui.chats.rows import find_floor
from agentui.chats.tools.executions import ToolExecution, find_execution, list_executions
from agentui.http.route import Route
from agentui.schemas.forms import Data, ListData
from agentui.schemas.tools import CallQuery, CallRecord, FloorCallQuery, RecordQuery


async def list_calls(request: web.Request) -> web.Response:
    """List the calls of tools of a session, a floor or a run."""
    query = read_query(request, CallQuery)
    return list_answer(await read(request, list_executions, query.paging, query.wanted), query.paging)


async def list_calls_of_floor(request: web.Request) -> web.Response:
    """List the calls of tools of one floor."""
    id, query = path_id(request), read_query(request, FloorCallQuery)
    await read(request, find_floor, id, code="floor_not_found")
    return list_answer(await read(request, list_executions, query.paging, query.of_floor(id)), query.paging)


async def get_call(request: web.Request) -> web.Response:
    """Read a call of a tool."""
    return data_answer(await read(request, find_execution, path_id(request)))


async def list_records(request: web.Request) -> web.Response:
    """List calls of tools in short."""
    query = read_query(request, RecordQuery)
    listed = await read(request, list_executions, query.paging, query.wanted)
    return list_answer(listed, query.paging, [CallRecord.of(call) for call in listed.items])


ROUTES: tuple[Route, ...] = (
    route("GET", "/tool-executions", list_calls, ListData[list[ToolExecution]], query=described(CallQuery)),
    route(
        "GET",
        "/floors/{id}/tool-executions",
        list_calls_of_floor,
        ListData[list[ToolExecution]],
        query=described(FloorCallQuery),
    ),
    route("GET", "/tool-executions/{id}", get_call, Data[ToolExecution]),
    route("GET", "/tools/call-records", list_records, ListData[list[CallRecord]], query=described(RecordQuery)),
)
