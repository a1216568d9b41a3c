"""The API of tools: what sessions allow, what there is, what users define, what was called, and MCP servers, one file a
resource."""

from agentui.api.tools import catalog, definitions, executions, mcp, permissions, trials
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *permissions.ROUTES,
    *catalog.ROUTES,
    *trials.ROUTES,
    *definitions.ROUTES,
    *executions.ROUTES,
    *mcp.ROUTES,
)
