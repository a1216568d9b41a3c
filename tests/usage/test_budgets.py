"""Budgets hold: what was spent and what is reserved never come to more than the amount."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import Connection, create_engine, select

from agentui.api.keys import METER, STORE
from agentui.errors import BudgetExceeded
from agentui.principal import Principal
from agentui.store.postgres import PostgresStore
from agentui.store.tables import budgets, metadata, reservations
from agentui.usage.budgets import Bound, Settlement, decide, list_budgets, reserve, set_budget, settle
from agentui.usage.prices import FREE, Rates, Step
from tests.api.callers import DIALECTS, Got
from tests.conftest import call
from tests.postgres import PATIENCE
from tests.turns.house import House
from tests.upstreams.account import running_account
from tests.upstreams.server import Mock
from tests.upstreams.server import Step as Answer
from tests.upstreams.step import Tokens
from tests.usage.conftest import StartHouse, ledger
from tests.usage.machine import Machine, PostgresMachine

RATES = Rates((Step(0, 1_000_000, 2_000_000, 100_000, 1_250_000, 2_000_000),))
DAY = 86_400_000


async def limit(house: House, amount: int, unit: str = "money", period: str = "day") -> None:
    """Set a budget of the default account."""
    app = house.server.app
    place: Any = ("account", "default-admin", "default-admin", unit, period)
    await app[STORE].write(set_budget, *place, amount, 1)
    await app[METER].refresh()


async def stands(house: House) -> tuple[int, int]:
    """What is spent and what reserved of the only budget."""
    await house.server.app[METER].writer.flush()

    def read(db: Connection) -> tuple[int, int]:
        spent, reserved = db.execute(select(budgets.c.spent, budgets.c.reserved)).one()
        return spent, reserved

    return await house.server.app[STORE].read(read)


TestLedgers = Machine.TestCase
TestLedgers.settings = settings(max_examples=100, stateful_step_count=30)


def test_workers_of_postgresql_foresee_no_more_than_there_is(database: str) -> None:
    with asyncio.Runner() as runner:
        PostgresMachine.runner, PostgresMachine.store = runner, PostgresStore(database, patience=PATIENCE)
        few = settings(max_examples=12, stateful_step_count=30)
        run_state_machine_as_test(PostgresMachine, settings=few)  # type: ignore[no-untyped-call]
        runner.run(PostgresMachine.store.close())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_has_spent_all_is_refused_in_the_callers_dialect(
    start_house: StartHouse, mock: Mock, prices: Path, dialect: str
) -> None:
    house = await start_house(prices=prices)
    await limit(house, 0)
    for stream in (False, True):
        got = await house.ask(dialect=dialect, stream=stream)
        assert got.status == 429, got.body
        assert "budget" in got.json["error"]["message"]
        assert int(got.headers["retry-after"]) > 0
    assert mock.requests == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_answer_without_a_limit_is_capped_to_what_is_left(
    start_house: StartHouse, mock: Mock, prices: Path, dialect: str
) -> None:
    house = await start_house(prices=prices)
    await limit(house, 1_000_000)
    spent = 0
    for stream, pipeline in ((False, "plain"), (True, "plain"), (False, "raw"), (True, "raw")):
        got = await house.turn(dialect=dialect, pipeline=pipeline, stream=stream)
        sent = mock.last.body
        told = sent.get("max_completion_tokens") or sent.get("max_tokens") or sent.get("max_output_tokens")
        told = told or sent["generationConfig"]["maxOutputTokens"]
        if dialect == "claude":  # its callers always say
            assert "x-agentui-output-cap" not in got.headers
        else:
            assert int(got.headers["x-agentui-output-cap"]) == told, (stream, pipeline)
            left = 1_000_000 - spent
            assert (len(mock.last.raw) - 80) * 1000 + told * 2000 <= left < (len(mock.last.raw) + 80) * 1000 + told * 2000
        if (dialect, stream, pipeline) == ("openai", True, "raw"):
            break  # it is forwarded unread and tells no tokens: it is charged up to its cap
        spent += 11 * 1000 + 7 * 2000
        assert await stands(house) == (spent, 0), (stream, pipeline)
    used, reserved = await stands(house)
    assert (spent <= used <= 1_000_000, reserved) == (True, 0)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
async def test_a_hundred_callers_at_the_edge_spend_no_more_than_there_is(
    start_house: StartHouse, mock: Mock, prices: Path
) -> None:
    house = await start_house(usage=True, prices=prices)
    mock.play(lambda _: Answer(tokens=Tokens(input=50, output=64)))
    each = 50 * 1000 + 64 * 2000
    amount = 20 * each
    await limit(house, amount)
    asked = [
        house.ask(dialect=DIALECTS[number % 4], stream=number % 3 == 0, pipeline="claude" if number % 2 else "plain")
        for number in range(100)
    ]
    got = await asyncio.gather(*asked)
    assert {answer.status for answer in got} <= {200, 429}
    spent, reserved = await stands(house)
    rows = await ledger(house)
    assert reserved == 0
    assert spent == sum(row.price_nano for row in rows) == each * sum(answer.status == 200 for answer in got)
    assert 0 < spent <= amount
    assert len(rows) == len(mock.requests)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_calls_at_once_and_requests_are_limited(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(prices=prices)
    await limit(house, 1, "calls", "ever")
    mock.script(Answer(hold="headers"))
    first = asyncio.create_task(house.ask())
    await mock.was_asked()
    refused = await house.ask()
    assert refused.status == 429
    mock.release()
    assert (await first).status == 200
    assert (await house.ask()).status == 200


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_nobody_knows_the_price_of_is_refused_or_free(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(prices=prices)
    await limit(house, 1_000_000)
    refused = await house.ask(model="thinking")
    assert refused.status == 429
    assert "AGENTUI_PRICES" in refused.json["error"]["message"]
    other = await start_house(prices=prices, unknown_price="free")
    await limit(other, 1_000_000)
    assert (await other.ask(model="thinking")).status == 200
    assert await stands(other) == (0, 0)


def test_what_is_left_is_looked_at_in_every_unit() -> None:
    bound = Bound(10, None, 1, FREE)
    assert decide([], bound, 0).cap == 32_768


async def test_a_budget_of_the_past_is_free_again(tmp_path: Path) -> None:
    with create_engine("sqlite://").connect() as db:
        metadata.create_all(db, tables=[budgets, reservations])
        set_budget(db, "server", "", "", "money", "day", 5, DAY)
        one = Bound(0, 0, 1, Rates(FREE.steps, call=5))
        me = Principal("a", "user", may_edit=False)
        reserve(db, me, one, "1", "me", {}, DAY)
        settle(db, [Settlement(None, "1", {"money": 5, "tokens": 0, "requests": 1, "calls": 0})], DAY)
        with pytest.raises(BudgetExceeded) as refused:
            reserve(db, me, one, "2", "me", {}, 2 * DAY - 1)
        assert refused.value.details["frees_at"] == 2 * DAY
        assert reserve(db, me, one, "2", "me", {}, 2 * DAY) is not None
        assert [(each.spent, each.reserved) for each in list_budgets(db, 2 * DAY)] == [(0, 5)]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_is_left_of_a_minute_is_told_as_each_dialect_spells_it(
    start_house: StartHouse, mock: Mock, prices: Path
) -> None:
    house = await start_house(prices=prices)
    await limit(house, 100, "requests", "minute")
    told = [(await house.turn(dialect=dialect, stream=stream)).headers for dialect in DIALECTS for stream in (False, True)]
    openai, _, responses, _, claude, _, gemini, _ = told
    for headers in (openai, responses):
        assert headers["x-ratelimit-limit-requests"] == "100"
        assert 0 < int(headers["x-ratelimit-remaining-requests"]) < 100
        assert headers["x-ratelimit-reset-requests"].endswith("s")
    assert claude["anthropic-ratelimit-requests-limit"] == "100"
    assert claude["anthropic-ratelimit-requests-reset"].endswith("Z")
    assert not any("ratelimit" in name for name in gemini)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_is_refused_is_told_what_is_left_of_the_tightest_level(
    start_house: StartHouse, mock: Mock, prices: Path, dialect: str
) -> None:
    house = await start_house(prices=prices)
    await limit(house, 5, "requests", "minute")
    server: Any = ("server", "", "", "requests", "minute")
    app = house.server.app
    await app[STORE].write(set_budget, *server, 1, 1)
    await app[METER].refresh()
    for stream in (False, True):
        # A minute may end in between; in the one that is now the second is one too many.
        told = [await house.ask(dialect=dialect, stream=stream, pipeline=way) for way in ("plain", "raw", "plain", "plain")]
        refused = [got for got in told if got.status == 429]
        assert refused
        for got in told:
            left = limits_of(dialect, got)
            assert 0 < int(got.headers["retry-after"]) <= 60 if got.status == 429 else got.status == 200
            if dialect != "gemini":
                assert (left["limit"], left["remaining"]) == ("1", "0")
            elif got.status == 429 and not stream:
                (detail,) = got.json["error"]["details"]
                assert detail["@type"].endswith("google.rpc.RetryInfo") and detail["retryDelay"].endswith("s")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_is_no_chat_tells_what_is_left_as_well(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    async with running_account() as account:
        house = await start_house({"passed": call("caller", account.origin)}, prices=prices, unknown_price="free")
        await limit(house, 100, "requests", "minute")
        ways = [("/v1/embeddings", "plain"), ("/v1/embeddings", "raw"), ("/v1/moderations", "passed")]
        for path, pipeline in ways:
            got = await house.caller(pipeline=pipeline).post(path, {"model": "text", "input": "x"})
            assert got.status == 200, (path, pipeline, got.body)
            assert limits_of("openai", got)["limit"] == "100", (path, pipeline)


def limits_of(dialect: str, got: Got) -> dict[str, str]:
    """What is left of requests a minute, where this dialect's clients look for it."""
    parts = ("limit", "remaining", "reset")
    if dialect == "claude":
        names = {part: f"anthropic-ratelimit-requests-{part}" for part in parts}
    else:
        names = {part: f"x-ratelimit-{part}-requests" for part in parts}
    return {part: got.headers[name] for part, name in names.items() if name in got.headers}
