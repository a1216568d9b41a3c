"""Lists of long chats, and what was said in many: a part of one costs what is in it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection, update

from agentui.chat.fingerprints import fingerprint
from agentui.chats.conversations import list_sessions
from agentui.chats.floors import list_floors
from agentui.chats.listing import Listed, Paging
from agentui.chats.messages import MessageFilter, list_messages
from agentui.chats.text_index import floors_saying, sessions_saying
from agentui.chats.timeline import read_timeline
from agentui.library.assets import AssetFilter, create_asset, list_assets
from agentui.library.content import packed
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import sessions
from agentui.turns.joining import join_session
from tests.bench.turns import furnish
from tests.chats.conftest import Memory
from tests.costs import counting

FLOORS = 300
LISTS: dict[str, Callable[[Connection, str, int], Listed[Any]]] = {
    "timeline": lambda db, id, at: read_timeline(db, DEFAULT_ACCOUNT, id, "main", 10, at),
    "timeline with ancestors": lambda db, id, at: read_timeline(db, DEFAULT_ACCOUNT, id, "main", 10, at, True),
    "floors": lambda db, id, at: list_floors(db, DEFAULT_ACCOUNT, Paging(10, at, "floor_no"), session_id=id),
    "messages": lambda db, id, at: list_messages(
        db, DEFAULT_ACCOUNT, Paging(10, at, "created_at"), MessageFilter(session_id=id)
    ),
}

SHORT: dict[str, tuple[int, Callable[[Connection, str, int], Listed[Any]]]] = {
    "sessions": (4, lambda db, _, at: list_sessions(db, DEFAULT_ACCOUNT, Paging(1, at))),
    "sessions by words": (3, lambda db, _, at: list_sessions(db, DEFAULT_ACCOUNT, Paging(1, 0), "active", "toe"[at % 3])),
    "worldbooks": (4, lambda db, _, at: list_assets(db, DEFAULT_ACCOUNT, "worldbook", Paging(1, at), AssetFilter())),
    "worldbooks by words": (
        4,
        lambda db, _, at: list_assets(db, DEFAULT_ACCOUNT, "worldbook", Paging(1, at, "name"), AssetFilter(keyword="x")),
    ),
}


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    """A memory of one chat."""
    store = SqliteStore(tmp_path / "agentui.db")
    await store.start()
    await store.write(furnish, "long", FLOORS, 1)
    yield store
    await store.close()


async def test_a_part_of_a_list_reads_the_rows_of_that_part(store: SqliteStore) -> None:
    def rows_of(db: Connection) -> dict[str, list[int]]:
        session_id = join_session(db, DEFAULT_ACCOUNT, "long", None, 2).session_id
        driver = cast(sqlite3.Connection, db.connection.dbapi_connection)
        read: list[object] = []
        driver.row_factory = lambda _, row: read.append(None) or row
        counts: dict[str, list[int]] = {}
        for name, listed in LISTS.items():
            for offset in (0, FLOORS // 2, FLOORS - 10):
                read.clear()
                assert len(listed(db, session_id, offset).items) == 10, name
                counts.setdefault(name, []).append(len(read))
        driver.row_factory = None
        return counts

    counts = await store.write(rows_of)
    assert counts["floors"][0] >= 10
    assert {name: max(each) for name, each in counts.items() if max(each) > 100} == {}


async def test_a_list_makes_its_statements_once(store: SqliteStore) -> None:
    """Once for each half: what lies in the further one is counted from the end."""

    def compiled(db: Connection) -> dict[str, int]:
        session_id = join_session(db, DEFAULT_ACCOUNT, "long", None, 2).session_id
        for name in ("one", "two", "three"):
            join_session(db, DEFAULT_ACCOUNT, name, None, 3)
        for _ in range(4):
            create_asset(db, DEFAULT_ACCOUNT, "worldbook", "x", packed({"name": "x", "entries": []}), 4)
        counts = {}
        for name, (length, listed) in {**{name: (FLOORS, each) for name, each in LISTS.items()}, **SHORT}.items():
            for offset in (0, length - 1):
                listed(db, session_id, offset)
            with counting() as counted, counted.all() as costs:
                for offset in (1, length - 2):
                    assert listed(db, session_id, offset).items, name
            assert costs.statements, name
            counts[name] = costs.compiled
        return counts

    assert set((await store.write(compiled)).values()) == {0}


async def test_what_was_said_often_is_found_in_the_newest_sessions(memory: Memory) -> None:
    joined = [await memory.join(name) for name in ("one", "two", "three")]
    floors = [(await memory.turn(each, "Go on.")).floor_id for _ in range(5) for each in joined]
    number = fingerprint("Go on.")
    assert number is not None
    said = [("user", number), ("assistant", number + 1)]
    found = await memory.read(sessions_saying, "me", said, 2)
    assert [tuple(row) for row in found] == [("user", number, joined[2].session_id), ("user", number, joined[1].session_id)]
    assert len(await memory.read(sessions_saying, "me", said, 9)) == 3
    assert await memory.read(sessions_saying, "me", said[1:], 9) == []
    # Other callers' sessions take nobody's place.
    for each, caller in ((joined[2], "you"), (joined[0], "me")):
        await memory.store.write(_belong, each.session_id, caller)
    for caller, own in (("me", joined[:2]), ("you", joined[1:])):
        found = await memory.read(sessions_saying, caller, said, 2)
        assert [row[2] for row in found] == [each.session_id for each in reversed(own)]
    assert await memory.read(floors_saying, joined[0].session_id, said) == set(floors[12::-3][:4])
    assert await memory.read(floors_saying, joined[0].session_id, [("assistant", number)]) == set()


def _belong(db: Connection, session_id: str, caller: str) -> None:
    """Have a session be a caller's."""
    db.execute(update(sessions).where(sessions.c.id == session_id).values(caller=caller))
