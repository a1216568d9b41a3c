"""The editor's API below ``/api``: one file a resource, loaded when somebody opens the editor."""

from collections.abc import Iterable

from aiohttp import web

from agentui.api.editor import changes
from agentui.api.late_routes import add_late_routes
from agentui.http.route import Route
from agentui.http.state import STATE

PREFIX = "/api"
"""What the editor's paths begin with."""


def add_editor_routes(app: web.Application) -> None:
    """Register the paths below ``PREFIX``, and listen to changes from now on: whoever comes later may ask for them."""
    add_late_routes(app, (PREFIX,), _routes)
    app.on_startup.append(changes.open_feed)
    app.on_shutdown.append(_end_live_streams)


def _routes() -> Iterable[Route]:
    """With the handlers come the forms of every route, which a server does without whose editor nobody opens."""
    from agentui.api.editor.routes import ROUTES

    return ROUTES


async def _end_live_streams(app: web.Application) -> None:
    """Those who wait for the next run or change would keep the server from stopping."""
    app[STATE].history.close()
    app[changes.FEED].close()
