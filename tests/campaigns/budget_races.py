"""Real races at the edge of budgets: a hundred callers at once over four server processes on one PostgreSQL, or over one on
SQLite, in every dialect, streamed or not, some answers cut; and a process that is killed between reserving and settling.

Afterwards every request that the upstream got is a row of the ledger, the budgets say what the rows say, and none is overspent.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from agentui.jsonio import Json
from tests.api.callers import DIALECTS, Caller
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fork_server import Forked, forked
from tests.conftest import call
from tests.postgres import migrated, new_database, running_postgres
from tests.upstreams.server import Mock, Step, start_mock
from tests.upstreams.step import Tokens

INPUT, OUTPUT = 50, 64
EACH: Final = INPUT * 1000 + OUTPUT * 2000
"""What an answer costs that tells its tokens, in nano-dollars."""
ROOM: Final = 30
"""Answers that the server's budget is for."""
CALLERS, KILLED = 100, 4
LIMITS: Final[Mapping[str, Json]] = {
    "openai": {"max_tokens": OUTPUT},
    "openai_responses": {"max_output_tokens": OUTPUT},
    "claude": {},
    "gemini": {"generationConfig": {"maxOutputTokens": OUTPUT}},
}
"""How each dialect limits an answer, where its caller does not anyway."""
VENDORS: Final = ("openai", "claude", "gemini", "caller")
PRICES: Final = {"prices": [{"input": 1.0, "output": 2.0}]}
SHORT_LEASES: Final[Mapping[str, float]] = {"agentui.usage.budgets.LEASE_MS": 2500, "agentui.usage.meter.RENEW_SECONDS": 0.5}


class Race:
    """Server processes over one upstream and one database, in a folder of their own."""

    def __init__(self, folder: Path, mock: Mock, database: str | None) -> None:
        self.folder, self.mock, self.database = folder, mock, database
        for name in ("pipelines", "presets"):
            (folder / name).mkdir(parents=True)
        (folder / "prices.json").write_text(json.dumps(PRICES))
        for vendor in VENDORS:
            (folder / "pipelines" / f"{vendor}.json").write_text(json.dumps(call(vendor, mock.origin)))

    @contextmanager
    def server(self, number: int) -> "Iterator[tuple[Forked, str]]":
        """A server process and its address. On SQLite the next one has the data of the last."""
        data = self.folder / ("data" if self.database is None else f"data{number}")
        data.mkdir(exist_ok=True)
        folders = [f"--{name}={self.folder / name}" for name in ("pipelines", "presets")]
        settings = {"AGENTUI_USAGE": "true", "AGENTUI_PRICES": str(self.folder / "prices.json")}
        if self.database is not None:
            settings["AGENTUI_DATABASE_URL"] = self.database
        with forked("serve", "--port", "0", *folders, f"--data={data}", constants=SHORT_LEASES, **settings) as process:
            yield process, process.hello(150.0).splitlines()[0].split()[-1].rstrip("/")


async def race(folder: Path, mock: Mock, database: str | None, *, servers: int, callers: int = CALLERS) -> list[str]:
    """Race once; what was wrong."""
    field, wrong = Race(folder, mock, database), []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300)) as http:
        with ExitStack() as running:
            process, origin = await asyncio.to_thread(running.enter_context, field.server(0))
            amount = ROOM * EACH * 4  # a reservation is several times what an answer costs in the end
            await _set(http, origin, unit="money", period="day", amount=amount)
            await _set(http, origin, unit="requests", period="month", amount=callers)
            mock.play(lambda _: Step(hold="headers"))
            left = [asyncio.create_task(_ask(origin, number, "openai")) for number in range(KILLED)]
            async with asyncio.timeout(60):
                await mock.was_asked(KILLED)
            process.kill()
            if {await each for each in left} != {0}:
                wrong.append("A killed server has answered.")
            mock.release()
            mock.play(_answers())
            origins = [
                (await asyncio.to_thread(running.enter_context, field.server(number)))[1] for number in range(1, servers + 1)
            ]
            asked = [_ask(origins[number % servers], number, VENDORS[number // 4 % 4]) for number in range(callers)]
            statuses = await asyncio.gather(*asked)
            await mock.is_idle()
            budgets, rows = await _settled(http, origins[-1])
    lost = [row for row in rows if row["outcome"] == "lost"]
    if len(lost) != KILLED:
        wrong.append(f"{KILLED} calls were under way when their process was killed, and {len(lost)} are booked as lost.")
    if len(rows) != len(mock.requests):
        wrong.append(f"The upstream got {len(mock.requests)} requests, and the ledger has {len(rows)}.")
    if not {200, 429} <= {*statuses}:
        wrong.append(f"There was no race: {sorted({*statuses})}.")
    price = sum(row["price_nano"] for row in rows)
    told = EACH * sum(row["basis"] == "told" and row["outcome"] == "answered" for row in rows)
    if price < told:
        wrong.append("Answers cost less than their tokens.")
    for budget in budgets:
        said = f"{budget['spent']} of {budget['amount']} {budget['unit']}, {budget['reserved']} reserved"
        spent = price if budget["unit"] == "money" else len(rows)
        if budget["reserved"] or not 0 < budget["spent"] <= budget["amount"]:
            wrong.append(f"A budget does not hold: {said}.")
        if budget["spent"] != spent:
            wrong.append(f"A budget and the ledger differ: {said}, and the rows say {spent}.")
    return wrong


def _answers() -> Any:
    """Every seventh answer is cut."""
    count = iter(range(1 << 30))
    whole, cut = Step(tokens=Tokens(input=INPUT, output=OUTPUT)), Step(tokens=Tokens(input=INPUT, output=OUTPUT), cut="reset")
    return lambda _: cut if next(count) % 7 == 6 else whole


async def _set(http: aiohttp.ClientSession, origin: str, **budget: Json) -> None:
    async with http.put(f"{origin}/budgets", json={"level": "server", **budget}) as answer:
        answer.raise_for_status()


async def _ask(origin: str, number: int, pipeline: str) -> int:
    """Ask once; the status, 0 where the server died meanwhile, -1 where the answer broke off."""
    caller = Caller(DIALECTS[number % 4], origin, prefix=f"/p/{pipeline}")
    try:
        return (await caller.ask(stream=number % 3 == 0, **LIMITS[caller.dialect])).status
    except aiohttp.ClientPayloadError:
        return -1
    except (aiohttp.ClientError, OSError):
        return 0


async def _settled(http: aiohttp.ClientSession, origin: str) -> tuple[Sequence[Json], Sequence[Json]]:
    """The budgets once nothing is reserved, which the leases of the dead see to, and all rows of the ledger."""
    async with asyncio.timeout(120):
        while True:
            async with http.get(f"{origin}/budgets") as answer:
                budgets = (await answer.json())["data"]
            if not any(budget["reserved"] for budget in budgets):
                break
            await asyncio.sleep(0.1)
    async with http.get(f"{origin}/usage?limit=1000") as answer:
        return budgets, (await answer.json())["items"]


async def sqlite_races(trial: Trial) -> None:
    """Races over one server."""
    for number in range(trial.size):
        if trial.is_over():
            return
        await _once(trial, trial.folder / str(number), None, 1)


async def postgres_races(trial: Trial) -> None:
    """Races over four servers on one database."""
    with running_postgres() as server:
        template = migrated(server)
        for number in range(trial.size):
            if trial.is_over():
                return
            await _once(trial, trial.folder / str(number), new_database(server, template), 4)


async def _once(trial: Trial, folder: Path, database: str | None, servers: int) -> None:
    mock = await start_mock()
    try:
        for what in await race(folder, mock, database, servers=servers):
            trial.fail(f"race {folder.name}: {what}")
    finally:
        await mock.close()
    trial.counts["races"] += 1


CAMPAIGNS = [
    Campaign("budgets.race", sqlite_races, counted="races", short=1, long=20, short_seconds=120.0),
    Campaign("budgets.race_of_workers", postgres_races, counted="races", short=1, long=20, short_seconds=120.0),
]
