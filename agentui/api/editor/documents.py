"""Pipelines and presets over HTTP: documents with ETags and versions, read, saved, renamed, removed and activated.

Saving needs ``If-Match`` with the ETag that was read (``*``: whatever is there), or ``If-None-Match: *`` for a new one.
A document that was read, changed by somebody else, and saved meets 412 with the current one in the error's details.
"""

import asyncio
from dataclasses import replace
from functools import partial, wraps
from typing import Any

from aiohttp import web

from agentui.accounts.restrictions import check_pipeline
from agentui.api.editor.changes import FEED
from agentui.api.keys import OWN, PIPELINES, PRESETS
from agentui.documents.document import MAX_FILE_BYTES, Entry, is_own_id
from agentui.documents.versions import Version
from agentui.errors import BadRequest
from agentui.http.keys import PRINCIPAL
from agentui.http.rights import Handler
from agentui.http.route import Route, answer, read_json, read_model, whole_number
from agentui.http.workers import REFRESH, WORKERS
from agentui.owned.rows import Kind
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.plans.spec import PipelineSpec
from agentui.presets import Preset
from agentui.principal import NO_RESTRICTIONS
from agentui.redaction import without_written_keys
from agentui.schemas.editor import DocumentLine, DocumentState, NewId, VersionName, VersionState
from agentui.threads import in_thread

LibraryKey = web.AppKey[Any]
"""The key of a library of documents of any kind."""

SAVE_HEADERS = {
    "If-Match": "The ETag of what is replaced; * replaces whatever is there.",
    "If-None-Match": "* creates, and replaces nothing.",
}
DELETE_HEADERS = {"If-Match": "The ETag of what is removed, or *."}
RENAME_HEADERS = {"If-Match": "The ETag of what is renamed, or *."}

# A document is stored with two spaces a level, so what fits compactly may still be refused; the other way round never.
_BODY_LIMIT = MAX_FILE_BYTES


async def list_pipelines(request: web.Request) -> web.Response:
    """List the pipelines. The header ``x-agentui-changes`` is the Last-Event-ID of the changes that come behind this list."""
    library, last = request.app[PIPELINES], request.app[FEED].last()
    may = request[PRINCIPAL].restrictions or NO_RESTRICTIONS
    shown = [entry for entry in library.entries() if may.allows_pipeline(entry.id)]
    own = [entry for entry in await _own_entries(request, PIPELINES) if may.allows_pipeline(entry.id)]
    lines = answer([_line(entry, active=library.is_active(entry.id)) for entry in (*shown, *own)])
    lines.headers["x-agentui-changes"] = last
    return lines


async def get_pipeline(request: web.Request) -> web.Response:
    """Read a pipeline with its problems; the ETag is for saving."""
    check_pipeline(request[PRINCIPAL], request.match_info["id"])
    if is_own_id(request.match_info["id"]):
        return _state(await _own_entry(request, PIPELINES))
    entry = request.app[PIPELINES].entry(request.match_info["id"])
    return await _read(request, entry, active=request.app[PIPELINES].is_active(entry.id))


async def put_pipeline(request: web.Request) -> web.Response:
    """Save a pipeline as it is given, problems and all. One with problems does not serve: the last good version goes on."""
    entry, status = await _save(request, PIPELINES)
    return _pipeline(request, entry, status)


async def delete_pipeline(request: web.Request) -> web.Response:
    """Remove a pipeline; its versions stay. The active one cannot be removed."""
    return await _delete(request, PIPELINES)


async def activate_pipeline(request: web.Request) -> web.Response:
    """Let this pipeline serve callers who name none; it must have no problems."""
    library, id = request.app[PIPELINES], request.match_info["id"]
    if is_own_id(id):
        raise BadRequest("The active pipeline serves everybody, so it is one of the server's.", param="id")
    await asyncio.to_thread(library.activate, id)
    return _pipeline(request, library.entry(id))


async def rename_pipeline(request: web.Request) -> web.Response:
    """Give a pipeline another id; its versions go with it, and the active one stays active."""
    named = await read_model(request, NewId)
    rename, id = request.app[PIPELINES].rename, request.match_info["id"]
    if is_own_id(id):
        account, if_match = request[PRINCIPAL].account, request.headers.get("If-Match")
        return _state(await request.app[OWN].rename(account, "pipelines", id, named.id, if_match))
    return _pipeline(request, await asyncio.to_thread(rename, id, named.id, request.headers.get("If-Match")))


async def list_presets(request: web.Request) -> web.Response:
    """List the presets."""
    own = await _own_entries(request, PRESETS)
    return answer([_line(entry) for entry in (*request.app[PRESETS].entries(), *own)])


async def get_preset(request: web.Request) -> web.Response:
    """Read a preset with its problems; the ETag is for saving."""
    if is_own_id(request.match_info["id"]):
        return _state(await _own_entry(request, PRESETS))
    return await _read(request, request.app[PRESETS].entry(request.match_info["id"]))


async def put_preset(request: web.Request) -> web.Response:
    """Save a preset as it is given."""
    entry, status = await _save(request, PRESETS)
    return _state(entry, status=status)


async def delete_preset(request: web.Request) -> web.Response:
    """Remove a preset; its versions stay."""
    return await _delete(request, PRESETS)


async def _save(request: web.Request, key: LibraryKey) -> tuple[Entry[Any], int]:
    """Write the document in the body; the entry, and 201 where it is new."""
    library, id = request.app[key], request.match_info["id"]
    document = await read_json(request, _BODY_LIMIT)
    if is_own_id(id):
        conditions = request.headers.get("If-Match"), request.headers.get("If-None-Match")
        kept, is_new = await request.app[OWN].save(request[PRINCIPAL].account, _kind(key), id, document, *conditions)
        return kept, 201 if is_new else 200
    is_new = id not in library
    entry = await asyncio.to_thread(
        library.save, id, document, request.headers.get("If-Match"), request.headers.get("If-None-Match")
    )
    return entry, 201 if is_new else 200


async def _delete(request: web.Request, key: LibraryKey) -> web.Response:
    if is_own_id(id := request.match_info["id"]):
        await request.app[OWN].delete(request[PRINCIPAL].account, _kind(key), id, request.headers.get("If-Match"))
        return web.Response(status=204)
    await asyncio.to_thread(request.app[key].delete, request.match_info["id"], request.headers.get("If-Match"))
    return web.Response(status=204)


async def _own_entries(request: web.Request, key: LibraryKey) -> list[Entry[Any]]:
    return await request.app[OWN].entries(request[PRINCIPAL].account, _kind(key))


async def _own_entry(request: web.Request, key: LibraryKey) -> Entry[Any]:
    return await request.app[OWN].entry(request[PRINCIPAL].account, _kind(key), request.match_info["id"])


def _kind(key: LibraryKey) -> Kind:
    return "pipelines" if key is PIPELINES else "presets"


def _line(entry: Entry[Any], *, active: bool = False) -> DocumentLine:
    """An entry as a list shows it."""
    return DocumentLine(
        id=entry.id,
        name=entry.name,
        description=entry.description,
        etag=entry.etag,
        valid=entry.is_valid,
        active=active,
        problem_count=len(entry.problems),
        modified=entry.modified,
        owner="account" if is_own_id(entry.id) else "server",
    )


def _pipeline(request: web.Request, entry: Entry[Plan], status: int = 200) -> web.Response:
    return _state(entry, active=request.app[PIPELINES].is_active(entry.id), status=status)


async def _read(request: web.Request, entry: Entry[Any], *, active: bool = False) -> web.Response:
    """An entry for who asks for it."""
    state = _shown(entry, active=active)
    if not request[PRINCIPAL].may_edit:
        state = await in_thread(partial(_without_keys, state))
    return answer(state, etag=entry.etag)


def _without_keys(state: DocumentState) -> DocumentState:
    """The same without the keys that are written into it: they are the server's, and not for all who may use them."""
    document = without_written_keys(state.document) if state.document is not None else None
    return replace(state, document=document, text=None if state.text is None else without_written_keys(state.text))


def _state(entry: Entry[Any], *, active: bool = False, status: int = 200) -> web.Response:
    """An entry in full."""
    return answer(_shown(entry, active=active), status=status, etag=entry.etag)


def _shown(entry: Entry[Any], *, active: bool) -> DocumentState:
    return DocumentState(
        id=entry.id,
        etag=entry.etag,
        modified=entry.modified,
        valid=entry.is_valid,
        active=active,
        document=None if entry.document is None else dict(entry.document),
        text=entry.text,
        problems=entry.problems,
        serving=entry.good.etag if entry.good else None,
        notice=_notice(entry),
        owner="account" if is_own_id(entry.id) else "server",
    )


def _notice(entry: Entry[Any]) -> str | None:
    if entry.is_valid:
        return None
    if entry.good is None:
        return "This has problems and cannot serve until they are solved."
    return "This version has problems, so the last good version before it goes on serving."


def _version_routes(path: str, library: LibraryKey) -> tuple[Route, ...]:
    """The routes of the kept versions of the documents at ``path``, which names one by ``{id}``."""

    def may_see(request: web.Request) -> None:
        if library is PIPELINES:
            check_pipeline(request[PRINCIPAL], request.match_info["id"])

    async def list_versions(request: web.Request) -> web.Response:
        """List the kept versions, newest first."""
        may_see(request)
        if is_own_id(id := request.match_info["id"]):
            return answer(await request.app[OWN].versions(request[PRINCIPAL].account, _kind(library), id))
        return answer(await asyncio.to_thread(request.app[library].versions, request.match_info["id"]))

    async def get_version(request: web.Request) -> web.Response:
        """Read one version; saving its document restores it."""
        may_see(request)
        number = _number(request)
        if is_own_id(id := request.match_info["id"]):
            found, own = await request.app[OWN].version(request[PRINCIPAL].account, _kind(library), id, number)
            return answer(VersionState(found.number, found.time, found.etag, found.name, found.size, own))
        kept, document = await asyncio.to_thread(request.app[library].version, request.match_info["id"], number)
        if not request[PRINCIPAL].may_edit:
            document = await in_thread(partial(without_written_keys, document))
        return answer(VersionState(kept.number, kept.time, kept.etag, kept.name, kept.size, document))

    async def name_version(request: web.Request) -> web.Response:
        """Name a version, which keeps it for good."""
        named = await read_model(request, VersionName)
        name, number = named.name.strip(), _number(request)
        if is_own_id(id := request.match_info["id"]):
            account = request[PRINCIPAL].account
            return answer(await request.app[OWN].name_version(account, _kind(library), id, number, name))
        kept: Version = await asyncio.to_thread(request.app[library].name_version, request.match_info["id"], number, name)
        return answer(kept)

    naming = f"{path}/versions/{{number}}/name"
    return (
        Route("GET", f"{path}/versions", list_versions, answer=list[Version], errors=(403, 404)),
        Route("GET", f"{path}/versions/{{number}}", get_version, answer=VersionState, errors=(400, 403, 404)),
        Route("PUT", naming, name_version, answer=Version, body=VersionName, errors=(400, 404, 415, 507)),
    )


def _number(request: web.Request) -> int:
    return whole_number(request.match_info["number"], "number", least=1)


def _known_to_all(route: Route) -> Route:
    """The same route; what it changes is known to every worker before the answer leaves, and changed by who may edit alone."""
    if route.method == "GET":
        return route

    @wraps(route.handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        response = await route.handler(request)
        await request.app[WORKERS].post_all(REFRESH)
        return response

    handler: Handler = handle
    return replace(route, handler=handler, needs="edit", errors=tuple(sorted({403, *route.errors})))


_PIPELINE = "/api/pipelines/{id}"
_PRESET = "/api/presets/{id}"
_SAVE_ERRORS = (400, 409, 412, 413, 415, 428, 507)

ROUTES = tuple(
    _known_to_all(route)
    for route in (
        Route("GET", "/api/pipelines", list_pipelines, answer=list[DocumentLine]),
        Route("GET", _PIPELINE, get_pipeline, answer=DocumentState, errors=(403, 404)),
        Route(
            "PUT",
            _PIPELINE,
            put_pipeline,
            answer=DocumentState,
            body=PipelineSpec,
            headers=SAVE_HEADERS,
            errors=_SAVE_ERRORS,
        ),
        Route("DELETE", _PIPELINE, delete_pipeline, status=204, headers=DELETE_HEADERS, errors=(404, 409, 412, 428, 507)),
        Route("POST", f"{_PIPELINE}/activate", activate_pipeline, answer=DocumentState, errors=(404, 422, 507)),
        Route(
            "POST",
            f"{_PIPELINE}/rename",
            rename_pipeline,
            answer=DocumentState,
            body=NewId,
            headers=RENAME_HEADERS,
            errors=(400, 404, 409, 412, 415, 428, 507),
        ),
        *_version_routes(_PIPELINE, PIPELINES),
        Route("GET", "/api/presets", list_presets, answer=list[DocumentLine]),
        Route("GET", _PRESET, get_preset, answer=DocumentState, errors=(404,)),
        Route("PUT", _PRESET, put_preset, answer=DocumentState, body=Preset, headers=SAVE_HEADERS, errors=_SAVE_ERRORS),
        Route("DELETE", _PRESET, delete_preset, status=204, headers=DELETE_HEADERS, errors=(404, 412, 428, 507)),
        *_version_routes(_PRESET, PRESETS),
    )
)
