"""``python -m tests.bench.workers [--workers 1 2 4 8] [--requests 4000] [--turns 800]``: throughput by workers.

Two tables in one: a pipeline of one call to a local upstream without a memory, and the same as turns of chats in PostgreSQL (a
server of its own, from the tests' wheel). Callers, upstream, database and workers share the machine, so the figures rise only
as long as there are cores for all of them; the number of cores stands in the first line. Linux only.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import orjson

from tests.bench.__main__ import ROOT, Server, body, start
from tests.bench.load import Times, quantile, request_bytes, whole_answers
from tests.postgres import start_postgres, stop_postgres

CALLERS = 64
"""Connections: enough that the system deals them out about evenly."""


def start_workers(folder: Path, upstream: int, workers: int, database: str | None) -> Server:
    """Start a server with so many workers before the upstream."""
    target = {"provider": "openai", "base_url": f"http://127.0.0.1:{upstream}"}
    node = {"id": "n1", "type": "ProviderCall", "config": target}
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "default.json").write_bytes(orjson.dumps({"format": 1, "name": "bench", "nodes": [node]}))
    settings = {
        "AGENTUI_MAX_PER_ORIGIN": "5000",
        "AGENTUI_MAX_IN_FLIGHT": "5000",
        "AGENTUI_LOG_LEVEL": "error",
        "AGENTUI_TURN_MATCHING": "false",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "agentui", "serve", "--port", "0", "--workers", str(workers)]
        + [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **settings, **({"AGENTUI_DATABASE_URL": database} if database is not None else {})},
    )
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline().strip().rpartition(":")[2]))


async def measure(port: int, count: int, *, turns: bool) -> tuple[float, float]:
    """Answers per second of ``CALLERS`` callers, and the longest wait of 99 in 100 of them in seconds."""
    plain = request_bytes(port, "/v1/chat/completions", body(1, "bench-1-1-0"))

    def message(caller: int) -> bytes:
        return plain.replace(b"\r\n\r\n", b"\r\nx-agentui-session: s%d\r\n\r\n" % caller, 1) if turns else plain

    async def all_callers(each: int) -> list[Times]:
        return await asyncio.gather(*(whole_answers(port, message(caller), each, 1) for caller in range(CALLERS)))

    await all_callers(2)
    each = max(1, count // CALLERS)
    began = time.perf_counter()
    times = await all_callers(each)
    rate = each * CALLERS / (time.perf_counter() - began)
    return rate, quantile([whole for one in times for whole in one.whole], 0.99)


def run(numbers: Sequence[int], upstream: int, count: int, url: str | None) -> None:
    """One row for each number of workers."""
    base = 0.0
    for workers in numbers:
        with tempfile.TemporaryDirectory() as folder:
            server = start_workers(Path(folder), upstream, workers, url)
            try:
                rate, wait = asyncio.run(measure(server.port, count, turns=url is not None))
            finally:
                server.stop()
        base = base or rate
        what = "no memory" if url is None else "turns on PostgreSQL"
        print(f"| {what} | {workers} | {rate:,.0f} | {rate / base:.2f}x | {wait * 1e3:.0f} ms |", flush=True)


def main() -> None:
    """Run everything and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=800)
    options = parser.parse_args()
    print(f"{CALLERS} callers on {os.cpu_count()} cores.\n")
    print("| what | workers | requests/s | ratio | p99 |\n| --- | ---: | ---: | ---: | ---: |")
    upstream = start("tests.bench.upstream")
    try:
        run(options.workers, upstream.port, options.requests, None)
        with tempfile.TemporaryDirectory(prefix="agentui-bench-pg-", ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)  # the database's own user must get in
            postgres = start_postgres(Path(folder) / "data")
            try:
                postgres.psql("CREATE DATABASE bench;")
                run(options.workers, upstream.port, options.turns, postgres.get_uri("bench"))
            finally:
                stop_postgres(postgres)
    finally:
        upstream.stop()


if __name__ == "__main__":
    main()
