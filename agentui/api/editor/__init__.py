"""The editor's API below ``/api``: one file a resource."""

from functools import wraps

from aiohttp import web

from agentui.api.editor import changes, facts, node_types, pipelines, presets, preview, runs, templates, trial, validate
from agentui.api.editor.route import Handler, Route
from agentui.api.siblings import REFRESH
from agentui.api.state import STATE

_DOCUMENTS = ("/api/pipelines", "/api/presets")

ROUTES: tuple[Route, ...] = (
    *pipelines.ROUTES,
    *presets.ROUTES,
    *changes.ROUTES,
    *templates.ROUTES,
    *node_types.ROUTES,
    *validate.ROUTES,
    *preview.ROUTES,
    *trial.ROUTES,
    *runs.ROUTES,
    *facts.ROUTES,
)


def add_editor_routes(app: web.Application) -> None:
    """Register the editor's routes."""
    for route in ROUTES:
        handler = route.handler if route.method == "GET" or not route.path.startswith(_DOCUMENTS) else _telling(route.handler)
        app.router.add_route(route.method, route.path, handler)
    app.on_startup.append(changes.open_feed)
    app.on_shutdown.append(_end_live_streams)


def _telling(handler: Handler) -> Handler:
    """The same, and whatever it changed is known to every worker before the answer leaves."""

    @wraps(handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        response = await handler(request)
        await request.app[STATE].siblings.tell_all(REFRESH)
        return response

    return handle


async def _end_live_streams(app: web.Application) -> None:
    """Those who wait for the next run or change would keep the server from stopping."""
    app[STATE].history.close()
    app[changes.FEED].close()
