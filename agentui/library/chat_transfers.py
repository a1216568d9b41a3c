"""``ChatTransfers``: does the jobs of chats that come in or go out (``chat_jobs``), one attempt at a time."""

import logging
from functools import partial

from agentui.assets.files.chat_files import branch_to_write, read_chat, write_and_drop
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.errors import AgentUIError, ApiError
from agentui.ids import SystemClock
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.library.chat_jobs import (
    KIND,
    Attempt,
    ExportRequest,
    ImportRequest,
    JobError,
    begin,
    end_export,
    end_import,
    fail,
    tidy,
)
from agentui.library.imports import refused
from agentui.library.incoming import IncomingChat, incoming
from agentui.library.transfer import export_chat
from agentui.redaction import Redactor
from agentui.store.base import Store
from agentui.threads import apart, in_thread

TIDY_SECONDS = 3600.0
"""Between two looks for files and jobs that are kept no longer."""

log = logging.getLogger("agentui.library")
_now_ms = SystemClock().now_ms


class ChatTransfers:
    """Reads and writes as the routes do that answer at once: within ``limits``, what is long in a thread, and without keys in
    what is said of failures."""

    def __init__(self, store: Store, jobs: JobRunner, limits: FileLimits, redactor: Redactor) -> None:
        self._store = store
        self._limits = limits
        self._redactor = redactor
        jobs.handle(KIND, self._transfer)
        jobs.handle("chats.tidy_transfers", self._tidy, every_seconds=TIDY_SECONDS)

    async def _transfer(self, payload: Json) -> None:
        """Make an attempt, and write down how it ended. Raises the store's errors where that cannot be done: the runner asks
        for it again."""
        account = payload["account"]
        attempt = await self._store.write(begin, account, payload["id"], payload["ticket"], _now_ms())
        if attempt is None:
            return
        try:
            if isinstance(attempt.request, ImportRequest):
                await self._import(account, attempt, attempt.request)
            else:
                await self._export(account, attempt, attempt.request)
        except AgentUIError as error:
            details = error.problems if isinstance(error, ApiError) and error.problems else error.details
            told = JobError(error.code, self._redactor.redact(error.message), self._redactor.redact_json(details))
            await self._fail(account, attempt, told, is_final=error.status < 500)
        except Exception:
            log.exception("The job %s failed by a fault of agentui itself", attempt.id)
            told = JobError("internal_error", "Something went wrong inside the server; its log says what.", {})
            await self._fail(account, attempt, told, is_final=False)

    async def _import(self, account: str, attempt: Attempt, request: ImportRequest) -> None:
        try:
            file = await apart(len(request.data), partial(read_chat, request.data, self._limits))
        except InvalidFile as error:
            raise refused(error) from error
        chat = IncomingChat(file.record, request.title, request.character_id)
        async with incoming(self._store, account, chat, _now_ms()) as written:
            await self._store.write(end_import, account, attempt, written, file.report, _now_ms())

    async def _export(self, account: str, attempt: Attempt, request: ExportRequest) -> None:
        branch_id = branch_to_write(request.branch_id, request.format)
        wanted = {"include_variables": request.include_variables}
        record = [await self._store.read(export_chat, account, request.session_id, branch_id, **wanted)]
        data, name = await in_thread(partial(write_and_drop, record, request.format))
        await self._store.write(end_export, account, attempt, data, name, _now_ms())

    async def _fail(self, account: str, attempt: Attempt, error: JobError, *, is_final: bool) -> None:
        await self._store.write(fail, account, attempt, error, _now_ms(), is_final=is_final)

    async def _tidy(self, _: Json) -> None:
        await self._store.write(tidy, _now_ms())
