"""Pages: versions of what goes in and out of a floor."""

from typing import Annotated, Literal

from aiohttp import web
from pydantic import Field

from agentui.api.chats.forms import (
    MAX_INTEGER,
    NO_NUL,
    Count,
    Data,
    Deleted,
    Form,
    Id,
    ListData,
    ListQuery,
    Patch,
    QueryBool,
    account_of,
    data_answer,
    described,
    invalid,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read_document,
    read_query,
    route,
    store_of,
    validate,
    write,
)
from agentui.chats import pages
from agentui.chats.hosts import find_page
from agentui.chats.pages import NewPage
from agentui.chats.records import Page, PageKind
from agentui.http.route import Route
from agentui.jsonio import Json

Version = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Checksum = Annotated[str, Field(max_length=200), NO_NUL]


class NewPageForm(Form):
    """A page to be made; the first version of a page number is the active one."""

    floor_id: Id
    page_no: Count
    page_kind: PageKind
    version: Version = 1
    checksum: Checksum | None = None


class PagePatch(Patch):
    """What to change of a page; at least one field."""

    page_no: Count = 0
    page_kind: PageKind = "mixed"
    version: Version = 1
    checksum: Checksum | None = None


class PageQuery(ListQuery):
    """Which pages."""

    floor_id: Id | None = Field(None, description="Only pages of this floor.")
    page_kind: PageKind | None = Field(None, description="input, output or mixed.")
    is_active: QueryBool | None = Field(None, description="true or false.")
    sort_by: Literal["created_at", "updated_at", "page_no", "version"] = Field(
        "created_at", description="created_at, updated_at, page_no or version."
    )


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
    return await write(request, made_answer, pages.create_page, account_of(request), new, now_ms())


async def list_pages(request: web.Request) -> web.Response:
    """List pages."""
    query = read_query(request, PageQuery)
    listed = await store_of(request).read(
        pages.list_pages, account_of(request), query.paging, query.floor_id, query.page_kind, query.is_active
    )
    return list_answer(listed, query.paging)


async def get_page(request: web.Request) -> web.Response:
    """Read a page."""
    return data_answer(await store_of(request).read(find_page, account_of(request), path_id(request)))


async def update_page(request: web.Request) -> web.Response:
    """Change a page of a floor that is not committed."""
    id, form = path_id(request), validate(PagePatch, await _document(request))
    return await write(request, data_answer, pages.update_page, account_of(request), id, form.given, now_ms())


async def activate_page(request: web.Request) -> web.Response:
    """Make a page the active version of its page number; works on committed floors too, but not for input pages."""
    return await write(request, data_answer, pages.activate_page, account_of(request), path_id(request), now_ms())


async def delete_page(request: web.Request) -> web.Response:
    """Remove a page of a floor that is not committed, with its messages and variables."""
    id = path_id(request)
    return await write(request, lambda _: data_answer(Deleted(id)), pages.remove_page, account_of(request), id)


ROUTES: tuple[Route, ...] = (
    route("POST", "/pages", create_page, Data[Page], 404, 409, body=NewPageForm, status=201),
    route("GET", "/pages", list_pages, ListData[list[Page]], query=described(PageQuery)),
    route("GET", "/pages/{id}", get_page, Data[Page]),
    route("PATCH", "/pages/{id}", update_page, Data[Page], 409, body=PagePatch),
    route("PATCH", "/pages/{id}/activate", activate_page, Data[Page], 409),
    route("DELETE", "/pages/{id}", delete_page, Data[Deleted], 409),
)
