"""``/auth/passkeys``: people add passkeys to their own account, call them something, and remove them. These routes are ours."""

from aiohttp import web

from agentui.accounts.passkey_way import keep_made
from agentui.accounts.passkeys import Passkey, list_passkeys, remove_passkey, rename_passkey
from agentui.accounts.stored import find_account
from agentui.api.accounts.accounts import check_person
from agentui.api.accounts.begun import begun_answer, check_home, forget_begun, kept_of, passkeys_of, ways_of
from agentui.api.chats.protocol import account_of, commit, data_answer, now_ms, path_id, read, read_form, route
from agentui.http.route import Route
from agentui.schemas.accounts import BegunSignIn, NewPasskeyForm, PasskeyName
from agentui.schemas.forms import Data, Deleted


async def get_passkeys(request: web.Request) -> web.Response:
    """List one's own passkeys, the oldest first."""
    check_person(request)
    return data_answer(await read(request, list_passkeys))


async def begin_passkey(request: web.Request) -> web.Response:
    """Begin to add a passkey: what the browser asks its authenticators with."""
    check_person(request)
    way = passkeys_of(request)
    check_home(request)
    account = await read(request, find_account)
    return begun_answer(request, way.name, await way.begin_adding(account.id, account.name))


async def post_passkey(request: web.Request) -> web.Response:
    """Add the passkey that an authenticator has made."""
    check_person(request)
    way, form = passkeys_of(request), await read_form(request, NewPasskeyForm)
    made = await way.finish_adding(account_of(request), form.credential, kept_of(request, way.name))
    response = data_answer(await commit(request, keep_made, made, form.name, now_ms()), status=201)
    forget_begun(response, way.name)
    return response


async def patch_passkey(request: web.Request) -> web.Response:
    """Call a passkey otherwise."""
    check_person(request)
    id, form = path_id(request), await read_form(request, PasskeyName)
    return data_answer(await commit(request, rename_passkey, id, form.name))


async def delete_passkey(request: web.Request) -> web.Response:
    """Remove a passkey, unless it is the only way by which the account signs in."""
    check_person(request)
    id = path_id(request)
    await commit(request, remove_passkey, id, ways_of(request))
    return data_answer(Deleted(id))


_ALL, _EACH = "/auth/passkeys", "/auth/passkeys/{id}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, get_passkeys, Data[list[Passkey]], 403),
    route("POST", f"{_ALL}/begin", begin_passkey, Data[BegunSignIn], 403, 409, writes=False),
    route("POST", _ALL, post_passkey, Data[Passkey], 403, 409, body=NewPasskeyForm, status=201, writes=False),
    route("PATCH", _EACH, patch_passkey, Data[Passkey], 403, body=PasskeyName, writes=False),
    route("DELETE", _EACH, delete_passkey, Data[Deleted], 403, 409, writes=False),
)
