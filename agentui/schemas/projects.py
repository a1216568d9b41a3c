"""The queries of projects over HTTP."""

from pydantic import Field

from agentui.chats.projects import ProjectRole, ProjectStatus
from agentui.chats.records import SessionStatus
from agentui.schemas.forms import Form


class ProjectQuery(Form):
    """Which projects."""

    role: ProjectRole | None = Field(None, description="owner, observer or deriver: only those in which the caller is that.")
    status: ProjectStatus | None = Field(None, description="active or archived: only those.")
    limit: int = Field(50, ge=1, le=200, description="Most items in the answer, at most 200.")
    cursor: str | None = Field(None, max_length=400, description="Where to go on: next_cursor of the answer before.")


class ProjectSessionQuery(Form):
    """Which sessions of a project."""

    status: SessionStatus | None = Field(None, description="active or archived: only those.")
    limit: int = Field(50, ge=1, le=200, description="Most items in the answer, at most 200.")
    cursor: str | None = Field(None, max_length=400, description="Where to go on: next_cursor of the answer before.")
