"""The two streams of messages that the official client speaks through, over a program's pipes and over HTTP.

The program's is written here because the library's reads lines of any length and grows a text with each piece of one: a line
of 100 MB would hold the event loop. HTTP goes out through ``Upstream``, under the rules for every outgoing call.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from agentui.errors import AgentUIError
from agentui.mcp.errors import McpUnavailable
from agentui.mcp.records import Program
from agentui.mcp.value_count import TooManyValues, Weighing
from agentui.pipeline.engine import to_its_end
from agentui.threads import apart
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.http.stream import UpstreamStream

_PIECE = 64 * 1024
MAX_MESSAGE = 8 * 1024 * 1024
"""Bytes of one message from a server; a larger one ends the connection."""
STOP_SECONDS = 2.0
"""How long a program may take to end after its input was closed, and again after it was told to."""
_OWN_HEADERS = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})
"""Headers that ``Upstream`` writes itself."""

Received = SessionMessage | Exception
Lost = Callable[[str], None]
"""Is told why a connection is gone that nobody closed."""

log = logging.getLogger("agentui.mcp")
for _library in ("httpx2", "mcp"):
    # They write whole addresses, which may hold keys, and what strangers sent; what goes wrong is told by the connection.
    logging.getLogger(_library).setLevel(logging.CRITICAL + 1)


@asynccontextmanager
async def program_streams(program: Program, env: Mapping[str, str], lost: Lost) -> AsyncIterator[TransportStreams]:
    """Start a program and hand out its streams; end it afterwards.

    Of this server's environment it sees what the official client passes on (paths and the user's name), and ``env``.
    Raises McpUnavailable where it does not start.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            program.command,
            *program.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**get_default_environment(), **env},
            cwd=None if program.cwd is None else Path(program.cwd),
            limit=MAX_MESSAGE,
            start_new_session=sys.platform != "win32",
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await to_its_end(_stop_started(starting))
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no command has such a part"
        raise McpUnavailable(f"The server's program does not start: {reason}.") from error
    read_in, read_out = anyio.create_memory_object_stream[Received](0)
    write_in, write_out = anyio.create_memory_object_stream[SessionMessage](0)
    is_wanted = True

    def lose(reason: str) -> None:
        if is_wanted:
            lost(reason)

    tasks = [
        asyncio.create_task(_read_lines(process, read_in, lose)),
        asyncio.create_task(_write_lines(process, write_out)),
        asyncio.create_task(_log_errors(process)),
    ]
    try:
        yield read_out, write_in
    finally:
        is_wanted = False
        await to_its_end(_stop(process, tasks))
        for stream in (read_in, read_out, write_in, write_out):
            stream.close()


async def _read_lines(process: asyncio.subprocess.Process, read_in: MemoryObjectSendStream[Received], lost: Lost) -> None:
    """Pass on each line of a program's output as a message until it ends."""
    assert process.stdout is not None
    reason = "The server's program has ended."
    try:
        while line := await process.stdout.readline():
            if line.strip():
                await read_in.send(await apart(len(line), partial(_message, line)))
    except TooManyValues as error:
        reason = str(error)
    except ValueError:  # what readline raises for a line beyond the limit
        reason = f"The server sent a message of more than {MAX_MESSAGE} bytes."
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return  # nobody listens any more
    lost(reason)
    read_in.close()


def _message(line: bytes) -> Received:
    """Read a message. Raises TooManyValues."""
    weighing = Weighing()
    for start in range(0, len(line), _PIECE):
        weighing.feed(line[start : start + _PIECE])
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        return error


async def _write_lines(process: asyncio.subprocess.Process, write_out: MemoryObjectReceiveStream[SessionMessage]) -> None:
    """Write each message as a line of a program's input until nobody sends any more, and close it."""
    assert process.stdin is not None
    with suppress(ConnectionError, anyio.BrokenResourceError):  # the program's end is told by who reads it
        async for message in write_out:
            process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    write_out.close()  # or whoever sends would wait for ever
    process.stdin.close()


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """Read what a program writes for people, so that its pipe never fills; the log has it at level debug."""
    assert process.stderr is not None
    while piece := await process.stderr.read(8192):
        log.debug("an MCP program says: %s", piece.decode("utf-8", "replace").rstrip())


async def _stop_started(starting: "asyncio.Future[asyncio.subprocess.Process]") -> None:
    """End a program that is being started for somebody who left, with all that it has started by then."""
    with suppress(OSError, ValueError):
        await _stop(await starting, [])


async def _stop(process: asyncio.subprocess.Process, tasks: list["asyncio.Task[None]"]) -> None:
    """End a program: close its input, ask it to end, and at last kill it with all that it started."""
    assert process.stdin is not None
    process.stdin.close()
    for send in (None, signal.SIGTERM, None if sys.platform == "win32" else signal.SIGKILL):
        if send is not None:
            _signal(process, send)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
                break
    else:
        process.kill()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if sys.platform != "win32":
        _signal(process, signal.SIGKILL)  # what it started and left behind


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, number)


@asynccontextmanager
async def http_streams(
    upstream: Upstream, url: str, headers: Mapping[str, str], timeouts: Timeouts
) -> AsyncIterator[TransportStreams]:
    """The streams of a server that is reached over HTTP (Streamable HTTP)."""
    async with AsyncExitStack() as stack:
        client = httpx2.AsyncClient(transport=_Transport(upstream, timeouts), headers=dict(headers), timeout=None)
        await stack.enter_async_context(client)
        yield await stack.enter_async_context(streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE))


class _Transport(httpx2.AsyncBaseTransport):
    """Sends the library's requests through ``Upstream``: addresses, names, proxies and clocks as for every outgoing call.
    Nothing is sent twice: a call of a tool may do something each time."""

    def __init__(self, upstream: Upstream, timeouts: Timeouts) -> None:
        self._upstream = upstream
        self._timeouts = timeouts

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to a request. Raises httpx2.ConnectError where there is none."""
        call = UpstreamCall(
            method=request.method,
            url=str(request.url),
            headers={name: value for name, value in request.headers.items() if name not in _OWN_HEADERS},
            body=await request.aread() or None,
            timeouts=self._timeouts,
            retries=False,
        )
        stack = AsyncExitStack()
        try:
            stream = await stack.enter_async_context(self._upstream.open(call))
        except AgentUIError as error:
            raise httpx2.ConnectError(error.message, request=request) from error
        # Without the content type's parameters: httpx reads them with the standard library's email parser, in quadratic time.
        headers = {**stream.headers, "content-type": stream.content_type}
        return httpx2.Response(stream.status, headers=list(headers.items()), stream=_Body(stream, stack))


class _Body(httpx2.AsyncByteStream):
    """The body of an answer as it comes: at most MAX_MESSAGE bytes, unless it is a stream of events, where the library counts
    each; and not too many values (``Weighing``)."""

    def __init__(self, stream: UpstreamStream, stack: AsyncExitStack) -> None:
        self._stream = stream
        self._stack = stack
        self._left = None if stream.content_type == "text/event-stream" else MAX_MESSAGE

    async def __aiter__(self) -> AsyncIterator[bytes]:
        weighing = Weighing()
        try:
            async for chunk in self._stream.chunks():
                weighing.feed(chunk)
                if self._left is not None:
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise httpx2.StreamError(f"The server sent a message of more than {MAX_MESSAGE} bytes.")
                yield chunk
        except AgentUIError as error:
            raise httpx2.StreamError(error.message) from error
        except TooManyValues as error:
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        """Let the connection go."""
        await self._stack.aclose()
