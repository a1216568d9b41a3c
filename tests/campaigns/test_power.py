"""The power campaign finds a store that acknowledges before it syncs."""

import asyncio
from pathlib import Path

from tests.campaigns.campaign import Trial
from tests.campaigns.disk import compiler
from tests.campaigns.power import WRITE, fail_power
from tests.conftest import skip


async def test_a_store_that_does_not_sync_loses_turns(tmp_path: Path) -> None:
    if compiler() is None:
        skip("There is no C compiler here, or no preload.")
    careless = "import agentui.store.sqlite_file as file\nfile._DURABLE = ('synchronous=OFF',)\n" + WRITE
    trial = Trial("store.power", 100, 60, 1, tmp_path)
    await asyncio.to_thread(fail_power, trial, careless)
    assert trial.failures
