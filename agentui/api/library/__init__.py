"""The library's API: characters, users, prompt presets, worldbooks and regex profiles, one file a resource."""

from agentui.api.library import characters, exports, imports, presets, regexes, users, worldbooks
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (
    *characters.ROUTES,
    *users.ROUTES,
    *presets.ROUTES,
    *worldbooks.ROUTES,
    *regexes.ROUTES,
    *imports.ROUTES,
    *exports.ROUTES,
)
