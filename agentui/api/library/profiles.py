"""Prompt presets, worldbooks and regex profiles as a whole: what their routes have in common."""

from collections.abc import Callable
from typing import Any

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.library.assets import AssetRoutes, content_of, pack, shown
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.library import assets, versions
from agentui.library.content import MAX_CONTENT, Packed
from agentui.library.records import Asset, AssetKind
from agentui.schemas.forms import Data, ListData
from agentui.schemas.library import AssetDetail, AssetQuery, DeleteQuery

ContentOf = Callable[[Any], dict[str, Json]]


class ProfileRoutes(AssetRoutes):
    """The routes of one of these kinds; ``content`` makes the content of a form."""

    def __init__(self, kind: AssetKind, path: str, new: Any, put: Any, content: ContentOf) -> None:
        super().__init__(kind, path)
        self.new = new
        self.put = put
        self.content = content

    async def create(self, request: web.Request) -> web.Response:
        """Make one."""
        form = await read_form(request, self.new, limit=MAX_CONTENT)
        made = await pack(request, self.content(form))

        def show(asset: Asset) -> web.Response:
            return made_answer(_written(asset, made))

        return await write(request, show, assets.create_asset, self.kind, form.name, made, now_ms(), tags=form.tags)

    async def list(self, request: web.Request) -> web.Response:
        """List them without their contents."""
        query = read_query(request, AssetQuery)
        return list_answer(await read(request, assets.list_assets, self.kind, query.paging, query.wanted), query.paging)

    async def read(self, request: web.Request) -> web.Response:
        """Read one with its content."""
        asset, version = await read(request, versions.find_detail, self.kind, path_id(request))
        return data_answer(shown(AssetDetail, asset, data=version.snapshot))

    async def replace(self, request: web.Request) -> web.Response:
        """Give one a name and new content."""
        id, form = path_id(request), await read_form(request, self.put, limit=MAX_CONTENT)
        made = await pack(request, self.content(form))

        def show(asset: Asset) -> web.Response:
            return data_answer(_written(asset, made))

        return await write(request, show, assets.write_version, self.kind, id, form.name, made, form.expected, now_ms())

    async def delete(self, request: web.Request) -> web.Response:
        """Mark one as deleted; sessions that name it go on without it."""
        id, query = path_id(request), read_query(request, DeleteQuery)

        def show(_: Asset) -> web.Response:
            return web.Response(status=204, body=b"")

        return await write(request, show, assets.delete_asset, self.kind, id, query.expected, now_ms())

    @property
    def routes(self) -> tuple[Route, ...]:
        """What the server registers."""
        path, each = self.path, f"{self.path}/{{id}}"
        return (
            route("POST", path, self.create, Data[AssetDetail], 413, body=self.new, status=201),
            route("GET", path, self.list, ListData[list[Asset]], query=described(AssetQuery)),
            route("GET", each, self.read, Data[AssetDetail]),
            route("PUT", each, self.replace, Data[AssetDetail], 413, body=self.put),
            route("DELETE", each, self.delete, None, status=204, query=described(DeleteQuery)),
            self.restoring,
            *self.tagging,
            *self.versions,
        )


def _written(asset: Asset, made: Packed) -> AssetDetail:
    return shown(AssetDetail, asset, data=content_of(made))
