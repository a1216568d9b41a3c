"""The memory's API: sessions, branches, floors, pages, messages and variables, one file a resource."""

from aiohttp import web

from agentui.api.editor.route import Route
from agentui.api.tavern import branches, floors, messages, pages, sessions, variables

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *branches.ROUTES,
    *floors.ROUTES,
    *pages.ROUTES,
    *messages.ROUTES,
    *variables.ROUTES,
)


def add_tavern_routes(app: web.Application) -> None:
    """Register the memory's routes."""
    for route in ROUTES:
        app.router.add_route(route.method, route.path, route.handler)
