"""Server-sent events to a browser, resumable: every event carries an id that it sends back when it reconnects."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from aiohttp import web

from agentui.http.keys import AUTHENTICATOR, PRINCIPAL, SETTINGS
from agentui.http.route import EVENT_STREAM
from agentui.jsonio import Json, dumps
from agentui.vendors.sse import encode_comment, encode_event

STREAM_HEADERS = {"content-type": EVENT_STREAM, "cache-control": "no-store", "x-accel-buffering": "no"}


def sse_event(id: str, name: str, data: Json) -> bytes:
    """One event. ``id`` and ``name`` are ours and hold no line break."""
    return f"id: {id}\n".encode() + encode_event(dumps(data), name)


async def send_events(request: web.Request, events: AsyncGenerator[bytes, None]) -> web.StreamResponse:
    """Send encoded events until they end, with a comment in every silence; each waits until the browser has room.

    A browser that reads nothing for ``write_timeout`` is dropped, and so is one whose key or account counts no more: it is told
    so when it comes back.
    """
    settings = request.app[SETTINGS]
    response = web.StreamResponse(headers=STREAM_HEADERS)
    await response.prepare(request)
    try:
        async with (
            asyncio.timeout(None) as clock,
            _let_in(request, clock),
            aclosing(events),
            aclosing(_with_heartbeat(events, settings.heartbeat)) as pieces,
        ):
            async for piece in pieces:
                async with asyncio.timeout(settings.write_timeout):
                    await response.write(piece)
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    except ConnectionResetError:
        pass  # The browser closed the page; nobody is there to tell.
    return response


@asynccontextmanager
async def _let_in(request: web.Request, clock: asyncio.Timeout) -> AsyncGenerator[None, None]:
    """Within, the clock runs out as soon as who asks is let in no more."""
    now = asyncio.get_running_loop().time
    with request.app[AUTHENTICATOR].watching(request[PRINCIPAL], lambda _: clock.reschedule(now())):
        yield


async def _with_heartbeat(events: AsyncGenerator[bytes, None], seconds: float) -> AsyncGenerator[bytes, None]:
    """The events, and a comment whenever ``seconds`` pass without one."""
    waiting: asyncio.Task[bytes] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
            if not done:
                yield encode_comment()
                continue
            try:
                piece = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            yield piece
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait({waiting})


async def _next(events: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(events)
