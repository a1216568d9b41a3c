"""Provider keys over HTTP: their names, where each may go and who uses it; stored, replaced and removed. No value comes back.

A key is bound to its origins with its value: to bind it elsewhere, its value has to be given again. So nobody who may use the
editor can have a key of somebody else's sent to a place of his own.
"""

import asyncio
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from aiohttp import web

from agentui.api.keys import OWN, PIPELINES, PRESETS, SERVICES, STORE
from agentui.documents.document import Entry, is_own_id
from agentui.errors import BadRequest, Conflict
from agentui.http.keys import PRINCIPAL, SETTINGS
from agentui.http.route import Route, answer, read_model
from agentui.jsonio import dumps
from agentui.owned.rows import SealedSecret
from agentui.schemas.editor import NewSecret, SecretLine, SecretUse
from agentui.secrets.origins import KNOWN_ORIGINS
from agentui.secrets.store import PREFIX, SecretName, SecretStore

_MACRO = re.compile(rb"\[\[[ \t]*SECRET[ \t]*:[ \t]*([A-Za-z0-9_.-]{1,100})")
_BODY_LIMIT = 100_000


async def list_secrets(request: web.Request) -> web.Response:
    """List the names of the provider keys and where each may be sent; their values never leave the server. The server's are
    listed to who may edit; one's own, which pipelines of one's own read, begin with ``~``."""
    principal, app = request[PRINCIPAL], request.app
    names = await asyncio.to_thread(app[SERVICES].secrets.names) if principal.may_edit else []
    own = await app[OWN].secret_names(principal.account) if app[SETTINGS].own_pipelines else []
    return answer([*(_line(known) for known in names), *(_own_line(secret) for secret in own)])


async def list_uses(request: web.Request) -> web.Response:
    """List the pipelines and presets that name a key, by key; also keys that are named and not there."""
    pipelines, presets = request.app[PIPELINES].entries(), request.app[PRESETS].entries()
    return answer(await asyncio.to_thread(_uses, pipelines, presets))


async def put_secret(request: web.Request) -> web.Response:
    """Store a key, or replace the one of this name with its origins. A key of the environment is changed there."""
    given, name = await read_model(request, NewSecret, _BODY_LIMIT), request.match_info["secret"]
    if is_own_id(name):
        bound = given.origins or KNOWN_ORIGINS.get(name[1:].lower(), ())
        kept, is_new = await request.app[OWN].keep_secret(request[PRINCIPAL].account, name[1:], given.value, bound)
        return answer(_own_line(kept), status=201 if is_new else 200)
    secrets = request.app[SERVICES].secrets
    before = await asyncio.to_thread(_known, secrets, name)
    _refuse_environment(before)
    origins = given.origins or KNOWN_ORIGINS.get(name.lower())
    if not origins:
        raise BadRequest(f"Say where the secret {name!r} may be sent, e.g. https://api.example.com.", param="origins")
    await asyncio.to_thread(secrets.set, name, given.value, origins)
    after = await asyncio.to_thread(_known, secrets, name)
    return answer(_line(after) if after else None, status=201 if before is None else 200)


async def delete_secret(request: web.Request) -> web.Response:
    """Remove a stored key for good."""
    if is_own_id(request.match_info["secret"]):
        await request.app[OWN].delete_secret(request[PRINCIPAL].account, request.match_info["secret"][1:])
        return web.Response(status=204)
    secrets, name = request.app[SERVICES].secrets, request.match_info["secret"]
    _refuse_environment(await asyncio.to_thread(_known, secrets, name))
    await asyncio.to_thread(request.app[STORE].remove_files, partial(secrets.delete, name))
    return web.Response(status=204)


def _known(secrets: SecretStore, name: str) -> SecretName | None:
    """The key that ``[[SECRET:name]]`` means now."""
    for known in secrets.names():
        # Only in the environment a hyphen is an underscore.
        is_alike = known.source == "environment" and _same(known.name) == _same(name)
        if is_alike or known.name.lower() == name.lower():
            return known
    return None


def _refuse_environment(known: SecretName | None) -> None:
    """Raise Conflict for a key that the environment sets: what is stored would not count."""
    if known is not None and known.source == "environment":
        variable = PREFIX + known.name.upper().replace("-", "_")
        raise Conflict(f"The secret {known.name!r} is set by {variable}. Change it there, or unset it.", name=known.name)


def _line(known: SecretName) -> SecretLine:
    return SecretLine(known.name, known.source, None if known.origins is None else sorted(known.origins))


def _own_line(secret: SealedSecret) -> SecretLine:
    return SecretLine(f"~{secret.shown_name}", "account", list(secret.origins))


def _uses(pipelines: Iterable[Entry[Any]], presets: Iterable[Entry[Any]]) -> list[SecretUse]:
    uses: dict[str, SecretUse] = {}
    for entries, kind in ((pipelines, "pipelines"), (presets, "presets")):
        for entry in entries:
            text = dumps(entry.document) if entry.document is not None else (entry.text or "").encode()
            for name in sorted({found.decode() for found in _MACRO.findall(text)}):
                ids: list[str] = getattr(uses.setdefault(_same(name), SecretUse(name)), kind)
                if entry.id not in ids:
                    ids.append(entry.id)
    return sorted(uses.values(), key=lambda use: use.name.lower())


def _same(name: str) -> str:
    """What is alike in names that mean one key."""
    return name.lower().replace("-", "_")


ROUTES = (
    Route("GET", "/api/secrets", list_secrets, answer=list[SecretLine]),
    Route("GET", "/api/secrets/uses", list_uses, answer=list[SecretUse], errors=(403,), needs="edit"),
    Route(
        "PUT",
        "/api/secrets/{secret}",
        put_secret,
        answer=SecretLine,
        body=NewSecret,
        errors=(400, 403, 409, 413, 415, 422, 507),
        needs="edit",
    ),
    Route("DELETE", "/api/secrets/{secret}", delete_secret, status=204, errors=(400, 403, 404, 409, 422, 507), needs="edit"),
)
