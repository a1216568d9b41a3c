"""``/vc-tags``: names of turns and of versions of assets (TavernHeadless' contract, 10)."""

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
    remove,
    route,
    write,
)
from agentui.http.route import Route
from agentui.library import tags
from agentui.library.tags import Tag
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.tags import NewTag, TagQuery


async def create_tag(request: web.Request) -> web.Response:
    """Name a turn, or a version of an asset."""
    form = await read_form(request, NewTag)
    named = form.name, form.target_type, form.target_id, form.session_id, form.metadata
    return await write(request, made_answer, tags.create_tag, *named, now_ms())


async def list_tags(request: web.Request) -> web.Response:
    """List tags, the newest first."""
    query = read_query(request, TagQuery)
    listed = await read(request, tags.list_tags, query.paging, query.target_type, query.target_id, query.session_id)
    return list_answer(listed, query.paging)


async def get_tag(request: web.Request) -> web.Response:
    """Read a tag."""
    return data_answer(await read(request, tags.find_tag, path_id(request)))


async def delete_tag(request: web.Request) -> web.Response:
    """Remove a tag; what it names stays."""
    return await remove(request, tags.delete_tag)


ROUTES: tuple[Route, ...] = (
    route("POST", "/vc-tags", create_tag, Data[Tag], 404, body=NewTag, status=201),
    route("GET", "/vc-tags", list_tags, ListData[list[Tag]], query=described(TagQuery)),
    route("GET", "/vc-tags/{id}", get_tag, Data[Tag]),
    route("DELETE", "/vc-tags/{id}", delete_tag, Data[Deleted]),
)
