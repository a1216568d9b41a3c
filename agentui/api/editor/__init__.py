"""The editor's API below ``/api``: one file a resource."""

from aiohttp import web

from agentui.api.editor import changes, facts, node_types, pipelines, presets, preview, runs, templates, trial, validate
from agentui.api.editor.route import Route
from agentui.api.state import STATE

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
        app.router.add_route(route.method, route.path, route.handler)
    app.on_startup.append(changes.open_feed)
    app.on_shutdown.append(_end_live_streams)


async def _end_live_streams(app: web.Application) -> None:
    """Those who wait for the next run or change would keep the server from stopping."""
    app[STATE].history.close()
    app[changes.FEED].close()
