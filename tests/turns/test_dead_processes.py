"""Branches of processes that died on a shared PostgreSQL: free within a second, and never taken from one that lives."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import asyncpg
import pytest
from sqlalchemy import Connection
from sqlalchemy import text as sql

from agentui.chats.parts import Content
from agentui.errors import ApiError
from agentui.jobs.queue import Job, add, take
from agentui.jobs.runner import JobRunner
from agentui.jsonio import dumps
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store import process_lock
from agentui.store.postgres import PostgresStore
from agentui.turns.request import Outcome, TurnRequest
from agentui.turns.service import TurnService
from tests.api.callers import Caller
from tests.postgres import PATIENCE
from tests.turns.house import Memory, chain, target
from tests.turns.test_kill import FIND, Home
from tests.upstreams.server import Mock

LONG = 600.0
"""Seconds of a lease that nobody waits for."""


@asynccontextmanager
async def process_on(url: str, name: str) -> AsyncIterator[tuple[TurnService, PostgresStore]]:
    """What a server process has of the memory, under this name."""
    store = PostgresStore(url, pool_size=2, patience=PATIENCE)
    turns = TurnService(store, JobRunner(store, name), name, queue_seconds=0, is_alone=False, lease_seconds=LONG)
    try:
        yield turns, store
    finally:
        await turns.close()
        await store.close()


HELD = (
    "FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""The process locks of this database: the view lists those of all databases of the server, which other tests use."""
CUT = f"SELECT count(pg_terminate_backend(pid)) {HELD}"


RESTART_SECONDS = process_lock.RESTART_SECONDS
"""What processes of their own wait; ``old_server`` changes it in this one."""


async def held_by(count: int, url: str) -> None:
    """Wait until so many process locks are left: the database hears a moment later that a connection has ended."""
    admin = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(60):
            while await admin.fetchval(f"SELECT count(*) {HELD}") != count:  # noqa: ASYNC110  # the database tells nobody
                await asyncio.sleep(0.01)
    finally:
        await admin.close()


async def judging(url: str) -> None:
    """Wait until the database has been up for so long that a free lock tells of a dead process, and not of a restart."""
    admin = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(60):
            since = f"pg_postmaster_start_time() + interval '{RESTART_SECONDS} seconds'"
            await admin.execute(f"SELECT pg_sleep_until({since})")
    finally:
        await admin.close()


def take_index(db: Connection, owner: str) -> Job | None:
    return take(db, owner, ["index"], 2, 10**15)


@pytest.fixture(autouse=True)
def old_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' server has just started, which would make every lock count as held."""
    monkeypatch.setattr(process_lock, "RESTART_SECONDS", 0)


async def test_a_branch_whose_process_lost_its_lock_for_good_is_free_within_a_second(database: str) -> None:
    async with process_on(database, "one") as (dead, gone), process_on(database, "two") as (turns, _):
        lost = await dead.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", "s", user=Content("Hi")))
        await gone._process_lock.release()
        await held_by(0, database)
        began = time.monotonic()
        turn = await turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_2", "s", user=Content("Hi")))
        assert time.monotonic() - began < 60  # half a second, on a machine that does nothing else
        await turn.commit(Outcome(Content("Hello."), 1, 1))
        with pytest.raises(ApiError) as refused:
            await lost.commit(Outcome(Content("Too late."), 1, 1))
        assert refused.value.code == "commit_conflict"


async def test_a_process_that_loses_its_connection_takes_its_lock_again_and_keeps_its_turns(database: str) -> None:
    async with process_on(database, "one") as (owner, store), process_on(database, "two") as (turns, _):
        turn = await owner.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", "s", user=Content("Hi")))
        admin = await asyncpg.connect(database)
        cut = 0
        for _ in range(3):
            cut += await admin.fetchval(CUT)
            with pytest.raises(ApiError) as refused:
                await turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_2", "s", user=Content("Hi")))
            assert refused.value.code == "generation_conflict"
        await admin.close()
        assert cut >= 1 and store.lock_key is not None
        await turn.commit(Outcome(Content("Hello."), 1, 1))


async def test_a_server_that_has_just_started_says_of_nobody_that_he_is_dead(
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_lock, "RESTART_SECONDS", 10**6)
    async with process_on(database, "one") as (owner, store), process_on(database, "two") as (turns, _):
        turn = await owner.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", "s", user=Content("Hi")))
        await store._process_lock.release()
        with pytest.raises(ApiError):
            await turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_2", "s", user=Content("Hi")))
        await turn.commit(Outcome(Content("Hello."), 1, 1))


async def test_who_has_lost_its_own_lock_a_moment_ago_judges_nobody(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with process_on(database, "one") as (owner, gone), process_on(database, "two") as (turns, store):
        turn = await owner.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", "s", user=Content("Hi")))
        await turns.shared(DEFAULT_ACCOUNT)
        await gone._process_lock.release()
        await held_by(1, database)
        admin = await asyncpg.connect(database)
        assert await admin.fetchval(CUT) == 1
        await admin.close()
        monkeypatch.setattr(process_lock, "RESTART_SECONDS", 10**6)
        monkeypatch.setattr(process_lock, "_IS_FREE", sql("SELECT :restart > 0 AND pg_try_advisory_xact_lock_shared(:key)"))
        async with asyncio.timeout(60):
            while store.may_judge_locks:  # noqa: ASYNC110  # the lock tells nobody
                await asyncio.sleep(0.01)
        with pytest.raises(ApiError) as refused:
            await turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_2", "s", user=Content("Hi")))
        assert refused.value.code == "generation_conflict"
        monkeypatch.setattr(process_lock, "RESTART_SECONDS", 0)
        assert store.may_judge_locks
        await turn.commit(Outcome(Content("Hello."), 1, 1))


async def test_the_word_of_a_supervisor_frees_branches_and_jobs_at_once(database: str) -> None:
    async with process_on(database, "one") as (dead, store), process_on(database, "two") as (turns, other):
        await dead.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", "s", user=Content("Hi")))
        await store.write(add, "index", None, 1)
        assert await store.write(take_index, "one") and await other.write(take_index, "two") is None
        await turns.recovery.release("one")
        await (await turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_2", "s", user=Content("Hi")))).commit(
            Outcome(Content("Hello."), 1, 1)
        )
        assert await other.write(take_index, "two") is not None


@pytest.mark.timeout(300)
async def test_after_a_kill_the_next_turn_of_the_branch_is_answered_and_no_turn_is_lost(
    tmp_path: Path,
    mock: Mock,
    database: str,
) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "find.json").write_bytes(dumps(chain(FIND, target("caller", mock.origin))))
    home = Home(tmp_path, {"AGENTUI_DATABASE_URL": database})  # with the lease that everybody has
    headers = {"x-agentui-session": "s"}
    async with home.serving() as (process, doomed), home.serving() as (_, origin), aiohttp.ClientSession() as http:
        first = await Caller("openai", doomed, prefix="/p/find", headers=headers).ask("One")
        other = Caller("openai", origin, prefix="/p/find", headers=headers)
        assert (await other.ask("Two")).status == 200
        cut = asyncio.ensure_future(
            Caller("openai", doomed, prefix="/p/find", headers=headers).ask("Three", "hang", stream=True)
        )
        await mock.was_asked(3)
        assert (await other.ask("Not yet")).status == 409
        process.send_signal(signal.SIGKILL)
        await asyncio.gather(cut, return_exceptions=True)
        await held_by(1, database)
        await judging(database)
        began = time.monotonic()
        next = await other.ask("Four")
        assert next.status == 200, next.body
        assert time.monotonic() - began < 25  # a second, on a machine that does nothing else, and not the lease of 30
        memory, session = Memory(origin, http), first.headers["x-agentui-session"]
        assert await memory.states(session) == ["committed", "committed", "failed", "committed"]
        assert await memory.seen(session) == {"gold": 3}
