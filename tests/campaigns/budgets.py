"""Budgets against a plain ledger: ten thousand interleavings of callers, clocks, admins and deaths (tests.usage.machine)."""

import asyncio
import traceback

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.campaigns.campaign import Campaign, Trial
from tests.usage.machine import Machine

AT_ONCE = 100
"""Interleavings between two looks at the clock."""


async def interleavings(trial: Trial) -> None:
    """Walk on from one seed to the next until enough are done. A failure names its steps."""
    how = settings(
        max_examples=min(AT_ONCE, trial.size),
        stateful_step_count=30,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    while trial.counts["interleavings"] < trial.size and not trial.is_over() and not trial.failures:
        walk = seed(trial.random.getrandbits(60))(Machine)
        try:
            await asyncio.to_thread(run_state_machine_as_test, walk, settings=how)
        except Exception:  # noqa: BLE001 - whatever it is, it is what was looked for
            trial.fail(traceback.format_exc()[-3000:])
        trial.counts["interleavings"] += how.max_examples


CAMPAIGNS = [Campaign("budgets.interleavings", interleavings, counted="interleavings", short=100, long=10_000)]
