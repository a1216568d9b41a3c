"""The five tiers against their model, for as many operations as are wanted (reliability S14): the state machine of
tests/variables, on SQLite."""

import asyncio

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from agentui.store.sqlite import SqliteStore
from tests.campaigns.campaign import Campaign, Trial
from tests.variables.database import Database
from tests.variables.test_model import Tiers

STEPS = 60
WALKS = 20
"""Walks of a search, at most; each search has a seed of its own."""


def walk(trial: Trial) -> None:
    """Search after search, until there were enough operations."""
    with asyncio.Runner() as runner:
        store = SqliteStore(trial.folder / "agentui.db", reserve=0)
        runner.run(store.start())
        try:
            while trial.counts["operations"] < trial.size and not trial.is_over() and not trial.failures:
                _search(trial, Database(runner, store), trial.random.getrandbits(64))
        finally:
            runner.run(store.close())


def _search(trial: Trial, base: Database, number: int) -> None:
    class Walk(Tiers):
        @invariant()
        def count(self) -> None:
            trial.counts["operations"] += 1

    Walk.base = base
    walks = settings(
        max_examples=min(WALKS, max(2, trial.size // STEPS)),
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        print_blob=False,
        # What was found is not made smaller: that takes minutes, and the seed shows it again.
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(Walk), settings=walks)
    except Exception as error:  # noqa: BLE001 - whatever disagrees with the model is what is looked for
        trial.fail(f"seed {number}: {type(error).__name__}: {error} {getattr(error, '__notes__', '')}")


async def model(trial: Trial) -> None:
    """The same, in a thread, for it runs an event loop of its own."""
    await asyncio.to_thread(walk, trial)


CAMPAIGNS = [Campaign("variables.model", model, counted="operations", short=120, long=10_000, short_seconds=30)]
