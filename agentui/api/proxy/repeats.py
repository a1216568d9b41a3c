"""Requests that come again: what their key claims, and the answer that was given before.

A turn's key is its own from the moment in which its floor is opened until a day after its answer was kept. Requests that are no
turn leave nothing behind here, so their key is the provider's business alone.
"""

import asyncio

from aiohttp import web

from agentui.http.keys import SETTINGS
from agentui.http.writing import begin_stream, write_pieces
from agentui.pipeline.incoming import Incoming
from agentui.redaction import provider_keys
from agentui.turns.repeats import HEADER, REPLAYED, Claim, Saved, claim

_JSON = "application/json"
_WISHES = ("x-agentui-intent", "x-agentui-turn", "x-agentui-assemble")


def claim_of(request: web.Request, incoming: Incoming) -> Claim | None:
    """What the key of a turn's request claims; None where the request is no turn. Raises ApiError ``validation_error``.

    Another path, query, body, session, branch, pipeline or key of the provider makes it another request.
    """
    headers = incoming.headers
    if incoming.operation != "chat" or "x-agentui-session" not in headers:
        return None
    names = [headers.get(f"x-agentui-{name}", "") for name in ("session", "branch", "pipeline")]
    # Only where they are sent: keys of before this was asked stay what they are.
    names += [f"{name}={headers[name]}" for name in _WISHES if headers.get(name)]
    return claim_for(request, headers[HEADER], incoming.body, *names, incoming.api_key, *provider_keys(headers))


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
    await write_pieces(request, response, body, request.app[SETTINGS].write_timeout)
    return response
