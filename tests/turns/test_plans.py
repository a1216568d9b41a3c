"""What SQLite does for a turn: nothing that takes longer where the account has more chats, or the chat more floors."""

import re
import sqlite3
from functools import partial
from pathlib import Path
from typing import cast

from sqlalchemy import Connection

from agentui.jobs.runner import JobRunner
from agentui.library.bundles import Bundle
from agentui.prompt.tokens import TokenEstimator
from agentui.store import planner
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import metadata
from agentui.turns.live.looking import look_at
from agentui.turns.live.preparing import history_reach
from agentui.turns.service import TurnService
from tests.turns.chat import ACCOUNT, Chat

EVERYTHING = re.compile(r"^SCAN (?!walk|json_each|CONSTANT ROW)|\(account_id=\?\)|INDEX \S*account\S* \(account_id>")
"""A step of a plan that goes through a whole table, or through all that an account has in it. A list that is given is none."""


def driver(db: Connection) -> sqlite3.Connection:
    """The driver's connection."""
    return cast(sqlite3.Connection, db.connection.dbapi_connection)


async def test_a_turn_goes_through_no_table(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "agentui.db")
    turns = TurnService(store, JobRunner(store, "test"), "test", queue_seconds=0, is_alone=True)
    chat = Chat(turns, store)
    first = await chat.play()
    await chat.play()
    said = set[str]()
    await store.write(lambda db: driver(db).set_trace_callback(said.add))
    await chat.play()
    await chat.play("retry_turn", target_floor_id=first.place.floor_id)
    await chat.play("regenerate_page")
    size = partial(history_reach, {}, Bundle(), {}, lambda _: TokenEstimator(4.0))
    await store.write(lambda db: look_at(db, ACCOUNT, chat.session_id, "main", None, size) and None)
    await store.write(lambda db: driver(db).set_trace_callback(None))
    plans = await store.write(
        lambda db: {text: steps(driver(db), text) for text in said if re.match("SELECT|WITH|UPDATE", text)}
    )
    assert len(plans) > 20
    wrong = {text: found for text, plan in plans.items() if (found := [step for step in plan if EVERYTHING.search(step)])}
    assert wrong == {}
    await turns.close()
    await store.close()


def steps(raw: sqlite3.Connection, text: str) -> list[str]:
    """What SQLite does for a statement."""
    return [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {text}")]


async def test_the_planner_is_told_of_every_index_of_an_account(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "agentui.db")
    await store.start()
    raw = sqlite3.connect(tmp_path / "agentui.db")
    told = {row[0] for row in raw.execute("SELECT idx FROM sqlite_stat1")}
    of_account = {
        str(index.name)
        for table in metadata.tables.values()
        for index in table.indexes
        if next(column.name for column in index.columns) == "account_id"
    }
    assert of_account <= told and "ix_pages_account_id_created_at" in told
    await store.close()
    # A file from before it was told is told when it is next opened.
    with raw:
        raw.execute("DELETE FROM sqlite_stat1 WHERE tbl = 'pages'")
    assert not planner.is_told(raw)
    again = SqliteStore(tmp_path / "agentui.db")
    await again.start()
    await again.close()
    assert planner.is_told(raw)
    raw.close()
