"""``python -m tests.bench.placing [--sessions 100 1000] [--floors 1000]``: milliseconds to find a turn's place.

A session of so many among others, each of so many floors; the client sends the last forty floors and a question. Measured is
the lookup in the database, in a transaction of its own: the next turn, a swipe, an edit far back, and ``auto``, where the
session is looked for too. Every text is another one but for one answer in ten, which is the same everywhere. The rows are
written in bulk before the clock starts; the folder is a temporary one.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from agentui.chat.fingerprints import fingerprint
from agentui.chat.messages import Message, text_message
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import DEFAULT_ACCOUNT, floors, messages, pages, text_index
from agentui.turns.joining import join_session
from agentui.turns.placing.candidates import find_chat, find_place
from agentui.turns.placing.sent import read_sent

SENT = 40
"""Floors that the client sends."""
TIMES = 50


def question(session: int, floor: int) -> str:
    """What the user said there."""
    return f"I open door {floor} of house {session} and look around."


def answer(session: int, floor: int) -> str:
    """What the model said there."""
    return "Yes." if floor % 10 == 0 else f"Behind door {floor} of house {session} is another corridor."


def furnish(db: Connection, session: int, count: int) -> str:
    """Write a session with its floors; its id."""
    joined = join_session(db, DEFAULT_ACCOUNT, f"s{session}", None, session)
    rows: dict[Any, list[dict[str, Any]]] = {floors: [], pages: [], messages: [], text_index: []}
    mine = {"account_id": DEFAULT_ACCOUNT}
    for no in range(count):
        floor = f"{session:05}-{no:05}"
        parent = f"{session:05}-{no - 1:05}" if no else None
        place = {"session_id": joined.session_id, "branch_id": "main", "floor_no": no, "parent_floor_id": parent}
        times = {"created_at": no, "updated_at": no}
        rows[floors].append({"id": floor, "state": "committed", **place, **mine, **times})
        for number, (kind, role, text) in enumerate(
            (("input", "user", question(session, no)), ("output", "assistant", answer(session, no)))
        ):
            page = f"{floor}-{number}"
            rows[pages].append(
                {"id": page, "floor_id": floor, "page_no": number, "page_kind": kind, "is_active": True, **mine, **times}
            )
            said = {"page_id": page, "role": role, "content": text, "seq": 0, "is_hidden": False, "created_at": no}
            rows[messages].append({"id": page, **said, **mine})
            where = {"floor_id": floor, "page_id": page, "session_id": joined.session_id, "past": None}
            rows[text_index].append({"number": fingerprint(text), "side": role, **where, **mine})
    for table, values in rows.items():
        db.execute(insert(table), values)
    return joined.session_id


def history(session: int, until: int) -> list[Message]:
    """What the client shows of the floors before this one."""
    spoken: list[Message] = []
    for floor in range(max(0, until - SENT), until):
        spoken += [text_message("user", question(session, floor)), text_message("assistant", answer(session, floor))]
    return spoken


async def measure(folder: Path, sessions: int, count: int) -> None:
    """Print the row of so many sessions."""
    store = SqliteStore(folder / f"{sessions}" / "agentui.db")
    await store.start()
    ids = [await store.write(furnish, session, count) for session in range(sessions)]
    mine = sessions // 2
    head = history(mine, count)
    cases = {
        "new": [*head, text_message("user", "I go on.")],
        "swipe": head[:-1],
        "edit": [*history(mine, count // 2), text_message("user", "I go back.")],
    }
    figures: list[float] = []
    for spoken in cases.values():
        sent = read_sent(spoken)
        figures.append(await middle(store, lambda db, sent=sent: find_place(db, DEFAULT_ACCOUNT, ids[mine], None, sent, None)))
    sent = read_sent(cases["new"])
    figures.append(await middle(store, lambda db: find_chat(db, DEFAULT_ACCOUNT, sent)))
    print(f"| {sessions:,} x {count:,} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |", flush=True)
    await store.close()


async def middle(store: SqliteStore, look: Callable[[Connection], object]) -> float:
    """The median milliseconds of a lookup."""

    def timed(db: Connection) -> float:
        began = time.perf_counter()
        look(db)
        return (time.perf_counter() - began) * 1000

    return statistics.median([await store.read(timed) for _ in range(TIMES)])


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--floors", type=int, default=1000)
    arguments = parser.parse_args()
    print("| sessions x floors | next turn, ms | swipe, ms | edit, ms | auto, ms |\n| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="agentui-bench-") as folder:
        for sessions in arguments.sessions:
            asyncio.run(measure(Path(folder), sessions, arguments.floors))


if __name__ == "__main__":
    main()
