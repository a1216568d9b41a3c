"""``/memory/jobs``: what is to be written of memories, and what became of it (TavernHeadless' contract, 3.11)."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, described, list_answer, now_ms, read, read_query, route, validate, write
from agentui.api.keys import JOBS
from agentui.http.route import Route
from agentui.memories.writing import jobs
from agentui.memories.writing.jobs import MemoryJob, QueuedJob
from agentui.schemas.forms import Data, ListData
from agentui.schemas.memories import JobPath, JobQuery


async def list_jobs(request: web.Request) -> web.Response:
    """List the jobs that write memories."""
    query = read_query(request, JobQuery)
    return list_answer(await read(request, jobs.list_jobs, query.paging, query.filter), query.paging)


async def cancel_job(request: web.Request) -> web.Response:
    """Cancel a job that waits."""
    return await write(request, data_answer, jobs.cancel_job, _id(request), now_ms())


async def retry_job(request: web.Request) -> web.Response:
    """Let a job that was given up or cancelled be done after all."""
    answer = await write(request, data_answer, jobs.retry_job, _id(request), now_ms())
    request.app[JOBS].look()
    return answer


def _id(request: web.Request) -> str:
    return validate(JobPath, {"id": request.match_info["id"]}).id


_ALL, _EACH = "/memory/jobs", "/memory/jobs/{id}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_jobs, ListData[list[MemoryJob]], query=described(JobQuery)),
    route("POST", f"{_EACH}/cancel", cancel_job, Data[QueuedJob]),
    route("POST", f"{_EACH}/retry", retry_job, Data[QueuedJob]),
)
