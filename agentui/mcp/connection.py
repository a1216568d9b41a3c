"""One connection to an MCP server, for as long as it lasts."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import mcp_types as types
from mcp.client import Client
from mcp.client._transport import TransportStreams
from mcp.shared.exceptions import MCPError

from agentui.errors import AgentUIError
from agentui.jsonio import Json, dumps, dumps_text
from agentui.mcp.errors import McpFailed, McpUnavailable
from agentui.mcp.records import ToolDefinition
from agentui.pipeline.engine import to_its_end
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.tool import ToolAnswer

MAX_TOOLS = 500
"""Most tools of one server."""
MAX_DEFINITION = 64 * 1024
"""Bytes of one tool's definition, as JSON."""
MAX_DEFINITIONS = 2 * 1024 * 1024
"""Bytes of all definitions of one server: they are stored, and read again for every turn."""
MAX_TOOL_NAME = 200
END_SECONDS = 10.0
"""How long a connection that is being made may take to stop before it is told so again."""
SESSION_OVER = "Session terminated"
"""What the library says for an answer 404 on an open session."""

OpenStreams = Callable[[Callable[[str], None]], AbstractAsyncContextManager[TransportStreams]]
"""Makes the streams of a connection, given whom to tell that it is lost."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself."""

    name: str | None
    version: str | None
    protocol_version: str


class Connection:
    """A connection that is open after ``open`` and until ``close``, or until it is lost.

    A task of its own holds the client, because the library wants to be left by the task that entered it; calls come from
    any task.
    """

    def __init__(self, open_streams: OpenStreams) -> None:
        self.lost: str | None = None
        """Why it is gone, where nobody closed it."""
        self.info: ServerInfo | None = None
        self._open_streams = open_streams
        self._client: Client | None = None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls can be made."""
        return self._client is not None and self.lost is None and not self._closing.is_set()

    async def open(self, seconds: float) -> None:
        """Connect and shake hands within this time. Raises McpUnavailable."""
        opened = self._opened = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(opened))
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(opened)
        except TimeoutError as error:
            await self.close()
            raise McpUnavailable(f"The server did not answer within {seconds:g} seconds.") from error
        except (McpUnavailable, asyncio.CancelledError):
            await self.close()
            raise
        finally:
            if opened.done() and not opened.cancelled():
                opened.exception()  # was told, or nobody waits for it

    async def _live(self, opened: "asyncio.Future[None]") -> None:
        """Hold the client until the connection is closed or lost."""
        try:
            async with Client(_Opened(self._open_streams(self._lose)), cache=None) as client:
                self.info = _info(client)
                self._client = client
                if not opened.done():
                    opened.set_result(None)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - the library groups what its tasks raise, of any kind
            told = _explained(error)
            if self._client is not None and self.lost is None:
                self.lost = told.message
            if not opened.done():
                opened.set_exception(McpUnavailable(self.lost or told.message))
        finally:
            self._client = None
            if not opened.done():
                opened.set_exception(McpUnavailable(self.lost or "The connection ended before it was made."))

    def _lose(self, reason: str) -> None:
        """Note why the connection is gone, unless somebody closes it."""
        if not self._closing.is_set():
            self.lost = reason
            self._closing.set()
            if self._opened is not None and not self._opened.done():
                self._opened.set_exception(McpUnavailable(reason))

    async def close(self) -> None:
        """Close it, and end its program."""
        self._closing.set()
        if self._task is not None:
            await to_its_end(self._ended(self._task))

    async def _ended(self, task: "asyncio.Task[None]") -> None:
        while not task.done():
            if self._client is None:
                task.cancel()  # it may wait for a handshake that never comes, and the library may wait for more after that
            await asyncio.wait([task], timeout=END_SECONDS)

    async def tools(self, seconds: float) -> tuple[ToolDefinition, ...]:
        """All tools of the server. Raises McpFailed for an answer that is none, McpUnavailable."""
        found: dict[str, ToolDefinition] = {}
        cursor: str | None = None
        client, left = self._usable(), MAX_DEFINITIONS
        try:
            async with asyncio.timeout(seconds):
                for _ in range(MAX_TOOLS):
                    page = await client.list_tools(cursor=cursor)
                    for tool in page.tools:
                        found[tool.name], size = _definition(tool)
                        left -= size
                        if len(found) > MAX_TOOLS:
                            raise McpFailed(f"The server has more than {MAX_TOOLS} tools.", limit=MAX_TOOLS)
                        if left < 0:
                            told = f"The definitions of the server's tools are larger than {MAX_DEFINITIONS} bytes."
                            raise McpFailed(told, limit=MAX_DEFINITIONS)
                    cursor = page.next_cursor
                    if cursor is None:
                        return tuple(found.values())
        except TimeoutError as error:
            raise McpUnavailable(f"The server did not list its tools within {seconds:g} seconds.") from error
        except (MCPError, RuntimeError, ValueError) as error:
            raise McpFailed(f"The server does not list its tools: {_told(error)}") from error
        raise McpFailed("The server's list of tools has no end.")

    async def call(self, name: str, arguments: Mapping[str, Json], seconds: float) -> ToolAnswer:
        """Call a tool. Raises McpFailed for a refusal, OutcomeUnknown where no answer came: the call may have been made."""
        client = self._usable()
        try:
            async with asyncio.timeout(seconds):
                result = await client.call_tool(name, dict(arguments))
        except TimeoutError as error:
            raise OutcomeUnknown(f"The server did not answer the call within {seconds:g} seconds.") from error
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED or not self.is_open:
                self._lose("The server closed the connection.")
                raise OutcomeUnknown(self.lost or "The connection to the server was closed.") from error
            if error.message == SESSION_OVER:  # the server was started anew, and looked at nothing
                self._lose("The server has forgotten the connection.")
            raise McpFailed(f"The server refused the call: {_told(error)}") from error
        except (RuntimeError, ValueError) as error:
            raise McpFailed(f"The server's answer is none: {_told(error)}") from error
        return _answer(result)

    def _usable(self) -> Client:
        if self._client is None or not self.is_open:
            raise McpUnavailable(self.lost or "The connection to the server is closed.")
        return self._client


class _Opened(AbstractAsyncContextManager[TransportStreams]):
    """A context manager of streams as the library's protocol wants it."""

    def __init__(self, inner: AbstractAsyncContextManager[TransportStreams]) -> None:
        self._inner = inner

    async def __aenter__(self) -> TransportStreams:
        return await self._inner.__aenter__()

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._inner.__aexit__(*error)  # type: ignore[arg-type]  # the three of the protocol


def _info(client: Client) -> ServerInfo:
    told = client.server_info
    if told is None:
        return ServerInfo(None, None, client.protocol_version)
    return ServerInfo(told.name[:MAX_TOOL_NAME], told.version[:MAX_TOOL_NAME], client.protocol_version)


def _definition(tool: types.Tool) -> tuple[ToolDefinition, int]:
    """A tool as it is kept, and its bytes. Raises McpFailed for one that is too large."""
    made = ToolDefinition(tool.name, tool.description or "", tool.input_schema, _annotations(tool.annotations))
    if not tool.name or len(tool.name) > MAX_TOOL_NAME:
        raise McpFailed(f"The server has a tool whose name is empty or longer than {MAX_TOOL_NAME} characters.")
    size = len(dumps([made.name, made.description, made.parameters]))
    if size > MAX_DEFINITION:
        raise McpFailed(f"The definition of the server's tool {made.name} is larger than {MAX_DEFINITION} bytes.")
    return made, size


def _annotations(said: types.ToolAnnotations | None) -> dict[str, bool]:
    """The hints that a server gives of a tool, by the protocol's names."""
    if said is None:
        return {}
    hints = {
        "readOnlyHint": said.read_only_hint,
        "destructiveHint": said.destructive_hint,
        "idempotentHint": said.idempotent_hint,
        "openWorldHint": said.open_world_hint,
    }
    return {name: hint for name, hint in hints.items() if hint is not None}


def _answer(result: types.CallToolResult) -> ToolAnswer:
    """What a tool gave back: its texts for the model, with a note where something else stands, and structured content."""
    texts = [_text(part) for part in result.content]
    if not texts and result.structured_content is not None:
        texts = [dumps_text(result.structured_content)]
    value = result.structured_content
    return ToolAnswer("\n".join(texts), "\n".join(texts) if value is None else value, is_error=result.is_error)


def _text(part: types.ContentBlock) -> str:
    match part:
        case types.TextContent():
            return part.text
        case types.ImageContent() | types.AudioContent():
            return f"[{part.mime_type}, {len(part.data) * 3 // 4} bytes, left out]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return resource.text
        case types.EmbeddedResource():
            return f"[the resource {part.resource.uri}, left out]"
        case types.ResourceLink():
            return f"[the resource {part.uri}: {part.name}]"


def _explained(error: BaseException) -> AgentUIError:
    """The one error inside a group of them, as it is told."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error if isinstance(error, AgentUIError) else McpUnavailable(f"The server cannot be used: {_told(error)}")


def _told(error: BaseException) -> str:
    """What an error says, in one short line."""
    return (" ".join(str(error).split()) or type(error).__name__)[:500]
