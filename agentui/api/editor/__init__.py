"""The editor's API below ``/api``: one file a resource."""

from aiohttp import web

from agentui.api.editor import changes, documents, drafts, facts, models, rules, runs, secrets
from agentui.api.keys import HISTORY
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *documents.ROUTES,
    *changes.ROUTES,
    *facts.ROUTES,
    *secrets.ROUTES,
    *models.ROUTES,
    *rules.ROUTES,
    *drafts.ROUTES,
    *runs.ROUTES,
)


def add_editor_streams(app: web.Application) -> None:
    """Listen to changes from now on: whoever comes later may ask for them."""
    app.on_startup.append(changes.open_feed)
    app.on_shutdown.append(_end_live_streams)


async def _end_live_streams(app: web.Application) -> None:
    """Those who wait for the next run or change would keep the server from stopping."""
    app[HISTORY].close()
    app[changes.FEED].close()
