"""``/auth``: people sign in to the page and out of it, and see to their own password and keys. These routes are ours.

A sign-in is a cookie that scripts cannot read and other sites' pages do not send along (``HttpOnly``, ``SameSite=Strict``).
"""

from typing import Any, Final

from aiohttp import web

from agentui.accounts.clients import account_keys
from agentui.accounts.codes import Wrong
from agentui.accounts.passwords import change_password, find_password
from agentui.accounts.sign_ins import (
    SignIn,
    create_sign_in,
    end_by_hash,
    end_sign_in,
    find_sign_in,
    hash_of,
    list_sign_ins,
    new_sign_in_secret,
)
from agentui.accounts.single_sign_on import NAME
from agentui.accounts.stored import find_account
from agentui.api.accounts.accounts import check_person
from agentui.api.accounts.attempts import ATTEMPTS
from agentui.api.accounts.begun import begun_answer, check_home, forget_begun, kept_of, sign_on_of
from agentui.api.chats.protocol import account_of, commit, data_answer, now_ms, path_id, read, read_form, route
from agentui.api.keys import PASSWORDS, SIGN_INS, STORE
from agentui.api.operations.actions import Action
from agentui.api.operations.recording import tell_refusal
from agentui.chats.codes import failure
from agentui.errors import RateLimited
from agentui.http.credentials import SIGN_IN_COOKIE
from agentui.http.guard import REQUEST_ID
from agentui.http.keys import AUTHENTICATOR, PRINCIPAL, SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.route import Route, answer
from agentui.operations.operation import Actor
from agentui.principal import Principal
from agentui.schemas.accounts import (
    BeginForm,
    BegunSignIn,
    KeyItems,
    Me,
    PasswordChange,
    PasswordSet,
    ShownSignIn,
    SignedOut,
    SignInForm,
    Ways,
)
from agentui.schemas.forms import Data

SIGN_IN: Final = Action("account.sign_in", "account")
"""What the log of an account tells of when passwords for it were tried too often."""


async def list_ways(request: web.Request) -> web.Response:
    """Say how people get in."""
    settings = request.app[SETTINGS]
    ways = [way.name for way in request.app[SIGN_INS].ways]
    name = settings.oidc_name or None if NAME in ways else None
    return data_answer(Ways(settings.auth_mode, settings.account_mode, ways, name, settings.public_url))


async def begin_sign_in(request: web.Request) -> web.Response:
    """Begin to sign in by a passkey, or at the identity provider: what the browser needs for it. The answer sets a cookie."""
    _check_on(request)
    form = await read_form(request, BeginForm)
    request.app[LIMITS].check_attempts(request)
    way = request.app[SIGN_INS].way(form.way)
    check_home(request)
    return begun_answer(request, way.name, await way.begin())


async def sign_in(request: web.Request) -> web.Response:
    """Sign in: the answer sets a cookie, and what the browser kept before counts no more."""
    app, settings = request.app, request.app[SETTINGS]
    _check_on(request)
    form = await read_form(request, SignInForm)
    account_id, address = form.account or "", app[LIMITS].caller_of(request) or ""
    app[LIMITS].take_attempt(request)
    is_wrong = False
    device, before = request.headers.get("User-Agent", ""), request.cookies.get(SIGN_IN_COOKIE)
    try:
        if form.way == "password":
            await _count_password(request, account_id, address)
        is_multi, kept = settings.account_mode == "multi", kept_of(request, form.way)
        said = form.model_dump()
        secret, made = await app[SIGN_INS].sign_in(form.way, said, device, before, is_multi=is_multi, kept=kept)
    except Wrong:
        is_wrong = True
        raise
    finally:
        if not is_wrong:
            app[LIMITS].give_attempt_back(request)
    if form.way == "password":
        app[ATTEMPTS].was_right(made.account_id, address)
    if before is not None or form.way == NAME:
        # What the provider says may have made somebody an admin, or none any more.
        await app[AUTHENTICATOR].changed()
    account = await app[STORE].read(find_account, made.account_id)
    response = _with_cookie(request, data_answer(_me(account.principal(), account.name)), secret)
    forget_begun(response, form.way)
    return response


async def sign_out(request: web.Request) -> web.Response:
    """Sign out of this browser."""
    app, kept, provider_url = request.app, request.cookies.get(SIGN_IN_COOKIE), None
    if kept is not None:
        hash = hash_of(kept)
        ended = await app[STORE].read(find_sign_in, hash)
        await app[STORE].write(end_by_hash, hash)
        await app[AUTHENTICATOR].changed()
        if ended is not None and ended.method == NAME and app[SETTINGS].oidc_sign_out:
            provider = sign_on_of(request).provider
            provider_url = await provider.sign_out_address(provider.redirect)
    response = data_answer(SignedOut(provider_url=provider_url))
    response.del_cookie(SIGN_IN_COOKIE, path="/", httponly=True, samesite="Strict")
    return response


async def get_me(request: web.Request) -> web.Response:
    """Say who asks, and what that one may do."""
    principal, store = request[PRINCIPAL], request.app[STORE]
    # Where nobody signs in, the memory is not opened to say so; and several workers without a database have none.
    is_nobodys = request.app[SETTINGS].auth_mode == "off" or store.is_blank
    name = None if is_nobodys else (await store.read(find_account, principal.account)).name
    return data_answer(_me(principal, name))


async def put_password(request: web.Request) -> web.Response:
    """Give oneself another password. Every other browser is signed out."""
    check_person(request)
    app, account = request.app, account_of(request)
    form = await read_form(request, PasswordChange)
    present = await read(request, find_password)
    if present is not None:
        _check_wait(app[ATTEMPTS].take_change(account))
        if not await app[PASSWORDS].matches(present, form.current_password or ""):
            raise failure("password_wrong", "The current password is another one.")
    hash, kept = await app[PASSWORDS].hash(form.password), request.cookies.get(SIGN_IN_COOKIE)
    secret, now, device = new_sign_in_secret(), now_ms(), request.headers.get("User-Agent", "")

    def change(db: Any, account: str) -> None:
        change_password(db, account, present, hash, now)
        if kept is not None:
            create_sign_in(db, account, secret, "password", device, now, now + app[SETTINGS].sign_in_age * 1000)

    await commit(request, change)
    response = data_answer(PasswordSet(account))
    if kept is not None:
        _with_cookie(request, response, secret)
    await app[AUTHENTICATOR].changed()
    return response


async def get_sign_ins(request: web.Request) -> web.Response:
    """List the browsers in which one is signed in, the newest first."""
    check_person(request)
    kept = request.cookies.get(SIGN_IN_COOKIE)
    this = await request.app[AUTHENTICATOR].sign_in_of(kept) if kept is not None else None
    listed: list[SignIn] = await read(request, list_sign_ins, now_ms())
    return data_answer(
        [
            ShownSignIn(each.id, each.method, each.device, each.id == this, each.created_at, each.last_used_at, each.expires_at)
            for each in listed
        ]
    )


async def delete_sign_in(request: web.Request) -> web.Response:
    """Sign out of another browser."""
    check_person(request)
    await commit(request, end_sign_in, path_id(request))
    await request.app[AUTHENTICATOR].changed()
    return data_answer(SignedOut())


async def get_keys(request: web.Request) -> web.Response:
    """List one's own keys, of all clients, the newest first."""
    check_person(request)
    return answer(KeyItems(await read(request, account_keys)))


def _check_on(request: web.Request) -> None:
    """Raise 409 ``sign_in_off`` where nobody signs in."""
    if request.app[SETTINGS].auth_mode == "off":
        raise failure("sign_in_off", "On this server nobody signs in: AGENTUI_AUTH_MODE is off.")


async def _count_password(request: web.Request, account: str, address: str) -> None:
    """Count a password that is tried for an account. Raises RateLimited, which the account's log tells of."""
    try:
        _check_wait(request.app[ATTEMPTS].take(account, address))
    except RateLimited as error:
        actor = Actor("system", "server", None, request_id=request[REQUEST_ID])
        await tell_refusal(request, account, SIGN_IN, {"id": account}, error, actor)
        raise


def _check_wait(seconds: float) -> None:
    """Raise RateLimited where there is something to wait for."""
    if seconds:
        raise RateLimited("Too many passwords were tried for this account; wait a moment.", retry_after=seconds)


def _me(principal: Principal, name: str | None) -> Me:
    return Me(principal.account, name, principal.role, principal.may_edit, principal.client, principal.key)


def _with_cookie(request: web.Request, response: web.Response, secret: str) -> web.Response:
    """The answer, which lets the browser keep the sign-in. Behind a proxy that ends TLS only the page knows of https."""
    is_secure = request.secure or request.headers.get("Origin", "").startswith("https://")
    age = request.app[SETTINGS].sign_in_age
    response.set_cookie(SIGN_IN_COOKIE, secret, max_age=age, path="/", httponly=True, samesite="Strict", secure=is_secure)
    return response


ROUTES: tuple[Route, ...] = (
    route("GET", "/auth/ways", list_ways, Data[Ways]),
    route("POST", "/auth/sign-in/begin", begin_sign_in, Data[BegunSignIn], 409, 429, 502, body=BeginForm, writes=False),
    route("POST", "/auth/sign-in", sign_in, Data[Me], 401, 403, 409, 429, 502, body=SignInForm, writes=False),
    route("POST", "/auth/sign-out", sign_out, Data[SignedOut], writes=False),
    route("GET", "/auth/me", get_me, Data[Me]),
    route("PUT", "/auth/password", put_password, Data[PasswordSet], 403, 429, body=PasswordChange, writes=False),
    route("GET", "/auth/sign-ins", get_sign_ins, Data[list[ShownSignIn]], 403),
    route("DELETE", "/auth/sign-ins/{id}", delete_sign_in, Data[SignedOut], 403, writes=False),
    route("GET", "/auth/keys", get_keys, KeyItems, 403),
)
