"""Floors: the turns of a branch."""

from dataclasses import replace

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
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
from agentui.api.keys import LIVE
from agentui.chats import floors
from agentui.chats.codes import failure
from agentui.chats.floors import FloorResult, FloorRun, NewFloor
from agentui.chats.records import Floor
from agentui.chats.rows import find_floor
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.chats import FloorPatch, FloorQuery, NewFloorForm
from agentui.schemas.forms import Data, Deleted, ListData


async def create_floor(request: web.Request) -> web.Response:
    """Make a floor, in any state."""
    form = await read_form(request, NewFloorForm)
    new = NewFloor(**form.model_dump())
    return await write(request, made_answer, floors.create_floor, new, now_ms())


async def list_floors(request: web.Request) -> web.Response:
    """List the floors that have not been superseded."""
    query = read_query(request, FloorQuery)
    listed = await read(request, floors.list_floors, query.paging, query.session_id, query.branch_id, query.state)
    return list_answer(listed, query.paging)


async def get_floor(request: web.Request) -> web.Response:
    """Read a floor, superseded or not."""
    return data_answer(await read(request, find_floor, path_id(request)))


async def move_floor(request: web.Request) -> web.Response:
    """Give a floor another number, branch or parent."""
    id, document = path_id(request), await read_document(request)
    _check_only_place(document)
    form = validate(FloorPatch, document)
    return await write(request, data_answer, floors.move_floor, id, form.given, now_ms())


_FIXED = frozenset(Floor.__dataclass_fields__) - floors.MOVABLE


def _check_only_place(document: dict[str, Json]) -> None:
    """Raise when a patch names fields of a floor that do not change by hand."""
    fixed = sorted(_FIXED & document.keys())
    if not fixed:
        return
    if floors.MOVABLE & document.keys():
        raise failure("floor_patch_mixed_fields", f"Leave out {', '.join(fixed)}: only a floor's place changes.", fields=fixed)
    raise failure("floor_patch_restricted_field", f"{', '.join(fixed)} cannot be changed.", fields=fixed)


async def delete_floor(request: web.Request) -> web.Response:
    """Remove a floor with its pages, messages and their variables."""
    return await remove(request, floors.remove_floor, now_ms())


async def get_floor_run(request: web.Request) -> web.Response:
    """Read what the model call of a floor is doing, or how it ended."""
    found = await read(request, floors.floor_run, path_id(request))
    progress = request.app[LIVE].active.of_floor(found.floor_id)
    return data_answer(found if progress is None else replace(found, run=progress.as_run()))


async def get_floor_result(request: web.Request) -> web.Response:
    """Read what the turn of a committed floor came to."""
    return data_answer(await read(request, floors.turn_result, path_id(request)))


ROUTES: tuple[Route, ...] = (
    route("POST", "/floors", create_floor, Data[Floor], 404, 409, body=NewFloorForm, status=201),
    route("GET", "/floors", list_floors, ListData[list[Floor]], query=described(FloorQuery)),
    route("GET", "/floors/{id}", get_floor, Data[Floor]),
    route("PATCH", "/floors/{id}", move_floor, Data[Floor], 409, body=FloorPatch),
    route("DELETE", "/floors/{id}", delete_floor, Data[Deleted], 409),
    route("GET", "/floors/{id}/run", get_floor_run, Data[FloorRun]),
    route("GET", "/floors/{id}/result", get_floor_result, Data[FloorResult], 409),
)
