"""Every turn asked for twice with one Idempotency-Key, while the server is killed (reliability S12): one turn, one call of the
model, the same answer.

A lane is a server with a database of its own, one on SQLite and one on PostgreSQL. In a cycle pairs of equal requests are sent,
both at once, one after the other, or the first by a caller who leaves; in half of the cycles the server is killed meanwhile,
and the next life of it answers what the last one owes.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import aiohttp

from tests.api.callers import DIALECTS, Caller, is_whole
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fork_server import fork_server
from tests.campaigns.kills import Lane, lane_of
from tests.upstreams.server import Mock, start_mock

ENGINES = ("sqlite", "postgresql")
BATCH = 24
"""Pairs that are under way at once."""
SESSIONS = 6
WAIT = {409, 503}
"""What a caller hears while its turn, or another one of its branch, is under way, or the database is opened."""
HAS_FORK = hasattr(os, "fork")
_PATIENCE = 240.0
"""Seconds in which the slowest machine answers all pairs of a cycle."""


@dataclass
class Pair:
    """Two equal requests, and what was heard: body and floor of every whole answer."""

    words: str
    session: str
    dialect: str
    stream: bool
    heard: list[tuple[bytes, str]] = field(default_factory=list)
    deaths: int = 0

    def caller(self, origin: str, key: str) -> Caller:
        """Who sends it."""
        headers = {"x-agentui-session": self.session, "Idempotency-Key": key}
        return Caller(self.dialect, origin, prefix="/p/count", headers=headers)


@dataclass
class Twins:
    """The pairs of one lane."""

    lane: Lane
    trial: Trial
    mock: Mock
    random: random.Random
    has_one_key: bool = True
    owed: list[Pair] = field(default_factory=list)
    made: int = 0
    kept: int = 0

    async def cycle(self, number: int, wanted: int) -> None:
        """One life of a server: the pairs that are owed, and new ones."""
        while len(self.owed) < BATCH and self.made < wanted:
            self.made += 1
            words = f"L{self.lane.number}.{self.made}."
            session = f"{self.lane.number}-{self.made % SESSIONS}"
            self.owed.append(Pair(words, session, self.random.choice(DIALECTS), self.random.random() < 0.5))
        is_deadly = self.random.random() < 0.5
        async with self.lane.life(is_cold=self.lane.fork_server is None) as (origin, kill):
            await self.lane.recovered(origin)
            async with asyncio.timeout(_PATIENCE):
                talks = asyncio.gather(*(self._both(origin, pair) for pair in self.owed))
                if is_deadly:
                    await asyncio.sleep(self.random.uniform(0, 0.6))
                    self.trial.counts["kills"] += 1
                    await kill()
                await talks
        for pair in self.owed:
            pair.deaths += 1
        done = [pair for pair in self.owed if len(pair.heard) >= 2]
        self.owed = [pair for pair in self.owed if len(pair.heard) < 2]
        await self._check(number, done)

    async def _both(self, origin: str, pair: Pair) -> None:
        """Send both requests of a pair, as far as they are owed."""
        match self.random.choice(("at once", "in turn", "leaving")):
            case "at once":
                await asyncio.gather(self._insist(origin, pair, 1), self._insist(origin, pair, 2))
                return
            case "leaving" if not pair.heard:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.random.uniform(0, 0.3)):
                        await self._insist(origin, pair, 1)
                self.trial.counts["callers who left"] += len(pair.heard) == 0
        while len(pair.heard) < 2 and await self._insist(origin, pair, 1 + len(pair.heard)):
            pass

    async def _insist(self, origin: str, pair: Pair, time: int) -> bool:
        """Ask until there is a whole answer; False when the server is gone."""
        caller = pair.caller(origin, pair.words if self.has_one_key else f"{pair.words}{time}")
        while True:
            try:
                got = await caller.ask(pair.words, stream=pair.stream)
            except (aiohttp.ClientError, OSError) as error:
                if isinstance(error, TimeoutError):
                    raise
                return False
            if got.status == 200:
                if pair.stream and not is_whole(pair.dialect, got.events):
                    return False
                pair.heard.append((got.body, got.headers["x-agentui-floor"]))
                self.trial.counts["answers given again"] += got.headers.get("idempotent-replayed") == "true"
                return True
            if got.status not in WAIT:
                self.trial.fail(f"{pair.words} is answered {got.status}: {got.body[:300]!r}")
                return False
            await asyncio.sleep(0.05)

    async def _check(self, cycle: int, done: Sequence[Pair]) -> None:
        """Every pair has one answer and one floor, and cost one call, and one more for each server that ended under it."""
        self.trial.counts["pairs"] += len(done)
        self.kept += len(done)
        calls = Counter(words for request in self.mock.requests if (words := _words(request.raw)))
        floors = dict(await self.lane.house.tables.rows(_FLOORS))
        for pair in done:
            where = f"lane {self.lane.number}, cycle {cycle}: {pair}"
            if len(set(pair.heard)) != 1:
                self.trial.fail(f"{where} was answered in {len(set(pair.heard))} ways")
            if floors.get(pair.words) != 1:
                self.trial.fail(f"{where} has {floors.get(pair.words)} floors")
            if calls[pair.words.encode()] > 1 + pair.deaths:
                self.trial.fail(f"{where} cost {calls[pair.words.encode()]} calls in {1 + pair.deaths} lives at most")

    async def finish(self) -> None:
        """What the whole memory holds in the end."""
        floors = dict(await self.lane.house.tables.rows(_FLOORS))
        gold = await self.lane.house.tables.rows("SELECT value_json FROM variables WHERE scope = 'branch' AND key = 'gold'")
        counted = sum(int(value) for (value,) in gold)
        if not sum(floors.values()) == counted == len(floors):
            self.trial.fail(f"lane {self.lane.number}: {sum(floors.values())} floors of {len(floors)} turns, gold {counted}")
        for wrong in await self.lane.house.check():
            self.trial.fail(f"lane {self.lane.number}, at the end: {wrong}")


_FLOORS = (
    "SELECT m.content, count(*) FROM messages m JOIN pages p ON p.id = m.page_id JOIN floors f ON f.id = p.floor_id "
    "WHERE m.role = 'user' AND f.state = 'committed' GROUP BY m.content"
)


def _words(raw: bytes) -> bytes | None:
    """The words of a pair in what the model was sent."""
    _, mark, rest = raw.partition(b'"L')
    return b"L" + rest.partition(b'"')[0] if mark else None


async def twice(trial: Trial, engines: Sequence[str] = ENGINES, *, has_one_key: bool = True) -> None:
    """Ask for turns twice, and kill servers between."""
    mock = await start_mock()
    try:
        async with AsyncExitStack() as stack:
            forks = fork_server() if HAS_FORK else None
            lanes = [
                await stack.enter_async_context(lane_of(trial, number, engine, mock, forks))
                for number, engine in enumerate(engines)
            ]
            wanted = -(-trial.size // len(lanes))
            every = [Twins(lane, trial, mock, random.Random(trial.random.random()), has_one_key=has_one_key) for lane in lanes]
            await asyncio.gather(*(_live(trial, twins, wanted) for twins in every))
    finally:
        await mock.close()


async def _live(trial: Trial, twins: Twins, wanted: int) -> None:
    cycle = 0
    while (twins.made < wanted or twins.owed) and not trial.is_over():
        try:
            await twins.cycle(cycle, wanted)
        except (RuntimeError, TimeoutError) as error:
            trial.fail(f"lane {twins.lane.number}, cycle {cycle}: {error!r}; owed: {twins.owed[:3]}")
            return
        cycle += 1
        trial.counts["cycles"] += 1
    await twins.finish()


CAMPAIGNS = [Campaign("turns.twice", twice, counted="pairs", short=32, long=10_000, short_seconds=90)]
