"""A campaign: a seeded, bounded search for one kind of failure, and what it reports."""

import asyncio
import hashlib
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agentui.jsonio import Json, dumps

MOST_FAILURES_KEPT = 50
"""After so many failures a campaign has made its point; the rest are counted."""


@dataclass
class Trial:
    """One run of a campaign: how much is asked of it, and what it found.

    ``size`` is how many inputs (injections, cycles ...) are wanted, ``seconds`` when it stops all the same. ``random`` is
    seeded by the campaign's name and the seed, so two campaigns with one seed do not walk the same way; ``folder`` is empty,
    and the campaign's own.
    """

    name: str
    size: int
    seconds: float
    seed: int
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Json] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(f"{self.name}:{self.seed}".encode()).digest()
        self.random = random.Random(int.from_bytes(digest[:8], "big"))

    def is_over(self) -> bool:
        """Whether the time is used up. A campaign asks before each input."""
        return time.monotonic() - self.started > self.seconds

    def stop(self) -> None:
        """Let the time be used up now."""
        self.seconds = 0.0

    def fail(self, what: str) -> None:
        """Note a failure, with all that it takes to see it again (the input, or the number of the case)."""
        self.counts["failures"] += 1
        if len(self.failures) < MOST_FAILURES_KEPT:
            self.failures.append(what)

    def report(self) -> dict[str, Json]:
        """The report as it is written: JSON, one file a campaign."""
        return {
            "campaign": self.name,
            "seed": self.seed,
            "wanted": self.size,
            "counts": dict(sorted(self.counts.items())),
            "figures": self.figures,
            "seconds": round(time.monotonic() - self.started, 1),
            "failures": list(self.failures),
        }


@dataclass(frozen=True)
class Campaign:
    """What a module of this folder offers as ``CAMPAIGNS``.

    ``counted`` names the count of ``Trial.counts`` that ``short`` and ``long`` are sizes of; a run that reaches less of it than
    ``least`` (a share of the size) has failed, because a campaign that does nothing finds nothing.
    """

    name: str
    run: Callable[[Trial], Awaitable[None]]
    counted: str
    short: int
    long: int
    short_seconds: float = 20.0
    long_seconds: float = 3600.0
    least: float = 0.1

    async def fight(self, folder: Path, *, seed: int = 1, is_long: bool = False) -> Trial:
        """Run it in its short or its long form. SIGINT (Ctrl+C) ends it early, with its report, where the loop has signals."""
        size, seconds = (self.long, self.long_seconds) if is_long else (self.short, self.short_seconds)
        trial = Trial(self.name, size, seconds, seed, folder)
        with _stopping(trial):
            await self.run(trial)
        if trial.counts[self.counted] < self.least * size:
            trial.fail(f"Only {trial.counts[self.counted]} of {size} {self.counted} were tried.")
        return trial


@contextmanager
def _stopping(trial: Trial) -> Iterator[None]:
    """Let SIGINT stop a trial that runs in the main thread."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, trial.stop)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows; another thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def write_report(trial: Trial, folder: Path) -> Path:
    """Write a trial's report; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{trial.name}.json"
    path.write_bytes(dumps(trial.report()))
    return path
