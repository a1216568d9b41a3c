"""The API of tools: what sessions allow, what there is, what users define and what was called, and MCP servers."""

from agentui.api.tools import builtin, executions, mcp, permissions
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*permissions.ROUTES, *builtin.ROUTES, *executions.ROUTES, *mcp.ROUTES)
