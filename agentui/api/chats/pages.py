"""Pages: versions of what goes in and out of a floor."""

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    deleted_answer,
    described,
    invalid,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_document,
    read_form,
    read_query,
    remove,
    route,
    validate,
    write,
)
from agentui.api.keys import JOBS
from agentui.chats import pages
from agentui.chats.pages import NewPage
from agentui.chats.records import Page
from agentui.chats.rows import find_page
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.chats import NewPageForm, PagePatch, PageQuery
from agentui.schemas.forms import Data, Deleted, DeleteResults, IdBatch, ListData


async def _document(request: web.Request) -> dict[str, Json]:
    """The body, which may not say whether the page is active. Raises 400."""
    document: dict[str, Json] = await read_document(request)
    if "is_active" in document:
        message = "is_active is not set by hand: activate a page by PATCH /pages/{id}/activate"
        raise invalid(f"{message}.", [{"path": "/is_active", "message": message, "code": "custom"}])
    return document


async def create_page(request: web.Request) -> web.Response:
    """Make a page of a floor that is not committed."""
    form = validate(NewPageForm, await _document(request))
    new = NewPage(**form.model_dump())
    return await write(request, made_answer, pages.create_page, new, now_ms())


async def list_pages(request: web.Request) -> web.Response:
    """List pages."""
    query = read_query(request, PageQuery)
    listed = await read(request, pages.list_pages, query.paging, query.floor_id, query.page_kind, query.is_active)
    return list_answer(listed, query.paging)


async def get_page(request: web.Request) -> web.Response:
    """Read a page."""
    return data_answer(await read(request, find_page, path_id(request)))


async def update_page(request: web.Request) -> web.Response:
    """Change a page of a floor that is not committed."""
    id, form = path_id(request), validate(PagePatch, await _document(request))
    return await write(request, data_answer, pages.update_page, id, form.given, now_ms())


async def activate_page(request: web.Request) -> web.Response:
    """Make a page the active version of its page number; works on committed floors too, but not for input pages."""
    answer = await write(request, data_answer, pages.activate_page, path_id(request), now_ms())
    request.app[JOBS].look()  # the answer may be read after all, and alone the server looks once a minute
    return answer


async def delete_page(request: web.Request) -> web.Response:
    """Remove a page of a floor that is not committed, with its messages and variables."""
    removed = await remove(request, pages.remove_page, now_ms())
    request.app[JOBS].look()  # another version may be the active one now
    return removed


async def delete_pages(request: web.Request) -> web.Response:
    """Remove pages with their messages and variables; one on a committed floor refuses all."""
    form = await read_form(request, IdBatch)
    removed = await write(request, deleted_answer, pages.remove_pages, form.ids, now_ms())
    request.app[JOBS].look()
    return removed


ROUTES: tuple[Route, ...] = (
    route("POST", "/pages", create_page, Data[Page], 404, 409, body=NewPageForm, status=201),
    route("GET", "/pages", list_pages, ListData[list[Page]], query=described(PageQuery)),
    route("POST", "/pages/batch/delete", delete_pages, Data[DeleteResults], 409, body=IdBatch),
    route("GET", "/pages/{id}", get_page, Data[Page]),
    route("PATCH", "/pages/{id}", update_page, Data[Page], 409, body=PagePatch),
    route("PATCH", "/pages/{id}/activate", activate_page, Data[Page], 409),
    route("DELETE", "/pages/{id}", delete_page, Data[Deleted], 409),
)
