"""``/memory/scopes``: how far the jobs of scopes have come (TavernHeadless' contract, 3.11)."""

from aiohttp import web

from agentui.api.chats.protocol import described, list_answer, read, read_query, route
from agentui.http.route import Route
from agentui.memories import scopes
from agentui.memories.records import ScopeState
from agentui.schemas.forms import ListData
from agentui.schemas.memories import ScopeQuery


async def list_scopes(request: web.Request) -> web.Response:
    """List the states of scopes."""
    query = read_query(request, ScopeQuery)
    return list_answer(await read(request, scopes.list_scopes, query.paging, query.scope, query.scope_id), query.paging)


ROUTES: tuple[Route, ...] = (
    route("GET", "/memory/scopes", list_scopes, ListData[list[ScopeState]], query=described(ScopeQuery)),
)
