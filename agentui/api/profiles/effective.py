"""``GET /sessions/{id}/effective-config``: what counts in a session, of what its account and the session say (TavernHeadless'
contract, 11.7). Bare, with names in camel case."""

from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from agentui.api.chats.protocol import account_of, path_id, read, route
from agentui.api.keys import LLM_PROFILES
from agentui.chats.projects import open_project, workspace_of
from agentui.chats.rows import find_scope
from agentui.http.route import Route, answer
from agentui.jsonio import Json
from agentui.profiles.records import SLOTS, Slot
from agentui.profiles.resolver import ProfileSource
from agentui.profiles.service import Selection


@dataclass(frozen=True, slots=True)
class EffectiveProfile:
    """The narrator's profile: bound for all chats of the workspace, or in the session; null where none serves it."""

    source: Literal["workspace", "session"]
    profileId: str | None
    override: None = None


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A profile that is bound and cannot serve: the code or the status by which, and the warning that runs give of it."""

    profileId: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EffectiveSlot:
    """What serves a slot and why, what was passed over for it, whether it acts, and the parameters that go with it."""

    slot: Slot
    source: ProfileSource
    profileId: str | None
    provider: str | None
    model: str | None
    reason: str
    skipped: list[PassedOver]
    enabled: bool
    presetId: str | None
    params: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ToolPolicies:
    """Projects have no policies of their own: what a session allows is told by ``/sessions/{id}/tool-permissions``."""

    overrides: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class McpBindings:
    """All MCP servers of the account are offered."""

    source: Literal["workspace"] = "workspace"
    bindings: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SessionOverrides:
    """What the session says itself: the profile that is bound in it, by its id."""

    llmProfile: str | None


@dataclass(frozen=True, slots=True)
class EffectiveConfig:
    """What counts in a session."""

    sessionId: str
    projectId: str
    workspaceId: str
    llmProfile: EffectiveProfile
    slots: list[EffectiveSlot]
    toolPolicies: ToolPolicies
    mcp: McpBindings
    sessionOverrides: SessionOverrides


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """What counts in a project: it says nothing itself yet, so that all of it is the workspace's."""

    projectId: str
    workspaceId: str
    llmProfile: EffectiveProfile
    toolPolicies: ToolPolicies
    mcp: McpBindings


async def effective_config(request: web.Request) -> web.Response:
    """Say what counts in a session: which profile serves each slot, and what the slots are to do."""
    account, id = account_of(request), path_id(request)
    session, project_id = await read(request, find_scope, id)
    selection = await request.app[LLM_PROFILES].select(account, id)
    slots = [_slot(selection, slot) for slot in SLOTS]
    narrator = slots[SLOTS.index("narrator")]
    is_own = narrator.source == "session_profile"
    profile = EffectiveProfile("session" if is_own else "workspace", narrator.profileId)
    own = SessionOverrides(narrator.profileId if is_own else None)
    place = session.id, project_id, workspace_of(account)
    return answer(EffectiveConfig(*place, profile, slots, ToolPolicies(), McpBindings(), own))


async def project_config(request: web.Request) -> web.Response:
    """Say what counts in a project, and where it comes from."""
    project = await read(request, open_project, path_id(request))
    selection = await request.app[LLM_PROFILES].select(account_of(request), None)
    profile = EffectiveProfile("workspace", _slot(selection, "narrator").profileId)
    return answer(ProjectConfig(project.id, project.workspace_id, profile, ToolPolicies(), McpBindings()))


def _slot(selection: Selection, slot: Slot) -> EffectiveSlot:
    choice, config = selection.choice(slot), selection.config(slot)
    profile = None if choice.binding is None else choice.binding.profile
    skipped = [PassedOver(each.profile_id, each.reason, each.warning(slot)) for each in choice.skipped]
    config_preset = None if config is None else config.preset_id
    return EffectiveSlot(
        slot,
        choice.source,
        None if profile is None else profile.id,
        None if profile is None else profile.provider,
        None if profile is None else profile.model_id,
        choice.reason,
        skipped,
        selection.is_enabled(slot),
        config_preset,
        selection.params(slot, choice),
    )


ROUTES: tuple[Route, ...] = (
    route("GET", "/sessions/{id}/effective-config", effective_config, EffectiveConfig),
    route("GET", "/projects/{id}/effective-config", project_config, ProjectConfig, 409),
)
