"""What a provider bills and what can be known of it: each row of the table in docs/budgets.md."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import call
from tests.upstreams.account import Account, running_account
from tests.upstreams.server import Mock, Step
from tests.upstreams.step import Tokens
from tests.usage.conftest import PRICES, StartHouse, ledger
from tests.usage.test_budgets import limit, stands
from tests.usage.test_ledger import routed

BY_CALL = [*PRICES, {"model": "gpt-image-1", "call": 0.04}, {"model": "tts-1", "call": 0.01}, {"model": "", "call": 0.5}]
WAYS: tuple[tuple[str, str, dict[str, Any], int], ...] = (
    ("openai", "/v1/images/generations", {"model": "gpt-image-1", "prompt": "A cat"}, 40_000_000),
    ("openai", "/v1/audio/speech", {"model": "tts-1", "voice": "a", "input": "Hello"}, 10_000_000),
    ("openai", "/v1/batches", {"input_file_id": "file-1", "endpoint": "/v1/chat/completions"}, 500_000_000),
    ("claude", "/v1/messages/batches", {"requests": []}, 500_000_000),
)
FREE_WAYS = (
    ("openai", "/v1/batches/batch_1/cancel"),
    ("claude", "/v1/messages/batches/batch_1/cancel"),
    ("openai_responses", "/v1/responses/resp_1/cancel"),
)


def priced(path: Path, *rows: dict[str, Any]) -> Path:
    """The file of prices with these rows."""
    path.write_text(json.dumps({"prices": rows}))
    return path


def passed(account: Account) -> dict[str, Any]:
    """A pipeline that passes on."""
    return {"passed": call("caller", account.origin)}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_pictures_sound_and_batches_cost_what_a_call_does(start_house: StartHouse, prices: Path) -> None:
    async with running_account() as account:
        house = await start_house(passed(account), usage=True, prices=priced(prices, *BY_CALL))
        await limit(house, 1_050_000_000)
        for dialect, path, body, _ in WAYS:
            assert (await house.caller(dialect, "passed").post(path, body)).status == 200, path
        rows = await ledger(house)
        assert [(row.operation, row.basis, row.price_nano) for row in rows] == [
            ("forward", "unknown", price) for _, _, _, price in WAYS
        ]
        assert await stands(house) == (sum(price for _, _, _, price in WAYS), 0)
        refused = await house.caller("openai", "passed").post("/v1/images/generations", WAYS[0][2])
        assert (refused.status, refused.json["error"]["code"]) == (429, "budget_exceeded")
        assert len(account.requests) == len(WAYS)


@pytest.mark.parametrize("unit", ["money", "tokens"])
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_nobody_can_reckon_with_is_refused_and_what_is_free_is_not(
    start_house: StartHouse, prices: Path, unit: str
) -> None:
    async with running_account() as account:
        house = await start_house(passed(account), usage=True, prices=priced(prices))
        await limit(house, 10**12, unit)
        for dialect, path, body, _ in WAYS:
            got = await house.caller(dialect, "passed").post(path, {**body, "model": "of-nobody"})
            assert got.status == 429, (path, got.body)
        assert account.requests == []
        for dialect, path in FREE_WAYS:
            await house.caller(dialect, "passed").post(path, {})
        await house.caller("openai", "passed").get("/v1/batches")
        assert len(account.requests) == len(FREE_WAYS) + 1
        assert {row.price_nano for row in await ledger(house)} == {0}
        assert await stands(house) == (0, 0)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_cached_tokens_and_those_of_thoughts_have_their_prices(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    row = {"model": "text", "input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.25}
    house = await start_house(usage=True, prices=priced(prices, row))
    await limit(house, 10**9)
    mock.play(lambda _: Step(tokens=Tokens(input=100, output=20, cache_read=40, reasoning=5)))
    await house.turn()
    await house.turn(dialect="claude", stream=True)
    cost = 60 * 1000 + 40 * 100 + 20 * 2000
    rows = await ledger(house)
    assert [(row.price_nano, row.output_tokens) for row in rows] == [(cost, 20)] * 2
    assert await stands(house) == (2 * cost, 0)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_losers_of_races_and_attempts_made_again_are_booked(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    races = routed(mock, {"name": "one"}, {"name": "two"}, strategy="race")
    house = await start_house({"races": races}, usage=True, prices=prices)
    await limit(house, 10**9)
    mock.script([Step(status=500), Step()])
    await house.turn()
    again = 11 * 1000 + 7 * 2000
    assert [row.price_nano for row in await ledger(house)] == [0, again]
    assert await stands(house) == (again, 0)
    mock.script([Step(), Step(forever=True, pause=0.001)])
    await house.turn(pipeline="races", stream=True)
    await mock.is_idle()
    rows = (await ledger(house))[2:]
    assert len(rows) == len(mock.requests) - 2
    assert {row.outcome for row in rows} <= {"answered", "left"}
    assert await stands(house) == (again + sum(row.price_nano for row in rows), 0)
