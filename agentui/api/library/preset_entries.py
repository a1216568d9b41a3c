"""The entries of a prompt preset, one by one. Each change makes a version of the preset."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
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
from agentui.jsonio import loads
from agentui.library import preset_entries
from agentui.library.assets import find_content
from agentui.library.content import Content
from agentui.library.entries import edit_content
from agentui.library.preset_entries import PresetEntry
from agentui.library.prompts import default_character_id
from agentui.library.records import Asset, Expected, Kept
from agentui.schemas.entries import (
    DeletedPresetEntry,
    EntriesDeleted,
    EntriesUpdated,
    IdentifierBatch,
    NewPresetEntry,
    PresetEntries,
    PresetEntryBatch,
    PresetEntryPatch,
    PresetEntryQuery,
    PresetEntryResult,
    PresetEntryResults,
)
from agentui.schemas.forms import Data
from agentui.schemas.library import DeleteQuery
from agentui.threads import apart

T = TypeVar("T")


async def list_entries(request: web.Request) -> web.Response:
    """List the entries of a prompt preset, in the order in which they are sent."""
    query = read_query(request, PresetEntryQuery)
    kept = await read(request, find_content, "preset", path_id(request))
    return data_answer(await apart(len(kept.text), partial(_listed, kept, query)))


def _listed(kept: Kept, query: PresetEntryQuery) -> PresetEntries:
    content = loads(kept.text)
    entries = [entry for entry in preset_entries.entries_of(content) if query.takes(entry)]
    return PresetEntries(kept.asset_id, default_character_id(content), entries)


async def get_entry(request: web.Request) -> web.Response:
    """Read one entry of a prompt preset."""
    identifier = path_id(request, "identifier")
    kept = await read(request, find_content, "preset", path_id(request))
    return data_answer(await apart(len(kept.text), lambda: preset_entries.find_entry(loads(kept.text), identifier)))


async def create_entry(request: web.Request) -> web.Response:
    """Add an entry to a prompt preset."""
    form = await read_form(request, NewPresetEntry)
    edit = partial(preset_entries.create_entry, identifier=form.identifier, fields=form.written)
    return await _edit(request, made_answer, form.expected, edit)


async def change_entry(request: web.Request) -> web.Response:
    """Change fields of an entry of a prompt preset."""
    identifier, form = path_id(request, "identifier"), await read_form(request, PresetEntryPatch)
    edit = partial(preset_entries.change_entry, identifier=identifier, fields=form.written)
    return await _edit(request, data_answer, form.expected, edit)


async def delete_entry(request: web.Request) -> web.Response:
    """Remove an entry of a prompt preset, from every order too."""
    identifier, query = path_id(request, "identifier"), read_query(request, DeleteQuery)
    edit = partial(preset_entries.delete_entry, identifier=identifier)
    return await _edit(request, lambda _: data_answer(DeletedPresetEntry(identifier)), query.expected, edit)


async def reorder_entries(request: web.Request) -> web.Response:
    """Put entries of a prompt preset into an order, the others behind them."""
    id, form = path_id(request), await read_form(request, IdentifierBatch)

    def reorder(content: Content) -> PresetEntries:
        entries = preset_entries.reorder_entries(content, form.identifiers)
        return PresetEntries(id, default_character_id(content), entries)

    return await _edit(request, data_answer, form.expected, reorder)


async def change_entries(request: web.Request) -> web.Response:
    """Change the same fields of several entries of a prompt preset."""
    form = await read_form(request, PresetEntryBatch)

    def show(entries: Sequence[PresetEntry | None]) -> web.Response:
        results = [
            PresetEntryResult(index, identifier, "not_found" if entry is None else "updated", entry)
            for index, (identifier, entry) in enumerate(zip(form.identifiers, entries, strict=True))
        ]
        updated = sum(entry is not None for entry in entries)
        return data_answer(PresetEntryResults(results, EntriesUpdated(len(entries), updated, len(entries) - updated)))

    edit = partial(preset_entries.change_entries, identifiers=form.identifiers, fields=form.fields.written)
    return await _edit(request, show, form.expected, edit)


async def delete_entries(request: web.Request) -> web.Response:
    """Remove several entries of a prompt preset."""
    form = await read_form(request, IdentifierBatch)

    def show(gone: Sequence[bool]) -> web.Response:
        results = [
            PresetEntryResult(index, identifier, "deleted" if is_gone else "not_found")
            for index, (identifier, is_gone) in enumerate(zip(form.identifiers, gone, strict=True))
        ]
        return data_answer(PresetEntryResults(results, EntriesDeleted(len(gone), sum(gone), len(gone) - sum(gone))))

    return await _edit(request, show, form.expected, partial(preset_entries.delete_entries, identifiers=form.identifiers))


async def _edit(
    request: web.Request, show: Callable[[T], web.Response], expected: Expected, edit: Callable[[Content], T]
) -> web.Response:
    """Change the preset of the path, and answer with what ``show`` makes of what ``edit`` returns."""

    def shown(done: tuple[Asset, T]) -> web.Response:
        return show(done[1])

    return await write(request, shown, edit_content, "preset", path_id(request), expected, now_ms(), edit)


_ALL = "/presets/{id}/entries"
_EACH = f"{_ALL}/{{identifier}}"
ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_entries, Data[PresetEntries], query=described(PresetEntryQuery)),
    route("POST", _ALL, create_entry, Data[PresetEntry], 413, body=NewPresetEntry, status=201),
    route("PUT", f"{_ALL}/reorder", reorder_entries, Data[PresetEntries], 413, body=IdentifierBatch),
    route("PATCH", f"{_ALL}/batch/update", change_entries, Data[PresetEntryResults], 413, body=PresetEntryBatch),
    route("POST", f"{_ALL}/batch/delete", delete_entries, Data[PresetEntryResults], 413, body=IdentifierBatch),
    route("GET", _EACH, get_entry, Data[PresetEntry]),
    route("PATCH", _EACH, change_entry, Data[PresetEntry], 413, body=PresetEntryPatch),
    route("DELETE", _EACH, delete_entry, Data[DeletedPresetEntry], 413, query=described(DeleteQuery)),
)
