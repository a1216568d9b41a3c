"""The API of tools: what sessions allow, what there is, what users define and what was called, one file a resource."""

from agentui.api.tools import builtin, executions, permissions
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*permissions.ROUTES, *builtin.ROUTES, *executions.ROUTES)
