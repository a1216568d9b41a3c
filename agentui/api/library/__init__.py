"""The library's API: characters, users, prompt presets, worldbooks and regex profiles, one file a resource."""

from agentui.api.library import (
    characters,
    chat_jobs,
    exports,
    imports,
    pictures,
    preset_entries,
    presets,
    regexes,
    tags,
    users,
    worldbook_entries,
    worldbooks,
)
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *characters.ROUTES,
    *users.ROUTES,
    *tags.ROUTES,
    *pictures.ROUTES,
    *presets.ROUTES,
    *preset_entries.ROUTES,
    *worldbooks.ROUTES,
    *worldbook_entries.ROUTES,
    *regexes.ROUTES,
    *imports.ROUTES,
    *exports.ROUTES,
    *chat_jobs.ROUTES,
)
