"""A chat that comes in or goes out in the background is done once or not at all, on both engines."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from agentui.assets.files.chat_files import read_chat
from agentui.assets.files.limits import FileLimits
from agentui.errors import ApiError, StoreFailed
from agentui.jobs.queue import add as add_job
from agentui.jobs.runner import JobRunner
from agentui.library import chat_jobs as jobs
from agentui.library import chat_transfers
from agentui.library.chat_jobs import Attempt, ChatTransferJob, ImportRequest, JobError
from agentui.library.chat_transfers import ChatTransfers
from agentui.library.incoming import IncomingChat
from agentui.redaction import Redactor
from agentui.store.base import Store
from agentui.store.tables import chat_jobs, sessions
from tests.chats.conftest import ME, Memory, make_store, memory
from tests.store.conftest import MakeStore
from tests.store.test_migrations import FOLDER, open_with
from tests.unit.assets.test_chats import CHAT

__all__ = ["make_store", "memory"]

REQUEST = ImportRequest(CHAT, "Night")
FILE = read_chat(CHAT, FileLimits())
BROKEN = JobError("store_failed", "The disk.", {})
ROOT = Path(__file__).parent.parent.parent


async def refusal(writing: Awaitable[Any]) -> str:
    """The code of an error."""
    with pytest.raises(ApiError) as refused:
        await writing
    return refused.value.code


async def begun(memory: Memory, id: str) -> Attempt | None:
    """An attempt with the ticket that the job has."""
    [row] = await memory.rows(select(chat_jobs.c.ticket).where(chat_jobs.c.id == id))
    attempt: Attempt | None = await memory.write(jobs.begin, id, row.ticket, memory.now)
    return attempt


async def begun_import(memory: Memory) -> Attempt:
    made: ChatTransferJob = await memory.write(jobs.add_import, REQUEST, memory.now)
    attempt = await begun(memory, made.id)
    assert attempt is not None and attempt.request == REQUEST
    return attempt


async def end_import(memory: Memory, attempt: Attempt) -> ChatTransferJob:
    await memory.write(jobs.end_import, attempt, IncomingChat(FILE.record, "Night"), FILE.report, memory.now)
    job: ChatTransferJob = await memory.read(jobs.find_job, attempt.id)
    return job


async def titles(memory: Memory) -> list[str]:
    """Of all sessions."""
    return [row.title for row in await memory.rows(select(sessions.c.title))]


async def files(memory: Memory) -> list[bytes | None]:
    """Of all jobs, the oldest first."""
    query = select(chat_jobs.c.data).order_by(chat_jobs.c.created_at)
    return [row.data and bytes(row.data) for row in await memory.rows(query)]


async def test_an_import_makes_its_session_and_forgets_its_file(memory: Memory) -> None:
    attempt = await begun_import(memory)
    ended = await end_import(memory, attempt)
    assert (ended.status, ended.format, ended.attempt_count) == ("succeeded", "st_jsonl", 1)
    assert ended.result is not None and ended.result.session_id == ended.result_session_id
    assert (await end_import(memory, attempt)).result_session_id == ended.result_session_id
    assert await titles(memory) == ["Night"] and await files(memory) == [None]
    for change in (jobs.cancel, jobs.again):
        assert await refusal(memory.write(change, attempt.id, memory.now)) == "invalid_state"


async def test_an_attempt_that_was_cancelled_leaves_nothing_also_after_another_began(memory: Memory) -> None:
    first = await begun_import(memory)
    assert (await memory.write(jobs.cancel, first.id, memory.now)).status == "cancelled"
    assert (await end_import(memory, first)).status == "cancelled"
    assert (await memory.write(jobs.again, first.id, memory.now)).status == "retry_waiting"
    assert await memory.write(jobs.begin, first.id, first.ticket, memory.now) is None
    second = await begun(memory, first.id)
    assert second is not None and second.number == first.number
    await memory.write(jobs.fail, first, BROKEN, memory.now, is_final=True)
    assert (await end_import(memory, first)).status == "running"
    assert (await end_import(memory, second)).status == "succeeded"
    assert await titles(memory) == ["Night"]


async def test_a_process_that_was_taken_for_dead_writes_nothing(memory: Memory) -> None:
    first = await begun_import(memory)
    second = await begun(memory, first.id)
    assert second is not None
    assert (await end_import(memory, first)).status == "running"
    assert (await end_import(memory, second)).status == "succeeded"
    assert await titles(memory) == ["Night"]


async def test_a_job_that_ends_its_server_each_time_fails(memory: Memory) -> None:
    attempt = await begun_import(memory)
    for _ in range(jobs.MOST_ATTEMPTS - 1):
        assert await begun(memory, attempt.id) is not None
    assert await begun(memory, attempt.id) is None
    job: ChatTransferJob = await memory.read(jobs.find_job, attempt.id)
    assert job.status == "dead_letter" and job.error is not None and job.error.code == "internal_error"
    assert (await memory.write(jobs.again, attempt.id, memory.now)).error is None
    assert await begun(memory, attempt.id) is not None


async def test_a_failure_is_tried_again_after_longer_pauses(memory: Memory) -> None:
    attempt: Attempt | None = await begun_import(memory)
    for number, status in ((1, "retry_waiting"), (2, "retry_waiting"), (3, "dead_letter")):
        assert attempt is not None and attempt.number == number
        await memory.write(jobs.fail, attempt, BROKEN, memory.now, is_final=False)
        job: ChatTransferJob = await memory.read(jobs.find_job, attempt.id)
        assert (job.status, job.error) == (status, BROKEN)
        if number < jobs.MOST_ATTEMPTS:
            assert job.available_at == memory.now + 5000 * number
            attempt = await begun(memory, job.id)


async def test_files_are_kept_for_a_while_and_not_too_many(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = [await begun_import(memory) for _ in range(3)]
    for attempt in ended:
        memory.now += 1
        await memory.write(jobs.fail, attempt, BROKEN, memory.now, is_final=True)
    monkeypatch.setattr(jobs, "MOST_JOBS", 1)
    memory.now += 1
    last = await begun_import(memory)
    await memory.write(jobs.cancel, last.id, memory.now)
    assert sorted(await files(memory), key=bool) == [None, None, None, CHAT]
    assert await refusal(memory.write(jobs.again, ended[0].id, memory.now)) == "invalid_state"
    await memory.store.write(jobs.tidy, memory.now + jobs.KEPT_MS)
    assert CHAT in await files(memory)
    await memory.store.write(jobs.tidy, memory.now + jobs.KEPT_MS + 1)
    assert CHAT not in await files(memory)
    await memory.store.write(jobs.tidy, memory.now + jobs.ROW_KEPT_MS + 1)
    assert await files(memory) == []


async def test_jobs_and_bytes_that_wait_are_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = await begun_import(memory)
    monkeypatch.setattr(jobs, "MOST_BYTES", 2 * len(CHAT) - 1)
    assert await refusal(memory.write(jobs.add_import, REQUEST, memory.now)) == "too_many_jobs"
    await memory.write(jobs.cancel, attempt.id, memory.now)
    await memory.write(jobs.add_import, REQUEST, memory.now)
    assert await refusal(memory.write(jobs.again, attempt.id, memory.now)) == "too_many_jobs"
    monkeypatch.setattr(jobs, "MOST_BYTES", 2 * len(CHAT))
    assert (await memory.write(jobs.again, attempt.id, memory.now)).status == "retry_waiting"
    monkeypatch.setattr(jobs, "MOST_JOBS", 2)
    assert await refusal(memory.write(jobs.add_import, REQUEST, memory.now)) == "too_many_jobs"


async def test_jobs_that_come_at_once_do_not_pass_the_bounds_together(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_JOBS", 3)
    stores = [make_store()]
    await stores[0].start()
    if stores[0].status["engine"] == "postgresql":
        stores.append(make_store())
    adding = (stores[number % len(stores)].write(jobs.add_import, ME, REQUEST, 1) for number in range(10))
    made = await asyncio.gather(*adding, return_exceptions=True)
    assert sum(isinstance(one, ChatTransferJob) for one in made) == 3
    assert {one.code for one in made if isinstance(one, ApiError)} == {"too_many_jobs"}
    for store in stores:
        await store.close()


@asynccontextmanager
async def worker(store: Store, name: str) -> AsyncIterator[None]:
    """A process that does jobs."""
    runner = JobRunner(store, name, poll_seconds=0.05)
    ChatTransfers(store, runner, FileLimits(), Redactor())
    runner.start()
    await store.start()
    yield
    await runner.close()
    await store.close()


async def ended(store: Store) -> list[Any]:
    """The jobs, once all of them have ended."""
    async with asyncio.timeout(120):
        while True:
            rows = await store.read(lambda db: list(db.execute(select(chat_jobs))))
            if all(row.finished_at for row in rows):
                return rows
            await asyncio.sleep(0.02)


async def test_workers_of_one_database_make_each_session_once(make_store: MakeStore) -> None:
    stores = [make_store()]
    await stores[0].start()
    if stores[0].status["engine"] == "postgresql":
        stores.append(make_store())
    for _ in range(12):
        await stores[0].write(jobs.add_import, ME, REQUEST, 1)
    # Background jobs that came twice do nothing the second time.
    for row in await stores[0].read(lambda db: list(db.execute(select(chat_jobs)))):
        await stores[0].write(add_job, jobs.KIND, {"account": ME, "id": row.id, "ticket": row.ticket}, 2)
    async with worker(stores[-1], "second"), worker(stores[0], "first"):
        rows = await ended(stores[0])
        assert {row.status for row in rows} == {"succeeded"}
        found = await stores[0].read(lambda db: list(db.execute(select(sessions.c.id)).scalars()))
        assert sorted(found) == sorted(row.result_session_id for row in rows)


async def test_what_fails_by_the_server_is_tried_again(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [StoreFailed("The disk."), ValueError("a fault")]

    def failing(*args: Any) -> Any:
        if faults:
            raise faults.pop()
        return read_chat(*args)

    monkeypatch.setattr(chat_transfers, "read_chat", failing)
    monkeypatch.setattr(jobs, "_PAUSE_MS", 1)
    store = make_store()
    await store.write(jobs.add_import, ME, REQUEST, 1)
    async with worker(store, "one"):
        [row] = await ended(store)
        assert (row.status, row.attempts, row.error_json) == ("succeeded", 3, None)


DYING = """
import asyncio, os, signal, sys
from agentui.assets.files.limits import FileLimits
from agentui.jobs.runner import JobRunner
from agentui.library import chat_jobs
from agentui.library.chat_transfers import ChatTransfers
from agentui.redaction import Redactor
from tests.store.test_migrations import FOLDER, open_with

def dying(*args, keep_chat=chat_jobs.keep_chat):
    keep_chat(*args)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    chat_jobs.keep_chat = dying
    store = open_with(sys.argv[1], FOLDER)
    runner = JobRunner(store, "first", poll_seconds=0.05, lease_seconds=1)
    ChatTransfers(store, runner, FileLimits(), Redactor())
    runner.start()
    await store.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_a_server_that_is_killed_in_the_middle_of_an_import_leaves_nothing_and_the_next_one_does_it(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    place = str(tmp_path / "agentui.db") if engine == "sqlite" else request.getfixturevalue("database")
    store = open_with(place, FOLDER)
    await store.write(jobs.add_import, ME, REQUEST, 1)
    await store.close()
    dead = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", DYING, place], cwd=ROOT, timeout=120)
    assert dead.returncode == -signal.SIGKILL
    store = open_with(place, FOLDER)
    assert await store.read(lambda db: list(db.execute(select(sessions.c.id)))) == []
    async with worker(store, "second"):
        [row] = await ended(store)
        assert (row.status, row.attempts) == ("succeeded", 2)
        assert len(await store.read(lambda db: list(db.execute(select(sessions.c.id))))) == 1
