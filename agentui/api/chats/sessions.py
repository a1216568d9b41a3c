"""Sessions: the conversations of the memory."""

from dataclasses import replace

from aiohttp import web

from agentui.accounts.restrictions import check_pipeline
from agentui.api.chats.protocol import (
    data_answer,
    deleted_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    remove,
    route,
    write,
)
from agentui.api.keys import JOBS, LIVE, OWN, PIPELINES
from agentui.chats import conversations, timeline
from agentui.chats.codes import failure
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Paging
from agentui.chats.records import Session
from agentui.chats.rows import find_session
from agentui.documents.document import is_own_id
from agentui.http.keys import PRINCIPAL
from agentui.http.route import Route
from agentui.library import bindings
from agentui.schemas.chats import (
    BranchQuery,
    CharacterSync,
    NewSession,
    SessionFields,
    SessionPatch,
    SessionQuery,
    SessionRun,
    StatusBatch,
    StatusMeta,
    StatusResults,
    Timeline,
    TimelineQuery,
)
from agentui.schemas.forms import Data, Deleted, DeleteResults, IdBatch, ListData


async def create_session(request: web.Request) -> web.Response:
    """Make a session, with its branch main and, where its character has one, the greeting."""
    form = await read_form(request, NewSession)
    await _check_pipelines(request, form)
    return await write(request, made_answer, bindings.create_session, form.given, now_ms())


async def list_sessions(request: web.Request) -> web.Response:
    """List the sessions."""
    query = read_query(request, SessionQuery)
    listed = await read(request, conversations.list_sessions, query.paging, query.status, query.keyword, query.name)
    return list_answer(listed, query.paging)


async def get_session(request: web.Request) -> web.Response:
    """Read a session."""
    return data_answer(await read(request, find_session, path_id(request)))


async def update_session(request: web.Request) -> web.Response:
    """Change a session; null clears a field."""
    id, form = path_id(request), await read_form(request, SessionPatch)
    await _check_pipelines(request, form)
    return await write(request, data_answer, bindings.update_session, id, form.given, now_ms())


async def _check_pipelines(request: web.Request, form: SessionFields) -> None:
    """Raise 404 for a pipeline that there is none of, 403 for one that the caller's key may not use."""
    for name in (form.pipeline_id, form.director_pipeline_id, form.verifier_pipeline_id):
        if name is not None:
            check_pipeline(request[PRINCIPAL], name)
        if name is not None and name == form.pipeline_id and is_own_id(name):
            await request.app[OWN].entry(request[PRINCIPAL].account, "pipelines", name)
        elif name is not None and name not in request.app[PIPELINES]:
            raise failure("not_found", f"There is no pipeline {name[:100]!r}.", pipeline=name[:100])


async def sync_character(request: web.Request) -> web.Response:
    """Bring a session's character up to its newest version."""
    id, form = path_id(request), await read_form(request, CharacterSync, optional=True)
    return await write(request, data_answer, bindings.sync_character, id, form.force, now_ms())


async def delete_session(request: web.Request) -> web.Response:
    """Remove a session with its branches, floors, pages, messages and their variables."""
    removed = await remove(request, conversations.remove_session, now_ms())
    request.app[JOBS].look()
    return removed


async def set_status_of_sessions(request: web.Request) -> web.Response:
    """Archive sessions, or make them active again."""
    form = await read_form(request, StatusBatch)

    def show(results: list[BatchResult]) -> web.Response:
        updated = sum(result.action == "updated" for result in results)
        return data_answer(StatusResults(results, StatusMeta(len(results), updated, len(results) - updated, form.status)))

    return await write(request, show, conversations.set_status_of_many, form.ids, form.status, now_ms())


async def delete_sessions(request: web.Request) -> web.Response:
    """Remove sessions; those that generate right now stay."""
    form = await read_form(request, IdBatch)
    removed = await write(request, deleted_answer, conversations.remove_many, form.ids, now_ms())
    request.app[JOBS].look()
    return removed


async def get_active_run(request: web.Request) -> web.Response:
    """Say whether a session generates right now, and what."""
    id, query = path_id(request), read_query(request, BranchQuery)
    run = await read(request, conversations.active_run, id, query.branch_id, now_ms())
    progress = None if run is None else request.app[LIVE].active.of_floor(run.latest_floor_id)
    if run is not None and progress is not None:
        run = replace(run, public_phase=progress.public_phase, updated_at=progress.updated_at)
    return data_answer(SessionRun(id, run))


async def get_timeline(request: web.Request) -> web.Response:
    """Read the committed floors of a branch with their pages and messages, first to last."""
    id, query = path_id(request), read_query(request, TimelineQuery)
    part = (query.branch_id, query.limit, query.offset, query.include_ancestors)
    listed = await read(request, timeline.read_timeline, id, *part)
    paging = Paging(query.limit, query.offset, "floor_no", "asc")
    return list_answer(listed, paging, Timeline(id, query.branch_id, listed.items))


ROUTES: tuple[Route, ...] = (
    route("POST", "/sessions", create_session, Data[Session], 404, 409, 413, body=NewSession, status=201),
    route("GET", "/sessions", list_sessions, ListData[list[Session]], query=described(SessionQuery)),
    route("PATCH", "/sessions/batch/status", set_status_of_sessions, Data[StatusResults], body=StatusBatch),
    route("POST", "/sessions/batch/delete", delete_sessions, Data[DeleteResults], body=IdBatch),
    route("GET", "/sessions/{id}", get_session, Data[Session]),
    route("PATCH", "/sessions/{id}", update_session, Data[Session], 409, 413, body=SessionPatch),
    route("DELETE", "/sessions/{id}", delete_session, Data[Deleted], 409),
    route("POST", "/sessions/{id}/character/sync", sync_character, Data[Session], 409, body=CharacterSync, body_optional=True),
    route("GET", "/sessions/{id}/active-run", get_active_run, Data[SessionRun], query=described(BranchQuery)),
    route("GET", "/sessions/{id}/timeline", get_timeline, ListData[Timeline], query=described(TimelineQuery)),
)
