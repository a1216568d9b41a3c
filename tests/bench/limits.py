"""``python -m tests.bench.limits [--requests 1500] [--rounds 7]``: what the ledger and limits cost, in CPU time a request.

Three servers with the same pipeline of one call: one that counts nothing, one that keeps the ledger, and one that holds four
budgets besides (of the account and the server; of money, tokens and requests; for a minute, a day, a month and ever). They are
asked in turn, a kilobyte each time; the least of the rounds counts, threads of the store included. SQLite; Linux only.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Final

import orjson

from tests.bench.__main__ import ROOT, Server, body, pin, start
from tests.bench.load import request_bytes, whole_answers

BUDGETS: Final = (
    ("account", "money", "month"),
    ("account", "tokens", "minute"),
    ("server", "money", "ever"),
    ("server", "requests", "day"),
)


def start_counted(folder: Path, upstream: int, usage: str | None) -> Server:
    """Start a server before the upstream whose calls are counted, or not."""
    node = {"id": "n1", "type": "ProviderCall", "config": {"provider": "openai", "base_url": f"http://127.0.0.1:{upstream}"}}
    (folder / "pipelines").mkdir(parents=True)
    (folder / "pipelines" / "default.json").write_bytes(orjson.dumps({"format": 1, "name": "bench", "nodes": [node]}))
    (folder / "prices.json").write_text(json.dumps({"prices": [{"input": 1.0, "output": 2.0}]}))
    settings = {"AGENTUI_PRICES": str(folder / "prices.json"), "AGENTUI_LOG_LEVEL": "error", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "agentui", "serve", "--port", "0"]
        + [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **settings, **({} if usage is None else {"AGENTUI_USAGE": usage})},
    )
    assert process.stdout is not None
    server = Server(process, int(process.stdout.readline().strip().rpartition(":")[2]))
    pin(process.pid, is_proxy=True)
    return server


def set_budgets(server: Server) -> None:
    """Set all of ``BUDGETS``, larger than anything that is spent."""
    for level, unit, period in BUDGETS:
        budget = {"level": level, "unit": unit, "period": period, "amount": 10**17}
        budget |= {"subject": "default-admin"} if level == "account" else {}
        request = urllib.request.Request(
            f"http://127.0.0.1:{server.port}/budgets",
            orjson.dumps(budget),
            {"content-type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request).close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.limits", description=__doc__)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    pin(0, is_proxy=False)
    upstream = start("tests.bench.upstream")
    with tempfile.TemporaryDirectory() as folder:
        settings = {"nothing counted": None, "ledger": "true", "ledger and four budgets": "true"}
        servers = {
            name: start_counted(Path(folder) / name.replace(" ", "-"), upstream.port, usage) for name, usage in settings.items()
        }
        set_budgets(servers["ledger and four budgets"])
        content = body(1, "bench-1-1-0")
        for callers in (1, 16):
            least = dict.fromkeys(servers, 1e9)
            for _ in range(options.rounds):
                for name, server in servers.items():
                    message = request_bytes(server.port, "/v1/chat/completions", content)
                    before = server.cpu()
                    asyncio.run(whole_answers(server.port, message, options.requests, callers))
                    least[name] = min(least[name], (server.cpu() - before) / options.requests)
            for name, cost in least.items():
                more = cost - least["nothing counted"]
                print(f"{callers:3} callers  {name:26} {cost * 1e6:6.0f} us {more * 1e6:+6.0f} us", flush=True)
        for server in servers.values():
            server.stop()
    upstream.stop()


if __name__ == "__main__":
    main()
