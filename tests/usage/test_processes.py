"""Budgets among several processes: they share what there is, and one that is killed takes nothing along."""

import asyncio
import json
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession

from agentui.api.keys import METER
from tests.accounts.conftest import eventually
from tests.api.callers import DIALECTS, Caller
from tests.campaigns.fork_server import forked
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import Mock, Step
from tests.upstreams.step import Tokens
from tests.usage.conftest import PRICES, ledger

pytestmark = pytest.mark.timeout(300)

EACH = 50 * 1000 + 64 * 2000


async def all_know(servers: list[Server]) -> bool:
    """Whether every server knows that there are budgets."""
    return all(server.app[METER].is_limiting for server in servers)


async def test_four_servers_on_one_database_spend_no_more_than_there_is(
    start_server: StartServer, mock: Mock, prices: Path, database: str
) -> None:
    mock.play(lambda _: Step(tokens=Tokens(input=50, output=64)))
    pipelines = {"plain": call("caller", mock.origin), "claude": call("claude", mock.origin)}
    servers = [await start_server(pipelines, database_url=database, usage=True, prices=prices) for _ in range(4)]
    async with ClientSession() as http:
        budget = {"level": "server", "unit": "money", "period": "day", "amount": 20 * EACH}
        async with http.put(f"{servers[0].origin}/budgets", json=budget) as answer:
            assert answer.status == 200, await answer.text()
        # The others are told, and hear it a moment later.
        await eventually(lambda: all_know(servers))

        async def ask(number: int) -> int:
            pipeline = "claude" if number % 2 else "plain"
            caller = Caller(DIALECTS[number // 2 % 4], servers[number % 4].origin, prefix=f"/p/{pipeline}")
            return (await caller.ask(stream=number % 3 == 0)).status

        statuses = await asyncio.gather(*map(ask, range(100)))
        assert set(statuses) == {200, 429}
        for server in servers:
            rows = await ledger(server)
        async with http.get(f"{servers[3].origin}/budgets") as answer:
            [stands] = (await answer.json())["data"]
    assert (stands["reserved"], stands["spent"]) == (0, sum(row.price_nano for row in rows))
    assert 0 < stands["spent"] == EACH * statuses.count(200) <= 20 * EACH
    assert len(rows) == len(mock.requests)


async def test_a_process_that_is_killed_is_booked_at_what_it_had_reserved(tmp_path: Path, mock: Mock) -> None:
    for name in ("pipelines", "presets", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "prices.json").write_text(json.dumps({"prices": PRICES}))
    (tmp_path / "pipelines" / "plain.json").write_text(json.dumps(call("openai", mock.origin)))
    command = ["serve", "--port", "0", *(f"--{name}={tmp_path / name}" for name in ("pipelines", "presets", "data"))]
    settings = {"AGENTUI_USAGE": "true", "AGENTUI_PRICES": str(tmp_path / "prices.json")}
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 64}
    async with ClientSession() as http:
        with forked(*command, **settings) as process:
            origin = (await asyncio.to_thread(process.hello, 150.0)).splitlines()[0].split()[-1].rstrip("/")
            budget = {"level": "server", "unit": "money", "amount": 10**9}
            async with http.put(f"{origin}/budgets", json=budget) as answer:
                assert answer.status == 200, await answer.text()
            mock.script(Step(hold="headers"))
            asking = asyncio.create_task(Caller("openai", origin, prefix="/p/plain").post("/v1/chat/completions", body))
            await mock.was_asked()
            async with http.get(f"{origin}/budgets") as answer:
                [held] = (await answer.json())["data"]
            process.kill()
            with pytest.raises(ClientError):
                await asking
        bound = (len(mock.last.raw) + 16) * 1000 + 64 * 2000
        assert (held["reserved"], held["spent"]) == (bound, 0)
        with forked(*command, **settings) as process:
            origin = (await asyncio.to_thread(process.hello, 150.0)).splitlines()[0].split()[-1].rstrip("/")
            async with http.get(f"{origin}/budgets") as answer:
                [stands] = (await answer.json())["data"]
            assert (stands["reserved"], stands["spent"]) == (0, bound)
            async with http.get(f"{origin}/usage") as answer:
                [row] = (await answer.json())["items"]
            assert (row["outcome"], row["basis"], row["price_nano"]) == ("lost", "estimated", bound)
