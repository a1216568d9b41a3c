"""``faults.storm``: an upstream that is down under a high rate of requests, and comes back.

While it is down, nobody may make it worse: few attempts per request, quick answers to the callers. When it is back, callers
soon hear good answers again. It is down in each way in which one is: it refuses connections, drops them, or answers 503.
"""

import asyncio
import random
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from unittest.mock import patch

import aiohttp
from aiohappyeyeballs import AddrInfoType, start_connection

from agentui.upstream import breaker
from agentui.upstream.http import pool
from tests.campaigns.answers import telling
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.lag import Lag, watching_lag
from tests.conftest import Server, call, servers
from tests.faults.callers import DIALECTS, Asked, ask, error_of, looks_finished, send

RATE = 300
"""Requests a second."""
AT_ONCE = 60
"""Requests under way at most, by way; a machine that is too slow for the rate gets as many as it can take."""
MOST_ATTEMPTS = 1.5
"""Attempts per request while the upstream is down."""
LONG = 30_000
SHORT_REST = 1.0
"""Seconds that a circuit stays open in a short form; the long one takes the product's."""
RECOVERY = 3.0
"""Seconds after a circuit's rest until 99 % are answered well again: one probe, and what is on its way."""
WAYS = ("refuses", "drops", "503")


@dataclass
class Weather:
    """An upstream that is well or down. ``attempts`` counts what it is asked while it is down: connections, or requests where
    it answers 503."""

    way: str
    port: int
    is_up: bool = False
    attempts: int = 0
    _listener: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def start(self) -> None:
        """Listen."""
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=1024, reuse_address=True)

    async def change(self, *, up: bool) -> None:
        """Come back, or go down."""
        self.is_up = up
        if self.way == "refuses":
            if up and self._listener is None:
                await self.start()
            elif not up and self._listener is not None:
                await self.close()
        if not up:
            for writer in list(self._writers):
                writer.transport.abort()

    async def close(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if not self.is_up and self.way == "drops":
                self.attempts += 1
                writer.transport.abort()
                return
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                body = await reader.readexactly(length)
                self.attempts += not self.is_up
                writer.write(self._answer(head, body))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    def _answer(self, head: bytes, body: bytes) -> bytes:
        """A short answer, or 503."""
        if not self.is_up:
            words = b'{"error": {"message": "Down.", "type": "server_error", "param": null, "code": null}}'
            return b"HTTP/1.1 503 Down\r\nContent-Length: %d\r\nContent-Type: application/json\r\n\r\n" % len(words) + words
        path = head.split(b" ", 2)[1]
        paths = {b"/v1/chat/completions": "openai", b"/v1/responses": "openai_responses", b"/v1/messages": "claude"}
        stream = b'"stream":true' in body or b":stream" in path
        told = telling(paths.get(path, "gemini"), ("Back ", "again."), stream=stream)
        kind = b"text/event-stream" if stream else b"application/json"
        return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(told.body)) + told.body


async def storm(trial: Trial) -> None:
    """A third of the requests for each way of being down, all at the same time."""
    by_port: dict[int, Weather] = {}

    async def connecting(addresses: Sequence[AddrInfoType], *, happy_eyeballs_delay: float) -> socket.socket:
        """As the product connects; who refuses cannot count its callers."""
        weather = by_port[addresses[0][4][1]]
        weather.attempts += weather.way == "refuses" and not weather.is_up
        return await start_connection(addresses, happy_eyeballs_delay=happy_eyeballs_delay)

    async with servers(trial.folder) as start, watching_lag() as lag:
        fights = []
        for way in WAYS:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                weather = by_port[probe.getsockname()[1]] = Weather(way, probe.getsockname()[1])
            only = {"same": call("caller", f"http://127.0.0.1:{weather.port}")}
            fights.append((await start(only, active="same", max_per_origin=1000), weather))
            if way != "refuses":
                await weather.start()
        try:
            rest = breaker.REST if trial.size >= LONG else SHORT_REST
            with patch.object(pool, "start_connection", connecting), patch.object(breaker, "REST", rest):
                await asyncio.gather(*(_fight(trial, server, weather, lag) for server, weather in fights))
        finally:
            for _, weather in fights:
                await weather.close()


async def _fight(trial: Trial, server: Server, weather: Weather, lag: Lag) -> None:
    """The storm, and the calm after it."""
    dice = random.Random(f"{trial.name}:{trial.seed}:{weather.way}")
    wanted = trial.size // len(WAYS)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=5)
    async with aiohttp.ClientSession(connector=connector) as session:
        slowest = await _down(trial, server, weather, session, dice, wanted)
        per_request = weather.attempts / max(1, trial.counts[f"{weather.way}: requests"])
        trial.figures[f"{weather.way}_attempts_per_request"] = round(per_request, 4)
        trial.figures[f"{weather.way}_slowest_s"] = round(slowest, 2)
        if per_request > MOST_ATTEMPTS:
            trial.fail(f"{weather.way}: {per_request:.2f} attempts per request")
        await weather.change(up=True)
        lost = lag.lost
        took = await _back(server, session, dice)
        trial.figures[f"{weather.way}_recovery_s"] = round(took, 2)
        if took - (lag.lost - lost) > breaker.REST + RECOVERY:
            trial.fail(f"{weather.way}: well again only after {took:.1f} s")


async def _down(
    trial: Trial, server: Server, weather: Weather, session: aiohttp.ClientSession, dice: random.Random, wanted: int
) -> float:
    """So many requests at the rate; every answer is an error in its caller's shape. Gives the longest time of one."""
    slowest = 0.0
    began = time.monotonic()

    async def one(number: int) -> None:
        nonlocal slowest
        await asyncio.sleep(max(0.0, began + number / RATE - time.monotonic()))
        caller, stream, asked_at = dice.choice(DIALECTS), dice.random() < 0.5, time.monotonic()
        asked = ask(caller, stream=stream)
        heard = await send(session, server.origin, Asked(asked.path, asked.headers, asked.body))
        slowest = max(slowest, time.monotonic() - asked_at)
        trial.counts["requests"] += 1
        trial.counts[f"{weather.way}: requests"] += 1
        trial.counts[f"{weather.way}: status {heard.status}"] += 1
        try:
            error_of(caller, heard)
            assert heard.status in (502, 503)
        except (AssertionError, ValueError, KeyError) as error:
            trial.fail(f"{weather.way}: {heard.status} to {caller}: {error!r}")

    numbers = iter(range(wanted))

    async def work() -> None:
        for number in numbers:
            if trial.is_over():
                return
            await one(number)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return slowest


async def _back(server: Server, session: aiohttp.ClientSession, dice: random.Random) -> float:
    """Ask on until 100 requests in a row are answered well; gives the seconds until the first of them."""
    began = time.monotonic()
    row, first = 0, 0.0
    while row < 100:
        caller, stream = dice.choice(DIALECTS), dice.random() < 0.5
        asked_at = time.monotonic()
        heard = await send(session, server.origin, ask(caller, stream=stream))
        is_good = heard.status == 200 and not heard.broken and (not stream or looks_finished(caller, heard.body))
        first = asked_at if is_good and not row else first
        row = row + 1 if is_good else 0
        if not is_good:
            await asyncio.sleep(0.02)
        if asked_at - began > (breaker.REST + RECOVERY) * 5:
            break
    return first - began if row else time.monotonic() - began


CAMPAIGNS = [Campaign("faults.storm", storm, "requests", short=600, long=LONG, short_seconds=90)]
