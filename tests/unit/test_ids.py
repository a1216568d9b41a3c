"""Ids sort in the order in which one process made them."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace

import pytest

from agentui.ids import new_id, new_short_id

DAY_NS = 86_400 * 10**9


def jumping() -> Iterator[int]:
    """A clock that stands still, goes a day forward and a day back."""
    start = time.time_ns()
    while True:
        yield from (start, start, start + DAY_NS, start + DAY_NS, start, start - DAY_NS)


@pytest.mark.parametrize("make", [partial(new_id, "run"), new_short_id])
def test_ids_sort_as_they_were_made_whatever_the_clock_does(monkeypatch: pytest.MonkeyPatch, make: Callable[[], str]) -> None:
    monkeypatch.setattr("agentui.ids._last", 0)
    monkeypatch.setattr("agentui.ids.time", SimpleNamespace(time_ns=partial(next, jumping())))
    made = [make() for _ in range(60)]
    assert made == sorted(set(made))


@pytest.mark.parametrize("make", [partial(new_id, "run"), new_short_id])
def test_ids_do_not_run_ahead_of_the_clock(monkeypatch: pytest.MonkeyPatch, make: Callable[[], str]) -> None:
    """However many are made: those of another process, or of after a restart, sort behind them."""
    monkeypatch.setattr("agentui.ids._last", 0)
    now = time.time_ns()
    monkeypatch.setattr("agentui.ids.time", SimpleNamespace(time_ns=lambda: now))
    made = [make() for _ in range(10_000)]
    assert made == sorted(set(made))
    monkeypatch.setattr("agentui.ids._last", 0)
    monkeypatch.setattr("agentui.ids.time", SimpleNamespace(time_ns=lambda: now + 1_000_000))
    assert make() > made[-1]
