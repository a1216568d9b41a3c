"""By which rules prompts are assembled: modes, and the policies of sessions and branches."""

from dataclasses import asdict

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.chats import conversations
from agentui.chats.frozen import Frozen, with_frozen
from agentui.chats.policies import PolicyEnvelope, StoredPolicies, patch_policy, read_policies, read_ruled
from agentui.chats.records import Session
from agentui.chats.rows import find_session
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.library.bound import find_bound, named_assets
from agentui.prompt.capabilities import LIMITATIONS, capabilities
from agentui.prompt.explain import PromptScope, diagnostics, shown_policy, shown_sources
from agentui.prompt.modes import ModeView, resolve_mode
from agentui.schemas.forms import Data
from agentui.schemas.prompt_runtime import (
    AssetsView,
    ModePatch,
    PolicyPatch,
    PolicyView,
    RuntimeQuery,
    RuntimeState,
)
from agentui.turns.rules import resolved


async def get_capabilities(request: web.Request) -> web.Response:
    """Say what the prompt runtime can do."""
    return data_answer(capabilities())


async def get_runtime(request: web.Request) -> web.Response:
    """Say by which rules the next prompt of a branch is assembled."""
    id, query = path_id(request), read_query(request, RuntimeQuery)
    found = await read(request, read_ruled, id, query.branch_id)
    resolution, session, branch = resolved(found.policies), found.policies.session, found.policies.branch
    scope = PromptScope(id, query.branch_id, True, None, query.branch_id, "existing_branch")
    return data_answer(
        RuntimeState(
            scope=scope,
            mode=mode_of(found.session),
            policy=shown_policy(resolution),
            persistent_policy=dict(session.value) if session is not None else {},
            persistent_policy_envelope=session,
            branch_persistent_policy=dict(branch.value) if branch is not None else None,
            branch_persistent_policy_envelope=branch,
            assets=AssetsView(**await _assets(request, found.session, found.frozen)),
            source_map=shown_sources(resolution, scope),
            warnings=list(resolution.warnings),
            diagnostics=diagnostics(resolution),
            limitations=list(LIMITATIONS),
        )
    )


async def get_mode(request: web.Request) -> web.Response:
    """Say which prompt mode a session has, and where it comes from."""
    return data_answer(mode_of(await read(request, find_session, path_id(request))))


async def update_mode(request: web.Request) -> web.Response:
    """Give a session a prompt mode of its own; null takes it away."""
    id, form = path_id(request), await read_form(request, ModePatch)
    return await write(
        request, lambda session: data_answer(mode_of(session)), conversations.update_session, id, form.given, now_ms()
    )


async def get_assets(request: web.Request) -> web.Response:
    """Say what the prompts of a session are made of."""
    return data_answer(await _assets(request, await read(request, find_session, path_id(request))))


async def _assets(request: web.Request, session: Session, frozen: Frozen | None = None) -> dict[str, Json]:
    bindings = with_frozen(asdict(session), frozen)
    return named_assets(bindings, await read(request, find_bound, bindings))


async def get_policy(request: web.Request) -> web.Response:
    """Read the policy that a session keeps, and what it comes to."""
    return _session_view(await read(request, read_policies, path_id(request)))


async def update_policy(request: web.Request) -> web.Response:
    """Change the policy that a session keeps; null clears a section."""
    id, form = path_id(request), await read_form(request, PolicyPatch)
    return await write(request, _session_view, patch_policy, id, None, form.given, now_ms())


async def get_branch_policy(request: web.Request) -> web.Response:
    """Read what a branch has otherwise than its session, and what that comes to."""
    return _branch_view(await read(request, read_policies, path_id(request), path_id(request, "branch")))


async def update_branch_policy(request: web.Request) -> web.Response:
    """Change what a branch has otherwise than its session; null clears a section."""
    id, branch_id, form = path_id(request), path_id(request, "branch"), await read_form(request, PolicyPatch)
    return await write(request, _branch_view, patch_policy, id, branch_id, form.given, now_ms())


def mode_of(session: Session) -> ModeView:
    """The prompt mode of a session."""
    return resolve_mode(session.prompt_mode, session.metadata)


def _session_view(policies: StoredPolicies) -> web.Response:
    return _view(policies.session, policies)


def _branch_view(policies: StoredPolicies) -> web.Response:
    return _view(policies.branch, policies)


def _view(kept: PolicyEnvelope | None, policies: StoredPolicies) -> web.Response:
    resolution = resolved(policies)
    value = dict(kept.value) if kept is not None else {}
    return data_answer(PolicyView(value, kept, shown_policy(resolution), list(resolution.warnings)))


ROUTES: tuple[Route, ...] = (
    route("GET", "/prompt-runtime/capabilities", get_capabilities, Data[dict[str, Json]]),
    route("GET", "/sessions/{id}/prompt-runtime", get_runtime, Data[RuntimeState], query=described(RuntimeQuery)),
    route("GET", "/sessions/{id}/prompt-runtime/assets", get_assets, Data[AssetsView]),
    route("GET", "/sessions/{id}/prompt-runtime/mode", get_mode, Data[ModeView]),
    route("PATCH", "/sessions/{id}/prompt-runtime/mode", update_mode, Data[ModeView], body=ModePatch),
    route("GET", "/sessions/{id}/prompt-runtime/policy", get_policy, Data[PolicyView]),
    route("PATCH", "/sessions/{id}/prompt-runtime/policy", update_policy, Data[PolicyView], 413, body=PolicyPatch),
    route("GET", "/sessions/{id}/prompt-runtime/branches/{branch}/policy", get_branch_policy, Data[PolicyView]),
    route(
        "PATCH",
        "/sessions/{id}/prompt-runtime/branches/{branch}/policy",
        update_branch_policy,
        Data[PolicyView],
        413,
        body=PolicyPatch,
    ),
)
