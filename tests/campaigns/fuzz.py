"""The loop that all fuzzers share: inputs counted, each one's processor time measured, and whatever is not declared caught.

fuzz = Fuzz(trial, "templates", (TemplateSyntaxError, TemplateRenderError))
with fuzz.watch:
    for random in fuzz.inputs():
        outcome = fuzz.try_out(source, lambda: TextLanguage().compile(source))
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeVar

from agentui.jsonio import Json
from tests.campaigns.audit import Watch
from tests.campaigns.campaign import Trial

T = TypeVar("T")

MOST_CPU = 10.0
"""Seconds of the thread's own processor time for one input of any size that the language admits. A template at its limits
(10,000 macros, 100,000 words) is compiled in one to four, as busy as the machine is. What a small input takes is a figure; this
bound is for what grows faster than its text."""

_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of one input: the value, or the declared error."""

    value: T | None = None
    error: Exception | None = None


@dataclass
class Fuzz:
    """A trial under way. ``declared`` are the only exceptions that may come out of the product."""

    trial: Trial
    counted: str
    declared: tuple[type[Exception], ...]
    watch: Watch = field(default_factory=Watch)
    worst: float = 0.0
    worst_input: str = ""
    worst_long: float = 0.0
    used: float = 0.0
    _warm: bool = False

    def inputs(self) -> Iterator[Random]:
        """The source of chance, once for each input that is to be made; counts them, and writes the figures at the end."""
        counts = self.trial.counts
        while counts[self.counted] < self.trial.size and not self.trial.is_over():
            counts[self.counted] += 1
            yield self.trial.random
            if self.watch.has_seen:
                for escape in self.watch.take():
                    counts["escapes"] += 1
                    self.fail(f"an escape: {escape}", self.last)
        self._write_figures()

    last: object = ""
    """The input that was tried last."""

    def warm_up(self, number: int, feed: Callable[[], None]) -> None:
        """Let the product import and cache what it does at its first uses; nobody watches yet, and nothing is counted."""
        for _ in range(number):
            feed()
        self.watch.take()
        self.trial.counts.clear()
        self.trial.failures.clear()
        self.worst = self.worst_long = self.used = 0.0

    def try_out(self, given: object, act: Callable[[], T], *, size: int = 0) -> Outcome[T]:
        """Feed one input (``given`` is how a failure shows it). An undeclared exception is a failure."""
        self.last = given
        started = time.thread_time()
        try:
            outcome: Outcome[T] = Outcome(act())
        except self.declared as error:
            outcome = Outcome(None, error)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            self.fail(f"an undeclared {type(error).__name__}: {error!s:.300}", given)
            outcome = Outcome(None, error)
        self.note_cpu(time.thread_time() - started, given, size)
        return outcome

    def note_cpu(self, seconds: float, given: object, size: int = 0) -> None:
        """Take down what an input cost. ``size`` beyond some kilobytes marks those made to be large."""
        self.used += seconds
        if size > 8192:
            self.worst_long = max(self.worst_long, seconds)
        elif seconds > self.worst:
            self.worst = seconds
            self.worst_input = f"{given!r:.200}"
        if seconds > MOST_CPU:
            self.fail(f"{seconds:.2f} s of processor time", given)

    def fail(self, what: str, given: object, *more: object) -> None:
        """Note a failure with its input."""
        with self.watch.aside():
            shown = " | ".join(f"{each!r:.{_SHOWN}}" for each in (given, *more))
        self.trial.fail(f"{self.counted} no. {self.trial.counts[self.counted]}, seed {self.trial.seed}: {what}: {shown}")

    def _write_figures(self) -> None:
        counts, figures = self.trial.counts, self.trial.figures
        number = counts[self.counted]
        spent = time.monotonic() - self.trial.started
        counts["escapes"] += 0
        figures["inputs_per_second"] = round(number / spent) if spent else None
        figures["product_us_per_input"] = round(self.used / number * 1e6, 1) if number else None
        figures["worst_cpu_ms"] = round(self.worst * 1000, 2)
        figures["worst_cpu_input"] = self.worst_input
        if self.worst_long:
            figures["worst_cpu_ms_of_long_inputs"] = round(self.worst_long * 1000, 1)


def same_json(left: Json, right: Json) -> bool:
    """Equal as JSON tells things apart: ``1``, ``1.0`` and ``true`` are three values; the order of members counts."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same_json(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)
