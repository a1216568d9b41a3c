"""MCP servers and their tools. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.shapes.tools.mcp import (
    McpApproval,
    McpServerPatch,
    McpServerShown,
    McpToggle,
    McpTrial,
    NewMcpServer,
    SeenTool,
    ServerStatus,
)
from agentui.sdk.transport import Resource


class McpListCall(Options):
    """What ``mcp.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    enabled: NotRequired[bool]
    """true or false: only servers that are on, or off."""
    sort_by: NotRequired[Literal["created_at", "name"]]
    """created_at or name."""


class McpCreateCall(NewMcpServer, Options, Repeatable):
    """What ``mcp.create`` may be told."""


class McpUpdateCall(McpServerPatch, Options, Repeatable):
    """What ``mcp.update`` may be told."""


class McpDeleteCall(Options, Repeatable):
    """What ``mcp.delete`` may be told."""


class McpConnectCall(McpApproval, Options):
    """What ``mcp.connect`` may be told."""


class McpToggleCall(McpToggle, Options, Repeatable):
    """What ``mcp.toggle`` may be told."""


_LIST = Endpoint[ListOf[Items[McpServerShown]]](
    "GET", "/mcp/servers", query=("limit", "offset", "sort_order", "enabled", "sort_by"), answer="whole"
)
_CREATE = Endpoint[McpServerShown]("POST", "/mcp/servers", body="json")
_GET = Endpoint[McpServerShown]("GET", "/mcp/servers/{id}")
_UPDATE = Endpoint[McpServerShown]("PATCH", "/mcp/servers/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/mcp/servers/{id}")
_CONNECT = Endpoint[ServerStatus]("POST", "/mcp/servers/{id}/connect", body="json")
_DISCONNECT = Endpoint[ServerStatus]("POST", "/mcp/servers/{id}/disconnect")
_GET_STATUS = Endpoint[ServerStatus]("GET", "/mcp/servers/{id}/status")
_TEST = Endpoint[McpTrial]("POST", "/mcp/servers/{id}/test")
_TOGGLE = Endpoint[McpServerShown]("PATCH", "/mcp/servers/{id}/toggle", body="json")
_LIST_TOOLS = Endpoint[Items[SeenTool]]("GET", "/mcp/servers/{id}/tools")
_LIST_STATUSES = Endpoint[Items[ServerStatus]]("GET", "/mcp/statuses")


class McpResource(Resource):
    """MCP servers and their tools."""

    def list(self, **given: Unpack[McpListCall]) -> ListOf[Items[McpServerShown]]:
        """List the configured servers. ``GET /mcp/servers``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[McpListCall]) -> Iterator[McpServerShown]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def create(self, **given: Unpack[McpCreateCall]) -> McpServerShown:
        """Configure a server. ``POST /mcp/servers``"""
        return self._call(_CREATE, (), given)

    def get(self, server_id: str, **given: Unpack[Options]) -> McpServerShown:
        """Read a server's configuration. ``GET /mcp/servers/{id}``"""
        return self._call(_GET, (server_id,), given)

    def update(self, server_id: str, **given: Unpack[McpUpdateCall]) -> McpServerShown:
        """Change a server's configuration; reached otherwise than before, its tools have to be approved again. ``PATCH
        /mcp/servers/{id}``
        """
        return self._call(_UPDATE, (server_id,), given)

    def delete(self, server_id: str, **given: Unpack[McpDeleteCall]) -> Deleted:
        """Forget a server and end its connection. ``DELETE /mcp/servers/{id}``"""
        return self._call(_DELETE, (server_id,), given)

    def connect(self, server_id: str, **given: Unpack[McpConnectCall]) -> ServerStatus:
        """Connect anew and approve tools as they are now: those that the body names, or all. ``POST
        /mcp/servers/{id}/connect``
        """
        return self._call(_CONNECT, (server_id,), given)

    def disconnect(self, server_id: str, **given: Unpack[Options]) -> ServerStatus:
        """Close this process's connection to a server. ``POST /mcp/servers/{id}/disconnect``"""
        return self._call(_DISCONNECT, (server_id,), given)

    def get_status(self, server_id: str, **given: Unpack[Options]) -> ServerStatus:
        """How a server is doing. ``GET /mcp/servers/{id}/status``"""
        return self._call(_GET_STATUS, (server_id,), given)

    def test(self, server_id: str, **given: Unpack[Options]) -> McpTrial:
        """Connect as a trial and list the tools; nothing is kept. ``POST /mcp/servers/{id}/test``"""
        return self._call(_TEST, (server_id,), given)

    def toggle(self, server_id: str, **given: Unpack[McpToggleCall]) -> McpServerShown:
        """Switch a server on or off. ``PATCH /mcp/servers/{id}/toggle``"""
        return self._call(_TOGGLE, (server_id,), given)

    def list_tools(self, server_id: str, **given: Unpack[Options]) -> Items[SeenTool]:
        """Every tool of a server, and which of them models are offered. ``GET /mcp/servers/{id}/tools``"""
        return self._call(_LIST_TOOLS, (server_id,), given)

    def list_statuses(self, **given: Unpack[Options]) -> Items[ServerStatus]:
        """How every server is doing. ``GET /mcp/statuses``"""
        return self._call(_LIST_STATUSES, (), given)


class AsyncMcpResource(AsyncResource):
    """MCP servers and their tools."""

    async def list(self, **given: Unpack[McpListCall]) -> ListOf[Items[McpServerShown]]:
        """List the configured servers. ``GET /mcp/servers``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[McpListCall]) -> AsyncIterator[McpServerShown]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def create(self, **given: Unpack[McpCreateCall]) -> McpServerShown:
        """Configure a server. ``POST /mcp/servers``"""
        return await self._call(_CREATE, (), given)

    async def get(self, server_id: str, **given: Unpack[Options]) -> McpServerShown:
        """Read a server's configuration. ``GET /mcp/servers/{id}``"""
        return await self._call(_GET, (server_id,), given)

    async def update(self, server_id: str, **given: Unpack[McpUpdateCall]) -> McpServerShown:
        """Change a server's configuration; reached otherwise than before, its tools have to be approved again. ``PATCH
        /mcp/servers/{id}``
        """
        return await self._call(_UPDATE, (server_id,), given)

    async def delete(self, server_id: str, **given: Unpack[McpDeleteCall]) -> Deleted:
        """Forget a server and end its connection. ``DELETE /mcp/servers/{id}``"""
        return await self._call(_DELETE, (server_id,), given)

    async def connect(self, server_id: str, **given: Unpack[McpConnectCall]) -> ServerStatus:
        """Connect anew and approve tools as they are now: those that the body names, or all. ``POST
        /mcp/servers/{id}/connect``
        """
        return await self._call(_CONNECT, (server_id,), given)

    async def disconnect(self, server_id: str, **given: Unpack[Options]) -> ServerStatus:
        """Close this process's connection to a server. ``POST /mcp/servers/{id}/disconnect``"""
        return await self._call(_DISCONNECT, (server_id,), given)

    async def get_status(self, server_id: str, **given: Unpack[Options]) -> ServerStatus:
        """How a server is doing. ``GET /mcp/servers/{id}/status``"""
        return await self._call(_GET_STATUS, (server_id,), given)

    async def test(self, server_id: str, **given: Unpack[Options]) -> McpTrial:
        """Connect as a trial and list the tools; nothing is kept. ``POST /mcp/servers/{id}/test``"""
        return await self._call(_TEST, (server_id,), given)

    async def toggle(self, server_id: str, **given: Unpack[McpToggleCall]) -> McpServerShown:
        """Switch a server on or off. ``PATCH /mcp/servers/{id}/toggle``"""
        return await self._call(_TOGGLE, (server_id,), given)

    async def list_tools(self, server_id: str, **given: Unpack[Options]) -> Items[SeenTool]:
        """Every tool of a server, and which of them models are offered. ``GET /mcp/servers/{id}/tools``"""
        return await self._call(_LIST_TOOLS, (server_id,), given)

    async def list_statuses(self, **given: Unpack[Options]) -> Items[ServerStatus]:
        """How every server is doing. ``GET /mcp/statuses``"""
        return await self._call(_LIST_STATUSES, (), given)
