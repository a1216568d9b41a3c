"""Regex profiles: scripts that change what is said, what a model is sent and what is shown."""

from agentui.api.library.profiles import ProfileRoutes
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.library import NewRegexProfile, RegexProfilePut


def _content(form: NewRegexProfile | RegexProfilePut) -> dict[str, Json]:
    return {"name": form.name, "scripts": form.data}


KIND = ProfileRoutes("regex", "/regex-profiles", NewRegexProfile, RegexProfilePut, _content)
ROUTES: tuple[Route, ...] = KIND.routes
