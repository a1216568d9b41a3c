"""The entries of a worldbook, one by one. Each change makes a version of the worldbook."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

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
from agentui.http.route import Route
from agentui.jsonio import Json, loads
from agentui.library import book_entries
from agentui.library.book_entries import WorldbookEntry
from agentui.library.content import Content
from agentui.library.entries import edit_content, find_whole
from agentui.library.records import Asset, Expected
from agentui.schemas.entries import (
    EntriesDeleted,
    EntriesUpdated,
    EntryIds,
    EntryOrder,
    NewWorldbookEntry,
    WorldbookEntryBatch,
    WorldbookEntryPatch,
    WorldbookEntryQuery,
    WorldbookEntryResult,
    WorldbookEntryResults,
)
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.library import DeleteQuery
from agentui.threads import apart

T = TypeVar("T")
Changed = Sequence[tuple[str, Content | None]]


async def list_entries(request: web.Request) -> web.Response:
    """List the entries of a worldbook."""
    query = read_query(request, WorldbookEntryQuery)
    book, kept = await read(request, find_whole, "worldbook", path_id(request))
    listed = await apart(len(kept.text), lambda: book_entries.list_entries(loads(kept.text), book, query.paging, query.wanted))
    return list_answer(listed, query.paging)


async def get_entry(request: web.Request) -> web.Response:
    """Read one entry of a worldbook."""
    entry_id = path_id(request, "entry_id")
    book, kept = await read(request, find_whole, "worldbook", path_id(request))
    return data_answer(await apart(len(kept.text), lambda: book_entries.find_entry(loads(kept.text), book, entry_id)))


async def create_entry(request: web.Request) -> web.Response:
    """Add an entry to a worldbook; it gets the next free uid."""
    form = await read_form(request, NewWorldbookEntry)
    show = partial(_one, made_answer)
    return await _edit(request, show, form.expected, partial(book_entries.create_entry, fields=form.written))


async def change_entry(request: web.Request) -> web.Response:
    """Change fields of an entry of a worldbook."""
    entry_id, form = path_id(request, "entry_id"), await read_form(request, WorldbookEntryPatch)
    edit = partial(book_entries.change_entry, id=entry_id, fields=form.written)
    return await _edit(request, partial(_one, data_answer), form.expected, edit)


async def delete_entry(request: web.Request) -> web.Response:
    """Remove an entry of a worldbook."""
    entry_id, query = path_id(request, "entry_id"), read_query(request, DeleteQuery)
    edit = partial(book_entries.delete_entry, id=entry_id)
    return await _edit(request, lambda _, __: data_answer(Deleted(entry_id)), query.expected, edit)


async def change_entries(request: web.Request) -> web.Response:
    """Change the same fields of several entries of a worldbook."""
    form = await read_form(request, WorldbookEntryBatch)
    return await _change_each(request, form.expected, dict.fromkeys(form.ids, form.fields.written))


async def reorder_entries(request: web.Request) -> web.Response:
    """Give entries of a worldbook other places: their ``order``."""
    form = await read_form(request, EntryOrder)
    return await _change_each(request, form.expected, {item.id: {"order": item.order} for item in form.items})


async def delete_entries(request: web.Request) -> web.Response:
    """Remove several entries of a worldbook."""
    form = await read_form(request, EntryIds)

    def show(_: Asset, gone: Sequence[bool]) -> web.Response:
        results = [
            WorldbookEntryResult(index, id, "deleted" if is_gone else "not_found")
            for index, (id, is_gone) in enumerate(zip(form.ids, gone, strict=True))
        ]
        return data_answer(WorldbookEntryResults(results, EntriesDeleted(len(gone), sum(gone), len(gone) - sum(gone))))

    return await _edit(request, show, form.expected, partial(book_entries.delete_entries, ids=form.ids))


async def _change_each(request: web.Request, expected: Expected, fields: Mapping[str, Mapping[str, Json]]) -> web.Response:
    return await _edit(request, _updated, expected, partial(book_entries.change_entries, fields=fields))


def _updated(book: Asset, changed: Changed) -> web.Response:
    entries = book_entries.show_entries(book, changed)
    results = [
        WorldbookEntryResult(index, id, "not_found" if entry is None else "updated", entry)
        for index, ((id, _), entry) in enumerate(zip(changed, entries, strict=True))
    ]
    updated = sum(entry is not None for entry in entries)
    return data_answer(WorldbookEntryResults(results, EntriesUpdated(len(entries), updated, len(entries) - updated)))


def _one(answer: Callable[[Json], web.Response], book: Asset, changed: Changed) -> web.Response:
    return answer(book_entries.show_entries(book, changed)[0])


async def _edit(
    request: web.Request, show: Callable[[Asset, T], web.Response], expected: Expected, edit: Callable[[Content], T]
) -> web.Response:
    """Change the worldbook of the path, and answer with what ``show`` makes of it and of what ``edit`` returns."""

    def shown(done: tuple[Asset, T]) -> web.Response:
        return show(*done)

    return await write(request, shown, edit_content, "worldbook", path_id(request), expected, now_ms(), edit)


_ALL = "/worldbooks/{id}/entries"
_EACH = f"{_ALL}/{{entry_id}}"
ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_entries, ListData[list[WorldbookEntry]], query=described(WorldbookEntryQuery)),
    route("POST", _ALL, create_entry, Data[WorldbookEntry], 413, body=NewWorldbookEntry, status=201),
    route("PATCH", f"{_ALL}/batch/update", change_entries, Data[WorldbookEntryResults], 413, body=WorldbookEntryBatch),
    route("POST", f"{_ALL}/batch/delete", delete_entries, Data[WorldbookEntryResults], 413, body=EntryIds),
    route("PUT", f"{_ALL}/batch/reorder", reorder_entries, Data[WorldbookEntryResults], 413, body=EntryOrder),
    route("GET", _EACH, get_entry, Data[WorldbookEntry]),
    route("PATCH", _EACH, change_entry, Data[WorldbookEntry], 413, body=WorldbookEntryPatch),
    route("DELETE", _EACH, delete_entry, Data[Deleted], 413, query=described(DeleteQuery)),
)
