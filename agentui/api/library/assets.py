"""What the routes of every kind of asset have in common: lists, tags, restoring, versions and what they differ in."""

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

from aiohttp import web
from orjson import Fragment

from agentui.api.chats.protocol import (
    BODY,
    data_answer,
    described,
    list_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.http.route import Route
from agentui.jsonio import Json, loads
from agentui.library import assets, versions
from agentui.library.assets import Edit
from agentui.library.content import Packed, packed
from agentui.library.records import Asset, AssetKind, AssetVersion, Kept
from agentui.library.versions import VersionDifference, difference
from agentui.schemas.forms import Data, ListData
from agentui.schemas.library import (
    AssetPatch,
    Compare,
    ExpectedRevision,
    ExpectedVersion,
    RolledBack,
    VersionComparison,
    VersionQuery,
)
from agentui.threads import apart

A = TypeVar("A", bound=Asset)

_MEMBERS = ("id", "name", "source", "status", "revision", "version", "version_id", "content_hash", "image", "tags")
_OPTIONAL: Mapping[str, Any] = {"body": ExpectedVersion, "body_optional": True}
_TIMES = ("created_at", "updated_at", "deleted_at")


def shown(shape: type[A], asset: Asset, **more: Json) -> A:
    """An asset in the shape of a route, which has more members."""
    return shape(**{name: getattr(asset, name) for name in (*_MEMBERS, *_TIMES)}, **more)


def content_of(made: Packed) -> Json:
    """A content as it was written, to be shown without being parsed."""
    return Fragment(made.text)


async def pack(request: web.Request, content: Json) -> Packed:
    """The content of a body, made ready to be written; what is long, in a thread."""
    return await apart(len(request[BODY]), partial(packed, content))


class AssetRoutes:
    """The routes of one kind below one path."""

    def __init__(self, kind: AssetKind, path: str) -> None:
        self.kind: AssetKind = kind
        self.path = path

    async def update(self, request: web.Request) -> web.Response:
        """Give an asset other tags; its content stays."""
        id, form = path_id(request), await read_form(request, AssetPatch)
        return await write(
            request, data_answer, assets.update_asset, self.kind, id, form.expected, now_ms(), Edit(tags=form.tags)
        )

    async def restore(self, request: web.Request) -> web.Response:
        """Take back that an asset was deleted."""
        id, form = path_id(request), await read_form(request, ExpectedRevision, optional=True)
        return await write(request, data_answer, assets.restore_asset, self.kind, id, form.expected, now_ms())

    async def list_versions(self, request: web.Request) -> web.Response:
        """List the versions of an asset with their contents, newest first."""
        id, query = path_id(request), read_query(request, VersionQuery)
        listed = await read(request, versions.list_versions, self.kind, id, query.paging)
        return list_answer(listed, query.paging)

    async def read_version(self, request: web.Request) -> web.Response:
        """Read one version of an asset."""
        ids = path_id(request), path_id(request, "version_id")
        return data_answer(await read(request, versions.find_version, self.kind, *ids))

    async def roll_back(self, request: web.Request) -> web.Response:
        """Make a new version that is like an old one."""
        id, version_id = path_id(request), path_id(request, "version_id")
        form = await read_form(request, ExpectedVersion, optional=True)

        def show(done: tuple[Asset, AssetVersion]) -> web.Response:
            return data_answer(shown(RolledBack, done[0], rolled_back_from_version_id=version_id))

        return await write(request, show, versions.roll_back, self.kind, id, version_id, form.expected, now_ms())

    async def compare(self, request: web.Request) -> web.Response:
        """Tell what two versions of an asset differ in."""
        id, form = path_id(request), await read_form(request, Compare)
        two = await read(request, versions.find_two, self.kind, id, form.left_version_id, form.right_version_id)
        found = await apart(len(two[0].text) + len(two[1].text), partial(_compared, *two, full=form.mode == "full"))
        return data_answer(VersionComparison(id, self.kind, form.left_version_id, form.right_version_id, found))

    @property
    def tagging(self) -> tuple[Route, ...]:
        """The route that changes tags, of the kinds that have no other change."""
        return (route("PATCH", f"{self.path}/{{id}}", self.update, Data[Asset], body=AssetPatch),)

    @property
    def restoring(self) -> Route:
        """The route that takes a deletion back, of the kinds that answer with the asset."""
        path = f"{self.path}/{{id}}/restore"
        return route("POST", path, self.restore, Data[Asset], body=ExpectedRevision, body_optional=True)

    @property
    def comparing(self) -> Route:
        """The route that compares versions."""
        path = f"{self.path}/{{id}}/versions/compare"
        return route("POST", path, self.compare, Data[VersionComparison], body=Compare, writes=False)

    @property
    def versions(self) -> tuple[Route, ...]:
        """The routes that read versions, in the words of all kinds."""
        path = f"{self.path}/{{id}}/versions"
        return (
            route("GET", path, self.list_versions, ListData[list[AssetVersion]], query=described(VersionQuery)),
            route("GET", f"{path}/{{version_id}}", self.read_version, Data[AssetVersion]),
            route("POST", f"{path}/{{version_id}}/rollback", self.roll_back, Data[RolledBack], **_OPTIONAL),
            self.comparing,
        )


def _compared(left: Kept, right: Kept, *, full: bool) -> VersionDifference:
    return difference(loads(left.text), loads(right.text), full=full)
