"""All routes of the editor."""

from dataclasses import replace
from functools import wraps

from aiohttp import web

from agentui.api.editor import changes, facts, node_types, pipelines, presets, preview, runs, templates, trial, validate
from agentui.http.route import Handler, Route
from agentui.http.state import STATE
from agentui.http.workers import REFRESH


def _telling(handler: Handler) -> Handler:
    """The same, and whatever it changed is known to every worker before the answer leaves."""

    @wraps(handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        response = await handler(request)
        await request.app[STATE].siblings.tell_all(REFRESH)
        return response

    return handle


ROUTES: tuple[Route, ...] = (
    *(
        route if route.method == "GET" else replace(route, handler=_telling(route.handler))
        for route in (*pipelines.ROUTES, *presets.ROUTES)
    ),
    *changes.ROUTES,
    *templates.ROUTES,
    *node_types.ROUTES,
    *validate.ROUTES,
    *preview.ROUTES,
    *trial.ROUTES,
    *runs.ROUTES,
    *facts.ROUTES,
)
