"""``/llm-instances``: what slots are to do (TavernHeadless' contract, 6.2)."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, described, now_ms, read, read_form, read_query, route, write
from agentui.api.profiles.sessions import checked_session
from agentui.http.route import Route
from agentui.profiles import stored
from agentui.profiles.records import SLOTS, InstanceConfig
from agentui.profiles.resolver import choose_config
from agentui.schemas.forms import Data
from agentui.schemas.profiles import (
    ConfigForm,
    DeletedConfig,
    PlaceQuery,
    ResolvedConfigs,
    ResolvedSlot,
    SessionQuery,
    read_slot,
)


async def list_configs(request: web.Request) -> web.Response:
    """List the instance configs of a place."""
    place = read_query(request, PlaceQuery).place
    await read(request, stored.check_place, place)
    return data_answer(await read(request, stored.list_configs, place))


async def get_config(request: web.Request) -> web.Response:
    """List the instance config of one slot in a place: one, or none."""
    slot, place = read_slot(request.match_info["slot"]), read_query(request, PlaceQuery).place
    await read(request, stored.check_place, place)
    return data_answer(await read(request, stored.list_configs, place, slot=slot))


async def put_config(request: web.Request) -> web.Response:
    """Say what a slot is to do in a place."""
    slot, form = read_slot(request.match_info["slot"]), await read_form(request, ConfigForm, optional=True)
    return await write(request, data_answer, stored.put_config, form.place, slot, form.fields, now_ms())


async def delete_config(request: web.Request) -> web.Response:
    """Forget what a slot is to do in a place."""
    slot, place = read_slot(request.match_info["slot"]), read_query(request, PlaceQuery).place
    return await write(request, lambda _: data_answer(DeletedConfig(slot, place.scope)), stored.delete_config, place, slot)


async def resolved_configs(request: web.Request) -> web.Response:
    """What each slot is to do in a session, or where there is none."""
    session = read_query(request, SessionQuery).session_id
    if session is not None:
        await checked_session(request, session)
    configs = await read(request, stored.list_configs, session=session)
    return data_answer(ResolvedConfigs(session, [ResolvedSlot.of(slot, choose_config(slot, configs)) for slot in SLOTS]))


_ALL, _EACH = "/llm-instances", "/llm-instances/{slot}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_configs, Data[list[InstanceConfig]], 404, query=described(PlaceQuery)),
    route("GET", f"{_ALL}/resolved", resolved_configs, Data[ResolvedConfigs], 404, query=described(SessionQuery)),
    route("GET", _EACH, get_config, Data[list[InstanceConfig]], query=described(PlaceQuery)),
    route("PUT", _EACH, put_config, Data[InstanceConfig], body=ConfigForm, body_optional=True),
    route("DELETE", _EACH, delete_config, Data[DeletedConfig], query=described(PlaceQuery)),
)
