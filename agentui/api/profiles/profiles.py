"""``/llm-profiles``: providers with keys and models, the slots that they serve, and what a provider has (TavernHeadless'
contract, 6.1).

A key comes in, and never goes out again; what makes or changes one may be repeated by an Idempotency-Key, whose kept answer is
the masked one.
"""

from functools import partial

from aiohttp import web

from agentui.accounts.restrictions import check_models
from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
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
from agentui.api.keys import LLM_PROFILES, PRESETS, SERVICES
from agentui.api.profiles.asking import HELLO, Asked, discovered, tried
from agentui.chats.codes import failure
from agentui.errors import UpstreamUnreachable
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, REDACTOR, SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.route import Route
from agentui.profiles import stored
from agentui.profiles.providers import address_of, bound_origin
from agentui.profiles.records import SLOTS, Binding, Profile
from agentui.profiles.sealing import secret_name
from agentui.schemas.forms import Data, Deleted
from agentui.schemas.profiles import (
    Activated,
    Activation,
    Asking,
    DiscoveredModel,
    NewProfile,
    PlaceQuery,
    ProfilePatch,
    ProfileQuery,
    Runtime,
    RuntimeSlot,
    SessionQuery,
    ShownProfile,
    Trial,
    TrialAnswer,
    Unbound,
    read_params,
    read_slot,
)
from agentui.secrets.store import Secret


async def list_profiles(request: web.Request) -> web.Response:
    """List the account's profiles, the one that was changed last first."""
    query = read_query(request, ProfileQuery)
    found = await read(request, stored.list_profiles, query.status, include_deleted=query.include_deleted)
    return data_answer([ShownProfile.of(profile) for profile in found])


async def create_profile(request: web.Request) -> web.Response:
    """Make a profile. Its key is bound to its address, and is never shown again."""
    form = await read_form(request, NewProfile)
    _hide(request, form.api_key)
    check_models(request[PRINCIPAL], (form.model_id,))
    if form.base_url is not None:
        await _check_address(request, form.base_url)
    seal = partial(_sealed, request, form.api_key)
    return await write(request, _made, stored.create_profile, form.fields, form.api_key, seal, now_ms())


async def get_profile(request: web.Request) -> web.Response:
    """Read a profile, also a deleted one."""
    return _shown(await read(request, stored.find_profile, path_id(request)))


async def patch_profile(request: web.Request) -> web.Response:
    """Change a profile. With another address its key has to be given again."""
    id, form = path_id(request), await read_form(request, ProfilePatch)
    key = form.api_key
    if key is not None:
        _hide(request, key)
    if "model_id" in form.model_fields_set:
        check_models(request[PRINCIPAL], (form.model_id,))
    if form.base_url is not None:
        await _check_address(request, form.base_url)
    seal = None if key is None else partial(_sealed, request, key)
    return await write(request, _shown, stored.change_profile, id, form.fields, key, seal, now_ms())


async def delete_profile(request: web.Request) -> web.Response:
    """Delete a profile: its row stays, its key is gone. One that is bound stays."""
    return await remove(request, stored.delete_profile, now_ms())


async def activate_profile(request: web.Request) -> web.Response:
    """Let a profile serve a slot, everywhere or in a session."""
    id, form = path_id(request), await read_form(request, Activation, optional=True)
    slot, keeps = read_slot(str(form.instance_slot)), "params" not in form.model_fields_set
    if request[PRINCIPAL].restrictions is not None:
        # What a director asks is held against nobody's key: who lets a profile serve one has named its model, though.
        check_models(request[PRINCIPAL], ((await read(request, stored.find_profile, id)).model_id,))
    return await write(request, _activated, stored.bind, id, form.place, slot, read_params(form.params), now_ms(), keeps=keeps)


async def unbind_slot(request: web.Request) -> web.Response:
    """Let a slot have no profile of its own any more, everywhere or in a session."""
    slot, place = read_slot(request.match_info["slot"]), read_query(request, PlaceQuery).place
    answer = data_answer(Unbound(place.scope, place.scope_id, slot))
    return await write(request, lambda _: answer, stored.unbind, place, slot)


async def runtime(request: web.Request) -> web.Response:
    """What serves each slot in a session, or where there is none, why, and what is passed over. A session that is not there is
    as none."""
    session = read_query(request, SessionQuery).session_id
    if session is not None and not await read(request, stored.has_session, session):
        session = None
    selection = await request.app[LLM_PROFILES].select(account_of(request), session)
    default = request.app[SETTINGS].chat_preset
    preset = request.app[PRESETS].good(default) if default and default in request.app[PRESETS] else None
    own = (None, None) if preset is None else (preset.provider, preset.model or None)
    return data_answer(Runtime(session, [RuntimeSlot.of(selection.choice(slot), *own) for slot in SLOTS]))


async def discover_models(request: web.Request) -> web.Response:
    """List the models of a provider, asked with a key that is kept nowhere, or with a profile's own."""
    request.app[LIMITS].check_rate(request)
    form = await read_form(request, Asking)
    return data_answer(await discovered(request, (await _asked(request, form))[0]))


async def test_model(request: web.Request) -> web.Response:
    """Say hello to a model, with a key that is kept nowhere, or with a profile's own."""
    request.app[LIMITS].check_rate(request)
    form = await read_form(request, Trial)
    asked, profile = await _asked(request, form)
    model = form.model_id or (profile.model_id if profile is not None else "")
    check_models(request[PRINCIPAL], (model,))
    return data_answer(TrialAnswer(HELLO, await tried(request, asked, model, form.reasoning_effort)))


async def _asked(request: web.Request, form: Asking) -> tuple[Asked, Profile | None]:
    """Whom a form means, whose address may be called, and the profile where it names one. Raises 400 ``ssrf_blocked``, 404
    ``profile_not_found``, 409 ``profile_inactive`` for a deleted one, and as opening its key does."""
    may_be_private = form.allow_private_network is not False
    if form.profile_id is not None:
        profile = await read(request, stored.find_profile, form.profile_id)
        if profile.status == "deleted":
            raise failure("profile_inactive", "The LLM profile is deleted.")
        key = await request.app[LLM_PROFILES].key_of(profile)
        asked = Asked(profile.provider, profile.base_url, key)
    else:
        assert form.provider is not None and form.api_key is not None  # the form says so
        _hide(request, form.api_key)
        address_of(form.provider, form.base_url)
        if form.base_url is not None:
            await _check_address(request, form.base_url)
        profile, origin = None, frozenset({bound_origin(form.provider, form.base_url)})
        asked = Asked(form.provider, form.base_url, Secret(secret_name("given"), form.api_key, origin))
    if asked.base_url is not None:
        await _check_address(request, asked.base_url, may_be_private=may_be_private)
    return asked, profile


async def _check_address(request: web.Request, url: str, *, may_be_private: bool = True) -> None:
    """Raise 400 ``ssrf_blocked`` for an address that may not be called from here."""
    try:
        await request.app[SERVICES].upstream.check_address(url, may_be_private=may_be_private)
    except UpstreamUnreachable as error:
        raise failure("ssrf_blocked", error.message) from error


def _sealed(request: web.Request, key: str, id: str, origin: str) -> str:
    return request.app[LLM_PROFILES].seal.seal(id, origin, key)


def _hide(request: web.Request, key: str) -> None:
    """Keep a key out of whatever is said of the request."""
    redactor = request[RUN_REDACTOR] = request.app[REDACTOR].child()
    redactor.register(key)


def _shown(profile: Profile) -> web.Response:
    return data_answer(ShownProfile.of(profile))


def _made(profile: Profile) -> web.Response:
    return made_answer(ShownProfile.of(profile))


def _activated(bound: Binding) -> web.Response:
    place = bound.place
    return data_answer(Activated(bound.profile.id, place.scope, place.scope_id, bound.slot, bound.params))


_ALL, _EACH, _MODELS = "/llm-profiles", "/llm-profiles/{id}", "/llm-profiles/models"
_ASKS = (404, 409, 429, 500, 502, 503)

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_profiles, Data[list[ShownProfile]], query=described(ProfileQuery)),
    route("POST", _ALL, create_profile, Data[ShownProfile], 409, 503, body=NewProfile, status=201),
    route("GET", f"{_ALL}/runtime", runtime, Data[Runtime], 500, 503, query=described(SessionQuery)),
    route("POST", f"{_MODELS}/discover", discover_models, Data[list[DiscoveredModel]], *_ASKS, body=Asking, writes=False),
    route("POST", f"{_MODELS}/test", test_model, Data[TrialAnswer], *_ASKS, body=Trial, writes=False),
    route("DELETE", f"{_ALL}/bindings/{{slot}}", unbind_slot, Data[Unbound], query=described(PlaceQuery)),
    route("GET", _EACH, get_profile, Data[ShownProfile]),
    route("PATCH", _EACH, patch_profile, Data[ShownProfile], 409, 503, body=ProfilePatch),
    route("DELETE", _EACH, delete_profile, Data[Deleted], 409),
    route("POST", f"{_EACH}/activate", activate_profile, Data[Activated], 409, body=Activation, body_optional=True),
)
