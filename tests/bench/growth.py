"""``python -m tests.bench.growth [--quick] [--only CASE]``: how costs grow with size, beside a bare hop in the same run.

Cases: ``body`` (1 KB to 1 MB), ``nodes`` (1 to 100), ``streams`` (1 to 5,000 open at once), ``floors`` (10 to 100,000 before a
turn). Linux only, as ``tests.bench``. What grows in a straight line keeps its ratio to the hop; what has a fixed price comes
down to it; a ratio that rises is a cost that the hop does not have. ``--quick`` leaves out the largest sizes and takes a tenth
of the requests.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import orjson
from sqlalchemy import Connection, select

from agentui.chats.parts import Content
from agentui.jobs.runner import JobRunner
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import floors as floors_table
from agentui.turns.request import Outcome, TurnRequest
from agentui.turns.service import TurnService
from agentui.variables.resolve import load_place, resolve
from tests.bench.__main__ import ROOT, Server, body, pipeline, start
from tests.bench.load import quantile, request_bytes, streams, whole_answers
from tests.bench.turns import TEXT, bare, furnish, prepare, start_proxy

BODIES = (1, 4, 16, 64, 256, 1024)
"""Kilobytes of a request."""
NODES = (1, 3, 10, 30, 100)
STREAMS = (1, 10, 100, 1000, 5000)
FLOORS = (10, 100, 1000, 10_000, 100_000)
VARIABLES = 10
"""In each tier that outlives a turn, when floors are measured."""
TICKS = 6
"""Chunks of each open stream, one a second."""
CLIENT_PROCESSES = 2
ROUNDS = 3
"""The least of so many rounds counts: what else the machine does only ever adds."""


def allow_descriptors() -> int:
    """Open as many files as the system lets this process and its children; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else sys.maxsize


def long_pipeline(nodes: int, upstream: int) -> object:
    """A chain of nodes that each set a variable made of the one before, and one that calls; ``nodes`` in all."""
    sets = [
        {
            "id": f"s{number}",
            "type": "SetVars",
            "config": {
                "variables": [
                    {"name": f"V{number}", "mode": "string", "value": f"[[V{number - 1}]]" if number else "{{ model }}"}
                ]
            },
        }
        for number in range(nodes - 1)
    ]
    target = {"provider": "openai", "base_url": f"http://127.0.0.1:{upstream}"}
    chain = [*sets, {"id": "call", "type": "ProviderCall", "config": target}]
    edges = [{"from": one["id"], "to": two["id"]} for one, two in pairwise(chain)]
    return {"format": 1, "name": f"{nodes} nodes", "nodes": chain, "edges": edges, "answer": "call"}


def start_agentui(folder: Path, pipelines: Mapping[str, object]) -> Server:
    """A server with these pipelines and room for all streams."""
    (folder / "pipelines").mkdir()
    for id, document in pipelines.items():
        (folder / "pipelines" / f"{id}.json").write_bytes(orjson.dumps(document))
    process = subprocess.Popen(
        [sys.executable, "-m", "agentui", "serve", "--port", "0"]
        + [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AGENTUI_MAX_PER_ORIGIN": "10000", "AGENTUI_MAX_IN_FLIGHT": "10000"},
    )
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline().strip().rpartition(":")[2]))


def table(*columns: str) -> None:
    """Begin a table."""
    print(f"\n| {' | '.join(columns)} |\n| {' | '.join(['---:'] * len(columns))} |", flush=True)


def row(*cells: object) -> None:
    """One line of it."""
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


class Growth:
    """The servers, and the cases."""

    def __init__(self, upstream: Server, hop: Server, agentui: Server, is_quick: bool) -> None:
        self.upstream, self.hop, self.agentui, self.is_quick = upstream, hop, agentui, is_quick

    def sizes(self, all_of_them: Sequence[int]) -> Sequence[int]:
        """The sizes of a case."""
        return all_of_them[:-1] if self.is_quick else all_of_them

    def cost(self, server: Server, path: str, content: bytes, count: int) -> tuple[float, float]:
        """Processor seconds a request at eight callers, and the median wait of one caller."""
        count = max(16, count // 10 if self.is_quick else count)
        message = request_bytes(server.port, path, content)
        asyncio.run(whole_answers(server.port, message, max(8, count // 4), 8))
        costs = []
        for _ in range(ROUNDS):
            before = server.cpu()
            asyncio.run(whole_answers(server.port, message, count, 8))
            costs.append((server.cpu() - before) / count)
        waits = [quantile(asyncio.run(whole_answers(server.port, message, count // 4, 1)).whole, 0.5) for _ in range(ROUNDS)]
        return min(costs), min(waits)

    def body(self) -> None:
        """Requests of 1 KB to 1 MB; the answers have 1 KB."""
        waits = ("p50 ms: hop", "agentui", "translated")
        table("request, KB", "bare hop, us CPU", "agentui", "ratio", "translated", "ratio", *waits)
        for size in self.sizes(BODIES):
            content, count = body(size, "bench-1-1-0"), max(200, 8000 // (size + 3))
            base, base_wait = self.cost(self.hop, "/v1/chat/completions", content, count)
            same, same_wait = self.cost(self.agentui, "/p/same/v1/chat/completions", content, count)
            across, across_wait = self.cost(self.agentui, "/p/claude/v1/chat/completions", content, count)
            row(
                *(f"{size:,}", f"{base * 1e6:,.0f}", f"{same * 1e6:,.0f}", f"{same / base:.2f}x"),
                *(f"{across * 1e6:,.0f}", f"{across / base:.2f}x"),
                *(f"{wait * 1e3:.2f}" for wait in (base_wait, same_wait, across_wait)),
            )

    def nodes(self) -> None:
        """Pipelines of 1 to 100 nodes, one after the other."""
        content, count = body(1, "bench-1-1-0"), 2000
        base, base_wait = self.cost(self.hop, "/v1/chat/completions", content, count)
        table("nodes", "us CPU a request", "ratio to the bare hop", "us CPU for each node more", "p50 ms")
        row("bare hop", f"{base * 1e6:,.0f}", "1.00x", "", f"{base_wait * 1e3:.2f}")
        least = 0.0
        for nodes in self.sizes(NODES):
            used, wait = self.cost(self.agentui, f"/p/nodes{nodes}/v1/chat/completions", content, count)
            least = least or used
            each = f"{(used - least) / (nodes - 1) * 1e6:.1f}" if nodes > 1 else ""
            row(nodes, f"{used * 1e6:,.0f}", f"{used / base:.2f}x", each, f"{wait * 1e3:.2f}")

    def streams(self) -> None:
        """Open streams that say a chunk a second."""
        room = allow_descriptors()
        content = body(1, f"bench-1-{TICKS}-1000", stream=True)
        ways: tuple[tuple[str, Server, str], ...] = (
            ("bare hop", self.hop, "/v1/chat/completions"),
            ("agentui", self.agentui, "/p/same/v1/chat/completions"),
            ("translated", self.agentui, "/p/claude/v1/chat/completions"),
        )
        table("open streams", "who", "KB of memory each", "us CPU a chunk", "first chunk p50 ms", "lag p50 ms", "lag p99 ms")
        for count in self.sizes(STREAMS):
            if 2 * count + 100 > room:
                row(f"{count:,}", f"this system lets a process open {room:,} files", "", "", "", "", "")
                continue
            for name, server, path in ways:
                # The first streams of a process pay for what stays.
                open_streams(server, path, content, min(count, 20))
                before, used = server.memory(), server.cpu()
                peak = Peak(server)
                heard = open_streams(server, path, content, count, peak)
                used = server.cpu() - used
                row(
                    *(f"{count:,}", name, f"{max(0.0, peak.megabytes - before) * 1000 / count:,.1f}"),
                    f"{used / max(1, heard['chunks']) * 1e6:,.0f}",
                    *(f"{heard[key] * 1e3:,.1f}" for key in ("first", "lag50", "lag99")),
                )

    def floors(self) -> None:
        """A turn behind 10 to 100,000 floors on SQLite: in process, the five tiers resolved there, and over HTTP with a prompt
        that is made of the history, sent (respond) or only made (dry-run)."""
        seconds = 0.3 if self.is_quick else 2.0
        with tempfile.TemporaryDirectory() as folder:
            base = 1 / bare(Path(folder) / "bare.db", seconds)
        live = ("ms to respond", "ms CPU of it", "ms of a dry-run")
        table("floors before", "ms a turn", "ratio to bare sqlite3", "us to resolve the tiers", *live)
        row("bare sqlite3", f"{base * 1e3:.2f}", "1.00x", "", "", "", "")
        for floors in self.sizes(FLOORS):
            with tempfile.TemporaryDirectory() as folder:
                turn, resolved = asyncio.run(behind(Path(folder) / "t.db", floors, seconds))
            with tempfile.TemporaryDirectory() as folder:
                live = self.live(Path(folder), floors)
            row(
                *(f"{floors:,}", f"{turn * 1e3:.2f}", f"{turn / base:.2f}x", f"{resolved * 1e6:,.0f}"),
                *(f"{each * 1e3:.2f}" for each in live),
            )

    def live(self, folder: Path, floors: int) -> tuple[float, float, float]:
        """Seconds of a live turn behind so many floors, processor seconds of it, and seconds of a prompt that is only made."""
        asyncio.run(prepare(folder / "data" / "agentui.db", 1, floors, VARIABLES))
        server = start_proxy(folder, self.upstream.port)
        said = orjson.dumps({"message": "Go on."})
        respond, look = (
            request_bytes(server.port, f"/p/live/sessions/s0/{route}", said) for route in ("respond", "respond/dry-run")
        )
        count = 40 if self.is_quick else 200
        try:
            for message in (respond, look):
                asyncio.run(whole_answers(server.port, message, 8, 1))
            before = server.cpu()
            responded = quantile(asyncio.run(whole_answers(server.port, respond, count, 1)).whole, 0.5)
            used = (server.cpu() - before) / count
            return responded, used, quantile(asyncio.run(whole_answers(server.port, look, count, 1)).whole, 0.5)
        finally:
            server.stop()


class Peak:
    """The most memory that a server had whenever somebody looked."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.megabytes = 0.0

    def look(self) -> None:
        """Look."""
        self.megabytes = max(self.megabytes, self._server.memory())


def open_streams(server: Server, path: str, content: bytes, count: int, peak: Peak | None = None) -> dict[str, float]:
    """Open streams from processes of their own, and hear them to the end: chunks, and seconds of the first and of the lag."""
    shares = [count // CLIENT_PROCESSES + (number < count % CLIENT_PROCESSES) for number in range(CLIENT_PROCESSES)]
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.growth", "--client", str(server.port), path, str(share)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        for share in shares
        if share
    ]
    for client in clients:
        assert client.stdin is not None
        client.stdin.write(content)
        client.stdin.close()
    while any(client.poll() is None for client in clients):
        if peak is not None:
            peak.look()
        time.sleep(0.05)
    heard: dict[str, float] = {"chunks": 0.0, "first": 0.0, "lag50": 0.0, "lag99": 0.0}
    for client in clients:
        assert client.stdout is not None
        one = json.loads(client.stdout.read())
        client.stdout.close()
        heard = {key: value + one[key] if key == "chunks" else max(value, one[key]) for key, value in heard.items()}
    return heard


def be_client(port: int, path: str, count: int) -> None:
    """Open streams with the body on standard input, and print what they were like."""
    allow_descriptors()
    message = request_bytes(port, path, sys.stdin.buffer.read())
    times = asyncio.run(streams(port, message, count))
    lags = [at - arrivals[0] - number for arrivals in times.arrivals for number, at in enumerate(arrivals)]
    print(
        json.dumps(
            {
                "chunks": times.chunks,
                "first": quantile(times.first, 0.5),
                "lag50": quantile(lags, 0.5),
                "lag99": quantile(lags, 0.99),
            }
        )
    )


async def behind(file: Path, floors: int, seconds: float) -> tuple[float, float]:
    """Seconds of one turn behind so many floors, and of resolving what is visible at the last of them."""
    store = SqliteStore(file)
    service = TurnService(store, JobRunner(store, "bench"), "bench", queue_seconds=0, is_alone=True)
    await store.write(furnish, "s0", floors, VARIABLES)

    async def turn() -> None:
        turn = await service.begin(TurnRequest(DEFAULT_ACCOUNT, "run", "s0", user=Content(TEXT)))
        staged = turn.staged()
        staged.stage("branch", "gold", staged.view()[0].get("gold", 0) + 1)
        await turn.commit(Outcome(Content(TEXT), 10, 20))

    try:
        return await mean(turn, seconds), await store.read(resolving, f"s0-{floors - 1:06}", seconds)
    finally:
        await service.close()
        await store.close()


def resolving(db: Connection, floor: str, seconds: float) -> float:
    """Seconds that resolving the tiers takes from a floor's second page, without JSON."""
    session = db.execute(select(floors_table.c.session_id).where(floors_table.c.id == floor)).scalar_one()
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        _, layers = load_place(db, DEFAULT_ACCOUNT, session, None, None, f"{floor}-1")
        assert len(resolve(layers)) >= VARIABLES
        done += 1
    return (time.perf_counter() - began) / done


async def mean(once: Callable[[], Awaitable[object]], seconds: float) -> float:
    """Seconds that something awaited takes, after a tenth of the time spent on getting warm."""
    taken = 0.0
    for share in (0.1, 1.0):
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds * share:
            await once()
            done += 1
        taken = (time.perf_counter() - began) / done
    return taken


def main() -> None:
    """Run the cases and print Markdown tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="without the largest sizes, a tenth of the requests")
    parser.add_argument("--only", choices=("body", "nodes", "streams", "floors"), help="one case")
    parser.add_argument("--client", nargs=3, metavar=("PORT", "PATH", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        be_client(int(options.client[0]), options.client[1], int(options.client[2]))
        return
    allow_descriptors()
    upstream = start("tests.bench.upstream")
    hop = start("tests.bench.hop", f"http://127.0.0.1:{upstream.port}")
    chains = {f"nodes{nodes}": long_pipeline(nodes, upstream.port) for nodes in NODES}
    with tempfile.TemporaryDirectory() as folder:
        plain = {"same": pipeline("openai", upstream.port), "claude": pipeline("claude", upstream.port)}
        agentui = start_agentui(Path(folder), {**plain, **chains})
        try:
            growth = Growth(upstream, hop, agentui, options.quick)
            for name in ("body", "nodes", "streams", "floors"):
                if options.only in (None, name):
                    getattr(growth, name)()
        finally:
            for server in (agentui, hop, upstream):
                server.stop()


if __name__ == "__main__":
    main()
