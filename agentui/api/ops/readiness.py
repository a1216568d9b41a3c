"""Whether this server should be sent requests: ``GET /ready``, for load balancers and those who start servers."""

from dataclasses import dataclass

from aiohttp import web

from agentui.errors import InvalidPipeline, NotFound
from agentui.http.state import STATE, State
from agentui.jsonio import dumps


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the server is not ready. Anybody may ask, so it names no path, no host and no id."""

    code: str
    message: str


STOPPING = Reason("stopping", "The server is stopping.")
DATABASE_UNREACHABLE = Reason("database_unreachable", "The database cannot be reached.")
NO_ACTIVE_PIPELINE = Reason("no_active_pipeline", "No pipeline serves callers who name none.")


async def ready(request: web.Request) -> web.Response:
    """Say whether requests should be sent here: 200, or 503 with the reasons."""
    found = await _reasons(request.app[STATE])
    body = {"status": "not_ready" if found else "ready", "reasons": found}
    return web.Response(
        status=503 if found else 200,
        body=dumps(body),
        content_type="application/json",
        headers={"cache-control": "no-store"},
    )


async def _reasons(state: State) -> list[Reason]:
    """What speaks against sending requests here; nothing where all is well."""
    found = [STOPPING] if state.is_stopping else []
    # Without a database the memory is a file of this machine, and nothing is loaded to look at it.
    if state.settings.database_url is not None and not await state.store_health.answers():
        found.append(DATABASE_UNREACHABLE)
    if not _has_active_pipeline(state):
        found.append(NO_ACTIVE_PIPELINE)
    return found


def _has_active_pipeline(state: State) -> bool:
    try:
        state.pipelines.plan(state.pipelines.active)
    except (NotFound, InvalidPipeline):
        return False
    return True
