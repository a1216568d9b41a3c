"""Routes that are known by how their paths begin; their code is loaded when the first request asks for one."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRoute, UrlMappingMatchInfo

if TYPE_CHECKING:
    # Its readers of bodies need the state, whose counters need the prefixes of these.
    from agentui.http.route import Route


def add_late_routes(app: web.Application, prefixes: Iterable[str], load: Callable[[], Iterable["Route"]]) -> None:
    """Register all paths below ``prefixes`` (``/api``, one step each); ``load`` imports what answers there."""
    routes = _Later(load)
    for prefix in prefixes:
        app.router.register_resource(_Below(prefix, routes))


class _Later:
    """A router of its own, made when somebody needs it."""

    def __init__(self, load: Callable[[], Iterable["Route"]]) -> None:
        self._load = load
        self._router: web.UrlDispatcher | None = None
        self._loading = asyncio.Lock()

    async def router(self) -> web.UrlDispatcher:
        """The router with all its routes."""
        if self._router is not None:
            return self._router
        async with self._loading:
            # In a thread: the event loop goes on while Python reads the code.
            return await asyncio.to_thread(self.made)

    def made(self) -> web.UrlDispatcher:
        """The same for who can wait."""
        if self._router is None:
            router = web.UrlDispatcher()
            for route in self._load():
                router.add_route(route.method, route.path, route.handler)
            self._router = router
        return self._router


class _Below(web.AbstractResource):
    """All paths that begin with ``prefix``."""

    def __init__(self, prefix: str, routes: _Later) -> None:
        super().__init__()
        self._prefix = prefix
        self._routes = routes

    @property
    def canonical(self) -> str:
        return self._prefix

    async def resolve(self, request: web.Request) -> tuple[UrlMappingMatchInfo | None, set[str]]:
        """The handler, or else the methods that the path takes."""
        found = await (await self._routes.router()).resolve(request)
        refused = found.http_exception
        if refused is None:
            return found, set()
        return None, set(refused.allowed_methods) if isinstance(refused, web.HTTPMethodNotAllowed) else set()

    def raw_match(self, path: str) -> bool:
        return path == self._prefix

    def get_info(self) -> Any:
        return {"prefix": self._prefix}

    def url_for(self, **parts: str) -> NoReturn:
        raise RuntimeError("Many paths begin so; there is no one URL.")

    def add_prefix(self, prefix: str) -> NoReturn:
        raise RuntimeError("These routes stand at the top of a server.")

    def __iter__(self) -> Iterator[AbstractRoute]:
        for resource in self._routes.made().resources():
            if resource.canonical.split("/")[1] == self._prefix[1:]:
                yield from resource

    def __len__(self) -> int:
        return sum(1 for _ in self)
