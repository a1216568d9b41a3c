"""The API of memories, one file a resource."""

from agentui.api.memories import edges, items, jobs, pages, scopes
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*items.ROUTES, *edges.ROUTES, *jobs.ROUTES, *scopes.ROUTES, *pages.ROUTES)
