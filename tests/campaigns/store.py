"""The store's own faults on the real server: every call to the disk fails once (reliability S3, S4, G4), and many turns and
removals at once (S11, S13)."""

import asyncio
import json
import random
import sys

import aiohttp

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.disk import Control, build, compiler, preloaded
from tests.campaigns.witness import File, Told, Witness, counting, found_wrong
from tests.conftest import ROOT, servers
from tests.upstreams.server import start_mock

SESSIONS = 5
TURNS = 4
"""Turns at once in one session."""
SHORT = 200
"""A run of no more injections takes a sample of the calls, a larger one every call."""


async def faults(trial: Trial) -> None:
    """Run the server on a failing disk, in a process of its own."""
    if compiler() is None:
        trial.figures["skipped"] = "there is no C compiler, or this is not Linux"
        trial.counts["injections"] = trial.size
        return
    folder = trial.folder / "disk"
    folder.mkdir()
    Control(folder / "control")
    environment = preloaded(await asyncio.to_thread(build, trial.folder), folder, control=folder / "control")
    every = 1 if trial.size > SHORT else 23
    arguments = [str(folder), str(trial.random.randrange(1000)), str(trial.size), str(trial.seconds), str(every)]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.campaigns.failing_disk", *arguments),
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT), "NO_PROXY": "*"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told, errors = await process.communicate()
    if process.returncode != 0:
        trial.fail(f"The search itself ended with {process.returncode}: {errors.decode()[-2000:]}")
        return
    found = json.loads(told.splitlines()[-1])
    trial.counts.update(found["counts"])
    for failure in found["failures"]:
        trial.fail(failure)


async def races(trial: Trial) -> None:
    """Turns of one branch all at once, in several sessions, while others are removed in the middle of their turns."""
    mock = await start_mock()
    try:
        async with servers(trial.folder) as start, aiohttp.ClientSession() as http:
            server = await start({"count": counting(mock.origin)}, generation_queue=300)
            file = File(server.data / "agentui.db")
            number = 0
            while trial.counts["turns"] < trial.size and not trial.is_over():
                number += 1
                await _race(trial, server.origin, http, file, number)
                mock.requests.clear()
    finally:
        await mock.close()


async def _race(trial: Trial, origin: str, http: aiohttp.ClientSession, file: File, number: int) -> None:
    witness = Witness(random.Random(trial.random.random()))
    kept = [witness.told.setdefault(f"r{number}-{session}", Told(f"r{number}-{session}")) for session in range(SESSIONS)]
    doomed = Told(f"d{number}")
    await witness.turn(origin, doomed)

    async def remove() -> None:
        await asyncio.sleep(trial.random.uniform(0, 0.05))
        async with http.delete(f"{origin}/sessions/{doomed.id}") as answer:
            trial.counts[f"removals answered {answer.status}"] += 1
            if answer.status not in (200, 204, 404, 409):
                trial.fail(f"race {number}: a removal is answered {answer.status}: {await answer.text()}")

    turns = [witness.turn(origin, told) for told in [*kept, doomed] for _ in range(TURNS)]
    await asyncio.gather(*turns, *(remove() for _ in range(3)))
    trial.counts["turns"] += len(turns)
    for told in kept:
        if len(told.words) != TURNS:
            trial.fail(f"race {number}: {len(told.words)} of {TURNS} turns of {told.session} succeeded: {witness.counts}")
    found = [*witness.surprises, *await found_wrong(file, witness, f"r{number}-%")]
    orphans = await file.rows(
        "SELECT count(*) FROM variables WHERE (scope = 'chat' AND scope_id NOT IN (SELECT id FROM sessions)) "
        "OR (scope = 'floor' AND scope_id NOT IN (SELECT id FROM floors)) "
        "OR (scope = 'page' AND scope_id NOT IN (SELECT id FROM pages)) "
        "OR (scope = 'branch' AND scope_id NOT IN (SELECT 'branch:' || session_id || ':' || branch_id FROM branches))"
    )
    if orphans[0][0]:
        found.append(f"{orphans[0][0]} variables have no host")
    for wrong in found:
        trial.fail(f"race {number}: {wrong}")


CAMPAIGNS = [
    Campaign("store.faults", faults, counted="injections", short=44, long=5000, short_seconds=45),
    Campaign("store.races", races, counted="turns", short=72, long=10_000, short_seconds=30),
]
