"""The memory's API: sessions, branches, floors, pages, messages and variables, one file a resource."""

from agentui.api.route import Route
from agentui.api.tavern import branches, floors, messages, pages, sessions, variables

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *branches.ROUTES,
    *floors.ROUTES,
    *pages.ROUTES,
    *messages.ROUTES,
    *variables.ROUTES,
)
