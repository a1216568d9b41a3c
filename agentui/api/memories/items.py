"""``/memories``: what chats know (TavernHeadless' contract, 3.2 and 3.3). Where a place is named, each item says whether it is
seen from there."""

from dataclasses import replace

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
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
from agentui.api.keys import SIGHTS
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed
from agentui.chats.records import MAIN
from agentui.http.route import Route
from agentui.memories import items
from agentui.memories.history import ItemChange
from agentui.memories.items import ItemFilter
from agentui.memories.reading import Spot
from agentui.memories.records import Item, MemoryStats
from agentui.memories.sight import Sight
from agentui.schemas.forms import Data, Deleted, IdBatch, ListData
from agentui.schemas.memories import (
    MemoryFilter,
    MemoryForm,
    MemoryPatch,
    MemoryQuery,
    MemoryStatusAnswer,
    MemoryStatusForm,
    MemoryStatusMeta,
    PlaceQuery,
    RemovedAnswer,
    RemovedItem,
    RemovedMeta,
)


async def create_memory(request: web.Request) -> web.Response:
    """Write a memory by hand."""
    form = await read_form(request, MemoryForm)
    return await write(request, made_answer, items.create_item, form.item, now_ms())


async def list_memories(request: web.Request) -> web.Response:
    """List memories; from a place also whether each is seen there, and why not."""
    query = read_query(request, MemoryQuery)
    sight = await _sight(request, query)
    wanted = _wanted(request, query, sight)
    listed = await read(request, items.list_items, query.paging, wanted)
    return list_answer(Listed([_shown(item, sight) for item in listed.items], listed.total), query.paging)


async def count_memories(request: web.Request) -> web.Response:
    """Count memories: how many there are of each kind, and about how long they are."""
    query = read_query(request, MemoryFilter)
    wanted = _wanted(request, query, await _sight(request, query))
    return data_answer(await read(request, items.count_items, wanted))


async def get_memory(request: web.Request) -> web.Response:
    """Read a memory; from a place also whether it is seen there, and why not."""
    id, query = path_id(request), read_query(request, PlaceQuery)
    item = await read(request, items.find_item, id)
    return data_answer(_shown(item, await _sight(request, query)))


async def update_memory(request: web.Request) -> web.Response:
    """Change a memory. What it was before is kept, and can be brought back."""
    id, form = path_id(request), await read_form(request, MemoryPatch)
    return await write(request, data_answer, items.change_item, id, form.fields, now_ms())


async def delete_memory(request: web.Request) -> web.Response:
    """Remove a memory with its edges; undo brings it back, without them."""
    return await remove(request, items.delete_item, now_ms())


async def set_status_of_memories(request: web.Request) -> web.Response:
    """Give many memories a status."""
    form = await read_form(request, MemoryStatusForm)

    def show(results: list[BatchResult]) -> web.Response:
        updated = sum(result.action == "updated" for result in results)
        meta = MemoryStatusMeta(len(results), updated, len(results) - updated, form.status)
        return data_answer(MemoryStatusAnswer([result for result in results if isinstance(result, items.StatusResult)], meta))

    return await write(request, show, items.set_status, form.ids, form.status, now_ms())


async def delete_memories(request: web.Request) -> web.Response:
    """Remove many memories with their edges."""
    form = await read_form(request, IdBatch)
    return await write(request, _removed_answer, items.delete_items, form.ids, now_ms())


def _removed_answer(results: list[BatchResult]) -> web.Response:
    rows = [RemovedItem(each.index, each.id, "deleted" if each.action == "deleted" else "not_found") for each in results]
    deleted = sum(row.action == "deleted" for row in rows)
    return data_answer(RemovedAnswer(rows, RemovedMeta(len(rows), deleted, len(rows) - deleted)))


async def get_memory_history(request: web.Request) -> web.Response:
    """List what people changed of a memory, the latest first, with what it was before each change."""
    return data_answer(await read(request, items.item_history, path_id(request)))


async def undo_memory(request: web.Request) -> web.Response:
    """Bring a memory back to what it was before its last change, or its removal."""
    return await write(request, data_answer, items.undo_change, path_id(request), now_ms())


async def _sight(request: web.Request, query: PlaceQuery) -> Sight | None:
    """What is seen from the place that a query names; None where it names none. Raises 404 for a place that is not there."""
    if not query.has_place:
        return None
    spot = Spot(query.session_id, query.branch_id or MAIN, query.floor_id)
    return await request.app[SIGHTS].at(account_of(request), spot)


def _wanted(request: web.Request, query: MemoryFilter, sight: Sight | None) -> ItemFilter:
    """Which items a query means. Raises 400 for a scope_id that names no branch."""
    wanted = query.filter
    wanted = replace(wanted, equal=items.wanted_scope(account_of(request), wanted.equal))
    if sight is None:
        return wanted
    wanted = replace(wanted, session_id=sight.place.session_id)
    if query.visible is None:
        return wanted
    return replace(wanted, ids=sight.visible) if query.visible else replace(wanted, not_ids=sight.visible)


def _shown(item: Item, sight: Sight | None) -> Item:
    """An item as it is seen from a place."""
    if sight is None:
        return item
    hidden = sight.hidden(item.id)
    if hidden is None:
        return replace(item, visible=True)
    return replace(item, visible=False, hidden_reason=hidden.reason, hidden_by=hidden.by)


_ALL, _EACH = "/memories", "/memories/{id}"

ROUTES: tuple[Route, ...] = (
    route("POST", _ALL, create_memory, Data[Item], 404, 413, body=MemoryForm, status=201),
    route("GET", _ALL, list_memories, ListData[list[Item]], 404, query=described(MemoryQuery)),
    route("GET", f"{_ALL}/stats", count_memories, Data[MemoryStats], 404, query=described(MemoryFilter)),
    route("PATCH", f"{_ALL}/batch/status", set_status_of_memories, Data[MemoryStatusAnswer], body=MemoryStatusForm),
    route("POST", f"{_ALL}/batch/delete", delete_memories, Data[RemovedAnswer], body=IdBatch),
    route("GET", _EACH, get_memory, Data[Item], query=described(PlaceQuery)),
    route("PATCH", _EACH, update_memory, Data[Item], 413, body=MemoryPatch),
    route("DELETE", _EACH, delete_memory, Data[Deleted]),
    route("GET", f"{_EACH}/history", get_memory_history, Data[list[ItemChange]]),
    route("POST", f"{_EACH}/undo", undo_memory, Data[Item]),
)
