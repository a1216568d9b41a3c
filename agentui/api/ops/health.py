"""Whether this server is up and should be sent requests: ``GET /health`` and ``GET /ready``, for load balancers and those who
start servers; and which one it is, ``GET /version``."""

from dataclasses import dataclass

from aiohttp import web

from agentui import __version__
from agentui.api.keys import PIPELINES, STOPPING, STORE, STORE_HEALTH
from agentui.errors import InvalidPipeline, NotFound
from agentui.http.keys import SETTINGS
from agentui.http.limits import LIMITS
from agentui.jsonio import dumps
from agentui.pipeline.library import PipelineLibrary


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the server is not ready. Anybody may ask, so it names no path, no host and no id."""

    code: str
    message: str


SERVICE = "agentui"
"""What this server calls itself."""

SERVER_STOPPING = Reason("stopping", "The server is stopping.")
DATABASE_UNREACHABLE = Reason("database_unreachable", "The database cannot be reached.")
NO_ACTIVE_PIPELINE = Reason("no_active_pipeline", "No pipeline serves callers who name none.")


async def health(request: web.Request) -> web.Response:
    """Say that the server is up, and what it would run."""
    pipelines, store = request.app[PIPELINES], request.app[STORE].status
    # Who starts servers again must not wait for a database, nor take its failure for the server's.
    is_away = request.app[SETTINGS].database_url is not None and not request.app[STORE_HEALTH].answered()
    body = {
        "ok": True,
        "status": "ok",
        "service": SERVICE,
        "version": __version__,
        "database": "unreachable" if is_away else "full" if store["full"] else "read_only" if store["read_only"] else "ready",
        "active_pipeline": next((entry.id for entry in pipelines.entries() if pipelines.is_active(entry.id)), None),
        "in_flight": request.app[LIMITS].in_flight,
        # Anybody may ask, so no path and no reason: those are in the log.
        "store": {name: store[name] for name in ("engine", "open", "read_only", "full")},
    }
    return web.Response(body=dumps(body), content_type="application/json")


async def version(request: web.Request) -> web.Response:
    """Say which version of what this is."""
    # Anybody may ask, so nothing of what it runs on.
    body = {"version": __version__, "service": SERVICE}
    return web.Response(body=dumps(body), content_type="application/json")


async def ready(request: web.Request) -> web.Response:
    """Say whether requests should be sent here: 200, or 503 with the reasons."""
    found = await _reasons(request.app)
    body = {"status": "not_ready" if found else "ready", "reasons": found}
    return web.Response(
        status=503 if found else 200,
        body=dumps(body),
        content_type="application/json",
        headers={"cache-control": "no-store"},
    )


async def _reasons(app: web.Application) -> list[Reason]:
    """What speaks against sending requests here; nothing where all is well."""
    found = [SERVER_STOPPING] if app[STOPPING].is_set() else []
    # Without a database the memory is a file of this machine, and nothing is loaded to look at it.
    if app[SETTINGS].database_url is not None and not await app[STORE_HEALTH].answers():
        found.append(DATABASE_UNREACHABLE)
    if not _has_active_pipeline(app[PIPELINES]):
        found.append(NO_ACTIVE_PIPELINE)
    return found


def _has_active_pipeline(pipelines: PipelineLibrary) -> bool:
    try:
        pipelines.plan(pipelines.active)
    except (NotFound, InvalidPipeline):
        return False
    return True
