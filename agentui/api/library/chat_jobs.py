"""Chats that come in or go out in the background: asking for it, and how far it is."""

from functools import partial
from typing import Concatenate, ParamSpec

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
    list_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.keys import FILE_LIMITS, JOBS
from agentui.api.library.uploads import Upload, download, read_upload
from agentui.assets.files.limits import InvalidFile
from agentui.http.route import Route
from agentui.library import chat_jobs as rows
from agentui.library.chat_jobs import ChatTransferJob, ExportRequest, ImportRequest
from agentui.library.imports import refused
from agentui.schemas.files import ChatExportForm, ChatImport, ChatJobsQuery, ChatOptions
from agentui.schemas.forms import Data, ListData
from agentui.store.base import Transaction

P = ParamSpec("P")


async def import_chat(request: web.Request) -> web.Response:
    """Import a chat as a session in the background."""
    given = await read_upload(request, ChatOptions, ChatImport)
    options: ChatOptions = given.options if isinstance(given, Upload) else given
    data = given.data if isinstance(given, Upload) else given.data.encode("utf-8", "replace")
    try:
        request.app[FILE_LIMITS].check_size(data)
    except InvalidFile as error:
        raise refused(error) from error
    return await _queue(request, 202, rows.add_import, ImportRequest(data, options.title, options.character_id), now_ms())


async def export_chat(request: web.Request) -> web.Response:
    """Write a session as a file in the background."""
    id, form = path_id(request), await read_form(request, ChatExportForm, optional=True)
    wanted = ExportRequest(id, form.format, form.branch_id, form.include_variables)
    return await _queue(request, 202, rows.add_export, wanted, now_ms())


async def _queue(
    request: web.Request,
    status: int,
    transaction: Transaction[Concatenate[str, P], ChatTransferJob],
    *args: P.args,
    **kwargs: P.kwargs,
) -> web.Response:
    """Put a job down, and have it done soon."""
    answer = await write(request, partial(data_answer, status=status), transaction, *args, **kwargs)
    request.app[JOBS].look()
    return answer


async def list_jobs(request: web.Request) -> web.Response:
    """List the chats that come in or go out in the background."""
    query = read_query(request, ChatJobsQuery)
    return list_answer(await read(request, rows.list_jobs, query.paging, query.wanted), query.paging)


async def get_job(request: web.Request) -> web.Response:
    """Tell how far a chat is that comes in or goes out."""
    return data_answer(await read(request, rows.find_job, path_id(request)))


async def cancel_job(request: web.Request) -> web.Response:
    """End a job that has not ended; it leaves nothing."""
    return await write(request, data_answer, rows.cancel, path_id(request), now_ms())


async def retry_job(request: web.Request) -> web.Response:
    """Try a job again that failed or was cancelled."""
    return await _queue(request, 200, rows.again, path_id(request), now_ms())


async def get_file(request: web.Request) -> web.Response:
    """Download the file that an export wrote."""
    file = await read(request, rows.find_file, path_id(request))
    return download(file.data, file.name, file.media.ending, file.media.content_type)


_JOB = Data[ChatTransferJob]
ROUTES: tuple[Route, ...] = (
    route("POST", "/import/chat/jobs", import_chat, _JOB, 413, 429, body=ChatImport, status=202),
    route("POST", "/export/chat/{id}/jobs", export_chat, _JOB, 429, body=ChatExportForm, status=202),
    route("GET", "/chat-transfer-jobs", list_jobs, ListData[list[ChatTransferJob]], query=described(ChatJobsQuery)),
    route("GET", "/chat-transfer-jobs/{id}", get_job, _JOB),
    route("POST", "/chat-transfer-jobs/{id}/cancel", cancel_job, _JOB),
    route("POST", "/chat-transfer-jobs/{id}/retry", retry_job, _JOB, 429),
    route("GET", "/chat-transfer-jobs/{id}/file", get_file, bytes, 409, 410, content_type="application/octet-stream"),
)
