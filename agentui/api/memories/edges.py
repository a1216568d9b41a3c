"""``/memory-edges``: what memories are to each other (TavernHeadless' contract, 3.4)."""

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    remove,
    route,
    write,
)
from agentui.http.route import Route
from agentui.memories import edges
from agentui.memories.records import Edge
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.memories import EdgeForm, EdgePatch, EdgeQuery


async def create_edge(request: web.Request) -> web.Response:
    """Say what one memory is to another."""
    form = await read_form(request, EdgeForm)
    ends = form.from_id, form.to_id, form.relation
    return await write(request, made_answer, edges.create_edge, *ends, now_ms(), form.pairs)


async def list_edges(request: web.Request) -> web.Response:
    """List edges."""
    query = read_query(request, EdgeQuery)
    listed = await read(request, edges.list_edges, query.paging, query.from_id, query.to_id, query.relation)
    return list_answer(listed, query.paging)


async def get_edge(request: web.Request) -> web.Response:
    """Read an edge."""
    return data_answer(await read(request, edges.find_edge, path_id(request)))


async def update_edge(request: web.Request) -> web.Response:
    """Give an edge another relation."""
    id, form = path_id(request), await read_form(request, EdgePatch)
    return await write(request, data_answer, edges.change_edge, id, form.relation)


async def delete_edge(request: web.Request) -> web.Response:
    """Remove an edge."""
    return await remove(request, edges.delete_edge)


_ALL, _EACH = "/memory-edges", "/memory-edges/{id}"

ROUTES: tuple[Route, ...] = (
    route("POST", _ALL, create_edge, Data[Edge], 404, body=EdgeForm, status=201),
    route("GET", _ALL, list_edges, ListData[list[Edge]], query=described(EdgeQuery)),
    route("GET", _EACH, get_edge, Data[Edge]),
    route("PATCH", _EACH, update_edge, Data[Edge], body=EdgePatch),
    route("DELETE", _EACH, delete_edge, Data[Deleted]),
)
