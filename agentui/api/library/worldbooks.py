"""Worldbooks: texts that come into a prompt when the chat speaks of them."""

from agentui.api.library.profiles import ProfileRoutes
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.library import NewWorldbook, WorldbookPut


def _content(form: NewWorldbook | WorldbookPut) -> dict[str, Json]:
    return form.data


KIND = ProfileRoutes("worldbook", "/worldbooks", NewWorldbook, WorldbookPut, _content)
ROUTES: tuple[Route, ...] = KIND.routes
