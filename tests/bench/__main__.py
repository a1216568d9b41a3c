"""``python -m tests.bench [--quick] [--against TREE]``: the table of speed goals, each figure beside the bare hop's in the same
run, and beside that of another checkout (the last release's, say), which then stands in its own rows.

Linux only: processor time and memory are read from /proc. Every server is a process of its own; what is reported is the
processor time of the proxy's process alone, so the load generator and the upstream do not count. Where there are two cores or
more, the proxies have one for themselves: what the others do must not push a proxy out of its core's caches.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from agentui.serving.process import FREED_SECONDS
from tests.bench.load import quantile, request_bytes, streams, whole_answers

PAGE = os.sysconf("SC_PAGE_SIZE")
ROOT = Path(__file__).parent.parent.parent
ALL_CORES = os.sched_getaffinity(0)


@dataclass
class Server:
    """A process that serves on a port."""

    process: subprocess.Popen[str]
    port: int

    def cpu(self) -> float:
        """Processor seconds that its threads have used, as the scheduler counts them: not in ticks of 10 ms."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def memory(self) -> float:
        """Resident megabytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def pin(pid: int, *, is_proxy: bool) -> None:
    """Give a process (0: this one) the proxies' core, or all others; nothing where there is one core."""
    cores = sorted(ALL_CORES)
    if len(cores) > 1:
        os.sched_setaffinity(pid, cores[-1:] if is_proxy else cores[:-1])


def start(*arguments: str) -> Server:
    """Start a Python module of this checkout that prints its port first."""
    process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline()))


def start_agentui(folder: Path, upstream: int, tree: Path = ROOT) -> tuple[Server, float]:
    """Start the agentui of a checkout with the bench pipelines, in this environment; also the seconds until its first answer.

    Its bytecode is there already, as it is in all starts of a user but the first.
    """
    subprocess.run([sys.executable, "-m", "compileall", "-q", "agentui"], cwd=tree, check=True)
    (folder / "pipelines").mkdir(parents=True)
    for id, provider, blocks in (("same", "openai", 0), ("block", "openai", 1), ("claude", "claude", 0)):
        (folder / "pipelines" / f"{id}.json").write_bytes(orjson.dumps(pipeline(provider, upstream, blocks)))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "agentui", "serve", "--port", "0"]
        + [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree,
        env={**os.environ, "AGENTUI_MAX_PER_ORIGIN": "5000", "AGENTUI_MAX_IN_FLIGHT": "5000", "PYTHONPATH": str(tree)},
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().strip().rpartition(":")[2])
    server = Server(process, port)
    asyncio.run(whole_answers(port, request_bytes(port, "/p/same/v1/chat/completions", body(1, "bench-1-1-0")), 1, 1))
    return server, time.perf_counter() - began


def pipeline(provider: str, upstream: int, blocks: int = 0) -> object:
    """Three nodes: two that set variables, one that calls with a model made of them, and with the conversation as it came or as
    its one block."""
    rows = [{"name": "A", "mode": "string", "value": "bench"}, {"name": "B", "mode": "expr", "value": "1 + 1"}]
    more = [{"name": "MODEL", "mode": "string", "value": "{{ model }}"}]
    target = {"provider": provider, "base_url": f"http://127.0.0.1:{upstream}", "model": "[[MODEL]]"}
    target |= {"blocks": [{"kind": "history"}]} if blocks else {}
    return {
        "format": 1,
        "name": provider,
        "nodes": [
            {"id": "n1", "type": "SetVars", "config": {"variables": rows}},
            {"id": "n2", "type": "SetVars", "config": {"variables": more}},
            {"id": "n3", "type": "ProviderCall", "config": target},
        ],
        "edges": [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}],
    }


def body(kilobytes: int, model: str, *, stream: bool = False) -> bytes:
    """A chat request of about this size, in messages of 1 KB; 0 is one short message."""
    if not kilobytes:
        message = {"role": "user", "content": "Hello!"}
        return orjson.dumps({"model": model, "max_tokens": 100, "stream": stream, "messages": [message]})
    words = "The quick brown fox jumps over the lazy dog. " * 22
    messages = [{"role": ("user", "assistant")[n % 2], "content": words} for n in range(max(1, kilobytes))]
    if len(messages) % 2 == 0:
        messages.append({"role": "user", "content": "Go on."})
    return orjson.dumps({"model": model, "max_tokens": 100, "stream": stream, "messages": messages})


class Bench:
    """Runs the cases and prints rows."""

    def __init__(self, hop: Server, agentui: Server, scale: float, other: Server | None) -> None:
        self.hop, self.agentui, self.scale, self.other = hop, agentui, scale, other

    def targets(self) -> list[tuple[str, Server, str]]:
        """Who is measured: its name, its server and the path; the bare hop first."""
        others = [] if self.other is None else [("the other agentui", self.other, "/p/same/v1/chat/completions")]
        return [
            ("bare hop", self.hop, "/v1/chat/completions"),
            ("agentui", self.agentui, "/p/same/v1/chat/completions"),
            *others,
            ("agentui, one block", self.agentui, "/p/block/v1/chat/completions"),
            ("agentui, translated", self.agentui, "/p/claude/v1/chat/completions"),
        ]

    def requests(self, kilobytes: int, callers: int) -> None:
        """The best of five rounds of each, taken in turn, so that all share the machine's mood."""
        count = int((2000 if kilobytes <= 1 else 600) * self.scale)
        content = body(kilobytes, f"bench-{max(1, kilobytes)}-1-0")
        best = {name: 1e9 for name, _, _ in self.targets()}
        for _ in range(5):
            for name, server, path in self.targets():
                before = server.cpu()
                asyncio.run(whole_answers(server.port, request_bytes(server.port, path, content), count, callers))
                best[name] = min(best[name], (server.cpu() - before) / count)
        size = f"{kilobytes} KB" if kilobytes else "100 bytes"
        for name, cost in best.items():
            row(f"CPU per request, {size}, {callers} callers", name, f"{cost * 1e6:.0f} us", cost / best["bare hop"])

    def latency(self) -> None:
        count = int(1500 * self.scale)
        base = 0.0
        for name, server, path in self.targets():
            message = request_bytes(server.port, path, body(1, "bench-1-1-0"))
            best = min(quantile(asyncio.run(whole_answers(server.port, message, count, 1)).whole, 0.5) for _ in range(3))
            base = base or best
            row("p50 at concurrency 1", name, f"{best * 1e6:.0f} us", best / base)

    def first_byte(self) -> None:
        base = 0.0
        for name, server, path in self.targets():
            message = request_bytes(server.port, path, body(1, "bench-1-1-0", stream=True))

            async def one_by_one(server: Server = server, message: bytes = message) -> list[float]:
                return [(await streams(server.port, message, 1)).first[0] for _ in range(int(400 * self.scale))]

            best = min(quantile(asyncio.run(one_by_one()), 0.5) for _ in range(3))
            base = base or best
            row("first byte of a stream", name, f"{best * 1e6:.0f} us", best / base)

    def chunks(self) -> None:
        base = 0.0
        count = int(500 * self.scale)
        for name, server, path in self.targets():
            message = request_bytes(server.port, path, body(1, f"bench-1-{count}-10", stream=True))
            before = server.cpu()
            times = asyncio.run(streams(server.port, message, 50))
            cost = (server.cpu() - before) / times.chunks
            lags = [
                at - began - n * 0.01 for arrivals in times.arrivals for n, at in enumerate(arrivals) for began in arrivals[:1]
            ]
            base = base or cost
            shown = (
                f"{cost * 1e6:.1f} us, {times.chunks / (50 * count):.1%} of chunks, lag p99 {quantile(lags, 0.99) * 1e3:.1f} ms"
            )
            row("CPU per chunk, 50 streams at 100/s", name, shown, cost / base)

    def open_streams(self) -> None:
        for name, server, path in self.targets():
            message = request_bytes(server.port, path, body(1, "bench-1-3-2000", stream=True))

            async def peak(server: Server = server, message: bytes = message) -> float:
                before = server.memory()
                task = asyncio.create_task(streams(server.port, message, 1000))
                await asyncio.sleep(4.0)
                grown = server.memory() - before
                await task
                return grown

            asyncio.run(whole_answers(server.port, request_bytes(server.port, path, body(1, "bench-1-1-0")), 10, 1))
            row("memory of 1,000 open streams", name, f"{asyncio.run(peak()):.1f} MB", None)

    def storm(self) -> None:
        """What stays when 256 callers with 100 KB each, and then 1,000 streams, have come and gone, and what was freed had the
        time to be given back."""
        for name, server, path in self.targets()[: 2 if self.other is None else 3]:
            before = server.memory()
            large = request_bytes(server.port, path, body(100, "bench-100-1-0"))
            asyncio.run(whole_answers(server.port, large, int(4000 * self.scale), 256))
            asyncio.run(streams(server.port, request_bytes(server.port, path, body(1, "bench-1-3-1000", stream=True)), 1000))
            time.sleep(FREED_SECONDS + 2)
            row("memory before and after a storm", name, f"{before:.1f} -> {server.memory():.1f} MB", None)

    def growth(self) -> None:
        message = request_bytes(self.agentui.port, "/p/claude/v1/chat/completions", body(1, "bench-1-1-0"))
        sizes = []
        for _ in range(11):
            asyncio.run(whole_answers(self.agentui.port, message, int(2000 * self.scale), 16))
            sizes.append(self.agentui.memory())
        row("memory over 10 rounds", "agentui", f"{sizes[0]:.1f} -> {sizes[-1]:.1f} MB", sizes[-1] / sizes[0])


def row(what: str, who: str, value: str, ratio: float | None) -> None:
    """Print one line of the table."""
    print(f"| {what} | {who} | {value} | {'' if ratio is None else f'{ratio:.2f}x'} |", flush=True)


def main() -> None:
    """Run everything and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the load")
    parser.add_argument("--only", help="one case: requests, latency, first_byte, chunks, open_streams, storm, growth")
    parser.add_argument("--against", type=Path, metavar="TREE", help="another checkout, measured in the same run")
    options = parser.parse_args()
    upstream = start("tests.bench.upstream")
    hop = start("tests.bench.hop", f"http://127.0.0.1:{upstream.port}")
    with tempfile.TemporaryDirectory() as folder:
        agentui, seconds = start_agentui(Path(folder) / "own", upstream.port)
        started = [("agentui", agentui, seconds)]
        if options.against is not None:
            started.append(
                ("the other agentui", *start_agentui(Path(folder) / "other", upstream.port, options.against.resolve()))
            )
        other = started[1][1] if len(started) > 1 else None
        pin(0, is_proxy=False)
        pin(upstream.process.pid, is_proxy=False)
        for server in (hop, *(each for _, each, _ in started)):
            pin(server.process.pid, is_proxy=True)
        try:
            print("| what | who | figure | ratio |\n| --- | --- | ---: | ---: |")
            for name, server, seconds in started:
                row("start to first reply", name, f"{seconds:.2f} s ({server.cpu():.2f} s of processor time)", None)
                row("idle memory", name, f"{server.memory():.1f} MB", None)
            bench = Bench(hop, agentui, 0.1 if options.quick else 1.0, other)
            cases = {
                "requests": lambda: [bench.requests(size, callers) for size in (0, 1, 100) for callers in (1, 32)],
                "latency": bench.latency,
                "first_byte": bench.first_byte,
                "chunks": bench.chunks,
                "open_streams": bench.open_streams,
                "storm": bench.storm,
                "growth": bench.growth,
            }
            for name, case in cases.items():
                if options.only in (None, name):
                    case()
        finally:
            for server in (*(each for _, each, _ in started), hop, upstream):
                server.stop()


if __name__ == "__main__":
    main()
