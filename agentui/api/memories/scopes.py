"""``/memory/scopes``: how far the jobs of scopes have come (TavernHeadless' contract, 3.11)."""

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
    list_answer,
    now_ms,
    read,
    read_form,
    read_query,
    route,
    validate,
    write,
)
from agentui.api.keys import JOBS, SIGHTS, TURNS
from agentui.http.route import Route
from agentui.memories import scopes
from agentui.memories.hosts import split_branch
from agentui.memories.reading import Spot
from agentui.memories.records import ScopeState
from agentui.memories.sight import Sight
from agentui.memories.writing.compaction import CompactionJob, ask_compaction, ask_rebuild
from agentui.memories.writing.jobs import QueuedJob
from agentui.schemas.forms import Data, ListData
from agentui.schemas.memories import CompactForm, RebuildForm, ScopePath, ScopeQuery


async def list_scopes(request: web.Request) -> web.Response:
    """List the states of scopes."""
    query = read_query(request, ScopeQuery)
    return list_answer(await read(request, scopes.list_scopes, query.paging, query.scope, query.scope_id), query.paging)


async def compact_scope(request: web.Request) -> web.Response:
    """Make a large summary of the small ones of a scope."""
    place, form = _place(request), await read_form(request, CompactForm, optional=True)
    rules, sight = request.app[TURNS].memories, await _sight(request, place)
    asked = place.scope, place.scope_id, rules, sight, now_ms(), form.trigger_floor_id, form.force
    answer = await write(request, data_answer, ask_compaction, *asked)
    request.app[JOBS].look()
    return answer


async def rebuild_scope(request: web.Request) -> web.Response:
    """Look through a scope, and plan a compaction where one is due."""
    place, form = _place(request), await read_form(request, RebuildForm, optional=True)
    asked = place.scope, place.scope_id, request.app[TURNS].memories, now_ms(), form.trigger_floor_id, form.force_compaction
    answer = await write(request, data_answer, ask_rebuild, *asked)
    request.app[JOBS].look()
    return answer


def _place(request: web.Request) -> ScopePath:
    return validate(ScopePath, {"scope": request.match_info["scope"], "scope_id": request.match_info["scope_id"]})


async def _sight(request: web.Request, place: ScopePath) -> Sight | None:
    """What is seen from the head of a branch; None for scopes that are none. Raises 404 for a branch that is not there."""
    if place.scope != "branch":
        return None
    return await request.app[SIGHTS].at(account_of(request), Spot(*split_branch(place.scope_id)))


_ALL, _EACH = "/memory/scopes", "/memory/scopes/{scope}/{scope_id}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_scopes, ListData[list[ScopeState]], query=described(ScopeQuery)),
    route("POST", f"{_EACH}/compact", compact_scope, Data[CompactionJob], body=CompactForm),
    route("POST", f"{_EACH}/rebuild", rebuild_scope, Data[QueuedJob], body=RebuildForm),
)
