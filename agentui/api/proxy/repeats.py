"""Requests that come again: what their key claims, and the answer that was given before.

A turn's key is its own from the moment in which its floor is opened until a day after its answer was kept. Requests that are no
turn leave nothing behind here, so their key is the provider's business alone.
"""

import asyncio

from aiohttp import web

from agentui.api.proxy.targets import begin_stream
from agentui.http.keys import SETTINGS
from agentui.pipeline.incoming import Incoming
from agentui.turns.repeats import HEADER, REPLAYED, Claim, Saved, claim

_PIECE = 64 * 1024
_JSON = "application/json"


def claim_of(request: web.Request, incoming: Incoming) -> Claim | None:
    """What the key of a turn's request claims; None where the request is no turn. Raises ApiError ``validation_error``.

    Another path, query (but for a key in it), body, session, branch or pipeline makes it another request.
    """
    headers = incoming.headers
    if incoming.operation != "chat" or "x-agentui-session" not in headers:
        return None
    names = [headers.get(f"x-agentui-{name}", "") for name in ("session", "branch", "pipeline")]
    return claim_for(request, headers[HEADER], incoming.body, *names)


def claim_for(request: web.Request, key: str, body: bytes, *more: str) -> Claim:
    """What a request's key claims: its method, path, query without a key in it, body, and ``more``. Raises as ``claim_of``."""
    query = [f"{name}={value}" for name, value in sorted(request.query.items()) if name != "key"]
    return claim(key, request.method, request.rel_url.raw_path, "&".join(query), body, *more)


async def replay(request: web.Request, saved: Saved) -> web.StreamResponse:
    """Give an answer once more, a stream as a stream."""
    body = await asyncio.to_thread(saved.body)
    headers = {**saved.headers, REPLAYED: "true"}
    if saved.status != 200 or (headers.get("content-type") == _JSON and "x-accel-buffering" not in headers):
        return web.Response(status=saved.status, body=body, headers=headers)
    response = web.StreamResponse(headers=headers)
    await begin_stream(request, response)
    for start in range(0, len(body), _PIECE):
        try:
            async with asyncio.timeout(request.app[SETTINGS].write_timeout):
                await response.write(body[start : start + _PIECE])
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError("The caller does not read.") from None
    return response
