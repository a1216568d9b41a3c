"""The memory's API: sessions, branches, floors, pages, messages and variables, one file a resource."""

from agentui.api.chats import (
    branches,
    floors,
    live,
    messages,
    pages,
    promptexplain,
    promptpolicy,
    promptruntime,
    sessions,
    variables,
)
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *branches.ROUTES,
    *floors.ROUTES,
    *live.ROUTES,
    *pages.ROUTES,
    *messages.ROUTES,
    *variables.ROUTES,
    *promptpolicy.ROUTES,
    *promptruntime.ROUTES,
    *promptexplain.ROUTES,
)
