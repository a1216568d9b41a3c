"""SQLite's own faults: locks, full disks, damaged files, second processes, and the copies that help."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from agentui.errors import AgentUIError, Busy, StoreFull, StoreInUse, StoreReadOnly
from agentui.store.backups import DAY, Backups
from agentui.store.migrations import current_revision, head_revision
from agentui.store.reserve import FILE as RESERVE_FILE
from agentui.store.sqlite import SqliteStore
from tests.sqlite import RESERVE
from tests.store.ledger import count, enter, entries, ids, make_ledger

ROOT = Path(__file__).parent.parent.parent


class MovedClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.ms = 1_750_000_000_000

    def monotonic(self) -> float:
        return self.ms / 1000

    def now_ms(self) -> int:
        return self.ms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "data" / "agentui.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """A running store that waits three seconds for locks: long against what a busy machine keeps a thread waiting."""
    store = SqliteStore(path, busy_timeout=3.0, reserve=RESERVE)
    await store.start()
    await store.write(make_ledger)
    yield store
    await store.close()


def other_program(path: Path) -> sqlite3.Connection:
    """A connection as another program would have."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def pragma(db: Connection, name: str) -> object:
    """What SQLite says about the connection."""
    return db.exec_driver_sql(f"PRAGMA {name}").scalar()


async def test_a_commit_waits_for_the_disk_and_readers_do_not_wait_for_writers(store: SqliteStore) -> None:
    assert await store.write(pragma, "synchronous") == 2
    assert await store.write(pragma, "journal_mode") == "wal"
    assert await store.write(pragma, "foreign_keys") == 1
    assert await store.read(pragma, "query_only") == 1


def end_transaction(db: Connection, id: str) -> str:
    """What a function must not do: write, and go on although its transaction has ended under it."""
    enter(db, id)
    db.exec_driver_sql("ROLLBACK")
    return id


async def test_a_function_that_lost_its_transaction_fails_and_its_neighbours_do_not(store: SqliteStore) -> None:
    with pytest.raises(sqlite3.OperationalError, match="ended its transaction"):
        await store.write(end_transaction, "alone")
    work = [store.write(end_transaction if n == 7 else enter, str(n)) for n in range(20)]
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    assert [n for n, outcome in enumerate(outcomes) if isinstance(outcome, BaseException)] == [7]
    assert await store.read(ids) == {str(n) for n in range(20)} - {"7"}


async def test_nobody_else_may_look_into_the_folder(store: SqliteStore, path: Path) -> None:
    assert path.parent.stat().st_mode & 0o077 == 0


# Locks (reliability S4, S5)


async def test_a_lock_that_ends_in_time_is_waited_for(store: SqliteStore, path: Path) -> None:
    with closing(other_program(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        write = asyncio.create_task(store.write(enter, "1"))
        await asyncio.sleep(0.3)
        assert not write.done()
        other.execute("COMMIT")
        assert await write == "1"


async def test_a_lock_that_stays_is_busy_and_nothing_is_half(store: SqliteStore, path: Path) -> None:
    with closing(other_program(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(*(store.write(enter, str(n)) for n in range(5)), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Busy] * 5
        assert isinstance(outcomes[0], Busy)
        assert (outcomes[0].status, outcomes[0].retry_after) == (503, 1)
        assert await store.read(count) == 0
        other.execute("ROLLBACK")
    assert await store.write(enter, "after") == "after"


async def test_each_waits_its_own_time_for_a_lock(store: SqliteStore, path: Path) -> None:
    with closing(other_program(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        early = asyncio.create_task(store.write(enter, "early"))
        await asyncio.sleep(1.5)
        late = asyncio.create_task(store.write(enter, "late"))
        with pytest.raises(Busy):
            await early
        other.execute("ROLLBACK")
        assert await late == "late"


async def test_a_reader_that_is_locked_out_is_busy(store: SqliteStore, path: Path) -> None:
    await store.close()
    with closing(other_program(path)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Busy):
            await SqliteStore(path, busy_timeout=0.2, reserve=RESERVE).start()


HOLD = """
import asyncio, sys
from pathlib import Path
from agentui.store.sqlite import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]), reserve=65536)
    await store.start()
    print("started", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def python(code: str, *arguments: str) -> "subprocess.Popen[str]":
    """Run Python code in a process of its own."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)


async def test_a_second_process_is_refused_with_the_first_ones_pid_until_that_is_gone(path: Path) -> None:
    store = SqliteStore(path, reserve=RESERVE)
    with python(HOLD, str(path)) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "started\n"
        with pytest.raises(StoreInUse, match=str(first.pid)) as refused:
            await store.start()
        assert refused.value.details["pid"] == first.pid
        first.kill()
    await store.start()
    await store.close()


async def test_a_second_store_of_the_same_process_is_refused_too(store: SqliteStore, path: Path) -> None:
    with pytest.raises(StoreInUse):
        await SqliteStore(path, reserve=RESERVE).start()
    assert await store.write(enter, "still works")


# A full disk (reliability S3)


def limit_pages(db: Connection, pages: int) -> None:
    """Let the file grow to so many pages only."""
    db.exec_driver_sql(f"PRAGMA max_page_count={pages}")


async def test_a_full_disk_says_so_loses_nothing_and_works_again(store: SqliteStore, path: Path) -> None:
    reserve = path.parent / RESERVE_FILE
    assert reserve.stat().st_size == RESERVE
    await store.write(limit_pages, 60)
    kept = set()
    with pytest.raises(StoreFull) as full:
        for n in range(1000):
            kept.add(await store.write(enter, str(n), note="x" * 3000))
    assert full.value.status == 507
    assert (store.status["full"], reserve.stat().st_size) == (True, RESERVE)  # it is for what removes something
    assert await store.read(ids) == kept
    with pytest.raises(StoreFull):
        await store.write(enter, "large", note="x" * 1_000_000)
    assert await store.read(ids) == kept

    await store.write(limit_pages, 100_000)
    await store.write(enter, "again", note="x" * 3000)
    assert await store.read(ids) == kept | {"again"}
    assert (store.status["full"], reserve.stat().st_size) == (False, RESERVE)


async def test_a_small_write_beside_one_that_fills_the_disk_is_kept(store: SqliteStore) -> None:
    await store.write(limit_pages, 60)
    small, large, small_too = await asyncio.gather(
        store.write(enter, "small"),
        store.write(enter, "large", note="x" * 1_000_000),
        store.write(enter, "small too"),
        return_exceptions=True,
    )
    assert (small, type(large), small_too) == ("small", StoreFull, "small too")
    assert await store.read(ids) == {"small", "small too"}


FILL = """
import asyncio, resource, sys
from pathlib import Path
from agentui.errors import StoreFull
from agentui.store.sqlite import SqliteStore
from tests.store.turns import open_session, rows_by_turn, save_turn

async def main():
    path = Path(sys.argv[1])
    store = SqliteStore(path, reserve=65536)
    await store.start()
    await store.write(open_session, "b")
    kept, refused = set(), 0
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for n in range(int(sys.argv[2])):
        log = path.with_name(path.name + "-wal")
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + n * 1024, most))
        try:
            kept.add(await store.write(save_turn, "b", n))
        except StoreFull:
            refused += 1
        assert set(await store.read(rows_by_turn)) == kept
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        kept.add(await store.write(save_turn, "b", 10_000 + n))
    turns = await store.read(rows_by_turn)
    assert set(turns) == kept and set(turns.values()) == {7}, turns
    assert 0 < refused < int(sys.argv[2]), refused
    await store.close()
    print("whole", flush=True)

asyncio.run(main())
"""


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limits")
def test_a_disk_that_fills_at_any_byte_of_a_turn_leaves_whole_turns(path: Path) -> None:
    with python(FILL, str(path), "60") as process:
        output, _ = process.communicate(timeout=250)
    assert output == "whole\n"


QUOTA = """
import resource, sys
from pathlib import Path
from agentui.store.reserve import FILE, Reserve

folder = Path(sys.argv[1]).parent
folder.mkdir(exist_ok=True)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
for there in (None, 1000):
    if there is not None:
        (folder / FILE).write_bytes(bytes(there))
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, most))
    assert not Reserve(folder, 65536).make()
    assert (folder / FILE).exists() == (there is not None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
assert (folder / FILE).stat().st_size == 1000
assert Reserve(folder, 65536).make()
print("left", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limits")
def test_a_reserve_for_which_a_quota_has_no_room_takes_nothing_of_what_is_left(path: Path) -> None:
    with python(QUOTA, str(path)) as process:
        output, _ = process.communicate(timeout=60)
    assert output == "left\n"


async def test_a_disk_without_room_for_the_reserve_is_worked_on_without_it(store: SqliteStore, path: Path) -> None:
    await store.close()
    reserve = path.parent / RESERVE_FILE
    assert reserve.exists()
    again = SqliteStore(path, reserve=1 << 60)
    reserve.unlink()
    await again.start()  # no disk has room for this reserve: the store works without it
    assert not reserve.exists()
    assert await again.write(enter, "1") == "1"
    await again.close()


START_FULL = """
import asyncio, resource, sys
from pathlib import Path
from agentui.errors import StoreFull
from agentui.store.sqlite import SqliteStore
from tests.store.turns import rows_by_turn

async def main():
    store = SqliteStore(Path(sys.argv[1]), reserve=65536)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
    try:
        await store.start()
    except StoreFull:
        print("full", flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await store.start()
    print(await store.read(rows_by_turn), flush=True)
    await store.close()

asyncio.run(main())
"""


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limits")
def test_a_start_on_a_full_disk_says_so_and_works_when_there_is_room(path: Path) -> None:
    with python(START_FULL, str(path)) as process:
        output, _ = process.communicate(timeout=250)
    assert output == "full\n{}\n"


# A damaged file (reliability S6)


async def filled(store: SqliteStore, path: Path) -> bytes:
    """Write until there are a hundred pages, close, and return the file."""
    for n in range(100):
        await store.write(enter, f"{n:03}", note=str(n) * 1000)
    await store.close()
    return contents(path)


def contents(path: Path) -> bytes:
    """What the file holds."""
    return path.read_bytes()


def replace(path: Path, data: bytes) -> None:
    """Let something else write the file."""
    path.write_bytes(data)


def overwritten(data: bytes, start: int, length: int) -> bytes:
    """The file with zeros there."""
    return data[:start] + bytes(length) + data[start + length :]


@pytest.fixture
def in_the_way(path: Path) -> Path:
    """A folder where the database belongs."""
    path.mkdir(parents=True)
    return path


async def test_a_folder_in_the_files_place_is_told_and_can_be_moved_away(in_the_way: Path, path: Path) -> None:
    store = SqliteStore(path, reserve=RESERVE)
    with pytest.raises(StoreReadOnly, match=r"agentui\.db is a folder"):
        await store.start()
    await asyncio.to_thread(in_the_way.rmdir)
    await store.start()
    assert await store.read(current_revision) == head_revision()
    await store.close()


@pytest.mark.parametrize("damage", ["pages", "not a database", "header", "cut"])
async def test_a_damaged_file_is_opened_for_reading_only_and_left_as_it_is(store: SqliteStore, path: Path, damage: str) -> None:
    whole = await filled(store, path)
    damaged = {
        "pages": overwritten(whole, len(whole) // 2, 40_000),
        "not a database": b"Dear diary, " * 1000,
        "header": overwritten(whole, 0, 100),
        "cut": whole[: len(whole) // 2 + 100],
    }[damage]
    replace(path, damaged)

    await store.start()
    assert store.status["read_only"] is True
    assert "is damaged" in store.status["reason"]
    with pytest.raises(StoreReadOnly, match="is damaged"):
        await store.write(enter, "no")
    try:
        assert await store.read(lambda db: db.scalar(select(entries.c.id).where(entries.c.id == "001"))) in ("001", None)
    except StoreReadOnly as unreadable:
        assert "is damaged" in unreadable.message
    await store.close()
    assert contents(path) == damaged


async def test_what_can_still_be_read_is_read(store: SqliteStore, path: Path) -> None:
    whole = await filled(store, path)
    replace(path, overwritten(whole, whole.index(b"50" * 1000), 2000 + 4096))
    await store.start()
    assert store.status["read_only"] is True
    query = select(entries.c.note).where(entries.c.id == "001")
    assert await store.read(lambda db: db.scalar(query)) == "1" * 1000


async def test_damage_names_the_newest_backup(store: SqliteStore, path: Path) -> None:
    whole = await filled(store, path)
    copy = Backups(path, MovedClock()).make_if_due()
    replace(path, overwritten(whole, len(whole) // 2, 40_000))
    await store.start()
    # Callers are told the reason, but no folder of this machine.
    assert copy.name in store.status["reason"] and str(path.parent) not in store.status["reason"]
    assert store.status["last_backup"]["path"] == str(copy)


async def test_damage_that_shows_while_running_stops_writing(store: SqliteStore, path: Path) -> None:
    whole = await filled(store, path)
    await store.start()
    replace(path, overwritten(whole, 4096, len(whole) - 4096))
    with pytest.raises(StoreReadOnly):
        await store.read(lambda db: list(db.execute(select(entries))))
    with pytest.raises(StoreReadOnly):
        await store.write(enter, "no")
    assert store.status["read_only"] is True


@pytest.mark.parametrize("where", ["header", "anywhere"])
async def test_no_flipped_byte_makes_the_start_crash_or_the_file_go(store: SqliteStore, path: Path, where: str) -> None:
    whole = await filled(store, path)
    chance = random.Random(7)
    for n in range(100):
        flipped = bytearray(whole)
        flipped[n if where == "header" else chance.randrange(len(whole))] ^= chance.randrange(1, 256)
        replace(path, flipped)
        another = SqliteStore(path, readers=1, busy_timeout=0.1, reserve=RESERVE)
        try:
            await another.start()
            await another.read(count)
        except AgentUIError:
            pass
        finally:
            is_read_only = another.status["read_only"]
            await another.close()
        assert len(contents(path)) >= len(whole) // 2
        if is_read_only:
            assert contents(path) == bytes(flipped)


async def test_a_file_of_a_newer_version_is_read_but_not_written(store: SqliteStore, path: Path) -> None:
    await store.write(enter, "1")
    await store.write(lambda db: db.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'") and None)
    await store.close()
    await store.start()
    assert "a newer one wrote it" in store.status["reason"]
    assert await store.read(ids) == {"1"}
    with pytest.raises(StoreReadOnly):
        await store.write(enter, "2")


# Copies


async def test_a_copy_is_made_once_a_day_while_the_store_works_and_seven_are_kept(store: SqliteStore, path: Path) -> None:
    clock = MovedClock()
    backups = Backups(path, clock)
    names = []
    for day in range(10):
        await store.write(enter, str(day))
        copy = backups.make_if_due()
        assert copy is not None
        names.append(copy.name)
        assert backups.make_if_due() is None
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("SELECT count(*) FROM ledger_entries").fetchone() == (day + 1,)
        clock.ms += DAY
    assert sorted(file.name for file in (path.parent / "backups").iterdir()) == names[-7:]


async def test_a_clock_that_jumps_back_does_not_make_an_old_copy_the_newest(store: SqliteStore, path: Path) -> None:
    clock = MovedClock()
    backups = Backups(path, clock, kept=2)
    clock.ms += 400 * DAY
    backups.make_if_due()
    clock.ms -= 400 * DAY
    second = backups.make_if_due()
    assert second is not None
    assert backups.last == second
    clock.ms += DAY
    third = backups.make_if_due()
    assert third is not None
    assert {file.name for file in second.parent.iterdir()} == {second.name, third.name}


async def test_a_copy_of_a_damaged_file_does_not_replace_a_good_one(store: SqliteStore, path: Path) -> None:
    whole = await filled(store, path)
    clock = MovedClock()
    backups = Backups(path, clock, kept=1)
    good = backups.make_if_due()
    replace(path, overwritten(whole, len(whole) // 2, 40_000))
    clock.ms += DAY
    with pytest.raises(sqlite3.Error):
        backups.make_if_due()
    assert list((path.parent / "backups").iterdir()) == [good]


async def test_a_running_store_makes_the_copy_that_is_due(store: SqliteStore, path: Path) -> None:
    await store.close()
    await store.start()
    while store.status["last_backup"] is None:  # noqa: ASYNC110 - a backup announces itself in the status only
        await asyncio.sleep(0.01)
    assert Path(store.status["last_backup"]["path"]).parent == path.parent / "backups"
    assert store.status["backup_error"] is None


async def test_a_killed_writer_leaves_no_lock_behind(path: Path) -> None:
    for _ in range(2):
        with python(HOLD, str(path)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    store = SqliteStore(path, reserve=RESERVE)
    await store.start()
    assert await store.read(current_revision) == head_revision()
    await store.close()


async def test_a_store_whose_first_opening_failed_works_after_the_second(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(path, reserve=RESERVE)
    with monkeypatch.context() as broken:
        broken.setattr("agentui.store.sqlite_file.SqliteFile.reader", _no_file_left)
        with pytest.raises(AgentUIError):
            await store.start()
    await store.start()
    try:
        await asyncio.wait_for(store.write(make_ledger), 30)
        await asyncio.wait_for(store.write(enter, "one"), 30)
        assert await asyncio.wait_for(store.read(count), 30) == 1
    finally:
        await store.close()


def _no_file_left(self: object) -> None:
    raise sqlite3.OperationalError("unable to open database file")
