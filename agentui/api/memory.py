"""The memory's routes, of which a server knows how their paths begin until somebody needs them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aiohttp import web

from agentui.api.late_routes import add_late_routes

if TYPE_CHECKING:
    from agentui.http.route import Route

PREFIXES = ("/branches", "/floors", "/messages", "/pages", "/sessions", "/variables")
"""What the memory's paths begin with."""


def add_memory_routes(app: web.Application) -> None:
    """Register the paths below ``PREFIXES``."""
    add_late_routes(app, PREFIXES, _routes)


def _routes() -> Iterable["Route"]:
    """With the handlers come SQLAlchemy and the forms of every route, which an idle server does without."""
    from agentui.api.chats import ROUTES

    return ROUTES
