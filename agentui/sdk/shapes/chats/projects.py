"""What the server speaks of: chats, projects."""

from __future__ import annotations

from typing import Literal, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.chats.common import EffectiveProfile, McpBindings, ToolPolicies


class Project(TypedDict):
    """A project, as the caller sees it: ``role`` is the caller's."""

    id: str
    workspace_id: str
    account_id: str
    name: str
    description: str | None
    kind: Literal["session_default", "manual"]
    status: Literal["active", "archived"]
    role: Literal["owner", "observer", "deriver"]
    settings_override: dict[str, Json]
    created_at: int
    updated_at: int


class ProjectConfig(TypedDict):
    """What counts in a project: it says nothing itself yet, so that all of it is the workspace's."""

    projectId: str
    workspaceId: str
    llmProfile: EffectiveProfile
    toolPolicies: ToolPolicies
    mcp: McpBindings


class ProjectPage(TypedDict):
    """A part of a list of projects, and where the next begins."""

    items: list[Project]
    next_cursor: str | None


class ProjectSession(TypedDict):
    """A session as a part of its project."""

    id: str
    workspace_id: str
    project_id: str
    title: str | None
    status: Literal["active", "archived"]
    created_at: int
    updated_at: int


class ProjectSessionPage(TypedDict):
    """A part of a list of sessions, and where the next begins."""

    items: list[ProjectSession]
    next_cursor: str | None
