"""What a worker does for its siblings: routes that only the private door leads to."""

import asyncio

from aiohttp import web

from agentui.errors import NotFound
from agentui.http.route import Handler, answer, read_json
from agentui.http.state import STATE
from agentui.http.workers import REFRESH, THOUGHTS, is_from_sibling


def add_door_routes(app: web.Application) -> None:
    """Register the routes; to everybody else there is nothing at their paths."""
    for path, handler in ((REFRESH, refresh), (THOUGHTS, take_thoughts)):
        app.router.add_post(path, _for_siblings(handler))


async def refresh(request: web.Request) -> web.Response:
    """Look at the documents and at what is active, because a sibling has changed them."""
    state = request.app[STATE]
    for library in (state.pipelines, state.presets):
        await asyncio.to_thread(library.refresh)
    return answer(None)


async def take_thoughts(request: web.Request) -> web.Response:
    """Take in the signed thoughts of a conversation that may go on here."""
    state = request.app[STATE]
    state.services.continuity.take(await read_json(request, state.settings.max_reply))
    return answer(None)


def _for_siblings(handler: Handler) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        if not is_from_sibling(request):
            raise NotFound(f"There is nothing at {request.method} {request.path}.")
        return await handler(request)

    return handle
