"""Jobs: each is done by one process, again where that one died or failed, and a periodic one for ever."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select
from sqlalchemy.exc import ProgrammingError

from agentui.errors import Busy, StoreFailed
from agentui.jobs import runner as runner_module
from agentui.jobs.queue import (
    MOST_TRIES,
    Job,
    add,
    extend,
    finish,
    next_due,
    plan,
    release,
    release_others,
    retry,
    take,
    take_back,
)
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.tables import jobs
from tests.store.conftest import MakeStore, make_store

__all__ = ["make_store"]

KINDS = ("index", "sweep")


@pytest.fixture
async def store(make_store: MakeStore) -> AsyncIterator[Store]:  # the fixture
    """An empty store on each engine."""
    store = make_store()
    yield store
    await store.close()


async def taken(store: Store, owner: str, now: int = 10, until: int = 100) -> Job | None:
    job: Job | None = await store.write(take, owner, KINDS, now, until)
    return job


async def rows(store: Store) -> list[tuple[Json, ...]]:
    """Kind, due time, tries, error and owner of every job."""
    columns = (jobs.c.kind, jobs.c.due_at, jobs.c.tries, jobs.c.error, jobs.c.owner)
    return await store.read(lambda db: [tuple(row) for row in db.execute(select(*columns).order_by(jobs.c.id))])


async def test_a_job_is_taken_by_one_process_and_gone_when_it_is_done(store: Store) -> None:
    id = await store.write(add, "index", {"asset": "a"}, 5)
    assert await store.read(next_due, KINDS, 10) == 5
    job = await taken(store, "one")
    assert job == Job(id, "index", {"asset": "a"}, None, 1)
    assert await taken(store, "two") is None
    assert await store.read(next_due, KINDS, 10) == 100
    assert await store.write(take, "two", ("other",), 1000, 2000) is None
    assert await store.write(finish, "one", job, 20)
    assert await rows(store) == [] and not await store.write(finish, "one", job, 20)


async def test_many_who_take_at_once_never_take_the_same(store: Store) -> None:
    await store.write(lambda db: [add(db, "index", number, 5) for number in range(12)] and None)
    found = await asyncio.gather(*(taken(store, f"process {number}") for number in range(16)))
    done = [job.payload for job in found if job is not None]
    assert len(done) == len(set(done))
    while (job := await taken(store, "last")) is not None:  # those who met a locked row came away with nothing
        done.append(job.payload)
    assert sorted(done) == list(range(12))


async def test_a_job_of_a_process_that_died_is_taken_again(store: Store) -> None:
    await store.write(add, "index", None, 5)
    first = await taken(store, "one")
    assert first is not None
    assert await store.write(extend, "one", first, 200)
    assert await taken(store, "two", now=150) is None
    again = await taken(store, "two", now=200, until=300)
    assert again is not None and again.tries == 2
    assert not await store.write(extend, "one", first, 900)
    assert not await store.write(finish, "one", first, 210) and len(await rows(store)) == 1
    await store.write(release, "two")
    assert await taken(store, "three", now=210, until=900) is not None
    await store.write(release_others, "four")
    assert (await taken(store, "four", now=210) is None) is (store.status["engine"] == "postgresql")


async def test_a_failure_is_tried_again_after_longer_pauses_and_given_up_at_last(store: Store) -> None:
    await store.write(add, "index", None, 5)
    now, pauses = 10, []
    for _ in range(MOST_TRIES):
        job = await taken(store, "one", now, now + 5)
        assert job is not None
        await store.write(retry, "one", job, "It broke.", now)
        [(_, due, _, error, owner)] = await rows(store)
        assert (error, owner) == ("It broke.", None)
        pauses.append(None if due is None else due - now)
        now = due or now
    assert pauses == [2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, None]
    assert await taken(store, "one", now=10**12) is None


async def test_a_periodic_job_is_there_once_and_due_again_whatever_the_clock_does(store: Store) -> None:
    for _ in range(2):
        await store.write(plan, {"sweep": 1000}, 5)
    assert await taken(store, "one", now=1004) is None
    job = await taken(store, "one", now=1005, until=2000)
    assert job is not None and job.every_ms == 1000
    await store.write(finish, "one", job, 1010)
    assert await rows(store) == [("sweep", 2010, 0, None, None)]
    # The clock was set back by more than a period.
    assert await store.read(next_due, KINDS, 500) == 500
    assert await taken(store, "one", now=500) is not None


async def test_a_periodic_job_does_not_wait_for_many_others(store: Store) -> None:
    await store.write(add, "index", None, 1)
    await store.write(plan, {"sweep": 5}, 2)
    first, second = await taken(store, "one"), await taken(store, "one")
    assert [job and job.kind for job in (first, second)] == ["sweep", "index"]


async def test_a_job_with_an_id_of_its_own_is_there_once_and_taken_back_until_it_has_begun(store: Store) -> None:
    for _ in range(2):
        await store.write(add, "index", None, 5, id="index asset a")
    assert len(await rows(store)) == 1
    assert [await store.write(take_back, "index asset a") for _ in range(2)] == [True, False]
    await store.write(add, "index", None, 5, id="index asset a")
    assert await taken(store, "one") is not None
    await store.write(release, "one")
    assert not await store.write(take_back, "index asset a")


async def test_a_runner_does_what_is_due_and_goes_on_after_failures(store: Store) -> None:
    done: asyncio.Queue[Json] = asyncio.Queue()
    sweeps = asyncio.Queue[Json]()
    failures = [StoreFailed("The disk."), ValueError("a fault")]

    async def index(payload: Json) -> None:
        if payload == "bad" and failures:
            raise failures.pop()
        done.put_nowait(payload)

    async def sweep(_: Json) -> None:
        sweeps.put_nowait(None)

    runner = JobRunner(store, "one", poll_seconds=0.05)
    runner.handle("index", index)
    runner.handle("sweep", sweep, every_seconds=0.05)
    runner.start()
    await store.start()
    for payload in ("bad", "good", None):
        await runner.add("index", payload)
    async with asyncio.timeout(60):
        assert {await done.get(), await done.get()} == {"good", None}
        for _ in range(3):
            await sweeps.get()
    await runner.close()
    by_kind = {row[0]: row for row in await rows(store)}
    assert by_kind["index"][2:] == (1, "ValueError: a fault", None)
    assert by_kind["sweep"][4] is None


@pytest.mark.parametrize("call", ["plan", "next_due", "take", "extend", "finish", "retry"])
async def test_a_runner_outlives_an_error_of_the_database_that_has_no_name(
    store: Store, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, done = asyncio.Event(), asyncio.Queue[Json]()
    real = getattr(runner_module, call)

    def broken_once(*args: Json) -> Json:
        if not asked.is_set():
            asked.set()
            raise ProgrammingError("SELECT 1", {}, Exception("The database says what nobody expects."))
        return real(*args)

    async def index(payload: Json) -> None:
        await asked.wait() if call == "extend" else None
        done.put_nowait(payload)
        if payload == "bad" and done.qsize() == 1:
            raise StoreFailed("The disk.")

    monkeypatch.setattr(runner_module, call, broken_once)
    monkeypatch.setattr(runner_module, "RETRY_SECONDS", 0.01)
    runner = JobRunner(store, "one", poll_seconds=0.05, lease_seconds=0.3)
    runner.handle("index", index)
    runner.start()
    await store.start()
    await runner.add("index", "bad" if call == "retry" else "first")
    async with asyncio.timeout(60):
        await asked.wait()
        await runner.add("index", "later")
        while await done.get() != "later":
            pass
    assert runner._running is not None and not runner._running.done()
    await runner.close()


async def test_a_runner_that_closes_gives_back_what_it_was_doing(store: Store) -> None:
    begun = asyncio.Event()

    async def index(_: Json) -> None:
        begun.set()
        await asyncio.Event().wait()

    runner = JobRunner(store, "one", poll_seconds=0.05)
    runner.handle("index", index)
    await store.start()
    await store.write(add, "index", None, 1)
    runner.start()
    async with asyncio.timeout(60):
        await begun.wait()
    await runner.close()
    assert [row[4] for row in await rows(store)] == [None]


async def test_a_runner_opens_a_store_that_was_used_before_and_no_other(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "RETRY_SECONDS", 0.01)
    before, store = make_store(), make_store()
    if before.is_blank:
        runner = JobRunner(before, "none", poll_seconds=0.01)
        runner.start()
        for _ in range(3):
            await asyncio.sleep(0)
        await runner.close()
        assert before.status["open"] is False
    await before.write(add, "index", "left", 1)
    await before.close()
    away, real, done = [Busy("The database is away."), Busy("Still.")], store.start, asyncio.Queue[Json]()

    async def start() -> None:
        if away:
            raise away.pop()
        await real()

    monkeypatch.setattr(store, "start", start)
    runner = JobRunner(store, "one", poll_seconds=0.05)
    runner.handle("index", done.put)
    runner.start()
    async with asyncio.timeout(60):
        assert await done.get() == "left"
    await runner.close()
    await store.close()
