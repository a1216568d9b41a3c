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
    hash_of,
    list_sign_ins,
    new_sign_in_secret,
)
from agentui.accounts.stored import find_account
from agentui.api.accounts.accounts import check_person
from agentui.api.accounts.attempts import ATTEMPTS
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
from agentui.schemas.accounts import KeyItems, Me, PasswordChange, PasswordSet, ShownSignIn, SignedOut, SignInForm, Ways
from agentui.schemas.forms import Data

SIGN_IN: Final = Action("account.sign_in", "account")
"""What the log of an account tells of when passwords for it were tried too often."""


async def list_ways(request: web.Request) -> web.Response:
    """Say how people get in."""
    settings = request.app[SETTINGS]
    return data_answer(Ways(settings.auth_mode, settings.account_mode, [way.name for way in request.app[SIGN_INS].ways]))


async def sign_in(request: web.Request) -> web.Response:
    """Sign in: the answer sets a cookie, and what the browser kept before counts no more."""
    app, settings = request.app, request.app[SETTINGS]
    if settings.auth_mode == "off":
        raise failure("sign_in_off", "On this server nobody signs in: AGENTUI_AUTH_MODE is off.")
    form = await read_form(request, SignInForm)
    account_id, address = form.account or "", app[LIMITS].caller_of(request) or ""
    app[LIMITS].take_attempt(request)
    is_wrong = False
    device, before = request.headers.get("User-Agent", ""), request.cookies.get(SIGN_IN_COOKIE)
    try:
        try:
            _check_wait(app[ATTEMPTS].take(account_id, address))
        except RateLimited as error:
            actor = Actor("system", "server", None, request_id=request[REQUEST_ID])
            await tell_refusal(request, account_id, SIGN_IN, {"id": account_id}, error, actor)
            raise
        is_multi = settings.account_mode == "multi"
        secret, made = await app[SIGN_INS].sign_in(form.way, form.model_dump(), device, before, is_multi=is_multi)
    except Wrong:
        is_wrong = True
        raise
    finally:
        if not is_wrong:
            app[LIMITS].give_attempt_back(request)
    app[ATTEMPTS].was_right(made.account_id, address)
    if before is not None:
        await app[AUTHENTICATOR].changed()
    account = await app[STORE].read(find_account, made.account_id)
    return _with_cookie(request, data_answer(_me(account.principal(), account.name)), secret)


async def sign_out(request: web.Request) -> web.Response:
    """Sign out of this browser."""
    kept = request.cookies.get(SIGN_IN_COOKIE)
    if kept is not None:
        await request.app[STORE].write(end_by_hash, hash_of(kept))
        await request.app[AUTHENTICATOR].changed()
    response = data_answer(SignedOut())
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
    route("POST", "/auth/sign-in", sign_in, Data[Me], 401, 403, 409, 429, body=SignInForm, writes=False),
    route("POST", "/auth/sign-out", sign_out, Data[SignedOut], writes=False),
    route("GET", "/auth/me", get_me, Data[Me]),
    route("PUT", "/auth/password", put_password, Data[PasswordSet], 403, 429, body=PasswordChange, writes=False),
    route("GET", "/auth/sign-ins", get_sign_ins, Data[list[ShownSignIn]], 403),
    route("DELETE", "/auth/sign-ins/{id}", delete_sign_in, Data[SignedOut], 403, writes=False),
    route("GET", "/auth/keys", get_keys, KeyItems, 403),
)
