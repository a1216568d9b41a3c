"""Writing an answer to a caller who may read slowly, or not at all."""

import asyncio
import socket

from aiohttp import HttpVersion11, web

from agentui.http.limits import LIMITS

MAX_WAITING = 4 * 1024
"""Bytes of a stream that wait here for a caller who does not read."""
MAX_UNSENT = 16 * 1024
"""Bytes that wait in the system's buffer."""
AT_ONCE = 128 * 1024
"""A whole answer up to this is left to the system's buffers."""
PIECE = 64 * 1024
_NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
_UNIX: int | None = getattr(socket, "AF_UNIX", None)


async def begin_stream(request: web.Request, response: web.StreamResponse) -> None:
    """Send the head of a streamed answer; whoever writes to it waits whenever the caller does not read."""
    if request.version < HttpVersion11 and response.content_length is None:
        # Only the connection's end tells the end of this body; aiohttp would wait for another request.
        response.force_close()
    await response.prepare(request)
    _limit_unsent(request.transport)


async def send_whole(request: web.Request, response: web.StreamResponse, seconds: float) -> web.StreamResponse:
    """Send an answer in one piece that is large, no faster than its caller reads, and count it among the bodies under way until
    then; any other answer is left to aiohttp. Returns what a handler returns.

    A caller who reads nothing for ``seconds`` is dropped. Raises ConnectionResetError where the caller has left.
    """
    body = response.body if isinstance(response, web.Response) else None
    if not isinstance(body, bytes) or len(body) <= AT_ONCE or response.prepared or request.method == "HEAD":
        return response
    request.app[LIMITS].hold_answer(request, len(body))
    stream = web.StreamResponse(status=response.status, reason=response.reason, headers=response.headers)
    stream.content_length = len(body)
    if response.keep_alive is False:
        stream.force_close()
    await begin_stream(request, stream)
    await write_pieces(request, stream, body, seconds)
    await stream.write_eof()
    return stream


async def write_pieces(request: web.Request, response: web.StreamResponse, body: bytes, seconds: float) -> None:
    """Write ``body`` as fast as the caller reads. Raises ConnectionResetError for one who has left, or reads nothing for
    ``seconds`` and is dropped."""
    view = memoryview(body)
    for start in range(0, len(body), PIECE):
        try:
            async with asyncio.timeout(seconds):
                await response.write(view[start : start + PIECE])
                await request.writer.drain()  # aiohttp itself would not wait after every piece
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError("The caller does not read.") from None


def _limit_unsent(transport: asyncio.Transport | None) -> None:
    """Let a stream's caller who does not read be noticed soon, so that the upstream is held instead of read and stored.

    Left alone, the system takes some 4 MB for each connection before it says that it is full. The limit (where the system has
    one: Linux, macOS) counts only what has not been sent yet, so a fast caller far away is served as fast as before.
    """
    if transport is None:
        return
    transport.set_write_buffer_limits(high=MAX_WAITING)
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family != _UNIX and _NOTSENT_LOWAT is not None:
        connection.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, MAX_UNSENT)
