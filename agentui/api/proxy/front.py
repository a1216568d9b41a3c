"""The shortest way in: requests for the proxied routes' own paths do not pass the application's router.

aiohttp finds a route by walking over the parts of a path, makes a match of it and calls the middlewares through it; that
costs more than all checks of ours. The proxied paths are known, so a look in a set does, and the guard is called directly.
Whatever is written in an unusual way takes the long way round, where the same handler stands behind the same guard.
"""

from collections.abc import Awaitable, Callable
from functools import lru_cache

from aiohttp import web

from agentui.api.proxy.dialects import DIALECTS
from agentui.api.proxy.routes import serve
from agentui.http.guard import guarded, refuse_expectation
from agentui.http.state import State

Front = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def make_front(state: State, application: Front) -> Front:
    """A handler for every request of a server: the short way where there is one, else ``application``."""

    async def front(request: web.BaseRequest) -> web.StreamResponse:
        if isinstance(request, web.Request):
            if has_short_way(request):
                return await guarded(request, state, serve)
            if request.headers.get("Expect", "100-continue").lower() != "100-continue":
                return await guarded(request, state, refuse_expectation)
        return await application(request)

    return front


def make_short_way(state: State) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A handler for the requests that have the short way."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return await guarded(request, state, serve)

    return answer


def has_short_way(request: web.BaseRequest) -> bool:
    """True for a POST to one of the proxied paths that expects no interim answer."""
    return is_plain(request.raw_path.partition("?")[0]) and request.method == "POST" and "Expect" not in request.headers


@lru_cache(maxsize=256)  # there are as many paths as pipelines
def is_plain(path: str) -> bool:
    """True for one of the proxied paths, with or without ``/p/{pipeline}`` before it, where it is spelled plainly."""
    if path.startswith("/p/"):
        pipeline, slash, rest = path[3:].partition("/")
        if not pipeline or not pipeline.isascii() or not pipeline.replace("-", "").replace("_", "").isalnum():
            return False
        path = slash + rest
    return path in DIALECTS
