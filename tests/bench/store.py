"""``python -m tests.bench.store [--seconds 3]``: durable turns and reads per second, on SQLite and on PostgreSQL.

A turn is one transaction of seven rows. The folder is a temporary one: point TMPDIR at the disk that is meant.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from tests.postgres import PATIENCE, start_postgres, stop_postgres
from tests.store.turns import open_session, read_turn, save_turn


async def rate(callers: int, seconds: float, once: Callable[[int, int], Awaitable[object]]) -> float:
    """How often per second ``once(caller, n)`` ends, with so many callers, each waiting for its own."""
    end = time.perf_counter() + seconds

    async def call(caller: int) -> int:
        n = 0
        while time.perf_counter() < end:
            await once(caller, n)
            n += 1
        return n

    began = time.perf_counter()
    done = await asyncio.gather(*(call(caller) for caller in range(callers)))
    return sum(done) / (time.perf_counter() - began)


async def measure(name: str, store: Store, seconds: float) -> None:
    """Print the rows of one engine."""
    await store.start()
    try:
        for callers in (1, 8, 32):
            for caller in range(callers):
                await store.write(open_session, f"{callers}.{caller}")
            turns = await rate(callers, seconds, lambda caller, n, c=callers: store.write(save_turn, f"{c}.{caller}", n))
            print(f"| {name} | durable turns/s, {callers} callers | {turns:,.0f} |", flush=True)
        for callers in (1, 8):
            reads = await rate(callers, seconds, lambda caller, n: store.read(read_turn, "1.0-0"))
            print(f"| {name} | reads/s, {callers} callers | {reads:,.0f} |", flush=True)
    finally:
        await store.close()


def main() -> None:
    """Measure both and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each figure is measured")
    seconds = parser.parse_args().seconds
    print("| engine | what | figure |\n| --- | --- | ---: |")
    with tempfile.TemporaryDirectory(prefix="agentui-bench-") as folder:
        asyncio.run(measure("SQLite", SqliteStore(Path(folder) / "data" / "agentui.db"), seconds))
        server = start_postgres(Path(folder) / "postgres")
        asyncio.run(measure("PostgreSQL", PostgresStore(server.get_uri(), patience=PATIENCE), seconds))
        stop_postgres(server)


if __name__ == "__main__":
    main()
