"""The pipelines: read, saved, activated, and their versions."""

import asyncio

from aiohttp import web

from agentui.api.editor import documents
from agentui.api.editor.documents import (
    DELETE_HEADERS,
    RENAME_HEADERS,
    SAVE_HEADERS,
    DocumentLine,
    DocumentState,
    NewId,
)
from agentui.documents.document import Entry
from agentui.http.route import Route, answer
from agentui.http.state import STATE
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.plan import Plan
from agentui.pipeline.spec import PipelineSpec


def _library(request: web.Request) -> PipelineLibrary:
    return request.app[STATE].pipelines


def _state_of(request: web.Request, entry: Entry[Plan], status: int = 200) -> web.Response:
    state = documents.state_of(entry, active=_library(request).is_active(entry.id))
    return answer(state, status=status, etag=entry.etag)


async def list_pipelines(request: web.Request) -> web.Response:
    """List the pipelines."""
    library = _library(request)
    return answer([documents.line(entry, active=library.is_active(entry.id)) for entry in library.entries()])


async def get_pipeline(request: web.Request) -> web.Response:
    """Read a pipeline with its problems; the ETag is for saving."""
    return _state_of(request, _library(request).entry(request.match_info["id"]))


async def put_pipeline(request: web.Request) -> web.Response:
    """Save a pipeline as it is given, problems and all. One with problems does not serve: the last good version goes on."""
    entry, status = await documents.save(request, _library(request))
    return _state_of(request, entry, status)


async def delete_pipeline(request: web.Request) -> web.Response:
    """Remove a pipeline; its versions stay. The active one cannot be removed."""
    return await documents.delete(request, _library(request))


async def activate_pipeline(request: web.Request) -> web.Response:
    """Let this pipeline serve callers who name none; it must have no problems."""
    library = _library(request)
    id = request.match_info["id"]
    await asyncio.to_thread(library.activate, id)
    return _state_of(request, library.entry(id))


async def rename_pipeline(request: web.Request) -> web.Response:
    """Give a pipeline another id; its versions go with it, and the active one stays active."""
    return _state_of(request, await documents.rename(request, _library(request)))


_ONE = "/api/pipelines/{id}"

ROUTES = (
    Route("GET", "/api/pipelines", list_pipelines, answer=list[DocumentLine]),
    Route("GET", _ONE, get_pipeline, answer=DocumentState, errors=(404,)),
    Route(
        "PUT",
        _ONE,
        put_pipeline,
        answer=DocumentState,
        body=PipelineSpec,
        headers=SAVE_HEADERS,
        errors=(400, 409, 412, 413, 415, 428, 507),
    ),
    Route("DELETE", _ONE, delete_pipeline, status=204, headers=DELETE_HEADERS, errors=(404, 409, 412, 428, 507)),
    Route("POST", f"{_ONE}/activate", activate_pipeline, answer=DocumentState, errors=(404, 422, 507)),
    Route(
        "POST",
        f"{_ONE}/rename",
        rename_pipeline,
        answer=DocumentState,
        body=NewId,
        headers=RENAME_HEADERS,
        errors=(400, 404, 409, 412, 415, 428, 507),
    ),
    *documents.version_routes(_ONE, _library),
)
