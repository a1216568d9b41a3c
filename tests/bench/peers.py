"""``python -m tests.bench.peers [--nginx FILE] [--litellm FILE] [--portkey FILE]``: agentui beside other proxies.

All stand before the same upstream on this machine and are asked the same; what is reported is the processor time of each
proxy's processes, and the ratio of agentui's to it. Nothing is installed: a peer that is not there is left out, with a line
that says how to get it. Every address is on loopback, and no peer is asked to look anywhere else. Linux only.
"""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from tests.bench.__main__ import PAGE, Server, body, start, start_agentui
from tests.bench.load import quantile, request_bytes, streams, whole_answers

START_SECONDS = 180.0
"""How long a peer may take until it answers."""
ROUND_SECONDS = 2.0
"""Processor time that a proxy should spend in a round, so that the clock's ticks of 10 ms do not count."""
ROUNDS = 3
TICKS = os.sysconf("SC_CLK_TCK")
HINTS = {
    "nginx": "apt-get install nginx (--nginx FILE, if it is not in the PATH)",
    "litellm": "python3 -m venv peers && peers/bin/pip install 'litellm[proxy]', then --litellm peers/bin/litellm",
    "portkey": (
        "npm install @portkey-ai/gateway in a folder of its own, then "
        "--portkey node_modules/@portkey-ai/gateway/build/start-server.js"
    ),
}


@dataclass
class Tree(Server):
    """A server of one or more processes: they are counted together."""

    def cpu(self) -> float:
        """Processor seconds that all of them have used so far, children that ended included."""
        ticks = 0
        for pid in self._pids():
            ticks += sum(int(part) for part in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15])
        return ticks / TICKS

    def memory(self) -> float:
        """Resident megabytes of all of them."""
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids()) * PAGE / 1e6

    def stop(self) -> None:
        """End it; a peer that does not listen is killed."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _pids(self) -> Sequence[int]:
        pids = [self.process.pid]
        for pid in pids:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                pids.extend(int(child) for child in (thread / "children").read_text().split())
        return pids


@dataclass
class Peer:
    """A proxy that is being measured: who it is, and how it wants to be asked."""

    name: str
    server: Server
    path: str = "/v1/chat/completions"
    headers: Mapping[str, str] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    """What was measured, by its name."""

    def message(self, content: bytes) -> bytes:
        """A request with this body."""
        return request_bytes(self.server.port, self.path, content, self.headers)


def start_nginx(file: str, folder: Path, upstream: int) -> Peer:
    """One worker that passes everything on over kept connections, without buffering answers."""
    port = _free_port()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"    {kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(f"""
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_max_body_size 64m;
    client_body_buffer_size 1m;
    keepalive_requests 1000000;
{temporary}
    upstream model {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000; }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            proxy_pass http://model;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
        }}
    }}
}}
""")
    command = [file, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    return Peer("nginx", _start(command, port, folder / "log"))


def start_litellm(file: str, folder: Path, upstream: int) -> Peer:
    """One worker without database, callbacks or telemetry, which passes every model on."""
    port = _free_port()
    target = {"model": "openai/*", "api_base": f"http://127.0.0.1:{upstream}/v1", "api_key": "bench-key-0123456789"}
    config = {
        "model_list": [{"model_name": "*", "litellm_params": target}],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
    }
    (folder / "litellm.yaml").write_bytes(orjson.dumps(config))
    command = [file, "--config", str(folder / "litellm.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    quiet = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MODE": "PRODUCTION",
        # Without a key of its own it checks none, which is the least work; only this machine can connect.
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    }
    return Peer("LiteLLM", _start([*command, "--num_workers", "1", "--telemetry", "False"], port, folder / "log", quiet))


def start_portkey(file: str, folder: Path, upstream: int) -> Peer:
    """The gateway alone, without its console; the caller says where the request goes."""
    port = _free_port()
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("Node.js is not in the PATH.")
    headers = {"x-portkey-provider": "openai", "x-portkey-custom-host": f"http://127.0.0.1:{upstream}/v1"}
    command = [node, file, f"--port={port}", "--headless"]
    return Peer("Portkey", _start(command, port, folder / "log", {"NODE_ENV": "production"}), headers=headers)


PEERS: Mapping[str, Callable[[str, Path, int], Peer]] = {
    "nginx": start_nginx,
    "litellm": start_litellm,
    "portkey": start_portkey,
}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _start(command: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None) -> Tree:
    """Start a peer and wait until it listens. Raises RuntimeError, with the end of what it wrote, when it does not."""
    with log.open("w") as written:
        around = {**os.environ, **(environment or {})}
        process = subprocess.Popen(command, stdout=written, stderr=written, text=True, env=around)
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return Tree(process, port)
    process.kill()
    raise RuntimeError(f"{command[0]} does not listen on port {port}: {log.read_text()[-2000:]}")


def measure(proxies: Sequence[Peer], scale: float) -> None:
    """Take all figures, each of all proxies in turn, so that they share the machine's mood. What one cannot do is said."""
    cases: Mapping[str, Callable[[Peer], float]] = {
        "CPU per request, 1 KB": lambda peer: _request(peer, 1, scale),
        "CPU per request, 100 KB": lambda peer: _request(peer, 100, scale),
        "first byte of a stream, p50": lambda peer: _first_byte(peer, scale),
        "CPU per chunk, 20 streams at 100/s": lambda peer: _chunk(peer, scale),
    }
    for what, case in cases.items():
        for peer in proxies:
            try:
                peer.cost[what] = case(peer)
            except (RuntimeError, OSError, EOFError) as error:
                print(f"{peer.name} does not answer ({what}): {str(error)[:300]}", file=sys.stderr)


def _request(peer: Peer, kilobytes: int, scale: float) -> float:
    """Processor seconds a request at eight callers, the best round of three."""
    message = peer.message(body(kilobytes, f"bench-{kilobytes}-1-0"))

    def cost(count: int) -> float:
        before = peer.server.cpu()
        asyncio.run(whole_answers(peer.server.port, message, count, 8))
        return (peer.server.cpu() - before) / count

    # The first requests load code and fill pools; the next tell how many make a round.
    cost(48)
    count = int(min(8000, max(100, ROUND_SECONDS * scale / max(cost(96), 1e-5))))
    return min(cost(count) for _ in range(ROUNDS))


def _first_byte(peer: Peer, scale: float) -> float:
    """Seconds until a caller who is alone reads the first byte of a stream."""
    message = peer.message(body(1, "bench-1-1-0", stream=True))

    async def one_by_one(count: int) -> list[float]:
        return [(await streams(peer.server.port, message, 1)).first[0] for _ in range(count)]

    asyncio.run(one_by_one(10))
    return min(quantile(asyncio.run(one_by_one(int(100 * scale))), 0.5) for _ in range(ROUNDS))


def _chunk(peer: Peer, scale: float) -> float:
    """Processor seconds a chunk of text; what a stream costs beside its chunks is in it."""
    message = peer.message(body(1, f"bench-1-{int(400 * scale)}-10", stream=True))
    before = peer.server.cpu()
    times = asyncio.run(streams(peer.server.port, message, 20))
    return (peer.server.cpu() - before) / times.chunks


def table(agentui: Peer, peers: Sequence[Peer]) -> None:
    """Print a row for each figure and proxy; ratios below one are turned around."""
    print("| what | who | figure | agentui to it |\n| --- | --- | ---: | ---: |")
    for what, own in agentui.cost.items():
        for peer in (agentui, *peers):
            if what not in peer.cost:
                print(f"| {what} | {peer.name} | fails | |")
                continue
            ratio = own / peer.cost[what]
            told = "" if peer is agentui else f"{ratio:.2f}x" if ratio >= 1 else f"1/{1 / ratio:.1f}"
            print(f"| {what} | {peer.name} | {peer.cost[what] * 1e6:,.0f} us | {told} |")
    for peer in (agentui, *peers):
        print(f"| memory after all of it | {peer.name} | {peer.server.memory():.0f} MB | |")


def main() -> None:
    """Measure who is there, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[2].strip())
    parser.add_argument("--nginx", default=shutil.which("nginx"), metavar="FILE", help="the program (default: from the PATH)")
    parser.add_argument("--litellm", metavar="FILE", help="the program of an environment of its own: bin/litellm")
    parser.add_argument("--portkey", metavar="FILE", help="the gateway's build/start-server.js")
    parser.add_argument("--quick", action="store_true", help="a fifth of the load")
    options = parser.parse_args()
    with ExitStack() as stack:

        def running(server: Server) -> Server:
            stack.callback(server.stop)
            return server

        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = running(start("tests.bench.upstream"))
        hop = Peer("bare hop", running(start("tests.bench.hop", f"http://127.0.0.1:{upstream.port}")))
        (folder / "agentui").mkdir()
        agentui = Peer("agentui", running(start_agentui(folder / "agentui", upstream.port)[0]), "/p/same/v1/chat/completions")
        peers = [hop]
        for name, begin in PEERS.items():
            file = getattr(options, name)
            if file is None or not Path(file).exists():
                print(f"{name} is left out: {HINTS[name]}.", file=sys.stderr)
                continue
            (folder / name).mkdir()
            try:
                peers.append(begin(file, folder / name, upstream.port))
            except (RuntimeError, OSError) as error:
                print(f"{name} does not start: {error}", file=sys.stderr)
                continue
            running(peers[-1].server)
        measure((agentui, *peers), 0.2 if options.quick else 1.0)
        table(agentui, peers)


if __name__ == "__main__":
    main()
