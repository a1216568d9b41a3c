"""A thousand slow streams at once, at a server that is a process of its own.

Memory is the process's own (resident bytes, without the kernel's buffers), read from /proc. Upstreams and callers share this
process; nothing waits for a time to pass: a crowd stands still while it is measured, because its upstream waits.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import aiohttp

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.process import HAS_PROC, Process, allow_descriptors, serving
from tests.campaigns.speech import number_of, speech_for, upstream
from tests.conftest import call
from tests.faults.callers import Asked, Heard, ask, check_whole, error_of, send
from tests.unit.upstream.conftest import Bytes, Visit

KB = 1024
MB = 1024 * KB
STREAM_COST = 45 * KB
"""Resident bytes that one open stream may take over what the server took before any."""
FEW = 1000
"""A smaller crowd than this pays for what the first streams leave behind in malloc (``FIRST_COST``) by few streams."""
FIRST_COST = 4 * MB
WAYS = (("openai", "openai"), ("openai", "claude"), ("claude", "claude"), ("claude", "openai"), ("openai_responses", "claude"))
"""Callers and their upstreams: within one dialect and translated, each dialect on its side."""


def asked_by(caller: str, to: str, number: int) -> Asked:
    """The streamed question of one of the crowd."""
    asked = ask(caller, "m", stream=True, text=f"I am number<{number}>.")
    return Asked(f"/p/{to}{asked.path}", asked.headers, asked.body)


def way_of(number: int) -> tuple[str, str]:
    """Each of the ways in turn."""
    return WAYS[number % len(WAYS)]


# --- slow streams ----------------------------------------------------------------------------------------------------


@dataclass
class Hall:
    """An upstream whose streams go on together: each says a word a round, when the round begins."""

    rounds: Sequence[asyncio.Event]
    said: Counter[int] = field(default_factory=Counter)
    """By round, how many streams have said their word."""

    async def script(self, visit: Visit) -> None:
        speech, number = speech_for(visit), number_of(visit)
        await visit.say(speech.begin(), speech.say(f"number<{number}>"))
        for round, begins in enumerate(self.rounds):
            self.said[round] += 1
            await begins.wait()
            await visit.say(speech.say(f" tick {round}"))
        await visit.say(speech.end())

    async def all_wait_for(self, round: int, count: int, is_over: Callable[[], bool]) -> bool:
        """Wait until so many streams wait for a round; False when time is up before."""
        while self.said[round] < count:  # a look now and then costs less than a note for each word
            if is_over():
                return False
            await asyncio.sleep(0.02)
        return True


async def streams(trial: Trial) -> None:
    """Open slow streams, all of them at once: each is answered whole, none costs much, and one more is refused politely."""
    crowd = min(trial.size, (allow_descriptors(2 * trial.size + 500) - 400) // 2)
    ticks = 5 if crowd < FEW else 20
    hall = Hall([asyncio.Event() for _ in range(ticks)])
    settings = {"max_in_flight": str(crowd), "max_per_origin": str(crowd)}
    async with upstream(hall.script) as server:
        pipelines = {dialect: call(dialect, server.url) for dialect in ("openai", "claude")}
        async with serving(trial.folder / "server", pipelines, **settings) as process:
            rounds, hall.rounds = hall.rounds, ()
            await warm(process)
            hall.rounds = rounds
            idle, descriptors = process.memory(), process.descriptors()
            process.forget_peak()
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                under_way = [
                    asyncio.create_task(send(session, process.origin, asked_by(*way_of(number), number)))
                    for number in range(crowd)
                ]
                try:
                    await _let_them_tick(trial, process, hall, session, crowd)
                    trial.figures["KB a stream"] = round((process.peak() - idle) / crowd / KB, 1)
                    heard = await asyncio.gather(*under_way, return_exceptions=True)
                finally:
                    for task in under_way:
                        task.cancel()
                    await asyncio.gather(*under_way, return_exceptions=True)
            for number, answer in enumerate(heard):
                _check_stream(trial, number, answer, ticks)
            cost = process.peak() - idle
            if cost > crowd * STREAM_COST + (FIRST_COST if crowd < FEW else 0):
                trial.fail(f"{crowd} streams took {cost / MB:.1f} MB, {cost / crowd / KB:.1f} KB each.")
            trial.figures["MB idle, at most, afterwards"] = [
                round(bytes / MB, 1) for bytes in (idle, process.peak(), process.memory())
            ]
            await left_nothing(trial, process, descriptors, server)


async def warm(process: Process) -> None:
    """One stream of each way, so that code and caches are there before anything is measured."""
    async with aiohttp.ClientSession() as session:
        for number, way in enumerate(WAYS):
            heard = await send(session, process.origin, asked_by(*way, number))
            assert heard.status == 200, heard.body


async def _let_them_tick(trial: Trial, process: Process, hall: Hall, session: aiohttp.ClientSession, crowd: int) -> None:
    """Let the rounds begin one after the other; while all are open, ask for more than there is room for."""
    try:
        for round, begins in enumerate(hall.rounds):
            if not await hall.all_wait_for(round, crowd, trial.is_over):
                trial.fail(f"{hall.said[round]} of {crowd} streams came as far as round {round} in time.")
                return
            if round == 1:
                await _ask_too_much(trial, process, session, crowd)
            begins.set()
    finally:
        for begins in hall.rounds:
            begins.set()


async def _ask_too_much(trial: Trial, process: Process, session: aiohttp.ClientSession, crowd: int) -> None:
    """With every place taken: /health answers, and one more request is a 503 that says when to come back."""
    began = time.monotonic()
    health = await process.health()
    trial.figures["ms of /health meanwhile"] = round((time.monotonic() - began) * 1e3, 1)
    if health["in_flight"] != crowd:
        trial.fail(f"/health says {health['in_flight']} requests are under way, not {crowd}.")
    times = []
    for number in range(20):
        caller, to = way_of(number)
        began = time.monotonic()
        heard = await send(session, process.origin, asked_by(caller, to, number))
        times.append(time.monotonic() - began)
        trial.counts["refusals"] += 1
        try:
            assert heard.status == 503, heard.body[:300]
            assert heard.headers["retry-after"] == "1", heard.headers
            error_of(caller, heard)
        except (AssertionError, KeyError) as error:
            trial.fail(f"With {crowd} of {crowd} under way, {caller} number {number} got: {error}")
    trial.figures["ms of a refusal, median"] = round(sorted(times)[10] * 1e3, 1)


def _check_stream(trial: Trial, number: int, answer: Heard | BaseException, ticks: int) -> None:
    """Count a stream, and fail unless it was answered whole, with its own words."""
    trial.counts["streams"] += 1
    caller, to = way_of(number)
    try:
        if isinstance(answer, BaseException):
            raise answer
        words = f"number<{number}>" + "".join(f" tick {round}" for round in range(ticks))
        check_whole(caller, answer, words, stream=True)
    except (AssertionError, aiohttp.ClientError, OSError) as error:
        trial.fail(f"stream {number} ({caller} by {to}): {type(error).__name__} {str(error)[:300]}")


async def left_nothing(trial: Trial, process: Process, descriptors: int, server: Bytes) -> None:
    """When all is over: no request under way, no descriptor more than before, nothing in the log."""
    for visit in server.visits:
        # Connections that wait for the next question are no leak; they go with the upstream.
        visit.writer.close()
    if left := await process.is_quiet(descriptors):
        trial.fail(f"When all was over, {left}.")
    for line in process.faults():
        trial.fail(f"The log says: {line}")


CAMPAIGNS = (
    [
        Campaign("crowd.streams", streams, counted="streams", short=150, long=1000, short_seconds=45.0, least=0.9),
    ]
    if HAS_PROC
    else []
)
