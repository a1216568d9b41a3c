"""``/accounts``: who there is, for admins (TavernHeadless' contract, 5.3)."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from agentui.accounts import stored
from agentui.accounts.exporting import exported
from agentui.accounts.passwords import keep_password
from agentui.accounts.purging import Purge, cancel_purge, find_purge, request_purge
from agentui.accounts.records import Account, is_default_account
from agentui.api.chats.protocol import commit, data_answer, made_answer, now_ms, path_id, read, read_form, remove, route, write
from agentui.api.keys import JOBS, PASSWORDS, STORE
from agentui.chats.codes import failure
from agentui.http.keys import AUTHENTICATOR, PRINCIPAL, SETTINGS
from agentui.http.route import Route
from agentui.http.writing import begin_stream, write_pieces
from agentui.schemas.accounts import AccountPatch, NewAccount, NewPassword, PasswordSet, PurgeForm
from agentui.schemas.forms import Data, Deleted


async def list_accounts(request: web.Request) -> web.Response:
    """List the accounts, the one that was changed last first."""
    check_admin(request)
    listed = await read(request, of_all(stored.list_accounts))
    return data_answer(listed if _is_multi(request) else [account for account in listed if account.is_default])


async def create_account(request: web.Request) -> web.Response:
    """Make an account."""
    _check_writes(request)
    form = await read_form(request, NewAccount)
    make = of_all(partial(stored.create_account, may_edit=form.may_edit))
    return await write(request, made_answer, make, form.id, form.name, form.role, now_ms())


async def get_account(request: web.Request) -> web.Response:
    """Read an account."""
    check_admin(request)
    id = path_id(request)
    check_served(request, id)
    return data_answer(await read(request, of_all(stored.find_account), id))


async def patch_account(request: web.Request) -> web.Response:
    """Change an account's name, role or status; who is disabled comes in no more."""
    _check_writes(request)
    id, form = path_id(request), await read_form(request, AccountPatch)
    changed = await write(request, data_answer, of_all(stored.change_account), id, form.given, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return changed


async def delete_account(request: web.Request) -> web.Response:
    """Remove an account for which nothing is stored any more, with its clients and keys."""
    _check_writes(request)
    removed = await remove(request, of_all(stored.delete_account))
    await request.app[AUTHENTICATOR].changed()
    return removed


async def put_password(request: web.Request) -> web.Response:
    """Give an account another password, and sign it out everywhere."""
    check_admin(request)
    check_person(request)
    id, form = path_id(request), await read_form(request, NewPassword)
    check_served(request, id)
    hash = await request.app[PASSWORDS].hash(form.password)
    await commit(request, of_all(partial(keep_password, is_only=form.only)), id, hash, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return data_answer(PasswordSet(id))


async def purge_account(request: web.Request) -> web.Response:
    """Remove an account with all that it has, in the background; until that begins it can be cancelled."""
    _check_writes(request)
    check_person(request)
    id, form = path_id(request), await read_form(request, PurgeForm)
    if form.confirm != id:
        raise failure("validation_error", "confirm has to be the account's id.")
    asked = await write(request, _accepted, of_all(request_purge), id, now_ms(), form.delay_seconds)
    request.app[JOBS].look()
    return asked


async def get_purge(request: web.Request) -> web.Response:
    """Read how far the removal of an account is, also after its end."""
    check_admin(request)
    return data_answer(await read(request, of_all(find_purge), path_id(request)))


async def cancel_account_purge(request: web.Request) -> web.Response:
    """Take back the removal of an account, before it begins."""
    _check_writes(request)
    return await write(request, data_answer, of_all(cancel_purge), path_id(request), now_ms())


async def export_account(request: web.Request) -> web.StreamResponse:
    """Export all that is kept for an account, as lines of JSON: one's own, or as an admin anybody's."""
    id = path_id(request)
    if request[PRINCIPAL].account != id:
        check_admin(request)
    check_person(request)
    await commit(request, of_all(stored.find_account), id)
    lines = exported(request.app[STORE].read, id, now_ms())
    name = re.sub(r"[^A-Za-z0-9._-]", "_", id)
    response = web.StreamResponse(
        headers={"content-disposition": f'attachment; filename="{name}.jsonl"', "cache-control": "no-store"}
    )
    response.content_type = "application/x-ndjson"
    await begin_stream(request, response)
    async for part in lines:
        await write_pieces(request, response, part, request.app[SETTINGS].write_timeout)
    await response.write_eof()
    return response


def check_person(request: web.Request) -> None:
    """Raise 403 ``client_management_actor_invalid`` where a client's key asks: who finds one gets in no further with it."""
    if request[PRINCIPAL].client is not None:
        raise failure("client_management_actor_invalid", "Clients, keys and passwords are not managed with a client's key.")


def check_admin(request: web.Request) -> None:
    """Raise 403 ``account_forbidden`` for everybody who is no admin."""
    if request[PRINCIPAL].role != "admin":
        raise failure("account_forbidden", "Only an admin manages accounts.")


def _check_writes(request: web.Request) -> None:
    """Raise 403 for who is no admin, and 409 ``account_mode_restricted`` where there is one account only."""
    check_admin(request)
    if not _is_multi(request):
        raise failure("account_mode_restricted", "This server has one account: set AGENTUI_ACCOUNT_MODE=multi for several.")


def _accepted(purge: Purge) -> web.Response:
    return data_answer(purge, status=202)


def check_served(request: web.Request, id: str) -> None:
    """Raise 404 for another account than the default one, where there is one only."""
    if not _is_multi(request) and not is_default_account(id):
        raise failure("account_not_found", f"There is no account {id!r}.", id=id)


def _is_multi(request: web.Request) -> bool:
    return request.app[SETTINGS].account_mode == "multi"


def of_all(transaction: Callable[..., Any]) -> Callable[..., Any]:
    """A transaction on every account, which takes the asking one and leaves it unused."""

    def run(db: Any, _: str, *args: Any) -> Any:
        return transaction(db, *args)

    return run


_ALL, _EACH = "/accounts", "/accounts/{id}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_accounts, Data[list[Account]], 403),
    route("POST", _ALL, create_account, Data[Account], 403, body=NewAccount, status=201),
    route("GET", _EACH, get_account, Data[Account], 403),
    route("PATCH", _EACH, patch_account, Data[Account], 403, body=AccountPatch),
    route("DELETE", _EACH, delete_account, Data[Deleted], 403),
    route("POST", f"{_EACH}/purge", purge_account, Data[Purge], 403, body=PurgeForm, status=202),
    route("GET", f"{_EACH}/purge", get_purge, Data[Purge], 403),
    route("DELETE", f"{_EACH}/purge", cancel_account_purge, Data[Purge], 403),
    route("GET", f"{_EACH}/export", export_account, bytes, 403, content_type="application/x-ndjson"),
    route("PUT", f"{_EACH}/password", put_password, Data[PasswordSet], 403, body=NewPassword, writes=False),
)
