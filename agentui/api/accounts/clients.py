"""``/clients``: the programs by which an account comes in, and their keys (TavernHeadless' contract, 5.4).

Answers are bare: ``{item}``, and ``{items, next_cursor}`` for lists. What makes keys takes no Idempotency-Key: the answer holds
the key, and no answer with a key is kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from aiohttp import web

from agentui.accounts import clients
from agentui.accounts.key_hash import new_secret
from agentui.accounts.records import Client, ClientKey, ClientPage, ShownKey
from agentui.api.accounts.accounts import check_person
from agentui.api.chats.protocol import (
    commit,
    described,
    now_ms,
    path_id,
    place_of,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.keys import METER
from agentui.http.keys import AUTHENTICATOR
from agentui.http.route import Route, answer
from agentui.schemas.accounts import (
    ClientForm,
    ClientItem,
    ClientPatch,
    ClientQuery,
    KeyItem,
    KeyItems,
    KeyPatch,
    KeyQuery,
    NewKey,
    Rotation,
)
from agentui.usage.budgets import limit_key
from agentui.usage.records import Period, Unit

Limits: TypeAlias = Sequence[tuple[Unit, Period, int]]


async def list_clients(request: web.Request) -> web.Response:
    """List the account's clients, the newest first."""
    check_person(request)
    query = read_query(request, ClientQuery)
    wanted = {"status": query.status, "kind": query.kind}
    return answer(await read(request, clients.list_clients, query.limit, place_of(query.cursor), wanted))


async def create_client(request: web.Request) -> web.Response:
    """Make a client."""
    check_person(request)
    form = await read_form(request, ClientForm)
    return await write(request, _made_client, clients.create_client, form.fields, now_ms())


async def get_client(request: web.Request) -> web.Response:
    """Read a client."""
    check_person(request)
    return _shown_client(await read(request, clients.find_client, path_id(request)))


async def patch_client(request: web.Request) -> web.Response:
    """Change a client's name, kind or metadata."""
    check_person(request)
    id, form = path_id(request), await read_form(request, ClientPatch)
    return await write(request, _shown_client, clients.change_client, id, form.fields, now_ms())


async def disable_client(request: web.Request) -> web.Response:
    """Let a client come in no more: all its keys are refused."""
    return await _switch(request, "disabled")


async def enable_client(request: web.Request) -> web.Response:
    """Let a client come in again, by the keys that it had."""
    return await _switch(request, "active")


async def list_keys(request: web.Request) -> web.Response:
    """List the keys of a client, the newest first; what they are nobody knows."""
    check_person(request)
    query = read_query(request, KeyQuery)
    return answer(KeyItems(await read(request, clients.list_keys, path_id(request), query.status)))


async def create_key(request: web.Request) -> web.Response:
    """Make a key for a client. This answer is the only one that holds it."""
    check_person(request)
    id, form = path_id(request), await read_form(request, NewKey, optional=True)
    now, secret = now_ms(), new_secret()
    hash = request.app[AUTHENTICATOR].hash.of(secret)
    key = await commit(request, _created, id, form.fields(now), form.budgets, secret, hash, now)
    if form.limits:
        await request.app[METER].told()
    return answer(ShownKey(key, secret), status=201)


async def patch_key(request: web.Request) -> web.Response:
    """Change a key's name, end, restrictions or limits; the key itself stays."""
    check_person(request)
    id, key, form = path_id(request), path_id(request, "key"), await read_form(request, KeyPatch)
    limits = form.budgets if "limits" in form.model_fields_set else None
    now = now_ms()
    changed = await write(request, _shown_key, _changed, id, key, form.fields(now), limits, now)
    await request.app[AUTHENTICATOR].changed()
    if limits is not None:
        await request.app[METER].told()
    return changed


async def rotate_key(request: web.Request) -> web.Response:
    """Put another key in a key's place: it keeps its id, its limits and its end. This answer is the only one that holds it."""
    check_person(request)
    id, key, form = path_id(request), path_id(request, "key"), await read_form(request, Rotation, optional=True)
    now, secret = now_ms(), new_secret()
    hash = request.app[AUTHENTICATOR].hash.of(secret)
    until = now + form.overlap_seconds * 1000
    rotated = await commit(request, clients.rotate_key, id, key, secret, hash, until, now)
    await request.app[AUTHENTICATOR].changed()
    return answer(ShownKey(rotated, secret), status=201)


async def revoke_key(request: web.Request) -> web.Response:
    """Revoke a key: it is refused from now on."""
    check_person(request)
    id, key = path_id(request), path_id(request, "key")
    revoked = await write(request, _shown_key, clients.revoke_key, id, key, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return revoked


async def _switch(request: web.Request, status: str) -> web.Response:
    check_person(request)
    switched = await write(request, _shown_client, clients.change_client, path_id(request), {"status": status}, now_ms())
    await request.app[AUTHENTICATOR].changed()
    return switched


def _created(
    db: Any, account: str, client: str, fields: Mapping[str, Any], limits: Limits, secret: str, hash: str, now: int
) -> ClientKey:
    key = clients.create_key(db, account, client, fields, secret, hash, now)
    if limits:
        limit_key(db, key.id, limits, now)
    return key


def _changed(
    db: Any, account: str, client: str, id: str, fields: Mapping[str, Any], limits: Limits | None, now: int
) -> ClientKey:
    key = clients.change_key(db, account, client, id, fields, now)
    if limits is not None:
        limit_key(db, id, limits, now)
    return key


def _shown_client(client: Client) -> web.Response:
    return answer(ClientItem(client))


def _made_client(client: Client) -> web.Response:
    return answer(ClientItem(client), status=201)


def _shown_key(key: ClientKey) -> web.Response:
    return answer(KeyItem(key))


_ALL, _EACH = "/clients", "/clients/{id}"
_KEYS, _KEY = f"{_EACH}/api-keys", f"{_EACH}/api-keys/{{key}}"

_MAKES_A_KEY: dict[str, Any] = {"body_optional": True, "status": 201, "writes": False}

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_clients, ClientPage, 403, query=described(ClientQuery)),
    route("POST", _ALL, create_client, ClientItem, 403, 413, body=ClientForm, status=201),
    route("GET", _EACH, get_client, ClientItem, 403),
    route("PATCH", _EACH, patch_client, ClientItem, 403, 413, body=ClientPatch),
    route("POST", f"{_EACH}/disable", disable_client, ClientItem, 403),
    route("POST", f"{_EACH}/enable", enable_client, ClientItem, 403),
    route("GET", _KEYS, list_keys, KeyItems, 403, query=described(KeyQuery)),
    route("POST", _KEYS, create_key, ShownKey, 403, 409, body=NewKey, **_MAKES_A_KEY),
    route("PATCH", _KEY, patch_key, KeyItem, 403, 413, body=KeyPatch),
    route("POST", f"{_KEY}/rotate", rotate_key, ShownKey, 403, 409, body=Rotation, **_MAKES_A_KEY),
    route("POST", f"{_KEY}/revoke", revoke_key, KeyItem, 403),
)
