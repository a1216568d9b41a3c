"""What a worker does for the others: routes that only its own socket leads to."""

import asyncio

from aiohttp import web

from agentui.api.keys import PIPELINES, PRESETS, SERVICES, TURNS
from agentui.errors import NotFound
from agentui.http.keys import AUTHENTICATOR, SETTINGS
from agentui.http.rights import Handler
from agentui.http.route import answer, read_json
from agentui.http.worker_group import DIED
from agentui.http.workers import CREDENTIALS, REFRESH, THOUGHTS, is_from_worker


def add_worker_routes(app: web.Application) -> None:
    """Register the routes; to everybody else there is nothing at their paths."""
    handlers = {REFRESH: refresh, CREDENTIALS: forget_credentials, THOUGHTS: receive_thoughts, DIED: release_worker}
    for path, handler in handlers.items():
        app.router.add_post(path, _for_workers(handler))


async def refresh(request: web.Request) -> web.Response:
    """Look at the documents and at what is active, because another worker has changed them."""
    for library in (request.app[PIPELINES], request.app[PRESETS]):
        await asyncio.to_thread(library.refresh)
    return answer(None)


async def forget_credentials(request: web.Request) -> web.Response:
    """Believe nothing any more of what was read of keys and accounts, because another worker has changed them."""
    request.app[AUTHENTICATOR].forget()
    return answer(None)


async def receive_thoughts(request: web.Request) -> web.Response:
    """Take in the signed thoughts of a conversation that may go on here."""
    request.app[SERVICES].thought_cache.receive(await read_json(request, request.app[SETTINGS].max_reply))
    return answer(None)


async def release_worker(request: web.Request) -> web.Response:
    """Let the turns of a worker fail that has died, so that their branches are free at once."""
    await request.app[TURNS].recovery.release(str(await read_json(request)))
    return answer(True)


def _for_workers(handler: Handler) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        if not is_from_worker(request):
            raise NotFound(f"There is nothing at {request.method} {request.path}.")
        return await handler(request)

    return handle
