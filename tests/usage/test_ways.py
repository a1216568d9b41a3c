"""What a limit costs: ways to the database and statements, which are the same on every machine."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import Connection, text

from agentui.api.keys import METER, STORE
from agentui.pipeline.metering import OutgoingCall
from agentui.principal import Principal
from agentui.usage.budgets import limited_units, list_budgets, remove_budget, set_budget
from agentui.usage.meter import UsageMeter
from agentui.vendors.base import OutputLimit
from tests.conftest import StartServer
from tests.usage.test_budgets import DAY

ME = Principal("default-admin", "admin", may_edit=True)


def outgoing(limit: int | None = 5, model: str = "text") -> OutgoingCall:
    """A call of a kilobyte that is about to go out."""
    place = ("run", "plain", "call", None, None, "answer", "chat", "openai", "http://127.0.0.1:1/v1")
    return OutgoingCall(ME, *place, model, 1000, OutputLimit(limit))  # type: ignore[arg-type]


@asynccontextmanager
async def counted_ways(url: str) -> AsyncIterator[tuple[str, Callable[[], int]]]:
    """The address of a database behind a relay, and how often its clients have waited for an answer: a message ``Query`` or
    ``Sync`` is what a server answers (https://www.postgresql.org/docs/current/protocol-flow.html)."""
    where = parse_qs(urlsplit(url).query)["host"][0]
    ways = 0
    tasks: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal ways
        own_reader, own_writer = await asyncio.open_unix_connection(f"{where}/.s.PGSQL.5432")
        tasks.add(asyncio.create_task(pump(own_reader, writer)))
        kind = b""  # the first message has none
        try:
            while True:
                size = await reader.readexactly(4)
                own_writer.write(kind + size + await reader.readexactly(int.from_bytes(size) - 4))
                ways += kind in (b"Q", b"S")
                kind = await reader.readexactly(1)
        except asyncio.IncompleteReadError:
            own_writer.close()

    with tempfile.TemporaryDirectory() as folder, closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(f"{folder}/.s.PGSQL.5432")
        async with await asyncio.start_unix_server(met, sock=listening):
            yield url.replace(where, folder), lambda: ways
        await asyncio.gather(*tasks)


@asynccontextmanager
async def metered(
    start_server: StartServer, prices: Path, url: str
) -> AsyncIterator[tuple[UsageMeter, Callable[[], int], Callable[..., Any]]]:
    """The meter of a server behind such a relay, the count, and what sets a budget as another process would."""
    async with counted_ways(url) as (relayed, ways):
        server = await start_server({}, database_url=relayed, usage=True, prices=prices)
        meter, store = server.app[METER], server.app[STORE]
        await store.start()

        async def sets(amount: int, unit: str = "money", period: str = "ever") -> str:
            place: Any = ("account", ME.account, ME.account, unit, period)
            return (await store.write(set_budget, *place, amount, meter.clock.now_ms())).id

        yield meter, ways, sets
        await store.close()


async def test_a_reservation_is_one_way_to_postgresql_and_back(start_server: StartServer, prices: Path, database: str) -> None:
    async with metered(start_server, prices, database) as (meter, ways, sets):
        await sets(10**12)
        await sets(10**9, "tokens", "month")
        await meter.refresh()
        taken = []
        for _ in range(6):
            before = ways()
            await meter.begin(outgoing())
            taken.append(ways() - before)
        # The first looks at the budgets, and each connection of the pool learns the statement once.
        assert taken[0] > taken[-1] == taken[-2] == 1
        store = meter.store
        held = {budget.unit: budget.reserved for budget in await store.read(list_budgets, meter.clock.now_ms())}
        assert held == {"money": 6 * (1016 * 1000 + 5 * 2000), "tokens": 6 * 1021}


async def test_what_others_did_to_a_budget_meanwhile_counts(start_server: StartServer, prices: Path, database: str) -> None:
    async with metered(start_server, prices, database) as (meter, _, sets):
        each = 1016 * 1000 + 5 * 2000
        store, now = meter.store, meter.clock.now_ms()
        first = await sets(10 * each)
        await meter.refresh()

        async def reserved() -> list[int]:
            return [
                budget.reserved // (each if budget.unit == "money" else 1) for budget in await store.read(list_budgets, now)
            ]

        await meter.begin(outgoing())
        await sets(2 * each)  # made smaller: one more fits
        await meter.begin(outgoing())
        with pytest.raises(Exception, match=r"has \$0.000000 left"):
            await meter.begin(outgoing())
        await sets(10 * each)
        await sets(1, "calls")  # one more budget, which this meter has not seen
        await meter.begin(outgoing())
        assert await reserved() == [1, 3]
        with pytest.raises(Exception, match="calls at once"):
            await meter.begin(outgoing())
        assert await store.write(remove_budget, first)  # one less
        await sets(5, "calls")
        await meter.begin(outgoing())
        assert await reserved() == [2]

        def ages(db: Connection) -> None:
            db.execute(text("UPDATE budgets SET period = 'day', window_start = window_start - :day"), {"day": DAY})

        await store.write(set_budget, "server", "", "", "requests", "day", 1, now)
        await meter.begin(outgoing())
        await store.write(ages)
        assert ("server", "") in await store.read(limited_units)
        with pytest.raises(Exception, match="budget of the server"):
            await meter.begin(outgoing())


async def test_an_answer_is_capped_by_what_is_left_and_not_by_what_was(
    start_server: StartServer, prices: Path, database: str
) -> None:
    async with metered(start_server, prices, database) as (meter, _, sets):
        await sets(100_000, "tokens", "ever")
        await meter.refresh()
        caps = [(await meter.begin(outgoing(None))).cap for _ in range(3)]
        assert caps == [32_768, 32_768, 100_000 - 2 * (1016 + 32_768) - 1016]
