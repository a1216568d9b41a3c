"""Projects, in which sessions are. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Options
from agentui.sdk.shapes.chats.projects import Project, ProjectConfig, ProjectPage, ProjectSessionPage
from agentui.sdk.transport import Resource


class ProjectsListCall(Options):
    """What ``projects.list`` may be told."""

    role: NotRequired[Literal["owner", "observer", "deriver"]]
    """owner, observer or deriver: only those in which the caller is that."""
    status: NotRequired[Literal["active", "archived"]]
    """active or archived: only those."""
    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    cursor: NotRequired[str]
    """Where to go on: next_cursor of the answer before."""


class ProjectsListSessionsCall(Options):
    """What ``projects.list_sessions`` may be told."""

    status: NotRequired[Literal["active", "archived"]]
    """active or archived: only those."""
    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    cursor: NotRequired[str]
    """Where to go on: next_cursor of the answer before."""


_LIST = Endpoint[ProjectPage]("GET", "/projects", query=("role", "status", "limit", "cursor"), answer="whole")
_GET = Endpoint[Project]("GET", "/projects/{id}", answer="whole")
_LIST_SESSIONS = Endpoint[ProjectSessionPage](
    "GET", "/projects/{id}/sessions", query=("status", "limit", "cursor"), answer="whole"
)
_GET_EFFECTIVE_CONFIG = Endpoint[ProjectConfig]("GET", "/projects/{id}/effective-config", answer="whole")


class ProjectsResource(Resource):
    """Projects, in which sessions are."""

    def list(self, **given: Unpack[ProjectsListCall]) -> ProjectPage:
        """List the projects in which the caller is, the one that was changed last first. ``GET /projects``"""
        return self._call(_LIST, (), given)

    def get(self, project_id: str, **given: Unpack[Options]) -> Project:
        """Read a project. ``GET /projects/{id}``"""
        return self._call(_GET, (project_id,), given)

    def list_sessions(self, project_id: str, **given: Unpack[ProjectsListSessionsCall]) -> ProjectSessionPage:
        """List the sessions of a project, the one that was changed last first. ``GET /projects/{id}/sessions``"""
        return self._call(_LIST_SESSIONS, (project_id,), given)

    def get_effective_config(self, project_id: str, **given: Unpack[Options]) -> ProjectConfig:
        """Say what counts in a project, and where it comes from. ``GET /projects/{id}/effective-config``"""
        return self._call(_GET_EFFECTIVE_CONFIG, (project_id,), given)


class AsyncProjectsResource(AsyncResource):
    """Projects, in which sessions are."""

    async def list(self, **given: Unpack[ProjectsListCall]) -> ProjectPage:
        """List the projects in which the caller is, the one that was changed last first. ``GET /projects``"""
        return await self._call(_LIST, (), given)

    async def get(self, project_id: str, **given: Unpack[Options]) -> Project:
        """Read a project. ``GET /projects/{id}``"""
        return await self._call(_GET, (project_id,), given)

    async def list_sessions(self, project_id: str, **given: Unpack[ProjectsListSessionsCall]) -> ProjectSessionPage:
        """List the sessions of a project, the one that was changed last first. ``GET /projects/{id}/sessions``"""
        return await self._call(_LIST_SESSIONS, (project_id,), given)

    async def get_effective_config(self, project_id: str, **given: Unpack[Options]) -> ProjectConfig:
        """Say what counts in a project, and where it comes from. ``GET /projects/{id}/effective-config``"""
        return await self._call(_GET_EFFECTIVE_CONFIG, (project_id,), given)
