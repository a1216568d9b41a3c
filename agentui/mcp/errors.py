"""What can go wrong with an MCP server, as the API and models are told of it."""

from agentui.errors import ApiError
from agentui.jsonio import Json

EXTRA = "MCP needs the extra mcp: pip install -e '.[mcp]' in agentui's folder."


class McpUnavailable(ApiError):
    """A server that cannot be reached or used: 503 ``mcp_server_unavailable``."""

    def __init__(self, message: str, **details: Json) -> None:
        super().__init__(message, status=503, code="mcp_server_unavailable", **details)


class McpFailed(ApiError):
    """A server that answered with an error or with nonsense: 500 ``mcp_server_failed``, as the contract has it."""

    def __init__(self, message: str, **details: Json) -> None:
        super().__init__(message, status=500, code="mcp_server_failed", **details)
