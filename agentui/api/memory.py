"""The memory's routes, known by how their paths begin; their code is loaded when the first request asks for one."""

import asyncio
from collections.abc import Iterator
from typing import Any, NoReturn

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRoute, UrlMappingMatchInfo

PREFIXES = ("/branches", "/floors", "/messages", "/pages", "/sessions", "/variables")
"""What the memory's paths begin with."""


def add_memory_routes(app: web.Application) -> None:
    """Register the paths below ``PREFIXES``."""
    routes = _MemoryRoutes()
    for prefix in PREFIXES:
        app.router.register_resource(_Below(prefix, routes))


class _MemoryRoutes:
    """The memory's own router, made when somebody needs it."""

    def __init__(self) -> None:
        self._router: web.UrlDispatcher | None = None
        self._loading = asyncio.Lock()

    async def router(self) -> web.UrlDispatcher:
        """The router with all its routes."""
        async with self._loading:
            # In a thread: the event loop goes on while Python reads the code.
            return self._router if self._router is not None else await asyncio.to_thread(self.load)

    def load(self) -> web.UrlDispatcher:
        """The same for who can wait. With the handlers come SQLAlchemy and the forms of every route, which an idle server does
        without."""
        if self._router is None:
            from agentui.api.tavern import ROUTES

            router = web.UrlDispatcher()
            for route in ROUTES:
                router.add_route(route.method, route.path, route.handler)
            self._router = router
        return self._router


class _Below(web.AbstractResource):
    """All paths that begin with ``prefix``."""

    def __init__(self, prefix: str, routes: _MemoryRoutes) -> None:
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
        raise RuntimeError("The memory's routes stand at the top of a server.")

    def __iter__(self) -> Iterator[AbstractRoute]:
        for resource in self._routes.load().resources():
            if resource.canonical.split("/")[1] == self._prefix[1:]:
                yield from resource

    def __len__(self) -> int:
        return sum(1 for _ in self)
