"""Calls that are over are settled, whatever a provider tells, a database refuses, or a process went through meanwhile."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from sqlalchemy import Connection, create_engine, insert, select, text

from agentui.api.keys import METER, STORE
from agentui.principal import Principal
from agentui.store.paging import Place
from agentui.store.tables import budgets, metadata, reservations, usage
from agentui.usage.budgets import (
    LOST_AT_ONCE,
    Bound,
    Settlement,
    book_lost,
    list_budgets,
    put_budget,
    renew,
    reserve,
    set_budget,
    settle,
)
from agentui.usage.meter import FREED
from agentui.usage.prices import FREE, Rates
from agentui.usage.records import Budget
from agentui.usage.reports import Wanted, list_usage
from tests.turns.house import House
from tests.upstreams.server import Mock, Step
from tests.upstreams.step import Tokens
from tests.usage.conftest import StartHouse, ledger
from tests.usage.test_budgets import DAY, limit, stands

ME = Principal("a", "user", may_edit=False)
ONE = Bound(0, 0, 1, Rates(FREE.steps, call=1))
USED: Any = {"money": 1, "tokens": 0, "requests": 1, "calls": 0}


@pytest.fixture
def db() -> Iterator[Connection]:
    """A database with the tables of budgets."""
    with create_engine("sqlite://").connect() as db:
        metadata.create_all(db, tables=[budgets, reservations, usage])
        yield db


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
async def test_numbers_that_no_column_holds_stop_no_ledger(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    mock.script([Step(tokens=Tokens(input=2**64 - 1, output=2**63)), Step(tokens=Tokens(input=-5, output=-7)), Step()])
    for _ in range(3):
        await house.turn()
    rows = await ledger(house)
    assert sorted(row.input_tokens for row in rows) == [0, 11, 10**12]
    assert max(row.price_nano for row in rows) == 10**15


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
async def test_a_row_that_no_database_takes_holds_no_other_up(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    app = house.server.app
    await limit(house, 10**9)
    await house.turn()
    (row,) = await ledger(house)
    writer = app[METER].writer
    for bad in (None, 2**70):
        line: Any = type("Row", (), {"values": lambda _, bad=bad: {**row._mapping, "id": "bad", "latency_ms": bad}})()
        writer.put(Settlement(line))
    await house.turn()
    await house.turn()
    assert len(await ledger(house)) == 3
    assert await stands(house) == (3 * (11 * 1000 + 7 * 2000), 0)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_request_for_more_than_there_is_in_the_world_is_refused(
    start_house: StartHouse, mock: Mock, prices: Path
) -> None:
    house = await start_house(usage=True, prices=prices)
    await limit(house, 10, "requests")
    caller = house.caller()
    assert (await caller.ask(max_tokens=2**62, n=2)).status == 400  # the upstream's word
    assert len(mock.requests) == 1
    await limit(house, 10**9)
    refused = await caller.ask(max_tokens=2**62, n=2)
    assert (refused.status, refused.json["error"]["code"]) == (429, "budget_exceeded")
    assert (await caller.ask(max_tokens=5, max_completion_tokens=500_000)).status == 429  # a server may know either


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_leaves_a_capped_answer_is_charged_up_to_the_cap(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(prices=prices)
    await limit(house, 10**9)
    mock.script(Step(forever=True, pause=0.001))
    caller = house.caller()
    url = f"{house.server.origin}/p/plain/v1/chat/completions"
    body = caller.body("Hello", "text", stream=True)
    async with ClientSession(headers=caller.key_header()) as http, http.post(url, json=body) as answer:
        cap = int(answer.headers["x-agentui-output-cap"])
        await answer.content.readany()
    await mock.was_aborted()
    while (got := await stands(house))[1]:  # noqa: ASYNC110  # the server tells nobody
        await asyncio.sleep(0.01)
    assert got[0] >= cap * 2000


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_waits_for_the_ledger_waits_for_no_later_call(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    writer = house.server.app[METER].writer
    await house.turn()
    endless = asyncio.create_task(_puts(house))
    try:
        await asyncio.wait_for(writer.flush(), 30)
        assert not endless.done()
    finally:
        endless.cancel()


async def _puts(house: House) -> None:
    """Let something wait at all times."""
    writer = house.server.app[METER].writer
    while True:
        if len(writer.waiting) < 3:
            writer.put(Settlement(None))
        await asyncio.sleep(0)


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_a_reservation_ends_by_the_clock_of_the_database(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(prices=prices)
    store = house.server.app[STORE]
    await limit(house, 10)

    def held(db: Connection) -> list[int]:
        return [budget.reserved for budget in list_budgets(db, 0)]

    admin = Principal("default-admin", "admin", may_edit=True)
    for id, owner in (("1", "alive"), ("2", "dead"), ("3", "mine")):
        await store.write(reserve, admin, ONE, id, owner, {}, 99 * 365 * DAY)  # a machine whose clock is far ahead
    for owner in ("dead", "mine"):
        await store.write(renew, owner, -1)
    assert await store.write(book_lost, 1, keeps=False, owner="mine") == 1
    assert await store.read(held) == [2]
    await store.write(renew, "alive", -1)
    assert await house.server.app[METER].book_lost() == 2


async def test_nothing_of_a_process_that_is_alone_is_lost_while_it_lives(
    start_house: StartHouse, mock: Mock, prices: Path
) -> None:
    house = await start_house(prices=prices)
    await limit(house, 1, "calls", "ever")
    mock.script(Step(hold="headers"))
    first = asyncio.create_task(house.ask())
    await mock.was_asked()
    await house.server.app[STORE].write(lambda db: db.execute(text("UPDATE reservations SET expires_at = 0")) and None)
    assert (await house.ask()).status == 429  # its machine was asleep, and the call goes on
    mock.release()
    assert (await first).status == 200
    assert (await stands(house))[1] == 0


def test_a_commit_that_nobody_heard_of_holds_nothing(db: Connection) -> None:
    set_budget(db, "server", "", "", "money", "ever", 5, 0)
    assert reserve(db, ME, ONE, "1", "me", {}, 0) is not None
    settle(db, [Settlement(None, "1", FREED), Settlement(None, "never", FREED)], 0)
    assert [(each.spent, each.reserved) for each in list_budgets(db, 0)] == [(0, 0)]


def test_the_calls_of_a_dead_process_are_booked_in_parts(db: Connection) -> None:
    set_budget(db, "server", "", "", "money", "ever", 10**6, 0)
    for number in range(LOST_AT_ONCE + 20):
        reserve(db, ME, ONE, f"{number}", "me", {}, 0)
    assert [book_lost(db, 0, keeps=False) for _ in range(3)] == [LOST_AT_ONCE, 20, 0]
    assert [(each.spent, each.reserved) for each in list_budgets(db, 0)] == [(LOST_AT_ONCE + 20, 0)]


def test_a_clock_that_was_wrong_ends_no_period_for_ever() -> None:
    minute = Budget("1", "server", "", "money", "minute", 9, 20 * DAY, 5, 1)
    assert minute.at(19 * DAY) == Budget("1", "server", "", "money", "minute", 9, 19 * DAY, 5, 1)  # it was a day ahead
    assert minute.at(20 * DAY - 60_000) == minute  # another machine's is a minute behind
    assert minute.at(20 * DAY + 60_000).spent == 0


def test_a_page_of_the_ledger_is_read_along_an_index(db: Connection) -> None:
    row = {column.name: "" if column.type.python_type is str else 0 for column in usage.columns}
    db.execute(insert(usage), [{**row, "id": f"u{n}", "account_id": "a", "created_at": n // 2} for n in range(10)])
    page, cursor = list_usage(db, Wanted("a"), 3, None)
    seen = [item.id for item in page]
    while cursor is not None:
        page, cursor = list_usage(db, Wanted("a"), 3, Place.of(cursor))
        seen += [item.id for item in page]
    assert seen == [f"u{n}" for n in reversed(range(10))]
    assert db.execute(select(usage.c.id).where(usage.c.id == "u1")).scalar_one() == "u1"


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_two_admins_may_set_a_budget_at_once(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    store = (await start_house(usage=True, prices=prices)).server.app[STORE]
    place: Any = ("server", "", "money", "day")
    made = await asyncio.gather(*(store.write(put_budget, *place, amount, 1) for amount in range(8)))
    assert len({budget.id for budget in made}) == 1
