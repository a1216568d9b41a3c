"""The memory's API: sessions, branches, floors, pages, messages, variables, Session State, prompts, and trials of lorebooks,
prompt presets and regex scripts, one file a resource."""

from agentui.api.chats import (
    branches,
    floors,
    live,
    loretest,
    messages,
    pages,
    presettest,
    promptexplain,
    promptpolicy,
    promptruntime,
    regextest,
    sessions,
    state,
    stateobservation,
    stopping,
    variables,
    workingvariables,
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
    *workingvariables.ROUTES,
    *promptpolicy.ROUTES,
    *promptruntime.ROUTES,
    *promptexplain.ROUTES,
    *loretest.ROUTES,
    *presettest.ROUTES,
    *regextest.ROUTES,
    *state.ROUTES,
    *stateobservation.ROUTES,
)
