"""Users: who people are in their chats, SillyTavern's personas. No two of them have the same name."""

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    deleted_answer,
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
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed
from agentui.http.route import Route
from agentui.library import assets, versions
from agentui.library.assets import Edit
from agentui.library.content import MAX_CONTENT, name_of
from agentui.library.records import Asset, AssetVersion
from agentui.schemas.forms import Data, DeleteResults, IdBatch, ListData
from agentui.schemas.library import (
    DeletedUser,
    ExpectedRevision,
    NewUser,
    User,
    UserPatch,
    UserQuery,
    UserStatusBatch,
    UserStatusMeta,
    UserStatusResults,
)

KIND = AssetRoutes("user", "/users")


async def create_user(request: web.Request) -> web.Response:
    """Make a user."""
    form = await read_form(request, NewUser, limit=MAX_CONTENT)
    made, name = await pack(request, form.snapshot), name_of(form.snapshot["name"])

    def show(asset: Asset) -> web.Response:
        return made_answer(shown(User, asset, snapshot=content_of(made)))

    return await write(request, show, assets.create_asset, "user", name, made, now_ms(), tags=form.tags)


async def list_users(request: web.Request) -> web.Response:
    """List users with their contents."""
    query = read_query(request, UserQuery)
    listed = await read(request, versions.list_details, "user", query.paging, query.wanted)
    users = [shown(User, asset, snapshot=content) for asset, content in listed.items]
    return list_answer(Listed(users, listed.total), query.paging)


async def get_user(request: web.Request) -> web.Response:
    """Read a user."""
    return _told(await read(request, versions.find_detail, "user", path_id(request)))


async def update_user(request: web.Request) -> web.Response:
    """Change a user's content, status or tags."""
    id, form = path_id(request), await read_form(request, UserPatch, limit=MAX_CONTENT)
    content = None
    if form.snapshot is not None:
        content = (name_of(form.snapshot["name"]), await pack(request, form.snapshot))
    edit = Edit(form.status, form.tags, content)
    return await write(request, _told, versions.update_detail, "user", id, form.expected, now_ms(), edit)


def _told(found: tuple[Asset, AssetVersion]) -> web.Response:
    asset, version = found
    return data_answer(shown(User, asset, snapshot=version.snapshot))


async def delete_user(request: web.Request) -> web.Response:
    """Mark a user as deleted; chats that use it go on, and its name is free."""
    id, form = path_id(request), await read_form(request, ExpectedRevision, optional=True)

    def show(asset: Asset) -> web.Response:
        return data_answer(DeletedUser(asset.id, asset.revision))

    return await write(request, show, assets.delete_asset, "user", id, form.expected, now_ms())


async def delete_users(request: web.Request) -> web.Response:
    """Mark up to 100 users as deleted."""
    form = await read_form(request, IdBatch)
    return await write(request, deleted_answer, assets.set_status_of_assets, "user", form.ids, "deleted", now_ms())


async def set_status_of_users(request: web.Request) -> web.Response:
    """Disable up to 100 users, or make them active again."""
    form = await read_form(request, UserStatusBatch)

    def show(results: list[BatchResult]) -> web.Response:
        updated = sum(result.action == "updated" for result in results)
        meta = UserStatusMeta(len(results), updated, len(results) - updated, form.status)
        return data_answer(UserStatusResults(results, meta))

    return await write(request, show, assets.set_status_of_assets, "user", form.ids, form.status, now_ms())


_EACH = "/users/{id}"
ROUTES: tuple[Route, ...] = (
    route("POST", "/users", create_user, Data[User], 409, 413, body=NewUser, status=201),
    route("GET", "/users", list_users, ListData[list[User]], query=described(UserQuery)),
    route("POST", "/users/batch/delete", delete_users, Data[DeleteResults], body=IdBatch),
    route("PATCH", "/users/batch/status", set_status_of_users, Data[UserStatusResults], body=UserStatusBatch),
    route("GET", _EACH, get_user, Data[User]),
    route("PATCH", _EACH, update_user, Data[User], 413, body=UserPatch),
    route("DELETE", _EACH, delete_user, Data[DeletedUser], body=ExpectedRevision, body_optional=True),
    KIND.restoring,
    *KIND.versions,
)
