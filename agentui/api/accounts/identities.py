"""``/auth/identities`` and ``/accounts/{id}/identities``: which people of the identity provider sign in to which account.
People link themselves; an admin links anybody. These routes are ours."""

from aiohttp import web

from agentui.accounts.identities import Identity, link_identity, list_identities, unlink_identity, unlink_own
from agentui.accounts.single_sign_on import keep_link
from agentui.api.accounts.accounts import check_admin, check_person, check_served, of_all
from agentui.api.accounts.begun import begun_answer, check_home, forget_begun, kept_of, sign_on_of, ways_of
from agentui.api.chats.protocol import account_of, commit, data_answer, now_ms, path_id, read, read_form, route
from agentui.http.route import Route
from agentui.schemas.accounts import BegunSignIn, FromProvider, NewIdentity
from agentui.schemas.forms import Data, Deleted


async def get_own_identities(request: web.Request) -> web.Response:
    """List the sign-ons that are linked to one's own account, the oldest first."""
    check_person(request)
    return data_answer(await read(request, list_identities))


async def begin_identity(request: web.Request) -> web.Response:
    """Begin to link one's sign-on: the provider's address to go to."""
    check_person(request)
    way = sign_on_of(request)
    check_home(request)
    return begun_answer(request, way.name, await way.begin_linking(account_of(request)))


async def post_own_identity(request: web.Request) -> web.Response:
    """Link the person whom the provider has let in."""
    check_person(request)
    way, form = sign_on_of(request), await read_form(request, FromProvider)
    met = await way.finish_linking(account_of(request), form.model_dump(), kept_of(request, way.name))
    response = data_answer(await commit(request, keep_link, met, now_ms()), status=201)
    forget_begun(response, way.name)
    return response


async def delete_own_identity(request: web.Request) -> web.Response:
    """Take a link away, unless it is the only way by which the account signs in."""
    check_person(request)
    id = path_id(request)
    await commit(request, unlink_own, id, ways_of(request))
    return data_answer(Deleted(id))


async def get_identities(request: web.Request) -> web.Response:
    """List the sign-ons that are linked to an account, the oldest first."""
    _check(request)
    return data_answer(await read(request, of_all(list_identities), path_id(request)))


async def post_identity(request: web.Request) -> web.Response:
    """Link an account to a person of the provider, or to whoever has an address that the provider has verified."""
    _check(request)
    id, form = path_id(request), await read_form(request, NewIdentity)
    issuer = sign_on_of(request).provider.issuer
    made = await commit(request, of_all(link_identity), id, issuer, form.subject, form.email, now_ms())
    return data_answer(made, status=201)


async def delete_identity(request: web.Request) -> web.Response:
    """Take a link of an account away, whatever ways in remain."""
    _check(request)
    id = path_id(request, "identity")
    await commit(request, of_all(unlink_identity), path_id(request), id)
    return data_answer(Deleted(id))


def _check(request: web.Request) -> None:
    check_admin(request)
    check_person(request)
    check_served(request, path_id(request))


_OWN, _OF_ACCOUNT = "/auth/identities", "/accounts/{id}/identities"

ROUTES: tuple[Route, ...] = (
    route("GET", _OWN, get_own_identities, Data[list[Identity]], 403),
    route("POST", f"{_OWN}/begin", begin_identity, Data[BegunSignIn], 403, 409, 502, writes=False),
    route("POST", _OWN, post_own_identity, Data[Identity], 403, 409, 502, body=FromProvider, status=201, writes=False),
    route("DELETE", f"{_OWN}/{{id}}", delete_own_identity, Data[Deleted], 403, 409, writes=False),
    route("GET", _OF_ACCOUNT, get_identities, Data[list[Identity]], 403),
    route("POST", _OF_ACCOUNT, post_identity, Data[Identity], 403, 409, body=NewIdentity, status=201, writes=False),
    route("DELETE", f"{_OF_ACCOUNT}/{{identity}}", delete_identity, Data[Deleted], 403, writes=False),
)
