"""``/pages/{id}/memory``: what jobs proposed for an answer, and what became of it (TavernHeadless' contract, 3.10)."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, path_id, read, route
from agentui.http.route import Route
from agentui.memories.ledger import PageLedger, page_ledger
from agentui.schemas.forms import Data


async def list_proposals(request: web.Request) -> web.Response:
    """List what was proposed for a page."""
    return data_answer(await read(request, page_ledger, path_id(request)))


async def list_promotions(request: web.Request) -> web.Response:
    """List what was proposed for a page and is decided."""
    return data_answer(await read(request, page_ledger, path_id(request), is_decided=True))


ROUTES: tuple[Route, ...] = (
    route("GET", "/pages/{id}/memory/proposals", list_proposals, Data[PageLedger]),
    route("GET", "/pages/{id}/memory/promotions", list_promotions, Data[PageLedger]),
)
