"""Projects, in which sessions are (TavernHeadless' contract, 11). Answers are bare."""

from aiohttp import web

from agentui.api.chats.protocol import account_of, described, path_id, place_of, read, read_query, route
from agentui.chats import projects
from agentui.chats.projects import Project, ProjectPage, ProjectSessionPage, workspace_of
from agentui.chats.rows import find_scope
from agentui.http.route import Route, answer
from agentui.schemas.chats import SessionScope
from agentui.schemas.projects import (
    ProjectQuery,
    ProjectSessionQuery,
)


async def list_projects(request: web.Request) -> web.Response:
    """List the projects in which the caller is, the one that was changed last first."""
    query = read_query(request, ProjectQuery)
    return answer(await read(request, projects.list_projects, query.limit, place_of(query.cursor), query.role, query.status))


async def get_project(request: web.Request) -> web.Response:
    """Read a project."""
    return answer(await read(request, projects.find_project, path_id(request)))


async def list_sessions(request: web.Request) -> web.Response:
    """List the sessions of a project, the one that was changed last first."""
    id, query = path_id(request), read_query(request, ProjectSessionQuery)
    return answer(await read(request, projects.list_sessions_of, id, query.limit, place_of(query.cursor), query.status))


async def get_session_scope(request: web.Request) -> web.Response:
    """Say where a session belongs."""
    session, project_id = await read(request, find_scope, path_id(request))
    account = account_of(request)
    return answer(SessionScope(session.id, account, workspace_of(account), project_id))


ROUTES: tuple[Route, ...] = (
    route("GET", "/sessions/{id}/scope", get_session_scope, SessionScope),
    route("GET", "/projects", list_projects, ProjectPage, query=described(ProjectQuery)),
    route("GET", "/projects/{id}", get_project, Project),
    route("GET", "/projects/{id}/sessions", list_sessions, ProjectSessionPage, 409, query=described(ProjectSessionQuery)),
)
