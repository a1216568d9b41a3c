"""The memory's API: sessions, branches, floors, pages, messages, variables, Session State, prompts, and trials of lorebooks,
prompt presets and regex scripts, one file a resource."""

from agentui.api.chats import (
    branches,
    floors,
    live,
    lore_trial,
    messages,
    pages,
    preset_trial,
    prompt_explain,
    prompt_policy,
    prompt_runtime,
    regex_trial,
    sessions,
    state,
    state_observation,
    stopping,
    variables,
    working_variables,
)
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *branches.ROUTES,
    *floors.ROUTES,
    *live.ROUTES,
    *stopping.ROUTES,
    *pages.ROUTES,
    *messages.ROUTES,
    *variables.ROUTES,
    *working_variables.ROUTES,
    *prompt_policy.ROUTES,
    *prompt_runtime.ROUTES,
    *prompt_explain.ROUTES,
    *lore_trial.ROUTES,
    *preset_trial.ROUTES,
    *regex_trial.ROUTES,
    *state.ROUTES,
    *state_observation.ROUTES,
)
