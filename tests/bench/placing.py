"""``python -m tests.bench.placing [--sessions 100 1000] [--floors 1000] [--postgres]``: milliseconds to find a turn's place.

A session of so many among others, each of so many floors; the client sends the last forty floors and a question. Measured is
the lookup in the database, in a transaction of its own: the next turn, a swipe, an edit far back, and ``auto``, where the
session is looked for too. Every lookup is in another session, of which the system holds nothing the
first time. Every text is another one
but for one answer in ten, which is the same everywhere. The rows are written in bulk before the clock starts; the folder is a
temporary one, and 10,000 sessions of 1,000 floors take 17 GB of it.
"""

import argparse
import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import Connection, Index, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, DropIndex

from agentui.chat.fingerprints import fingerprint
from agentui.chat.messages import Message, text_message
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store import planner
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.sqlite_file import SqliteFile
from agentui.store.tables import floors, messages, pages, text_index
from agentui.turns.joining import join_session
from agentui.turns.placing.candidates import find_chat, find_place
from agentui.turns.placing.sent import read_sent
from tests.postgres import PATIENCE, start_postgres, stop_postgres

SENT = 40
"""Floors that the client sends."""
CASES = ("next turn, ms", "swipe, ms", "edit, ms", "auto, ms")
TIMES = 50
"""Sessions in which each is looked for."""
AGAIN = 5
"""The least of so many counts: what else the machine does only ever adds."""
LATER: tuple[Index, ...] = tuple(text_index.indexes)
"""Made when the rows are there: all other indexes grow at their ends, as the rows come in their order."""
Row = dict[str, Any]


def question(session: int, floor: int) -> str:
    """What the user said there."""
    return f"I open door {floor} of house {session} and look around."


def answer(session: int, floor: int) -> str:
    """What the model said there."""
    return "Yes." if floor % 10 == 0 else f"Behind door {floor} of house {session} is another corridor."


def floor_rows(session: int, id: str, count: int) -> Iterator[Row]:
    """The floors of a session."""
    for no in range(count):
        times = {"created_at": session * count + no, "updated_at": session * count + no}
        place = {
            "session_id": id,
            "branch_id": "main",
            "floor_no": no,
            "parent_floor_id": named(session, no - 1) if no else None,
        }
        yield {"id": named(session, no), "account_id": DEFAULT_ACCOUNT, "state": "committed", **place, **times}


def page_rows(session: int, _: str, count: int) -> Iterator[Row]:
    """Their pages: a question and an answer each."""
    for no in range(count):
        times = {"created_at": session * count + no, "updated_at": session * count + no}
        for number, kind in enumerate(("input", "output")):
            page = {"id": f"{named(session, no)}-{number}", "floor_id": named(session, no), "page_no": number}
            yield {**page, "page_kind": kind, "is_active": True, "account_id": DEFAULT_ACCOUNT, **times}


def message_rows(session: int, _: str, count: int) -> Iterator[Row]:
    """What was said on them."""
    for no in range(count):
        for number, (role, text) in enumerate((("user", question(session, no)), ("assistant", answer(session, no)))):
            page = f"{named(session, no)}-{number}"
            said = {"role": role, "content": text, "seq": 0, "is_hidden": False, "created_at": session * count + no}
            yield {"id": page, "account_id": DEFAULT_ACCOUNT, "page_id": page, **said}


def index_rows(session: int, id: str, count: int) -> Iterator[Row]:
    """Where it was said."""
    for no in range(count):
        for number, (side, text) in enumerate((("user", question(session, no)), ("assistant", answer(session, no)))):
            page = {"floor_id": named(session, no), "page_id": f"{named(session, no)}-{number}", "session_id": id}
            yield {"account_id": DEFAULT_ACCOUNT, "number": fingerprint(text), "side": side, **page}


TABLES: dict[Table, Callable[[int, str, int], Iterator[Row]]] = {
    floors: floor_rows,
    pages: page_rows,
    messages: message_rows,
    text_index: index_rows,
}


def named(session: int, no: int) -> str:
    """The id of a floor."""
    return f"{session:05}-{no:05}"


def furnish(file: Path, ids: dict[int, str], count: int) -> None:
    """Write the floors of some sessions in bulk: without a journal, for nobody else reads the file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "foreign_keys=OFF", "cache_size=-1000000"):
            raw.execute(f"PRAGMA {pragma}").fetchone()
        raw.execute("BEGIN")
        for index in LATER:
            raw.execute(str(DropIndex(index).compile(dialect=sqlite.dialect())))
        for table, rows in TABLES.items():
            write(raw, table, (row for session, id in ids.items() for row in rows(session, id, count)))
        for index in LATER:
            raw.execute(str(CreateIndex(index).compile(dialect=sqlite.dialect())))
        planner.tell(raw)
        raw.execute("COMMIT")
        raw.execute("PRAGMA journal_mode=WAL").fetchone()


def write(raw: sqlite3.Connection, table: Table, rows: Iterator[Row]) -> None:
    """Insert rows that all have the columns of the first."""
    first = next(rows)
    marks = ", ".join("?" for _ in first)
    words = f"INSERT INTO {table.name} ({', '.join(first)}) VALUES ({marks})"
    raw.execute(words, tuple(first.values()))
    raw.executemany(words, (tuple(row.values()) for row in rows))


def history(session: int, until: int) -> list[Message]:
    """What the client shows of the floors before this one."""
    spoken: list[Message] = []
    for floor in range(max(0, until - SENT), until):
        spoken += [text_message("user", question(session, floor)), text_message("assistant", answer(session, floor))]
    return spoken


async def make_sessions(store: Store, numbers: range) -> dict[int, str]:
    """Make these sessions, without floors; their ids."""
    return await store.write(
        lambda db: {number: join_session(db, DEFAULT_ACCOUNT, f"s{number}", None, number).session_id for number in numbers}
    )


async def on_sqlite(folder: Path, sizes: Sequence[int], count: int) -> None:
    """Print the rows of each number of sessions."""
    file, ids = folder / "agentui.db", dict[int, str]()
    for sessions in sizes:
        store = SqliteStore(file, backups=0)
        await store.start()
        more = await make_sessions(store, range(len(ids), sessions))
        await store.close()
        furnish(file, more, count)
        forget(file)
        ids |= more
        with SqliteFile(file, 5.0).reader() as (db, raw):
            measure(db, ids, count, raw)


async def on_postgres(url: str, sizes: Sequence[int], count: int) -> None:
    """The same on a PostgreSQL, in one transaction for all lookups; what it holds in memory is not forgotten."""
    store, ids = PostgresStore(url, patience=PATIENCE), dict[int, str]()
    await store.start()
    raw = await asyncpg.connect(url)
    for sessions in sizes:
        more = await make_sessions(store, range(len(ids), sessions))
        for table, rows in TABLES.items():
            values = (tuple(row.values()) for session, id in more.items() for row in rows(session, id, count))
            columns = list(next(rows(0, "", 1)))
            await raw.copy_records_to_table(table.name, records=values, columns=columns, timeout=3600)
        await raw.execute("VACUUM ANALYZE", timeout=3600)
        ids |= more
        await store.read(measure, ids, count)
    await raw.close()
    await store.close()


def measure(db: Connection, ids: dict[int, str], count: int, raw: sqlite3.Connection | None = None) -> None:
    """Print the rows of so many sessions: lookups in sessions that were not read before, and the same again."""
    figures = list[tuple[float, float]]()
    for number, case in enumerate(CASES):
        taken = list[tuple[float, float]]()
        for mine in range(number, len(ids), max(len(CASES), len(ids) // TIMES)):
            look = lookup(case, mine, ids[mine], count)
            taken.append((timed(db, look, raw), min(timed(db, look, raw) for _ in range(AGAIN))))
        figures.append((statistics.median(first for first, _ in taken), statistics.median(again for _, again in taken)))
    for what, one in (("the first time", 0), ("again", 1)):
        told = " | ".join(f"{figure[one]:.2f}" for figure in figures)
        print(f"| {len(ids):,} x {count:,} | {what} | {told} |", flush=True)


def lookup(case: str, mine: int, id: str, count: int) -> Callable[[Connection], object]:
    """What is looked for in a session."""
    head = history(mine, count)
    sent = read_sent(
        {"swipe, ms": head[:-1], "edit, ms": [*history(mine, count // 2), text_message("user", "I go back.")]}.get(
            case, [*head, text_message("user", "I go on.")]
        )
    )
    if case == "auto, ms":
        return lambda db: find_chat(db, DEFAULT_ACCOUNT, sent)
    return lambda db: find_place(db, DEFAULT_ACCOUNT, id, None, sent, None)


def timed(db: Connection, look: Callable[[Connection], object], raw: sqlite3.Connection | None) -> float:
    """The milliseconds of a lookup, on SQLite (``raw``) with its transaction."""
    began = time.perf_counter()
    if raw is not None:
        raw.execute("BEGIN")
    look(db)
    if raw is not None:
        raw.rollback()
    return (time.perf_counter() - began) * 1000


def forget(file: Path) -> None:
    """Have the system forget what it holds of the file, as after a start."""
    descriptor = os.open(file, os.O_RDWR)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--floors", type=int, default=1000)
    parser.add_argument("--postgres", action="store_true", help="on the PostgreSQL of the test packages")
    arguments = parser.parse_args()
    print(f"| sessions x floors | | {' | '.join(CASES)} |\n| --- | --- | {' | '.join('---:' for _ in CASES)} |")
    sizes = sorted(arguments.sessions)
    with tempfile.TemporaryDirectory(prefix="agentui-bench-") as folder:
        if not arguments.postgres:
            asyncio.run(on_sqlite(Path(folder), sizes, arguments.floors))
            return
        server = start_postgres(Path(folder) / "postgres")
        try:
            asyncio.run(on_postgres(server.get_uri(), sizes, arguments.floors))
        finally:
            stop_postgres(server)


if __name__ == "__main__":
    main()
