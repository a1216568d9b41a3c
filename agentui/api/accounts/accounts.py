"""``/accounts``: who there is, for admins (TavernHeadless' contract, 5.3)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from agentui.accounts import stored
from agentui.accounts.passwords import keep_password
from agentui.accounts.records import Account, is_default_account
from agentui.api.chats.protocol import commit, data_answer, made_answer, now_ms, path_id, read, read_form, remove, route, write
from agentui.api.keys import PASSWORDS
from agentui.chats.codes import failure
from agentui.http.keys import AUTHENTICATOR, PRINCIPAL, SETTINGS
from agentui.http.route import Route
from agentui.schemas.accounts import AccountPatch, NewAccount, NewPassword, PasswordSet
from agentui.schemas.forms import Data, Deleted


async def list_accounts(request: web.Request) -> web.Response:
    """List the accounts, the one that was changed last first."""
    check_admin(request)
    listed = await read(request, _of_all(stored.list_accounts))
    return data_answer(listed if _is_multi(request) else [account for account in listed if account.is_default])


async def create_account(request: web.Request) -> web.Response:
    """Make an account."""
    _check_writes(request)
    form = await read_form(request, NewAccount)
    make = _of_all(partial(stored.create_account, may_edit=form.may_edit))
    return await write(request, made_answer, make, form.id, form.name, form.role, now_ms())


async def get_account(request: web.Request) -> web.Response:
    """Read an account."""
    check_admin(request)
    id = path_id(request)
    _check_served(request, id)
    return data_answer(await read(request, _of_all(stored.find_account), id))


async def patch_account(request: web.Request) -> web.Response:
    """Change an account's name, role or status; who is disabled comes in no more."""
    _check_writes(request)
    id, form = path_id(request), await read_form(request, AccountPatch)
    changed = await write(request, data_answer, _of_all(stored.change_account), id, form.given, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return changed


async def delete_account(request: web.Request) -> web.Response:
    """Remove an account for which nothing is stored any more, with its clients and keys."""
    _check_writes(request)
    removed = await remove(request, _of_all(stored.delete_account))
    await request.app[AUTHENTICATOR].changed()
    return removed


async def put_password(request: web.Request) -> web.Response:
    """Give an account another password, and sign it out everywhere."""
    check_admin(request)
    check_person(request)
    id, form = path_id(request), await read_form(request, NewPassword)
    _check_served(request, id)
    hash = await request.app[PASSWORDS].hash(form.password)
    await commit(request, _of_all(keep_password), id, hash, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return data_answer(PasswordSet(id))


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


def _check_served(request: web.Request, id: str) -> None:
    """Raise 404 for another account than the default one, where there is one only."""
    if not _is_multi(request) and not is_default_account(id):
        raise failure("account_not_found", f"There is no account {id!r}.", id=id)


def _is_multi(request: web.Request) -> bool:
    return request.app[SETTINGS].account_mode == "multi"


def _of_all(transaction: Callable[..., Any]) -> Callable[..., Any]:
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
    route("PUT", f"{_EACH}/password", put_password, Data[PasswordSet], 403, body=NewPassword, writes=False),
)
