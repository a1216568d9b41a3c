"""The presets: read, saved, and their versions."""

from aiohttp import web

from agentui.api.editor import documents
from agentui.api.editor.documents import DELETE_HEADERS, SAVE_HEADERS, DocumentLine, DocumentState
from agentui.http.route import Route, answer
from agentui.http.state import STATE
from agentui.presets import Preset, PresetLibrary


def _library(request: web.Request) -> PresetLibrary:
    return request.app[STATE].presets


async def list_presets(request: web.Request) -> web.Response:
    """List the presets."""
    return answer([documents.line(entry) for entry in _library(request).entries()])


async def get_preset(request: web.Request) -> web.Response:
    """Read a preset with its problems; the ETag is for saving."""
    entry = _library(request).entry(request.match_info["id"])
    return answer(documents.state_of(entry), etag=entry.etag)


async def put_preset(request: web.Request) -> web.Response:
    """Save a preset as it is given."""
    entry, status = await documents.save(request, _library(request))
    return answer(documents.state_of(entry), status=status, etag=entry.etag)


async def delete_preset(request: web.Request) -> web.Response:
    """Remove a preset; its versions stay."""
    return await documents.delete(request, _library(request))


_ONE = "/api/presets/{id}"

ROUTES = (
    Route("GET", "/api/presets", list_presets, answer=list[DocumentLine]),
    Route("GET", _ONE, get_preset, answer=DocumentState, errors=(404,)),
    Route(
        "PUT",
        _ONE,
        put_preset,
        answer=DocumentState,
        body=Preset,
        headers=SAVE_HEADERS,
        errors=(400, 409, 412, 413, 415, 428, 507),
    ),
    Route("DELETE", _ONE, delete_preset, status=204, headers=DELETE_HEADERS, errors=(404, 412, 428, 507)),
    *documents.version_routes(_ONE, _library),
)
