"""Everything at once, for long: does memory, the number of open files or the time of an answer creep?

The traffic is that of a busy household: all dialects, streamed and not, within one dialect, translated and forwarded; turns of
chats on SQLite; an editor that reads, saves and looks at runs; callers who leave; and faults of the upstream in one request of
ten. The server is a process of its own, the mock and the callers share this one. The pace is fixed, so that a run of an hour
and one of seconds differ in nothing but their length.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import aiohttp

from agentui.jsonio import Json
from agentui.vendors.openai_responses.cache import MAX_ITEMS
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.process import HAS_PROC, Process, serving
from tests.faults.callers import (
    ANOTHER,
    DIALECTS,
    Asked,
    Heard,
    ask,
    asking,
    check_failed,
    check_whole,
    send,
)
from tests.faults.conftest import KINDS, ways
from tests.turns.house import chain, sets, target
from tests.upstreams.server import Mock, start_mock

PACE = 60
"""Requests a second."""
AT_ONCE = 24
"""Requests under way at most; a slow machine falls behind the pace rather than pile them up."""
SESSIONS = 24
FAULTS = (
    *("error-400", "error-401", "error-429", "error-503", "html", "html-502", "invalid-json", "not-an-answer"),
    *("empty-body", "truncated-early", "truncated-reset", "bad-event", "fail-mid"),
)
"""Models of the mock that fail. (An upstream's own 500 is passed on as one, so it is left out where 500s are counted.)"""
FAULTY_STATUSES = {400, 401, 429, 502, 503}
WORDS = "Hello from the mock."
JUDGED_FROM = 20_000
"""Requests from which on memory is judged: before that caches fill (run history, compiled templates, SQLite's pages)."""
STEEPEST = 10.0
"""Bytes that a request may leave behind: 1 MB in 100,000."""
NOISE = 3 * 1024 * 1024
"""Resident memory moves by whole arenas (1 MB each in CPython) and by malloc's heaps: a rise of fewer bytes is none."""
DESCRIPTOR_NOISE = AT_ONCE
"""Descriptors swing with the requests that happen to be under way when they are counted."""
GROSS_DRIFT = 4.0
"""How much slower the last third may be than the first, against the bare mock in the same thirds. Other programs on the
machine slow both; what is left between the two has been seen to swing by half."""


@dataclass
class Sample:
    """What the process held after so many requests."""

    seconds: float
    requests: int
    memory: int
    descriptors: int


@dataclass
class Soak:
    """The household: one server, its mock, and who uses them."""

    trial: Trial
    process: Process
    mock: Mock
    session: aiohttp.ClientSession
    started: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    latencies: list[tuple[float, float]] = field(default_factory=list)
    controls: list[tuple[float, float]] = field(default_factory=list)

    async def live(self) -> None:
        """Make requests at the pace, a fixed number at once, until the trial's end."""
        numbers = count()
        self.started = time.monotonic()
        sampler = asyncio.create_task(self._watch())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(AT_ONCE):
                    group.create_task(self._guest(numbers))
        finally:
            sampler.cancel()
            await asyncio.gather(sampler, return_exceptions=True)
        self._sample()

    async def fill(self) -> None:
        """Let what has a bound reach it, so that only what has none can grow: here the items kept for Responses callers, of
        which one request leaves one."""
        asked = ask("openai_responses")
        way_there = way("openai_responses", "translated")

        async def answers() -> None:
            for _ in range(MAX_ITEMS // AT_ONCE + 1):
                await self._send(way_there, asked)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(answers())
        self.mock.requests.clear()

    async def _guest(self, numbers: "count[int]") -> None:
        """One of those who make requests: takes the next number, waits until its moment, and asks."""
        for number in numbers:
            wait = number / PACE - (time.monotonic() - self.started)
            if wait > 0:
                await asyncio.sleep(wait)
            if number >= self.trial.size or self.trial.is_over():
                return
            await self._ask(number)

    async def _ask(self, number: int) -> None:
        """The request of this number: which one it is depends on the seed and the number alone."""
        chance = random.Random(f"{self.trial.seed}:{number}")
        ask_it = chance.choices([who for who, _ in self._mix], [share for _, share in self._mix])[0]
        name = ask_it.__name__.strip("_")
        try:
            async with asyncio.timeout(60):
                await ask_it(chance, number)
        except (AssertionError, aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            # TimeoutError is an OSError: nothing here may take a minute.
            self.trial.fail(f"request {number} (seed {self.trial.seed}, {name}): {type(error).__name__} {str(error)[:400]}")
        self.trial.counts["requests"] += 1
        self.trial.counts[name] += 1

    @property
    def _mix(self) -> Sequence[tuple[Callable[[random.Random, int], Awaitable[None]], int]]:
        """Who asks how often, in percent."""
        return (
            (self._whole, 28),
            (self._streamed, 20),
            (self._turn, 14),
            (self._fault, 8),
            (self._fault_in_a_turn, 2),
            (self._leaver, 3),
            (self._reader, 12),
            (self._historian, 6),
            (self._saver, 2),
            (self._control, 5),
        )

    # -- callers

    async def _whole(self, chance: random.Random, number: int) -> None:
        began = time.monotonic()
        await self._say(chance, stream=False)
        self.latencies.append((began - self.started, time.monotonic() - began))

    async def _streamed(self, chance: random.Random, number: int) -> None:
        await self._say(chance, stream=True)

    async def _say(self, chance: random.Random, *, stream: bool) -> None:
        """A question by any way, answered whole."""
        caller = chance.choice(DIALECTS)
        heard = await self._send(way(caller, chance.choice(KINDS)), ask(caller, stream=stream))
        check_whole(caller, heard, WORDS, stream=stream)

    async def _turn(self, chance: random.Random, number: int) -> None:
        caller, stream = chance.choice(DIALECTS), chance.random() < 0.5
        heard = await self._send("turn", ask(caller, stream=stream, text=f"Turn {number}"), chance)
        check_whole(caller, heard, WORDS, stream=stream)
        assert heard.headers["x-agentui-floor"], heard.headers

    async def _fault(self, chance: random.Random, number: int) -> None:
        await self._suffer(chance, chance.choice(("same", "translated")))

    async def _fault_in_a_turn(self, chance: random.Random, number: int) -> None:
        await self._suffer(chance, "turn")

    async def _suffer(self, chance: random.Random, kind: str) -> None:
        """A question to an upstream that fails: told in the caller's shape."""
        caller, stream, model = chance.choice(DIALECTS), chance.random() < 0.5, chance.choice(FAULTS)
        pipeline = way(caller, kind)
        heard = await self._send(pipeline, ask(caller, model, stream=stream), chance if kind == "turn" else None)
        self.trial.counts[f"fault {model}"] += 1
        check_failed(caller, heard, FAULTY_STATUSES, stream=stream)

    async def _leaver(self, chance: random.Random, number: int) -> None:
        """A caller who hangs up in mid-answer."""
        caller = chance.choice(DIALECTS)
        asked = ask(caller, "forever", stream=True)
        path = f"/p/{way(caller, chance.choice(KINDS))}{asked.path}"
        async with asking(self.process.origin, Asked(path, asked.headers, asked.body)) as (reader, _):
            await reader.readuntil(b"again")

    async def _send(self, pipeline: str, asked: Asked, chance: random.Random | None = None) -> Heard:
        """A proxied request; ``chance`` takes it into a chat."""
        headers = {**asked.headers, **({"x-agentui-session": f"s{chance.randrange(SESSIONS)}"} if chance else {})}
        heard = await send(self.session, self.process.origin, Asked(f"/p/{pipeline}{asked.path}", headers, asked.body))
        assert heard.status != 500, heard.body[:500]
        return heard

    async def _control(self, chance: random.Random, number: int) -> None:
        """The same question to the mock itself, which says how fast this machine is at the moment."""
        began = time.monotonic()
        caller = chance.choice(DIALECTS)
        check_whole(caller, await send(self.session, self.mock.origin, ask(caller)), WORDS, stream=False)
        self.controls.append((began - self.started, time.monotonic() - began))

    # -- the editor

    async def _reader(self, chance: random.Random, number: int) -> None:
        """A page of the editor or of a chat's front end that is opened."""
        session = f"s{chance.randrange(SESSIONS)}"
        sessions = await self._get("/sessions?limit=100")
        known = [row["id"] for row in sessions["data"] if row["title"] == session or chance.random() < 0.2]
        paths = ["/api/pipelines", "/api/pipelines/turn", "/api/node-types", "/api/settings", "/api/presets", "/health"]
        for id in known[:1]:
            paths += [f"/floors?session_id={id}&limit=50", f"/variables/resolve?session_id={id}", f"/sessions/{id}/branches"]
        await self._get(chance.choice(paths))

    async def _historian(self, chance: random.Random, number: int) -> None:
        """Somebody who looks at what ran."""
        runs = await self._get(f"/api/runs?limit={chance.choice((10, 50, 200))}")
        lines = runs if isinstance(runs, list) else runs["runs"]
        if lines:
            # Runs are forgotten, the oldest first: one of the latest is still there.
            await self._get(f"/api/runs/{chance.choice(lines[:10])['id']}")

    async def _saver(self, chance: random.Random, number: int) -> None:
        """Somebody who saves a pipeline that others may be saving."""
        id = f"draft{chance.randrange(4)}"
        document = chain(sets(("run", "A", "string", f"version {number}")), target("openai", self.mock.origin))
        url = f"{self.process.origin}/api/pipelines/{id}"
        async with self.session.put(url, json=document, headers={"If-Match": "*"}) as answer:
            # In the beginning there is none to be replaced.
            assert answer.status in (200, 201, 404, 412), (answer.status, await answer.text())
            is_missing = answer.status in (404, 412)
        if is_missing:
            async with self.session.put(url, json=document, headers={"If-None-Match": "*"}) as answer:
                assert answer.status in (200, 201, 412), (answer.status, await answer.text())

    async def _get(self, path: str) -> Json:
        async with self.session.get(self.process.origin + path) as answer:
            assert answer.status == 200, (path, answer.status, (await answer.text())[:300])
            return await answer.json()

    # -- what it costs

    async def _watch(self) -> None:
        """Look at the process now and then. The mock's own record would grow here."""
        pause = min(5.0, self.trial.seconds / 100)
        while True:
            self._sample()
            self.mock.requests.clear()
            await asyncio.sleep(pause)

    def _sample(self) -> None:
        seconds = time.monotonic() - self.started
        self.samples.append(Sample(seconds, self.trial.counts["requests"], self.process.memory(), self.process.descriptors()))

    def judge(self) -> None:
        """Write the figures down, and fail for what creeps."""
        self._judge_memory()
        self._judge_descriptors()
        self._judge_time()
        thin = self.samples[:: max(1, len(self.samples) // 60)]
        self.trial.figures["samples (seconds, requests, MB, descriptors)"] = [
            [round(sample.seconds), sample.requests, round(sample.memory / 1e6, 2), sample.descriptors] for sample in thin
        ]

    def _judge_memory(self) -> None:
        later = self.samples[len(self.samples) // 2 :]
        requests = later[-1].requests - later[0].requests
        rise = slope([(sample.requests, sample.memory) for sample in later])
        self.trial.figures["memory at the end, MB"] = round(later[-1].memory / 1e6, 1)
        self.trial.figures["bytes a request, second half"] = round(rise, 2)
        if self.trial.counts["requests"] >= JUDGED_FROM and rise > STEEPEST and rise * requests > NOISE:
            self.trial.fail(f"Memory grows by {rise:.1f} bytes a request, over {requests} requests.")

    def _judge_descriptors(self) -> None:
        quarter = max(1, len(self.samples) // 4)
        parts = (self.samples[quarter : 2 * quarter + 1], self.samples[-quarter:])
        first, last = (max(sample.descriptors for sample in part) for part in parts)
        self.trial.figures["descriptors at most, second and last quarter"] = [first, last]
        if last > first + DESCRIPTOR_NOISE:
            self.trial.fail(f"Descriptors grew from {first} to {last}.")

    def _judge_time(self) -> None:
        thirds: dict[str, list[list[float]]] = {
            "agentui": in_thirds(self.latencies, self.samples[-1].seconds),
            "bare mock": in_thirds(self.controls, self.samples[-1].seconds),
        }
        medians: dict[str, list[float]] = {}
        for name, parts in thirds.items():
            medians[name] = [quantile(part, 0.5) for part in parts]
            self.trial.figures[f"{name}: p50 ms by thirds"] = [round(value * 1e3, 2) for value in medians[name]]
            self.trial.figures[f"{name}: p99 ms by thirds"] = [round(quantile(part, 0.99) * 1e3, 2) for part in parts]
        if min(len(part) for parts in thirds.values() for part in parts) < 100:
            return  # too few for a statement
        slower = [medians["agentui"][third] / medians["bare mock"][third] for third in range(3)]
        drift = slower[2] / slower[0]
        self.trial.figures["drift of p50 against the bare mock"] = round(drift, 3)
        if drift > GROSS_DRIFT:
            self.trial.fail(f"Answers took {drift:.1f} times as long in the end as in the beginning, against the bare mock.")


def way(caller: str, kind: str) -> str:
    """The pipeline by which a caller goes."""
    return ANOTHER[caller] if kind == "translated" else kind


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The least-squares line's rise; 0 for points that stand above each other."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the values lie; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def in_thirds(times: Sequence[tuple[float, float]], whole: float) -> list[list[float]]:
    """Durations by the third of ``whole`` in which they began."""
    parts: list[list[float]] = [[], [], []]
    for at, seconds in times:
        parts[min(2, int(3 * at / whole))].append(seconds)
    return parts


async def soak(trial: Trial) -> None:
    """Live with a server for the trial's size or time; then everything must be as it was."""
    mock = await start_mock()
    turn = chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("caller", mock.origin))
    pipelines = {**ways(mock.origin), "turn": turn}
    try:
        async with serving(trial.folder / "server", pipelines, generation_queue="60", connect_timeout="60") as process:
            descriptors = await descriptors_with_store(process)
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                household = Soak(trial, process, mock, session)
                if trial.size >= JUDGED_FROM:
                    await household.fill()
                await household.live()
                household.judge()
                await nothing_generates(household)
            async with asyncio.timeout(30):
                await mock.is_idle()
            await mock.close()
            if left := await process.is_quiet(descriptors):
                trial.fail(f"When all was over, {left}.")
            trial.figures["descriptors before and after"] = [descriptors, process.descriptors()]
            for line in process.faults():
                trial.fail(f"The log says: {line}")
    finally:
        await mock.close()


async def descriptors_with_store(process: Process) -> int:
    """How many descriptors the server has open when its store and all readers of it are, and nobody is connected."""

    async def look(session: aiohttp.ClientSession) -> None:
        async with session.get(process.origin + "/floors?limit=1") as answer:
            assert answer.status == 200, await answer.text()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await look(session)
        await asyncio.gather(*(look(session) for _ in range(AT_ONCE)))
    return await process.resting_descriptors()


async def nothing_generates(household: Soak) -> None:
    """Fail for floors that still generate although nobody waits for them."""
    floors: list[Json] = []
    for _ in range(100):
        if not (floors := (await household._get("/floors?state=generating&limit=200"))["data"]):
            return
        await asyncio.sleep(0.1)
    household.trial.fail(f"{len(floors)} floors are still generating, e.g. {floors[0]}.")


CAMPAIGNS = (
    [Campaign("soak.mixed", soak, counted="requests", short=360, long=216_000, short_seconds=40.0, long_seconds=3600.0)]
    if HAS_PROC
    else []
)
